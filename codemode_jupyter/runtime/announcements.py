"""Telling that a call waits for a person: once for each wait, over restarts too.

Owns: which waits were announced (noted in the store before the hook is called, so that no two kernels announce one and
a restart announces none again), and calling the hook beside the run. Never does: wait, or decide anything.

A kernel that dies between the note and the end of the hook loses that announcement; ``pending`` lists the call anyway.
One that dies before leaves the wait to ``recover``, which announces what nobody has announced.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.records import PendingCall
from codemode_jupyter.runtime.store import Store
from codemode_jupyter.runtime.user_code import ends_the_task

WaitHook: TypeAlias = Callable[[PendingCall], Any]
"""Hears that a call has begun to wait for a person; plain, or async."""

SETTLE_SECONDS = 10.0
"""How long the end of hooks is waited for when the runtime is closed."""

_log = logging.getLogger(__name__)


class Announcements:
    """What one runtime announces.

    Parameters
    ----------
    hook : callable
        Called with each call that has begun to wait.
    pending : callable
        Returns what waits, of one execution or of all.
    store : callable
        Returns the open store.
    """

    def __init__(
        self,
        hook: WaitHook,
        pending: Callable[[str | None], Awaitable[list[PendingCall]]],
        store: Callable[[], Store],
    ) -> None:
        self._hook = hook
        self._pending = pending
        self._store = store
        self._looks: dict[str | None, asyncio.Task[None]] = {}
        self._behind: set[str | None] = set()
        self._told: set[str] = set()
        self._hooks: set[asyncio.Task[None]] = set()

    def look(self, execution_id: str | None = None) -> None:
        """Announce what has begun to wait, of one execution or of all; must be called on the loop."""
        under_way = self._looks.get(execution_id)
        if under_way is not None and not under_way.done():
            self._behind.add(execution_id)
            return
        self._looks[execution_id] = asyncio.create_task(self._look(execution_id), name="announce what waits")

    async def settle(self) -> None:
        """Wait for what is being announced, at most ``SETTLE_SECONDS``."""
        await asyncio.sleep(0)  # the last change is told in the next turn of the loop
        loop = asyncio.get_running_loop()
        under_way = {task for task in (*self._looks.values(), *self._hooks) if task.get_loop() is loop}
        if under_way:
            await asyncio.wait(under_way, timeout=SETTLE_SECONDS)
        if begun := {task for task in self._hooks if task.get_loop() is loop}:
            await asyncio.wait(begun, timeout=SETTLE_SECONDS)

    async def _look(self, execution_id: str | None) -> None:
        try:
            self._behind.add(execution_id)
            while execution_id in self._behind:
                self._behind.discard(execution_id)
                for call in await self._pending(execution_id):
                    self._announce(call)
                    await asyncio.sleep(0)  # the hook begins before the next wait is noted
        except CodemodeError:
            _log.exception("What waits could not be announced.")
        finally:
            self._looks.pop(execution_id, None)

    def _announce(self, call: PendingCall) -> None:
        wait = f"{call.kind} {call.call_id}"
        if wait in self._told:
            return
        store = self._store()
        with store.transaction() as connection:
            is_first = store.journal.announce(connection, call.execution_id, wait)
        self._told.add(wait)
        if is_first:
            task = asyncio.create_task(self._tell(call), name=f"on_wait of {call.call_id}")
            self._hooks.add(task)
            task.add_done_callback(self._hooks.discard)

    async def _tell(self, call: PendingCall) -> None:
        try:
            answer = self._hook(call)
            if inspect.isawaitable(answer):
                await answer
        except BaseException as error:  # the hook is the user's own
            if ends_the_task(error):
                raise
            _log.exception("The hook on_wait failed for %s.", call.call_id)
