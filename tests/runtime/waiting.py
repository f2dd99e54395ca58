"""Waiting for a condition."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


async def until(condition: Callable[[], object]) -> None:
    """Return once ``condition`` is true; fails after ten seconds."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110  what is waited for sets no event
            await asyncio.sleep(0.001)
