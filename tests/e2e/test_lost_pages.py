"""A page that is lost loses nothing: each effect happens once, and the cell that awaits gets the outcome."""

import json
import random

import pytest

from tests.e2e.lean import lean_desk
from tests.e2e.notebooks import SETUP

TOOLS = (
    SETUP
    + '''
import asyncio, json, threading

count = 0


def more(round: int) -> bool:
    """Tell whether the program goes on; at its end it says so."""
    note(f"more {round}")
    return not Path("enough").exists()


async def slow(number: int) -> int:
    """Take a while, in the kernel's loop."""
    await asyncio.sleep(0.05)
    note(f"slow {number}")
    return number * 2


def blocking(number: int) -> int:
    """Take a while, in a thread."""
    import time; time.sleep(0.03)
    note(f"blocking {number}")
    return number * 3


def refuse(number: int) -> None:
    """Fail, which has an effect too."""
    note(f"refuse {number}")
    raise ValueError(f"no {number}")


async def gate() -> str:
    """Go on when the test opens the door."""
    note("gate begins")
    while not Path("open").exists():
        await asyncio.sleep(0.02)
    note("gate ends")
    return "through"


from codemode_jupyter.notebook.page import page_channel
from codemode_jupyter.sandbox.browser import BrowserExecutor

world = FunctionConnector("world", [read, act, fail, more, slow, blocking, refuse, gate])
runtime = Runtime([world], name="page", executor=BrowserExecutor(page_channel()))
'''
)

MANY = """%%codemode -o outcome
let sum = 0, refused = [];
let round = 0;
for (; await world.more({ round }); round++) {
  const [one, two, three] = await Promise.all([
    world.slow({ number: round }), world.blocking({ number: round }), world.read({ number: round }),
  ]);
  sum += one + two + three;
  try { await world.refuse({ number: round }); } catch (error) { refused.push(error.message); }
  await new Promise((resolve) => setTimeout(resolve, 5));
}
return { round, sum, refused: refused.length, last: refused.at(-1), random: Math.random() };
"""


@pytest.fixture
def desk(server, context, request):
    with lean_desk(server, context, server.root / request.node.name[:60]) as place:
        assert place.kernel.run(TOOLS).status == "ok"
        yield place


def test_fifty_reloads_at_random_moments_lose_nothing_and_repeat_nothing(desk):
    seed = random.randrange(2**32)
    print(f"seed {seed}")  # shown when the test fails
    moments = random.Random(seed)
    page = desk.open()
    cell = desk.kernel.begin(MANY)
    desk.until_effects(1)
    for number in range(50):
        if number % 2:
            desk.until_effects(len(desk.effects) + 1)
        page.wait_for_timeout(500 * moments.random())
        page.reload()
    (desk.folder / "enough").touch()
    finished = desk.kernel.finish(cell)
    assert finished.status == "ok", finished.error
    effects = desk.effects
    rounds = sum(line.startswith("more") for line in effects) - 1
    kinds = [f"{kind} {number}" for number in range(rounds) for kind in ("more", "slow", "blocking", "read", "refuse")]
    assert sorted(effects) == sorted([*kinds, f"more {rounds}"])
    outcome = json.loads(desk.kernel.run("print(json.dumps(outcome))").printed)
    assert outcome["round"] == outcome["refused"] == rounds
    assert outcome["sum"] == sum(6 * number for number in range(rounds))
    passes = desk.kernel.run("print((await runtime.executions())[0].passes)").printed
    assert int(passes) > 20, "most reloads hit a pass"
    print(f"{len(effects)} effects in {passes.strip()} passes")
