"""Stacks of failed calls: the same in every pass, whether a call is made or served from the log."""

import pytest

from codemode_jupyter import FunctionConnector, Runtime, tool
from codemode_jupyter.sandbox.deno import DenoExecutor, find_deno

pytestmark = pytest.mark.skipif(
    find_deno() is None, reason="there is no Deno: pip install 'codemode-jupyter[headless]'"
)

PROGRAM = """
const failing = Array.from({ length: 150 }, (_, number) => desk.refuse({ number }).catch((error) => error.stack));
const stacks = await Promise.all(failing);
console.log(stacks.join("|").length);
await desk.ask();
return [stacks[0].includes("\\n"), stacks[149].includes("\\n"), stacks.join("|").length];
"""


def refuse(number: int) -> None:
    """Fail."""
    raise ValueError(number)


@tool(requires_approval=True)
def ask() -> int:
    """Ask."""
    return 1


async def test_of_calls_made_at_once_the_first_have_their_place_and_a_replay_gives_the_same_stacks(tmp_path):
    executor = DenoExecutor()
    runtime = Runtime([FunctionConnector("desk", [refuse, ask])], executor=executor, path=tmp_path / "store.sqlite3")
    paused = await runtime.execute(PROGRAM)
    first, last, length = (await runtime.approve(paused.execution_id)).result
    assert (first, last) == (True, False)
    assert paused.logs == (f"{length}",)
    await runtime.close()
    await executor.close()
