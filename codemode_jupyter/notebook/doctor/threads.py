"""Blocking work with a limit: a file system or program that hangs must hang neither the cell nor the kernel's end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """Return what ``work`` returns, or raise what it raises; when cancelled it is left behind in its thread.

    The thread is a daemon, unlike those of ``asyncio.to_thread``: Python does not wait for it when it ends.
    """
    outcome: Future[T] = Future()
    outcome.set_running_or_notify_cancel()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:  # noqa: BLE001  handed over to whoever waits
            outcome.set_exception(error)

    threading.Thread(target=run, name="codemode doctor", daemon=True).start()
    return await asyncio.wrap_future(outcome)
