"""The executions that are being driven in this process.

Owns: one task for each, awaiting it, and ending it from outside. Never does: the driving itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from codemode_jupyter.connectors.questions import Action
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.driver import ExecutionDriver
from codemode_jupyter.runtime.live_call import LiveCall
from codemode_jupyter.runtime.records import ConsoleRecord

STOP_SECONDS = 8.0
"""How long the end of a stopped execution is waited for."""


class DrivenExecutions:
    """Drivers of one runtime, by execution."""

    def __init__(self) -> None:
        self._driven: dict[str, tuple[ExecutionDriver, asyncio.Task[None]]] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._driven))

    def console(self, execution_id: str) -> list[ConsoleRecord] | None:
        """Return what the present pass printed so far; ``None`` when the execution is not driven here."""
        driven = self._driven.get(execution_id)
        return None if driven is None else driven[0].console

    def waits_for_turn(self, execution_id: str) -> bool:
        """Tell whether an execution waits here until the sandbox takes it."""
        driven = self._driven.get(execution_id)
        return driven is not None and driven[0].waits_for_turn

    def live_calls(self, execution_id: str) -> dict[int, LiveCall]:
        """Return the calls of an execution that run now, by ``seq``."""
        driven = self._driven.get(execution_id)
        return {} if driven is None else driven[0].live

    def respond(self, execution_id: str, seq: int, digest: str | None, action: Action, content: object) -> None:
        """Answer a question that a running call asks.

        Raises
        ------
        CodemodeError
            ``stale_decision``, ``invalid_answer``: nothing was changed.
        """
        live = self.live_calls(execution_id).get(seq)
        if live is None:
            raise CodemodeError("stale_decision", f"Call {seq} of execution {execution_id} asks nothing (any more).")
        live.respond(digest, action, content)

    async def drive(self, execution_id: str, driver: ExecutionDriver) -> BaseException | None:
        """Drive an execution until it is paused or over; return why that failed, if it did.

        Cancelling this ends the execution.
        """
        task = asyncio.create_task(driver.drive(), name=f"execution {execution_id}")
        driven = self._driven[execution_id] = (driver, task)
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            await _end(task)
            raise
        finally:
            # Somebody may have approved in the moment it paused, and drive it already.
            if self._driven.get(execution_id) is driven:
                del self._driven[execution_id]
        return driver.never_started if task.cancelled() else task.exception() or driver.never_started

    async def stop(self, execution_id: str) -> bool:
        """End an execution; tell whether it was driven here."""
        driven = self._driven.get(execution_id)
        if driven is None:
            return False
        await _end(driven[1])
        return True


async def _end(task: asyncio.Task[None]) -> None:
    # A task that is cancelled before its first step never runs, and nobody would write down that it was stopped.
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task}, timeout=STOP_SECONDS)
