"""The user's own last word on a result.

Owns: calling ``transform_result``, and the raw result when it fails. Never does: change what is stored.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

from codemode_jupyter.runtime.user_code import ends_the_task


async def transformed(transform: Callable[[Any], Any], value: Any) -> Any:
    """Return a result as ``transform`` (plain or coroutine function) reshapes it; the value itself when that fails."""
    try:
        changed = transform(value)
        return await changed if inspect.isawaitable(changed) else changed
    except BaseException as error:
        if ends_the_task(error):
            raise
        warnings.warn(f"transform_result failed ({error!r}); the raw result is returned.", stacklevel=2)
        return value
