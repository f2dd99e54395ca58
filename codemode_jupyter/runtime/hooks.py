"""The hooks of connectors: after each pass, when an execution is over, and when the runtime closes.

Owns: calling them for every connector, used or not, each within a bounded time, their errors only logged.
Never does: let a hook change what came of an execution.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable

from codemode_jupyter.runtime.capabilities import Capabilities
from codemode_jupyter.runtime.user_code import ends_the_task

HOOK_SECONDS = 10.0
"""How long one hook may take."""

_log = logging.getLogger(__name__)


async def pass_ended(capabilities: Capabilities, execution_id: str, status: str) -> None:
    """Tell every connector that a pass paused or ended."""
    for connector in capabilities.connectors:
        await _call(f"{connector.name}.on_pass_end", connector.on_pass_end, execution_id, status)


async def dispose(capabilities: Capabilities, execution_id: str, reason: str) -> None:
    """Tell every connector that an execution is over."""
    for connector in capabilities.connectors:
        await _call(f"{connector.name}.dispose_execution", connector.dispose_execution, execution_id, reason)


async def close_connectors(capabilities: Capabilities) -> None:
    """Have every connector let go of what it holds; they are closed side by side."""
    await asyncio.gather(*(_call(f"{one.name}.close", one.close) for one in capabilities.connectors))


async def _call(name: str, hook: Callable[..., object], *words: str) -> None:
    try:
        answer = hook(*words)
        if inspect.isawaitable(answer):
            async with asyncio.timeout(HOOK_SECONDS):
                await answer
    except BaseException as error:  # the hook is the user's own
        if ends_the_task(error):
            raise
        _log.exception("The hook %s failed.", name)
