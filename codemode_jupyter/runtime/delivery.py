"""Telling how detached executions ended: at least once, to one who is told at a time.

Owns: who is told of an exit, calling the hook, and forgetting the exit once the hook has returned.
Never does: write an exit; the store does, in the transaction that ends the execution.

An exit that the hook refused (it raised), or that it was being told when the kernel died, is told again by the next
runtime of that name that is made on the file with a hook, and by ``recover``. After ``MAX_FAILURES`` refusals only
``recover`` tries again; an exit is never dropped.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections.abc import Awaitable, Callable
from functools import partial

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.detached_exit import DetachedExit, ExitHook, read_exit
from codemode_jupyter.runtime.lease import is_alive
from codemode_jupyter.runtime.store import Store
from codemode_jupyter.runtime.store.rows import ExitRow
from codemode_jupyter.runtime.user_code import ends_the_task

MAX_FAILURES = 5
"""How often the hook may raise for one exit before new runtimes stop telling it; ``recover`` still does."""

SETTLE_SECONDS = 2.0
"""How long a runtime that closes waits for hooks that it cancelled."""

_log = logging.getLogger(__name__)


class Deliveries:
    """The exits that one runtime delivers.

    Parameters
    ----------
    owner : str
        The lease by which others see that somebody is being told.
    shaped : callable
        Makes of an exit what the hook hears.
    """

    def __init__(self, owner: str, shaped: Callable[[DetachedExit], Awaitable[DetachedExit]]) -> None:
        self._owner = owner
        self._shaped = shaped
        self._telling: dict[str, asyncio.Task[None]] = {}
        self._told: set[str] = set()

    def look(self, store: Store, hook: ExitHook | None, *, again: bool = False) -> None:
        """Begin to tell ``hook`` of the exits that nobody is being told of.

        ``again``: also of those that it refused before. Faults of the store are logged: what ended has ended.
        """
        if hook is None:
            return
        try:
            rows = [row for row in store.exits.all() if row.id not in self._telling]
            for row in rows:
                if again or (row.id not in self._told and row.failures < MAX_FAILURES):
                    self._begin(store, hook, row)
        except CodemodeError:
            _log.exception("The ends of detached runs could not be delivered; `recover()` tries again.")

    async def close(self, store: Store) -> None:
        """Give up what is under way; it is told again when a runtime is next made on the file.

        Waits at most ``SETTLE_SECONDS`` for hooks to end; one that calls this itself is not waited for.
        """
        loop, present = asyncio.get_running_loop(), asyncio.current_task()
        ending = {task for task in self._telling.values() if task is not present and task.get_loop() is loop}
        for task in ending:
            task.cancel()
        if ending:
            await asyncio.wait(ending, timeout=SETTLE_SECONDS)
            await asyncio.sleep(0)  # those that ended leave their exits
        for exit_id in list(self._telling):
            del self._telling[exit_id]
            self._leave(store, exit_id, failed=False)

    def _begin(self, store: Store, hook: ExitHook, row: ExitRow) -> None:
        if is_alive(row.owner, time.time(), time.time()):
            return
        with store.transaction(durable=False) as connection:
            if not store.exits.claim(connection, row, self._owner):
                return
        self._told.add(row.id)
        task = asyncio.get_running_loop().create_task(self._tell(store, hook, row), name=f"delivery of {row.id}")
        self._telling[row.id] = task
        task.add_done_callback(partial(self._over, store, row))

    async def _tell(self, store: Store, hook: ExitHook, row: ExitRow) -> None:
        heard = await self._shaped(read_exit(row))
        try:
            answer = hook(heard)
            if inspect.isawaitable(answer):
                await answer
        except BaseException as error:
            if isinstance(error, Exception) or ends_the_task(error):
                raise
            raise RuntimeError(f"the hook raised {error!r}") from error  # as it is, it could end the event loop
        with store.transaction(durable=False) as connection:
            store.exits.delete(connection, row.id)

    def _over(self, store: Store, row: ExitRow, telling: asyncio.Task[None]) -> None:
        """Leave an exit that was not delivered to whoever asks next."""
        fault = None if telling.cancelled() else telling.exception()
        if self._telling.pop(row.id, None) is None:
            return  # it was given up
        if fault is not None:
            what = "The hook for the end of %s failed; it is called again by the next runtime, and by `recover()`."
            _log.error(what, row.execution, exc_info=fault)
        elif not telling.cancelled():
            return
        self._leave(store, row.id, failed=fault is not None)

    def _leave(self, store: Store, exit_id: str, *, failed: bool) -> None:
        try:
            with store.transaction(durable=False) as connection:
                store.exits.release(connection, exit_id, self._owner, failed=failed)
        except CodemodeError:
            _log.exception("Exit %s stays with this process until it ends.", exit_id)
