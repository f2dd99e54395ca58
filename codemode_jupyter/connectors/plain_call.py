"""A plain call that may block, in a thread of its own.

Owns: keeping what such a call raises from stopping the event loop or whoever waits. Never does: end the thread.
"""

from __future__ import annotations

import asyncio
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
            raise exited(name, exit_) from None

    return await asyncio.to_thread(guarded)


def exited(name: str, exit_: BaseException) -> CodemodeError:
    """Return the error of a tool that tried to end the process."""
    return CodemodeError("tool_exited", f"{name} tried to end the process ({exit_!r}) instead of returning.")
