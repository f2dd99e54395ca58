"""The process is killed (SIGKILL) at every commit and around every call of the hook of a detached run.

Another process takes it up. The hook writes a line for each exit it hears: afterwards there is one exit, heard at least
once and by the same id each time, and none is left in the store.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from codemode_jupyter.runtime.runtime import Runtime
from tests.runtime.fake_sandbox import FakeExecutor, Program
from tests.runtime.shelf import Shelf
from tests.runtime.test_kill import in_child, killing_at
from tests.runtime.waiting import until


async def story(p: Program) -> Any:
    p.print("before")
    return await p.call("shelf.stow", {"n": 1})


def runtime_at(folder: Path, at: Any) -> Runtime:
    sandbox = FakeExecutor()
    sandbox.program(story)

    def hook(told: Any) -> None:
        at("before hearing")
        with (folder / "heard").open("a") as lines:
            lines.write(json.dumps([told.id, told.status, told.metadata, told.console]) + "\n")
        at("after hearing")

    return Runtime([Shelf()], executor=sandbox, path=folder / "store.sqlite3", on_detached_exit=hook)


def heard(folder: Path) -> list[Any]:
    file = folder / "heard"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


async def live(folder: Path, at: Any, decision: str) -> None:
    """The story, until somebody kills it."""
    runtime = runtime_at(folder, at)
    reply = await runtime.execute("async () => 'program 0'", detach=True, metadata={"ticket": 12})
    (folder / "replied").touch()
    await (runtime.approve if decision == "approve" else runtime.reject)(reply.execution_id)
    await until(lambda: heard(folder) and not runtime._store.exits.all())
    await runtime.close()


async def rescue(folder: Path) -> list[str]:
    """Take up what is there, and decide about what waits."""
    runtime = runtime_at(folder, lambda _: None)
    await runtime.recover()
    async with asyncio.timeout(10):
        while any(record.status in {"running", "paused"} for record in await runtime.executions()):
            for call in await runtime.pending():
                if call.kind == "approval":
                    await runtime.approve(call.execution_id)
                else:
                    await runtime.respond(call.call_id, "happened", result={"id": 1})
            await asyncio.sleep(0.001)
    await until(lambda: not runtime._store.exits.all())
    statuses = [record.status for record in await runtime.executions()]
    await runtime.close()
    return statuses


@pytest.mark.parametrize(("decision", "end"), [("approve", "completed"), ("reject", "rejected")])
def test_killed_anywhere_the_end_is_told_and_by_one_id(tmp_path, decision, end):
    warm = tmp_path / "warm"
    warm.mkdir()
    asyncio.run(live(warm, lambda _: None, decision))  # what is imported and made once need not be in each child
    points = [f"{when} commit {number}" for number in range(1, 20) for when in ("before", "after")]
    tally: Counter[str] = Counter()
    for point in [*points, "before hearing", "after hearing"]:
        folder = tmp_path / point
        folder.mkdir()

        def work(folder: Path = folder, point: str = point) -> None:
            with killing_at(point) as at:
                asyncio.run(live(folder, at, decision))

        code, _ = in_child(work)
        if code == 0:
            continue  # the story has fewer commits than that
        assert code == -signal.SIGKILL, point
        was_promised = (folder / "replied").exists()
        code, statuses = in_child(lambda folder=folder: asyncio.run(rescue(folder)))
        assert code == 0, point
        told = heard(folder)
        assert len({exit_id for exit_id, *_ in told}) <= 1, (point, told)
        if statuses == []:
            assert not told, point
            tally["nothing was recorded"] += 1
            continue
        if was_promised or told:
            expected = {"completed", end}  # what was killed before it was rejected is approved by the rescue
            assert told[0][1] in expected, (point, told)
            assert told[0][2:] == [{"ticket": 12}, "before"], (point, told)
        assert told, f"{point}: whoever was to be told is gone, so the hook is"
        tally[f"heard {len(told)} times"] += 1
    sys.stderr.write(f"{decision}: {dict(tally)}\n")
    assert tally["heard 1 times"] >= 8
    assert tally["heard 2 times"] >= 1


def test_what_is_told_is_whole_when_the_kernel_is_killed_while_the_run_waits(tmp_path):
    async def begin() -> None:
        runtime = runtime_at(tmp_path, lambda _: None)
        await runtime.execute("async () => 'program 0'", detach=True, metadata={"ticket": 12})
        os.kill(os.getpid(), signal.SIGKILL)

    assert in_child(lambda: asyncio.run(begin()))[0] == -signal.SIGKILL
    assert in_child(lambda: asyncio.run(rescue(tmp_path))) == (0, ["completed"])
    [(_, status, metadata, console)] = heard(tmp_path)
    assert (status, metadata, console) == ("completed", {"ticket": 12}, "before")
    with sqlite3.connect(tmp_path / "store.sqlite3") as store:
        assert store.execute("SELECT count(*) FROM exit").fetchone() == (0,)
    store.close()


def test_a_run_that_cannot_go_on_after_a_restart_is_told_as_failed(tmp_path):
    async def other(p: Program) -> Any:
        return await p.call("shelf.note", {"other": 1})

    async def begin() -> None:
        runtime = runtime_at(tmp_path, lambda _: None)
        await runtime.execute("async () => 'program 0'", detach=True)
        os.kill(os.getpid(), signal.SIGKILL)

    async def go_on() -> str:
        told: list[Any] = []
        sandbox = FakeExecutor()
        sandbox.program(other)  # the program takes another way now
        runtime = Runtime([Shelf()], executor=sandbox, path=tmp_path / "store.sqlite3", on_detached_exit=told.append)
        [call] = await runtime.pending()
        await runtime.approve(call.execution_id)
        await until(lambda: told)
        await runtime.close()
        return str(told[0].error.code)

    assert in_child(lambda: asyncio.run(begin()))[0] == -signal.SIGKILL
    assert in_child(lambda: asyncio.run(go_on())) == (0, "replay_divergence")
