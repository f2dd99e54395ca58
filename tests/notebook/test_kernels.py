"""Cells in real kernels: Stop ends a run within a second with one line, Run All, and commands."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.kernels import kernel6_python
from tests.notebook.real_kernel import running_kernel

ROOT = Path(__file__).resolve().parent.parent.parent
SETUP = f"""
import sys, asyncio
sys.path.insert(0, {str(ROOT)!r})
from codemode_jupyter.notebook.extension import load_ipython_extension
from codemode_jupyter.runtime.runtime import Runtime
from tests.runtime.fake_sandbox import FakeExecutor
from tests.runtime.shelf import Shelf
load_ipython_extension(get_ipython())
shelf, sandbox = Shelf(), FakeExecutor()
runtime = Runtime([shelf], executor=sandbox, path="log.sqlite3")

async def endless(p):
    print("begun", flush=True)
    await p.call("shelf.slow", {{"gate": "never"}})

async def gated(p):
    return await p.call("shelf.stow", {{"what": "jar"}})

async def gated_then_endless(p):
    await p.call("shelf.stow", {{"what": "jar"}})
    await endless(p)

sandbox.program(endless), sandbox.program(gated), sandbox.program(gated_then_endless)
"""
ENDLESS = "%%codemode\nasync () => 'program 0'\n"
GATED = "%%codemode --wait\nasync () => 'program 1'\n"
GATED_THEN_ENDLESS = "%%codemode --wait\nasync () => 'program 2'\n"
STATUSES = "[(e.status, e.error and e.error.code) for e in await runtime.executions()]"


def kernel(request):
    if request.param == "newest":
        return sys.executable
    python = kernel6_python()
    if python is None:
        pytest.skip("`python tests/kernels.py` has not made the kernel with ipykernel 6")
    return python


@pytest.fixture(params=["newest", "ipykernel 6"])
def setup(request, tmp_path):
    with running_kernel(tmp_path, kernel(request)) as running:
        assert running.run(SETUP).status == "ok"
        yield running


def stop(running, cell):
    began = time.monotonic()
    running.interrupt()
    ended = running.finish(cell, timeout=10)
    return ended, time.monotonic() - began


def test_stop_ends_the_run_within_a_second_and_records_it(setup):
    cell = setup.begin(ENDLESS)
    setup.shown_by(cell, "begun")
    ended, seconds = stop(setup, cell)
    assert seconds < 1
    assert ended.error["ename"] == "Stopped"
    assert len(ended.error["traceback"]) == 1
    assert "was ended" in ended.error["traceback"][0]
    assert setup.run(STATUSES).result == "[('error', 'stopped')]"
    assert setup.run("[t for t in asyncio.all_tasks() if 'execution' in t.get_name()]").result == "[]"


def test_pressing_stop_twice_is_pressing_it_once(setup):
    cell = setup.begin(ENDLESS)
    setup.shown_by(cell, "begun")
    setup.interrupt()
    ended, _ = stop(setup, cell)
    assert ended.error["ename"] == "Stopped"
    assert setup.run("6 * 7").result == "42"


def test_stop_in_a_waiting_cell_leaves_the_run_paused(setup):
    cell = setup.begin(GATED)
    setup.shown_by(cell, "Waiting for you")
    ended, seconds = stop(setup, cell)
    assert seconds < 1
    assert "stays paused" in ended.error["traceback"][0]
    assert setup.run(STATUSES).result == "[('paused', None)]"


def test_stop_after_an_approval_ends_the_pass_that_is_under_way(setup):
    approving = setup.begin(
        "async def approve_soon():\n"
        "    while not (waiting := await runtime.pending()): await asyncio.sleep(0.01)\n"
        "    await runtime.approve(waiting[0].execution_id)\n"
        "await asyncio.sleep(0); approving = asyncio.ensure_future(approve_soon())"
    )
    setup.finish(approving)
    cell = setup.begin(GATED_THEN_ENDLESS)
    setup.shown_by(approving, "begun")  # what a task prints goes to the cell that began it
    ended, seconds = stop(setup, cell)
    assert seconds < 1.5
    assert "was ended" in ended.error["traceback"][0]
    assert setup.run(STATUSES).result == "[('error', 'stopped')]"


def test_run_all_stops_at_a_stopped_cell_and_at_a_failed_one(setup):
    cells = [setup.begin(ENDLESS), setup.begin("'reached'")]
    setup.shown_by(cells[0], "begun")
    setup.interrupt()
    assert setup.reply(cells[0])["content"]["status"] == "error"
    assert setup.reply(cells[1])["content"]["status"] in {"aborted", "error"}


def test_commands_decide_while_the_loop_runs(setup):
    assert setup.run("%%codemode -o found\nasync () => 'program 1'\n").status == "ok"
    listing = setup.run("%codemode pending").printed
    assert "shelf.stow" in listing
    short = listing.splitlines()[1].split()[0]
    assert setup.run(f"outcome = %codemode approve {short}").status == "ok"
    assert setup.run("outcome.status, found").result == "('completed', {'id': 1})"
    assert "completed" in setup.run("%codemode history").printed


def test_run_all_goes_on_at_a_pause(setup):
    cells = [setup.begin("%%codemode\nasync () => 'program 1'\n"), setup.begin("'reached'")]
    assert [setup.reply(cell)["content"]["status"] for cell in cells] == ["ok", "ok"]


def test_ctrl_c_in_a_terminal_ends_the_run_and_the_session_goes_on(tmp_path):
    script = tmp_path / "session.py"
    script.write_text(
        "from IPython.terminal.interactiveshell import TerminalInteractiveShell\n"
        "shell = TerminalInteractiveShell.instance()\n"
        f"shell.run_cell({SETUP!r})\n"
        f"result = shell.run_cell({ENDLESS!r})\n"
        "print('RAISED', type(result.error_in_exec).__name__, flush=True)\n"
        f"print('AFTER', shell.run_cell({STATUSES!r}).result, flush=True)\n"
    )
    process = subprocess.Popen(
        [sys.executable, str(script)],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "IPYTHONDIR": str(tmp_path)},
    )
    try:
        line = ""
        while "begun" not in line:
            line = process.stdout.readline()
            assert line, "the session ended early"
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=30)
    finally:
        process.kill()
    assert "RAISED Stopped" in rest
    assert "AFTER [('error', 'stopped')]" in rest
    assert time.monotonic() - began < 5
