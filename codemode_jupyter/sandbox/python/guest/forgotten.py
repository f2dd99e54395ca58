"""What a program began and did not wait for, said when it ends.

Owns: finding coroutines that were never awaited, tasks that still run and errors that nobody has seen, wherever the
program keeps them. Those it has dropped were told by the interpreter at once.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
import types
import warnings
from typing import Any

from .tracebacks import own_origin


def warn(loop: asyncio.AbstractEventLoop, ending: asyncio.Task[Any] | None) -> None:
    """Warn of all that is left when the task ``ending`` ends the program."""
    running = {task for task in asyncio.all_tasks(loop) if task is not ending}
    awaited = {task.get_coro() for task in running}
    for task in running:
        _warn_running(task.get_coro())
    for left in gc.get_objects():
        # Not `isinstance`: what the program has made may answer anything, or raise.
        if issubclass(type(left), asyncio.Future) and left.done() and left not in running:
            left.__del__()  # tells of an error that nobody has seen, once
        elif type(left) is types.CoroutineType and left not in awaited and _is_unawaited(left):
            warnings._warn_unawaited_coroutine(left)  # type: ignore[attr-defined]  # noqa: SLF001  the console's
            left.close()


def _is_unawaited(coroutine: Any) -> bool:
    return inspect.getcoroutinestate(coroutine) == inspect.CORO_CREATED


def _warn_running(coroutine: Any) -> None:
    origin = own_origin(getattr(coroutine, "cr_origin", None))
    if origin is not None:
        text = f"{coroutine.__qualname__}() was still running when the program ended: await it, or its task."
        warnings.warn_explicit(text, RuntimeWarning, *origin)
