"""Errors that leave functions of the user's own: tools, rules, reverts and hooks.

Owns: telling what such a function raised from what ends the task it runs in. Never does: catch or record.
"""

from __future__ import annotations

import asyncio


def ends_the_task(error: BaseException) -> bool:
    """Tell whether an error is not the function's own but ends the task, and so must not be caught.

    It is the cancellation of the present task by somebody else, the person's interrupt, or the closing of a coroutine.
    Anything else is the function's own: also ``SystemExit``, which would end the event loop and with it the kernel, and
    other errors that are no ``Exception``, which whoever awaits a call would never hear of.
    """
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is not None and task.cancelling() > 0
    return isinstance(error, KeyboardInterrupt | GeneratorExit)
