"""The executions that are being driven in this process.

Owns: one task for each, awaiting it, letting it go, and ending it from outside. Never does: the driving itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any

from codemode_jupyter.connectors.questions import Action
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.call_ids import CallId
from codemode_jupyter.runtime.driver import ExecutionDriver
from codemode_jupyter.runtime.live_call import LiveCall
from codemode_jupyter.runtime.records import ConsoleRecord

STOP_SECONDS = 8.0
"""How long the end of a stopped execution is waited for."""


@dataclass(frozen=True, slots=True, eq=False)
class Driving:
    """One execution that is being driven. ``released`` is done once nobody awaits it any more."""

    driver: ExecutionDriver
    task: asyncio.Task[None]
    released: asyncio.Future[None]

    @property
    def fault(self) -> BaseException | None:
        """Why driving failed, if it did."""
        if self.task.done() and not self.task.cancelled() and (fault := self.task.exception()) is not None:
            return fault
        return self.driver.never_started

    async def attend(self, seconds: float | None = None, until: Coroutine[Any, Any, None] | None = None) -> None:
        """Return when it is paused, over or released, after ``seconds``, or when ``until`` is done.

        Cancelling this ends the execution, unless it is released.
        """
        other = [] if until is None else [asyncio.create_task(until)]
        ends: set[asyncio.Future[None]] = {self.task, self.released, *other}
        try:
            await asyncio.wait(ends, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            if not self.released.done():
                await self.end()
            raise
        finally:
            for one in other:
                one.cancel()

    async def end(self) -> None:
        """Stop it."""
        self.driver.is_stopped = True
        # A task that is cancelled before its first step never runs, and nobody would write down that it was stopped.
        await asyncio.sleep(0)
        self.task.cancel()
        await asyncio.wait({self.task}, timeout=STOP_SECONDS)


class DrivenExecutions:
    """Drivers of one runtime, by execution."""

    def __init__(self) -> None:
        self._driven: dict[str, Driving] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._driven))

    def console(self, execution_id: str) -> list[ConsoleRecord] | None:
        """Return what the present pass printed so far; ``None`` when the execution is not driven here."""
        driven = self._driven.get(execution_id)
        return None if driven is None else driven.driver.console

    def waits_for_turn(self, execution_id: str) -> bool:
        """Tell whether an execution waits here until the sandbox takes it."""
        driven = self._driven.get(execution_id)
        return driven is not None and driven.driver.waits_for_turn

    def preparation(self, execution_id: str) -> str:
        """Return what an execution waits for here before its pass begins, in words, where that is not its turn."""
        driven = self._driven.get(execution_id)
        return "" if driven is None else driven.driver.preparation

    def live_calls(self, execution_id: str) -> dict[int, LiveCall]:
        """Return the calls of an execution that run now, by ``seq``."""
        driven = self._driven.get(execution_id)
        return {} if driven is None else driven.driver.live

    def respond(self, call: CallId, digest: str | None, action: Action, content: object) -> None:
        """Answer a question that a running call asks.

        Raises
        ------
        CodemodeError
            ``stale_decision``, ``invalid_answer``: nothing was changed.
        """
        live = self.live_calls(call.execution_id).get(call.seq)
        if live is None or call.live is None:
            raise CodemodeError("stale_decision", f"The call of {call} asks nothing (any more).")
        live.respond(call.live, digest, action, content)

    def start(
        self, execution_id: str, driver: ExecutionDriver, over: Callable[[Driving, BaseException | None], None]
    ) -> Driving:
        """Begin to drive an execution; ``over`` is called when it is paused or has ended, or why that failed."""
        task = asyncio.create_task(driver.drive(), name=f"execution {execution_id}")
        driving = self._driven[execution_id] = Driving(driver, task, asyncio.get_running_loop().create_future())

        def end(_: object) -> None:
            # Somebody may have approved in the moment it paused, and drive it already.
            if self._driven.get(execution_id) is driving:
                del self._driven[execution_id]
            over(driving, None if task.cancelled() else task.exception())

        task.add_done_callback(end)
        return driving

    def release(self, execution_id: str) -> None:
        """Let whoever awaits an execution go; it goes on."""
        driving = self._driven.get(execution_id)
        if driving is not None and not driving.released.done():
            driving.released.set_result(None)

    async def stop(self, execution_id: str) -> bool:
        """End an execution; tell whether it was driven here."""
        driven = self._driven.get(execution_id)
        if driven is None:
            return False
        await driven.end()
        return True
