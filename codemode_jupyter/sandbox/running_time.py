"""The stopwatch of a pass: it runs while the program has the word and stands while the kernel has it.

Owns: the running time and the moment it is used up. Never does: end anything itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class RunningTime:
    """Counts the seconds that a program runs and calls back once when they are used up.

    Parameters
    ----------
    limit : float
        Allowed running time in seconds.
    on_expired : callable
        Called on the event loop when the limit is reached.
    """

    def __init__(self, limit: float, on_expired: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._left = limit
        self._on_expired = on_expired
        self._since: float | None = None
        self._alarm: asyncio.TimerHandle | None = None

    def run(self) -> None:
        """Let the time run, if it stands."""
        if self._since is not None:
            return
        self._since = self._loop.time()
        # The word changes hands with every call; one alarm serves many turns and sees for itself whether it is early.
        if self._alarm is None:
            self._set_alarm()

    def stand(self) -> None:
        """Let the time stand, if it runs."""
        if self._since is not None:
            self._left -= self._loop.time() - self._since
            self._since = None

    def close(self) -> None:
        """Let the time stand for good."""
        self.stand()
        if self._alarm is not None:
            self._alarm.cancel()

    def _set_alarm(self) -> None:
        self._alarm = self._loop.call_later(max(0.0, self._left), self._ring)

    def _ring(self) -> None:
        self._alarm = None
        if self._since is None:
            return
        self.stand()
        if self._left <= 0:
            self._on_expired()
        else:
            self.run()
