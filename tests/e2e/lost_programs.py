"""Programs for the tests that lose pages, and the tools that they call: each real call leaves a line.

Owns: the programs and what each must come to. Never does: losing anything.
"""

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


def check_many(effects, outcome):
    """Check that every call of ``MANY`` happened once and that its outcome is right."""
    rounds = sum(line.startswith("more") for line in effects) - 1
    kinds = [f"{kind} {number}" for number in range(rounds) for kind in ("more", "slow", "blocking", "read", "refuse")]
    assert sorted(effects) == sorted([*kinds, f"more {rounds}"])
    assert outcome["round"] == outcome["refused"] == rounds
    assert outcome["sum"] == sum(6 * number for number in range(rounds))
