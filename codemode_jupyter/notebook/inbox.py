"""The inbox of a notebook: how detached runs ended, kept until a person has seen it.

Owns: what has arrived and was not seen yet. Never does: show it, or store it. The hook does not return before the exit
was seen, so an exit that nobody saw arrives again after a restart of the kernel, like any that was not delivered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codemode_jupyter.runtime.detached_exit import DetachedExit


class Inbox:
    """Exits that have arrived and that nobody has seen yet."""

    def __init__(self) -> None:
        self._unseen: dict[str, tuple[DetachedExit, asyncio.Event]] = {}
        self._callbacks: dict[object, Callable[[], None]] = {}

    @property
    def unseen(self) -> list[DetachedExit]:
        """What has arrived and was not seen yet, oldest first."""
        return sorted((exit_ for exit_, _ in self._unseen.values()), key=lambda exit_: exit_.ended_at)

    async def arrive(self, exit_: DetachedExit) -> None:
        """Keep an exit until it was seen: the hook for detached runs."""
        seen = asyncio.Event()
        self._unseen[exit_.id] = (exit_, seen)
        self._changed()
        try:
            await seen.wait()
        finally:
            del self._unseen[exit_.id]
            self._changed()

    def see(self, exit_id: str) -> bool:
        """Let go of an exit that was seen; tell whether it was there."""
        if exit_id not in self._unseen:
            return False
        self._unseen[exit_id][1].set()
        return True

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback`` whenever something arrives or is seen; the returned function ends that."""
        key = object()
        self._callbacks[key] = callback
        return lambda: self._callbacks.pop(key, None) and None

    def _changed(self) -> None:
        for callback in list(self._callbacks.values()):
            callback()
