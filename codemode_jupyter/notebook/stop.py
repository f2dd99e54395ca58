"""The Stop button (and Ctrl-C): awaiting work in a cell so that an interrupt ends it within a second.

Owns: how a cell waits, what an interrupt does to the work, and the one line that is shown. Never does: knowing what the
work is.

A kernel turns an interrupt into the cancellation of the cell's task, but only once its loop wakes up, so the cell wakes
it every ``TICK``. In a terminal Python would raise in the middle of the loop and leave the task suspended; there an
interrupt is turned into a cancellation as well, for as long as the cell waits.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

TICK = 0.2
"""Seconds after which an interrupt is noticed at the latest."""

CLEAN_UP = 0.6
"""Seconds that interrupted work has to end; after that the cell ends without it."""


class Stopped(KeyboardInterrupt):
    """The person pressed Stop. Shown as one line: there is nothing to debug.

    ``has_ended`` is False when something of the interrupted work was still under way when its time was over.
    """

    def __init__(self, message: str = "", *, has_ended: bool = True) -> None:
        self.has_ended = has_ended
        super().__init__(message)

    def _render_traceback_(self) -> list[str]:
        return [f"Stopped: {self}"]


async def until_done(work: Coroutine[Any, Any, T]) -> T:
    """Await ``work``; an interrupt cancels it.

    Raises
    ------
    Stopped
        Interrupted. ``work`` has ended, or has had `CLEAN_UP` seconds to. Whatever it raises itself is raised as it is.
    """
    task = asyncio.ensure_future(work)
    with _interrupts_cancel():
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=TICK)
        except asyncio.CancelledError:
            raise Stopped(has_ended=await _end(task)) from None
    return task.result()


async def _end(task: asyncio.Future[Any]) -> bool:
    """Cancel ``task``, wait a while for its end, and tell whether it ended. Another interrupt changes nothing."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + CLEAN_UP
    task.cancel()
    while not task.done() and (left := deadline - loop.time()) > 0:
        try:
            await asyncio.wait({task}, timeout=min(TICK, left))
        except asyncio.CancelledError:
            continue
    if task.done() and not task.cancelled():
        task.exception()  # looked at, so that asyncio does not report it: the person asked for the end
    return task.done()


@contextmanager
def _interrupts_cancel() -> Iterator[None]:
    """Turn SIGINT into the cancellation of the current task, where nobody else (a kernel) handles it already."""
    on_main_thread = threading.current_thread() is threading.main_thread()
    if not on_main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    loop, current = asyncio.get_running_loop(), asyncio.current_task()

    def cancel(*_: object) -> None:
        if current is not None:
            loop.call_soon_threadsafe(current.cancel)

    previous = signal.signal(signal.SIGINT, cancel)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
