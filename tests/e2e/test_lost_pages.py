"""A page that is lost loses nothing: each effect happens once, and the cell that awaits gets the outcome."""

import json
import os
import random
import signal
import sys

import pytest

from codemode_jupyter.sandbox.deno import find_deno
from tests.e2e.lean import LeanDesk, lean_kernel
from tests.e2e.notebooks import SETUP

TOOLS = (
    SETUP
    + '''
import asyncio, json, os


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


async def gate() -> int:
    """Go on when the test opens the door; return the process of the kernel."""
    note("gate begins")
    while not Path("open").exists():
        await asyncio.sleep(0.02)
    note("gate ends")
    return os.getpid()


from codemode_jupyter.notebook.page import page_channel
from codemode_jupyter.sandbox.browser import BrowserExecutor

world = FunctionConnector("world", [read, act, fail, more, slow, blocking, refuse, gate])
runtime = Runtime([world], name="page", executor=BrowserExecutor(page_channel(), page_timeout=0.5))
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


GATED = """%%codemode -o outcome
const first = await world.read({ number: 1 });
const [second, kernel] = await Promise.all([world.read({ number: 2 }), world.gate()]);
return { sum: first + second + (await world.read({ number: 3 })), kernel };
"""
EFFECTS = ["read 1", "read 2", "gate begins", "gate ends", "read 3"]


@pytest.fixture(scope="module")
def kernel(server):
    with lean_kernel(server, server.root / "lost-pages") as running:
        assert running.cell.run(TOOLS).status == "ok"
        yield running


@pytest.fixture
def desk(kernel, context):
    return LeanDesk(kernel, context)


class Gated:
    """A cell whose program waits for a call in the kernel."""

    def __init__(self, desk, code=GATED):
        self._desk = desk
        self._cell = desk.kernel.cell.begin(code)
        desk.until_effects(3)

    def ends_well(self):
        """Let the call end; the cell gets the outcome, and everything happened once. Return the number of passes."""
        cell = self._desk.kernel.cell
        self._desk.touch("open")
        finished = cell.finish(self._cell)
        assert finished.status == "ok", finished.error
        assert sorted(self._desk.effects) == sorted(EFFECTS)
        assert json.loads(cell.run("print(json.dumps(outcome))").printed)["sum"] == 6
        return int(cell.run("print((await runtime.executions())[0].passes)").printed)


def test_a_page_that_is_reloaded(desk):
    page = desk.open()
    gated = Gated(desk)
    page.reload()
    assert gated.ends_well() == 2


def test_a_page_that_is_closed_and_opened_again_much_later(desk):
    page = desk.open()
    gated = Gated(desk)
    page.close()
    desk.kernel.hears("who", 5)  # no page for seconds: that no page answers is no end
    desk.touch("open")
    desk.until_effects(4)  # the call ends while nobody is there
    desk.open()
    assert gated.ends_well() == 2


def test_a_page_that_goes_to_another_address_and_comes_back(desk):
    page = desk.open()
    gated = Gated(desk)
    page.goto("about:blank")
    page.go_back()
    assert gated.ends_well() == 2


def test_a_page_whose_process_crashes(desk):
    page = desk.open()
    gated = Gated(desk)
    desk.crash(page)
    desk.open()
    assert gated.ends_well() == 2


def test_the_elected_one_of_two_pages_that_is_closed(desk):
    first = desk.open()
    desk.open()
    gated = Gated(desk)
    first.close()
    assert gated.ends_well() == 2


def test_five_reloads_while_a_single_call_is_under_way(desk):
    page = desk.open()
    gated = Gated(desk)
    for _ in range(6):
        page.reload()
        desk.kernel.hears("start")
    assert gated.ends_well() > 5


def test_a_computer_that_sleeps_for_long(desk):
    desk.open()
    gated = Gated(desk)
    with desk.asleep():
        desk.kernel.hears("who")  # the page is given up
    assert gated.ends_well() == 2


def test_a_computer_that_sleeps_for_a_moment_goes_on_where_it_was(desk):
    desk.open()
    gated = Gated(desk)
    with desk.asleep():
        desk.kernel.hears("ping", 2)
    assert gated.ends_well() == 1


def test_a_kernel_that_is_stopped_for_a_moment_blames_no_page(desk):
    page = desk.open()
    process = int(desk.kernel.cell.run("print(os.getpid())").printed)
    gated = Gated(desk)
    os.kill(process, signal.SIGSTOP)
    page.wait_for_timeout(6000)  # longer than a page may be silent
    os.kill(process, signal.SIGCONT)
    assert gated.ends_well() == 1


def test_a_kernel_that_is_stopped_for_long_is_given_up_by_the_page_and_taken_back(desk):
    desk.context.clock.install()
    page = desk.open()
    process = int(desk.kernel.cell.run("print(os.getpid())").printed)
    gated = Gated(desk)
    os.kill(process, signal.SIGSTOP)
    page.clock.fast_forward(70_000)
    os.kill(process, signal.SIGCONT)
    assert gated.ends_well() == 2


@pytest.mark.skipif(find_deno() is None, reason="the extra [headless] is not installed")
def test_a_page_that_never_comes_back_is_done_without(desk):
    prepare = "from codemode_jupyter.notebook import environment; environment.LONG_WAIT = 1.0\n"
    code = prepare + "anywhere = Runtime([world], name='anywhere')"
    assert desk.kernel.cell.run(code).status == "ok"
    page = desk.open()
    gated = Gated(desk, GATED.replace("-o", "-r anywhere -o"))
    page.close()
    assert gated.ends_well() == 2


def test_fifty_reloads_at_random_moments(desk):
    seed = random.randrange(2**32)  # noqa: S311  moments, not secrets
    moments = random.Random(seed)  # noqa: S311
    sys.stdout.write(f"seed {seed}\n")  # shown when the test fails
    page = desk.open()
    cell = desk.kernel.cell.begin(MANY)
    desk.until_effects(1)
    for number in range(50):
        if number % 2:
            desk.until_effects(len(desk.effects) + 1)
        page.wait_for_timeout(500 * moments.random())
        page.reload()
    desk.touch("enough")
    finished = desk.kernel.cell.finish(cell)
    assert finished.status == "ok", finished.error
    effects = desk.effects
    rounds = sum(line.startswith("more") for line in effects) - 1
    kinds = [f"{kind} {number}" for number in range(rounds) for kind in ("more", "slow", "blocking", "read", "refuse")]
    assert sorted(effects) == sorted([*kinds, f"more {rounds}"])
    outcome = json.loads(desk.kernel.cell.run("print(json.dumps(outcome))").printed)
    assert outcome["round"] == outcome["refused"] == rounds
    assert outcome["sum"] == sum(6 * number for number in range(rounds))
    passes = int(desk.kernel.cell.run("print((await runtime.executions())[0].passes)").printed)
    assert passes > 20, "most reloads hit a pass"
    sys.stdout.write(f"{len(effects)} effects in {passes} passes\n")
