"""The process is killed (SIGKILL) at every commit and around every effect; another process takes the execution up.

A child is forked for each kill, runs a fixed story (reads, effects, an approval, a rollback) on a fake sandbox, and
kills itself at one point. Effects are lines of a file. A second child then recovers, answers what is in doubt by
looking at that file, approves what waits, and finishes. Afterwards every effect must have happened exactly once, and
the database must be whole.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import codemode_jupyter.connectors.schemas.checker  # noqa: F401  slow to load: once here, not in each child
from codemode_jupyter.connectors.base import Connector
from codemode_jupyter.connectors.tool import Tool, ToolContext
from codemode_jupyter.runtime.runtime import Runtime
from codemode_jupyter.runtime.store.database import Database
from tests.runtime.fake_sandbox import FakeExecutor, Program

EFFECTS = ("plain", "gated", "idempotent")


class Effects(Connector):
    """Tools whose effects are lines of a file; ``at`` is told of each point around an effect."""

    def __init__(self, file: Path, at: Callable[[str], None]) -> None:
        super().__init__("effects")
        self._file = file
        self._at = at

    def tools(self) -> list[Tool]:
        return [
            Tool("plain", self._act("plain"), revert=self._undo("plain")),
            Tool("gated", self._act("gated"), requires_approval=True, revert=self._undo("gated")),
            Tool("idempotent", self._act("idempotent"), idempotent=True),
        ]

    def _act(self, name: str) -> Any:
        async def call(arguments: Any, context: ToolContext) -> Any:
            self._at(f"before {name}")
            if name != "idempotent" or context.idempotency_key not in read(self._file, "keys"):
                write(self._file, name, context.idempotency_key)
            self._at(f"after {name}")
            return name

        return call

    def _undo(self, name: str) -> Any:
        async def revert(arguments: Any, result: Any) -> None:
            self._at(f"before undo {name}")
            write(self._file, f"undo {name}", "")
            self._at(f"after undo {name}")

        return revert


def write(file: Path, effect: str, key: str) -> None:
    with file.open("a") as lines:
        lines.write(json.dumps([effect, key]) + "\n")


def read(file: Path, what: str) -> list[str]:
    if not file.exists():
        return []
    entries = [json.loads(line) for line in file.read_text().splitlines()]
    return [key if what == "keys" else effect for effect, key in entries]


async def story(p: Program) -> Any:
    first = await p.gather(p.call("effects.plain", {}), p.call("effects.idempotent", {}))
    kept = await p.step("keep", lambda: 7)
    return [first, kept, await p.call("effects.gated", {})]


RESULT = [["plain", "idempotent"], 7, "gated"]


def runtime_at(folder: Path, at: Callable[[str], None]) -> tuple[Runtime, FakeExecutor]:
    sandbox = FakeExecutor()
    sandbox.program(story)
    return Runtime([Effects(folder / "effects", at)], executor=sandbox, path=folder / "store.sqlite3"), sandbox


async def live(folder: Path, at: Callable[[str], None], *, roll_back: bool) -> None:
    """The story, until somebody kills it."""
    runtime, _ = runtime_at(folder, at)
    outcome = await runtime.execute("async () => 'program 0'")
    end = await runtime.approve(outcome.execution_id)
    assert end.status == "completed", end
    if roll_back:
        await runtime.rollback(outcome.execution_id)


async def rescue(folder: Path) -> dict[str, Any]:
    """Take up what is there; return what had to be done."""
    runtime, _ = runtime_at(folder, lambda _: None)
    done: Counter[str] = Counter()
    for record in await runtime.executions():
        if record.status == "running":
            done["recovered"] += 1
    await runtime.recover()
    for record in await runtime.executions():
        while (await runtime.execution(record.id)).status == "paused":
            [call] = (await runtime.pending(record.id))[:1]
            if call.kind == "approval":
                done["approved"] += 1
                await runtime.approve(record.id, call.seq, digest=call.digest)
            else:
                happened = call.method in read(folder / "effects", "effects")
                done["happened" if happened else "run again"] += 1
                await runtime.respond(call.call_id, "happened" if happened else "run_again", result=call.method)
    records = await runtime.executions(with_calls=True)
    await runtime.close()
    return {
        "done": dict(done),
        "statuses": [record.status for record in records],
        "results": [record.result for record in records],
        "states": [call.state for record in records for call in record.calls],
    }


@contextmanager
def killing_at(point: str) -> Iterator[Callable[[str], None]]:
    """Kill this process at a named point.

    ``before commit 3``, ``after commit 3``, ``before plain``, ``after undo gated`` …
    """
    commits = 0
    original = Database.transaction

    def at(name: str) -> None:
        if name == point:
            os.kill(os.getpid(), signal.SIGKILL)

    @contextmanager
    def transaction(self: Database, *, durable: bool) -> Iterator[sqlite3.Connection]:
        nonlocal commits
        commits += 1
        number = commits
        with original(self, durable=durable) as connection:
            yield connection
            at(f"before commit {number}")
        at(f"after commit {number}")

    Database.transaction = transaction  # type: ignore[method-assign,assignment]
    try:
        yield at
    finally:
        Database.transaction = original  # type: ignore[method-assign]


def in_child(work: Callable[[], Any]) -> tuple[int, Any]:
    """Fork, run ``work``, and return how the child ended and what ``work`` returned."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reader)
            os.write(writer, json.dumps(work()).encode())
            os._exit(0)
        except BaseException as error:  # noqa: BLE001  whatever it is, it must not run the parent's tests
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        text = answer.read()
    status = os.waitpid(pid, 0)[1]
    return os.waitstatus_to_exitcode(status), json.loads(text) if text else None


def killed(folder: Path, point: str, *, roll_back: bool = False) -> int:
    folder.mkdir()

    def work() -> None:
        with killing_at(point) as at:
            asyncio.run(live(folder, at, roll_back=roll_back))

    return in_child(work)[0]


def rescued(folder: Path) -> Any:
    code, told = in_child(lambda: asyncio.run(rescue(folder)))
    assert code == 0
    with sqlite3.connect(folder / "store.sqlite3") as store:
        assert store.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    store.close()
    return told


def points_of_the_story() -> list[str]:
    around = [f"{when} {name}" for name in EFFECTS for when in ("before", "after")]
    return [f"{when} commit {number}" for number in range(1, 40) for when in ("before", "after")] + around


def test_killed_anywhere_every_effect_happens_once_and_no_approval_is_lost(tmp_path, capsys):
    tally: Counter[str] = Counter()
    runs = 0
    for turn in range(7):
        for point in points_of_the_story():
            folder = tmp_path / f"{turn} {point}"
            code = killed(folder, point)
            if code == 0:
                continue  # the story has fewer commits than that
            assert code == -signal.SIGKILL, point
            runs += 1
            before = read(folder / "effects", "effects")
            told = rescued(folder)
            effects = Counter(read(folder / "effects", "effects"))
            if told["statuses"] == []:
                tally["nothing was recorded, nothing had happened"] += 1
                assert before == [], point
                continue
            assert told["statuses"] == ["completed"], (point, told)
            assert told["results"] == [RESULT], (point, told)
            assert effects == dict.fromkeys(EFFECTS, 1), (point, effects)
            assert told["done"].get("approved", 0) + before.count("gated") <= 1 or "happened" not in told["done"], point
            tally[json.dumps(told["done"], sort_keys=True)] += 1
    with capsys.disabled():
        print(f"\n{runs} kills:")  # noqa: T201  the tally is part of what this test is for
        for what, count in tally.most_common():
            print(f"  {count:4} {what}")  # noqa: T201
    assert runs >= 200


def test_killed_during_a_rollback_nothing_is_undone_twice_and_the_report_says_what_is_not_known(tmp_path):
    async def finish(folder: Path) -> Any:
        runtime, _ = runtime_at(folder, lambda _: None)
        await runtime.recover()
        [record] = await runtime.executions()
        report = await runtime.rollback(record.id)
        status = (await runtime.execution(record.id)).status
        await runtime.close()
        return [report.status, status, [entry.method for entry in report.doubtful]]

    for point in ("before undo gated", "after undo gated", "before undo plain", "after undo plain"):
        folder = tmp_path / point
        assert killed(folder, point, roll_back=True) == -signal.SIGKILL
        code, told = in_child(lambda folder=folder: asyncio.run(finish(folder)))
        assert code == 0
        report, status, doubtful = told
        assert (report, status) == ("partly_rolled_back", "partly_rolled_back"), point
        assert doubtful == [point.split()[-1]]
        undone = Counter(effect for effect in read(folder / "effects", "effects") if effect.startswith("undo"))
        assert max(undone.values(), default=0) <= 1, (point, undone)


def test_killed_while_the_file_is_made_the_next_process_makes_it(tmp_path):
    for point in ("before commit 1", "after commit 1"):
        folder = tmp_path / point
        assert killed(folder, point) == -signal.SIGKILL
        assert rescued(folder)["statuses"] == []


def test_a_live_owner_is_not_robbed(tmp_path):
    async def both() -> None:
        runtime, sandbox = runtime_at(tmp_path, lambda _: None)
        other, _ = runtime_at(tmp_path, lambda _: None)
        never = asyncio.Event()

        async def wait(p: Program) -> Any:
            return await p.call("codemode.search", "x")

        async def search(_: str) -> Any:
            await never.wait()

        started = asyncio.Event()
        runtime.search = search  # type: ignore[method-assign]
        task = asyncio.create_task(runtime.execute(sandbox.program(wait), on_start=lambda _: started.set()))
        await started.wait()
        assert await other.recover() == []
        task.cancel()
        await asyncio.wait({task})
        await runtime.close()
        await other.close()

    asyncio.run(both())
