"""The blocking form: with no loop, and inside one that runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from codemode_jupyter.runtime.runtime import Runtime
from tests.runtime.fake_sandbox import FakeExecutor, Program

NESTED = """
import asyncio, sys
from pathlib import Path
from codemode_jupyter.runtime.runtime import Runtime

async def main():
    beside = asyncio.create_task(asyncio.sleep(0, "beside"))
    runtime = Runtime(path=Path(sys.argv[1]) / "store.sqlite3")
    print(runtime.run("async () => 6 * 7").result, await beside)
    await (await runtime._current_executor()).close()

asyncio.run(main())
# The loop is patched for good now: one loop serves these as well.
print(*(Runtime(path=Path(sys.argv[1]) / "store.sqlite3").run("async () => 6 * 8").result for _ in range(2)))
"""


async def answer(p: Program):
    return 42


def test_run_blocks_where_no_loop_runs(tmp_path):
    sandbox = FakeExecutor()
    runtime = Runtime(executor=sandbox, path=tmp_path / "store.sqlite3")
    assert [runtime.run(sandbox.program(answer)).result for _ in range(2)] == [42, 42]


def test_run_makes_and_closes_a_headless_sandbox_of_its_own(tmp_path):
    runtime = Runtime(path=tmp_path / "store.sqlite3")
    assert [runtime.run("async () => 6 * 7").result for _ in range(2)] == [42, 42]


def test_run_works_inside_a_running_loop(tmp_path):
    # In a process of its own, since the loop is patched for good.
    command = [sys.executable, "-c", NESTED, str(tmp_path)]
    told = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, cwd=Path(__file__).parents[2]
    )
    assert told.stdout.split() == ["42", "beside", "48", "48"], told.stderr
