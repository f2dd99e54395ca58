"""Who wants to know when an execution changes.

Owns: subscriptions, and telling each change of one tick once. Never does: say what changed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

_log = logging.getLogger(__name__)


class Watchers:
    """Subscriptions of one runtime."""

    def __init__(self) -> None:
        self._callbacks: dict[object, Callable[[str], None]] = {}
        self._changed: set[str] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def subscribe(self, callback: Callable[[str], None]) -> Callable[[], None]:
        """Add a callback; the returned function takes it away again."""
        key = object()
        self._callbacks[key] = callback

        def unsubscribe() -> None:
            self._callbacks.pop(key, None)

        return unsubscribe

    def tell(self, execution_id: str) -> None:
        """Tell subscribers, soon and once, that an execution changed."""
        if not self._callbacks:
            return
        loop = asyncio.get_running_loop()
        if not self._changed or loop is not self._loop:  # an older loop may have ended before it delivered
            self._loop = loop
            loop.call_soon(self._deliver)
        self._changed.add(execution_id)

    async def changed(self, execution_id: str, *, timeout: float | None = None) -> None:  # noqa: ASYNC109  a pause between two looks, not a limit
        """Return when the execution changed, or after ``timeout`` seconds (``None``: only then)."""
        event = asyncio.Event()
        unsubscribe = self.subscribe(lambda changed: event.set() if changed == execution_id else None)
        try:
            async with asyncio.timeout(timeout):
                await event.wait()
        except TimeoutError:
            pass
        finally:
            unsubscribe()

    def _deliver(self) -> None:
        changed, self._changed = self._changed, set()
        for callback in list(self._callbacks.values()):
            for execution_id in changed:
                try:
                    callback(execution_id)
                except Exception:  # noqa: BLE001  one subscriber must not spoil the others
                    _log.exception("A subscriber failed.")
