"""The call of somebody's function: a plain one, which may block, in a thread of its own; an async one on the loop.

Owns: keeping what such a call raises from stopping the event loop or whoever waits. Never does: end the thread.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from codemode_jupyter.errors import CodemodeError


async def call_in_thread(name: str, call: Callable[[], Any]) -> Any:
    """Return what a call returns, run in a thread with the caller's context variables.

    Raises
    ------
    CodemodeError
        ``tool_exited``: it tried to end the process.
    """

    def guarded() -> Any:
        try:
            return call()
        except StopIteration as stop:  # a future cannot carry it: whoever awaits would wait for ever
            raise RuntimeError(f"{name} raised StopIteration") from stop
        except (SystemExit, KeyboardInterrupt) as exit_:  # it must not end the kernel
            raise _exited(name, exit_) from None

    return await asyncio.to_thread(guarded)


async def call_on_loop(name: str, call: Callable[[], Any]) -> Any:
    """Return what a call returns, awaited where it can be.

    To be used in the innermost task: a ``SystemExit`` that leaves any task ends the event loop, and so the kernel.

    Raises
    ------
    CodemodeError
        ``tool_exited``: it tried to end the process.
    """
    try:
        result = call()
        return await result if inspect.isawaitable(result) else result
    except SystemExit as exit_:
        raise _exited(name, exit_) from None


def _exited(name: str, exit_: BaseException) -> CodemodeError:
    """Return the error of a tool that tried to end the process."""
    return CodemodeError("tool_exited", f"{name} tried to end the process ({exit_!r}) instead of returning.")
