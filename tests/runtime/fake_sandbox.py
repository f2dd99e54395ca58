"""An executor whose programs are Python coroutine functions: the contract of a sandbox without a sandbox.

It numbers calls in issue order, serves recorded ones from the log, lets one event happen at a time, settles promises
in the recorded order, and never settles a call that waits for a person. With ``lose`` it gives passes up on purpose,
as a closed tab would.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from typing import Any, Literal

from codemode_jupyter.runtime import values
from codemode_jupyter.sandbox.protocol import (
    STEP_CONNECTOR,
    CallBatch,
    CallRequest,
    Event,
    PassEnd,
    PassHandler,
    PassRequest,
    Reply,
    StepResult,
)

Lose = Literal["never", "after each outcome", "after each batch"]


class ThrownError(Exception):
    """A failed call, as the program sees it."""

    def __init__(self, name: str, message: str, text: str) -> None:
        self.name = name
        self.message = message
        self.text = text
        super().__init__(message)


class Promise:
    """Something a program awaits."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._waiting: list[Task] = []
        self.settled = False
        self._value: Any = None
        self._error: BaseException | None = None

    def resolve(self, value: Any) -> None:
        self._settle(value, None)

    def reject(self, error: BaseException) -> None:
        self._settle(None, error)

    def result(self) -> Any:
        if self._error is not None:
            raise self._error
        return self._value

    def _settle(self, value: Any, error: BaseException | None) -> None:
        self.settled, self._value, self._error = True, value, error
        self._scheduler.ready.extend(self._waiting)
        self._waiting.clear()

    def __await__(self) -> Generator[Promise, None, Any]:
        if not self.settled:
            yield self
        return self.result()

    def add(self, task: Task) -> None:
        self._waiting.append(task)


class Task(Promise):
    """A coroutine of the program, run by the scheduler."""

    def __init__(self, scheduler: Scheduler, coroutine: Coroutine[Any, Any, Any]) -> None:
        super().__init__(scheduler)
        self._coroutine = coroutine
        scheduler.ready.append(self)

    def step(self) -> None:
        try:
            promise = self._coroutine.send(None)
        except StopIteration as end:
            self.resolve(end.value)
        except Exception as error:  # noqa: BLE001  the program's own
            self.reject(error)
        else:
            if promise.settled:
                self._scheduler.ready.append(self)
            else:
                promise.add(self)

    def close(self) -> None:
        """Unwind the coroutine, so that Python does not complain.

        A Worker would just be gone. What it does now counts for nothing.
        """
        for _ in range(10):
            try:
                self._coroutine.close()
            except RuntimeError:  # it awaits in a finally block
                continue
            return


class Scheduler:
    """Runs coroutines in a fixed order until none can go on."""

    def __init__(self) -> None:
        self.ready: list[Task] = []

    def run(self) -> None:
        while self.ready:
            self.ready.pop(0).step()


class Program:
    """What a fake program is called with: its connectors, clock and console."""

    def __init__(self, fake_pass: FakePass) -> None:
        self._pass = fake_pass

    def call(self, path: str, *arguments: Any) -> Promise:
        connector, method = path.split(".", 1)
        return self._pass.issue(connector, method, arguments, None)

    def step(self, name: str, function: Callable[[], Any]) -> Promise:
        return self._pass.issue(STEP_CONNECTOR, name, (), function)

    async def gather(self, *awaitables: Awaitable[Any]) -> list[Any]:
        tasks = [self._pass.spawn(_awaited(awaitable)) for awaitable in awaitables]
        return [await task for task in tasks]

    async def first(self, *awaitables: Awaitable[Any]) -> Any:
        winner = Promise(self._pass.scheduler)

        async def run(awaitable: Awaitable[Any]) -> None:
            value = await awaitable
            if not winner.settled:
                winner.resolve(value)

        for awaitable in awaitables:
            self._pass.spawn(run(awaitable))
        return await winner

    def now(self) -> float:
        return self._pass.clock

    def print(self, text: str, level: str = "log") -> None:
        self._pass.handler.console([(level, text)])  # type: ignore[list-item]


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


class FakePass:
    """One pass of one program."""

    def __init__(self, request: PassRequest, handler: PassHandler, lose: Lose, seen: set[Any]) -> None:
        self.request = request
        self.handler = handler
        self.scheduler = Scheduler()
        self.clock = request.clock
        self._lose = lose
        self._seen = seen
        self._over = False
        self._recorded = {call.seq: call for call in request.calls}
        self._history = list(request.events)
        self._new_events: list[Event] = []
        self._issued: list[CallRequest] = []
        self._unsent: list[CallRequest] = []
        self._promises: dict[int, Promise] = {}
        self._functions: dict[int, Callable[[], Any]] = {}
        self._outcomes: dict[int, Reply] = {}
        self._waiting_for_person: set[int] = set()
        self._arrived = asyncio.Event()
        self._tasks: list[Task] = []

    # The kernel's way in (PassLink)
    def reply(self, replies: Sequence[Reply]) -> None:
        for reply in replies:
            if reply.state == "pending":
                self._waiting_for_person.add(reply.seq)
            elif reply.state == "run":
                self._run_step(reply)
            else:
                self._outcomes[reply.seq] = reply
        self._arrived.set()

    def spawn(self, coroutine: Coroutine[Any, Any, Any]) -> Task:
        task = Task(self.scheduler, coroutine)
        self._tasks.append(task)
        return task

    def issue(
        self, connector: str, method: str, arguments: tuple[Any, ...], function: Callable[[], Any] | None
    ) -> Promise:
        if self._over:
            return Promise(self.scheduler)
        seq = len(self._issued)
        if len(arguments) == 1:
            text = values.encode(arguments[0], limit=None)
        elif arguments:
            items = ",".join(values.encode(item, limit=None) for item in arguments)
            text = f'{{"$type":"arguments","value":[{items}]}}'
        else:
            text = "{}"
        request = CallRequest(seq, connector, method, text)
        self._issued.append(request)
        self._promises[seq] = promise = Promise(self.scheduler)
        if function is not None:
            self._functions[seq] = function
        recorded = self._recorded.get(seq)
        if (
            recorded is not None
            and recorded.state != "open"
            and (recorded.connector, recorded.method, recorded.arguments) == (connector, method, text)
        ):
            self._outcomes[seq] = (
                Reply(seq, "applied", value=recorded.outcome)
                if recorded.state == "applied"
                else Reply(seq, "failed", error=recorded.outcome)
            )
        else:  # new, open, or not the recorded one: the kernel judges
            self._unsent.append(request)
        return promise

    async def run(self, program: Callable[[Program], Coroutine[Any, Any, Any]]) -> PassEnd:
        self.handler.started(self)
        root = self.spawn(program(Program(self)))
        try:
            while True:
                self.scheduler.run()
                await self._flush()
                if root.settled:
                    return self._ended(root)
                if not await self._next_event():
                    if self._waiting_for_person:
                        return self._end("paused")
                    return self._end("timeout", error="Execution timed out.")
        except _Lost:
            return PassEnd("lost")
        except _Diverged as divergence:
            return self._end("diverged", error=str(divergence))
        finally:
            self._over = True
            for task in self._tasks:
                if not task.settled:
                    task.close()

    async def _flush(self) -> None:
        if not self._unsent:
            return
        calls, self._unsent = tuple(self._unsent), []
        events, self._new_events = tuple(self._new_events), []
        self.handler.calls(CallBatch(calls, events))
        await asyncio.sleep(0)
        key = calls[-1].seq
        if self._lose == "after each batch" and key not in self._seen:
            self._seen.add(key)
            raise _Lost

    async def _next_event(self) -> bool:
        """Let one thing happen to the program; ``False`` when nothing can."""
        if self._history:
            kind, number, clock = self._history.pop(0)
            assert kind == "call"
            if number >= len(self._issued):
                raise _Diverged(f"Codemode replay divergence at step {number}: the recorded call was not made.")
            while number not in self._outcomes:
                await self._arrival()
            self.clock = clock
            self._new_events.append(("call", number, clock))
            self._settle(number)
            return True
        while True:
            ready = [seq for seq in self._outcomes if not self._promises[seq].settled] if self._outcomes else []
            if ready:
                seq = ready[0]
                self.clock += 1
                self._new_events.append(("call", seq, self.clock))
                fresh = seq not in self._recorded or self._recorded[seq].state == "open"
                if self._lose == "after each outcome" and fresh and ("outcome", seq) not in self._seen:
                    self._seen.add(("outcome", seq))
                    raise _Lost
                self._settle(seq)
                return True
            if not set(self._promises) - self._waiting_for_person - {s for s, p in self._promises.items() if p.settled}:
                return False
            await self._arrival()

    async def _arrival(self) -> None:
        self._arrived.clear()
        await self._arrived.wait()

    def _settle(self, seq: int) -> None:
        reply, promise = self._outcomes[seq], self._promises[seq]
        if reply.state == "applied":
            assert reply.value is not None
            promise.resolve(values.decode(reply.value))
        else:
            assert reply.error is not None
            fields = values.decode(reply.error)
            promise.reject(ThrownError(fields["name"], fields["message"], reply.error))

    def _run_step(self, reply: Reply) -> None:
        assert reply.token is not None
        try:
            result = StepResult(reply.seq, reply.token, value=values.encode(self._functions[reply.seq](), limit=None))
        except Exception as error:  # noqa: BLE001  the program's own
            result = StepResult(reply.seq, reply.token, error=values.encode_error(error))
        asyncio.get_running_loop().call_soon(self.handler.step_result, result)

    def _ended(self, root: Task) -> PassEnd:
        try:
            return self._end("completed", value=values.encode(root.result(), limit=None))
        except ThrownError as error:
            return self._end("failed", error=error.text, line=1, column=1)
        except Exception as error:  # noqa: BLE001  the program's own
            name = "Error" if type(error) is Exception else type(error).__name__
            text = json.dumps({"$type": "error", "value": {"name": name, "message": str(error)}})
            return self._end("failed", error=text, line=1, column=1)

    def _end(self, kind: Any, **fields: Any) -> PassEnd:
        return PassEnd(kind, issued=len(self._issued), events=tuple(self._new_events), **fields)


class FakeExecutor:
    """Runs Python programs; ``program`` registers one and returns the text to execute."""

    name = "fake"

    def __init__(self, lose: Lose = "never") -> None:
        self.lose: Lose = lose
        self.passes = 0
        self._programs: dict[str, Callable[[Program], Coroutine[Any, Any, Any]]] = {}
        self._seen: dict[str, set[Any]] = {}

    def program(self, function: Callable[[Program], Coroutine[Any, Any, Any]]) -> str:
        key = f"program {len(self._programs)}"
        self._programs[key] = function
        return f"async () => '{key}'"

    async def run_pass(self, request: PassRequest, handler: PassHandler) -> PassEnd:
        self.passes += 1
        key = next(key for key in reversed(self._programs) if f"'{key}'" in request.source)
        seen = self._seen.setdefault(request.execution_id, set())
        return await FakePass(request, handler, self.lose, seen).run(self._programs[key])

    async def close(self) -> None:
        """Nothing is held."""


class _Lost(Exception):  # noqa: N818  a signal
    pass


class _Diverged(Exception):  # noqa: N818  a signal
    pass
