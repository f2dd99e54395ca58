"""The blocking form of a coroutine, with or without a running loop.

Owns: running nested in a loop that already runs. Never does: patch a loop unless asked for the blocking form.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from codemode_jupyter.errors import CodemodeError

T = TypeVar("T")


def run_blocking(coroutine: Coroutine[Any, Any, T], release: Callable[[], Awaitable[None]]) -> T:
    """Return what a coroutine returns, blocking until then.

    Parameters
    ----------
    release : callable
        Frees what belongs to the loop; called when the loop was made for this one coroutine.

    Raises
    ------
    CodemodeError
        ``cannot_block``: a loop is running here, and nest-asyncio2, which makes it run nested, is not installed.
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_then_release(coroutine, release))
    try:
        import nest_asyncio2  # type: ignore[import-untyped]  # noqa: PLC0415  only the blocking form in a loop needs it
    except ImportError:
        coroutine.close()
        raise CodemodeError(
            "cannot_block",
            "The blocking form cannot be used here, because an event loop is running.",
            hint="Use `await runtime.execute(…)`, or `pip install nest-asyncio2`.",
        ) from None
    nest_asyncio2.apply(loop)
    return loop.run_until_complete(coroutine)


def is_loop_running() -> bool:
    """Tell whether an event loop runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _then_release(coroutine: Coroutine[Any, Any, T], release: Callable[[], Awaitable[None]]) -> T:
    try:
        return await coroutine
    finally:
        await release()
