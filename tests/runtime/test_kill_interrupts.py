"""The process is killed (SIGKILL) around every commit of a run that asks three questions; others take it up.

A child runs a tool that asks three times in a loop, beside one that asks twice at once, and answers what waits, each
question by what it asks; it kills itself at one point. Further children recover and answer on until the run has ended.
Afterwards every effect has happened once, every question had the answer that belongs to it, and the hook for waits
heard of none twice.
"""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from codemode_jupyter.connectors.base import Connector
from codemode_jupyter.connectors.tool import Tool
from codemode_jupyter.runtime.runtime import Runtime
from tests.runtime.fake_sandbox import FakeExecutor, Program
from tests.runtime.test_kill import in_child, killing_at, read, write

RESULT = [["0!", "1!", "2!"], ["a!", "b!"]]
POINTS = [f"{when} commit {number}" for number in range(1, 50, 4) for when in ("before", "after")]


class Asking(Connector):
    """Two tools that ask; their effects are lines of a file."""

    def __init__(self, folder: Path) -> None:
        super().__init__("asking")
        self._file = folder / "effects"

    def tools(self) -> list[Tool]:
        return [Tool("loop", self._loop, idempotent=True), Tool("both", self._both, idempotent=True)]

    async def _loop(self, _: Any, context: Any) -> Any:
        answers = []
        for number in range(3):
            await context.step("effect", partial(self._act, number, f"{context.idempotency_key} {number}"))
            answers.append(await context.interrupt(str(number)))
        return answers

    def _act(self, number: int, key: str) -> None:
        write(self._file, "run", "")
        if key not in read(self._file, "keys"):  # a step whose kernel died before its record is made again
            write(self._file, f"effect {number}", key)

    async def _both(self, _: Any, context: Any) -> Any:
        return await asyncio.gather(context.interrupt("a"), context.interrupt("b"))


async def story(p: Program) -> Any:
    return await p.gather(p.call("asking.loop", {}), p.call("asking.both", {}))


async def live(folder: Path, *, anew: bool) -> dict[str, Any]:
    """Begin the run, or take it up; then answer until it has ended."""
    sandbox = FakeExecutor()
    text = sandbox.program(story)
    runtime = Runtime(
        [Asking(folder)],
        executor=sandbox,
        path=folder / "store.sqlite3",
        on_wait=lambda call: write(folder / "heard", call.call_id, ""),
    )
    if anew and not await runtime.executions():
        await runtime.execute(text)
    await runtime.recover()
    given = 0
    while waiting := await runtime.pending():
        one = waiting[-1]
        given += 1
        await runtime.respond(one.call_id, f"{one.payload}!", digest=one.digest)
    [record] = await runtime.executions() or [None]
    await runtime.close()
    return {"status": record.status, "result": record.result, "given": given} if record else {}


def test_killed_anywhere_every_question_is_answered_once_and_every_step_made_once(tmp_path):
    ends: Counter[int] = Counter()
    for point in POINTS:
        folder = tmp_path / point
        folder.mkdir()

        def work(point: str = point, folder: Path = folder) -> Any:
            with killing_at(point):
                return asyncio.run(live(folder, anew=True))

        code, _ = in_child(work)
        ends[code] += 1
        code, told = in_child(lambda folder=folder: asyncio.run(live(folder, anew=True)))
        assert (code, told["status"], told["result"]) == (0, "completed", RESULT), point
        assert told["given"] <= 5
        effects = Counter(read(folder / "effects", "effects"))
        assert effects.pop("run") <= 3 + point.startswith("before"), point
        assert effects == dict.fromkeys(("effect 0", "effect 1", "effect 2"), 1), point
        heard = Counter(read(folder / "heard", "effects"))
        assert max(heard.values()) == 1
        assert len(heard) in (4, 5)  # the one that was being announced may be lost
    assert ends[-signal.SIGKILL] >= 12
