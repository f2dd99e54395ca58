"""``%%codemode --detach`` and the inbox, in a shell without a page: what is shown there counts as seen."""

import asyncio
import inspect

import pytest
from IPython.core.error import UsageError

from codemode_jupyter.notebook.cell import parse_options
from codemode_jupyter.notebook.commands import COMMANDS
from codemode_jupyter.notebook.ids import short_id
from codemode_jupyter.notebook.inbox import Inbox
from codemode_jupyter.runtime.detached_exit import DetachedExit
from codemode_jupyter.runtime.runtime import Runtime


async def gated(p):
    p.print("before")
    return await p.call("shelf.stow", {"what": "jar"})


async def quick(p):
    return 7


@pytest.fixture
def says(bench, capsys):
    """Run a cell or line and return what it printed."""

    def run(text):
        capsys.readouterr()
        bench.run(text)
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize(("line", "detach"), [("", None), ("--detach", True), ("--detach 1.5", 1.5), ("--detach=0", 0)])
def test_the_option_takes_seconds_or_nothing(line, detach):
    assert parse_options(line).detach == detach


@pytest.mark.parametrize("line", ["--detach soon", "--detach=-1", "--detach=nan", "--detach --wait"])
def test_what_is_no_time_and_a_contradiction_are_refused(line):
    with pytest.raises(UsageError, match="--detach"):
        parse_options(line)


def test_a_detached_cell_ends_at_the_wait_and_the_inbox_has_the_end(bench, says):
    outcome = bench.run(bench.cell(gated, "--detach -o answer"))
    assert (outcome.status, outcome.logs) == ("waiting", ("before",))
    assert bench.variables["answer"] is None
    assert "1 run waiting for you" in says("%codemode inbox")
    assert bench.run(f"%codemode approve {short_id(outcome.execution_id)}").is_detached
    bench.run("import asyncio; await asyncio.sleep(0.1)")
    bench.run("runtime")  # the badge was printed below the cell before
    pending = says("%codemode pending")
    assert "1 run ended in the background: %codemode inbox shows how." in pending
    shown = says("%codemode inbox")
    assert "1 new" in shown
    assert "Completed" in shown
    assert "nothing new" in says("%codemode inbox")


def test_the_badge_is_shown_once_below_the_next_cell(bench, says):
    outcome = bench.run(bench.cell(gated, "--detach"))
    cells = [f"%codemode reject {short_id(outcome.execution_id)}", "await __import__('asyncio').sleep(0.05)", "1", "2"]
    assert sum("1 new" in says(cell) for cell in cells) == 1


def test_a_run_is_detached_by_a_command(bench, says):
    outcome = bench.run(bench.cell(gated))
    assert "goes on by itself" in says(f"%codemode detach {short_id(outcome.execution_id)}")
    assert bench.run(f"%codemode approve {short_id(outcome.execution_id)}").is_detached
    ended = bench.run(bench.cell(quick, "--detach"))
    assert (ended.status, ended.result) == ("completed", 7)
    assert "has ended already" in says(f"%codemode detach {short_id(ended.execution_id)}")


async def test_an_inbox_keeps_what_nobody_has_seen_and_lets_go_of_what_was():
    inbox, changes = Inbox(), []
    stop = inbox.subscribe(lambda: changes.append(len(inbox.unseen)))
    later = asyncio.create_task(inbox.arrive(DetachedExit("b", "exec_b", "completed", ended_at=2.0)))
    earlier = asyncio.create_task(inbox.arrive(DetachedExit("a", "exec_a", "error", ended_at=1.0)))
    await asyncio.sleep(0)
    assert [exit_.id for exit_ in inbox.unseen] == ["a", "b"]
    assert inbox.see("a")
    await earlier
    assert not inbox.see("a")
    assert not later.done()
    later.cancel()
    await asyncio.wait({later})
    assert inbox.unseen == []
    assert changes == [1, 2, 1, 0]
    stop()


def test_whatever_a_runtime_can_do_the_magics_can():
    operations = {
        name
        for name, member in vars(Runtime).items()
        if inspect.iscoroutinefunction(member) and not name.startswith("_")
    }
    commands = {
        "execution": "show",
        "executions": "history",
        "stale": "history",
        "save_snippet": "save",
        "delete_snippet": "rm",
        "delete_execution": "delete",
        "prune_executions": "prune",
        "expire_paused": "expire",
    }
    not_commands = {"execute", "wait", "close"}  # the cell, its --wait, and the end of the kernel
    missing = {name for name in operations - not_commands if commands.get(name, name) not in COMMANDS}
    assert missing == set()


def test_runs_are_ended_and_forgotten_and_methods_found_by_commands(bench, says):
    bench.run(bench.cell(quick))
    kept = bench.run(bench.cell(gated)).execution_id
    assert "is not running here" in says(f"%codemode stop {short_id(kept)}")
    assert "Expired: 0 executions." in says("%codemode expire 1")
    assert f"Expired: 1 execution ({short_id(kept)})." in says("%codemode expire 0")
    assert "Deleted: 1 finished execution." in says("%codemode prune 1")
    assert "Deleted" in says(f"%codemode delete {short_id(kept)}")
    assert "Nothing has been run yet." in says("%codemode history")
    assert "shelf.stow" in says("%codemode search put a thing on the shelf")
    assert "stow" in says("%codemode describe shelf.stow")
    with pytest.raises(UsageError, match="KEEP is a number"):
        bench.run("%codemode prune all")
