"""Places for passes: how many run at once in one executor, and who comes next.

Owns: the number of places, the order of those that wait, and that no pass waits for one that waits for it.
Never does: know what a pass is, or for how long it has its place.

A tool may run another program. That one must not wait for a place which the program that called the tool gives back
only afterwards, so each level of nesting has places of its own.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from codemode_jupyter.errors import CodemodeError

MAX_PASSES = 8
"""How many passes run at once by default. Each has a thread and some 10 MB; more of them than processors only makes all
of them slow, but those that wait for tools need no processor."""

_nesting: ContextVar[int] = ContextVar("codemode_nesting", default=0)
"""How many passes, one within a tool of the other, the present code runs in."""


@dataclass(slots=True)
class _Level:
    taken: int = 0
    waiting: deque[tuple[asyncio.Future[None], int]] = field(default_factory=deque)


class Pool:
    """A number of places, given away in the order in which they were asked for.

    May be used from several event loops, in several threads.

    Parameters
    ----------
    size : int
        How many places there are on each level of nesting.

    Raises
    ------
    CodemodeError
        ``invalid_option``: the size is no whole number above 0.
    """

    def __init__(self, size: int) -> None:
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise CodemodeError("invalid_option", f"`max_passes` is {size!r}.", hint="Use a whole number, 1 or more.")
        self._size = size
        self._levels: defaultdict[int, _Level] = defaultdict(_Level)

    @property
    def waiting(self) -> int:
        """How many wait for a place."""
        return sum(len(level.waiting) for level in self._levels.values())

    @asynccontextmanager
    async def place(self, *, alone: bool = False) -> AsyncIterator[None]:
        """Hold a place; wait for one where all are taken. Cancelling gives it, or the waiting, up.

        Parameters
        ----------
        alone : bool, default False
            Hold all the places of this level: nobody else has one meanwhile.
        """
        nesting = _nesting.get()
        level = self._levels[nesting]
        count = self._size if alone else 1
        await self._take(level, count)
        token = _nesting.set(nesting + 1)
        try:
            yield
        finally:
            _nesting.reset(token)
            self._give_back(level, count)

    async def _take(self, level: _Level, count: int) -> None:
        if not level.waiting and level.taken + count <= self._size:
            level.taken += count
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waits = (turn, count)
        level.waiting.append(waits)
        try:
            await turn
        except asyncio.CancelledError:
            if waits in level.waiting:
                level.waiting.remove(waits)
                self._call_up(level)  # it may have held up others that need less
            else:
                self._give_back(level, count)
            raise

    def _give_back(self, level: _Level, count: int) -> None:
        level.taken -= count
        self._call_up(level)

    def _call_up(self, level: _Level) -> None:
        """Give places to those that wait longest."""
        while level.waiting and level.taken + level.waiting[0][1] <= self._size:
            turn, count = level.waiting.popleft()
            loop = turn.get_loop()
            if loop.is_closed():
                continue
            level.taken += count
            loop.call_soon_threadsafe(_settle, turn)


def _settle(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)
