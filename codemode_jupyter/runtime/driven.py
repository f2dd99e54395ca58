"""The executions that are being driven in this process.

Owns: one task for each, awaiting it, and ending it from outside. Never does: the driving itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from codemode_jupyter.runtime.driver import ExecutionDriver
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
    task.cancel()
    await asyncio.wait({task}, timeout=STOP_SECONDS)
