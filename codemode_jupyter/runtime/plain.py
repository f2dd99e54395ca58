"""Values and outcomes as a model reads them: JSON and nothing else.

Owns: the loss that this form accepts (dates and large integers as text, bytes as their number). Never does: raise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

MAX_DEPTH = 100
"""Levels after which a value is cut off."""

_MAX_SAFE_INTEGER = 2**53 - 1


def plain(value: Any, depth: int = 0) -> Any:  # noqa: PLR0911  one line for each type
    """Return a value as JSON types only."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _MAX_SAFE_INTEGER else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return f"[{len(value)} bytes]"
    if isinstance(value, date):
        return value.isoformat()
    if depth >= MAX_DEPTH:
        return "[nested too deeply]"
    if isinstance(value, Mapping):
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item, depth + 1) for item in value]
    return str(value)


def with_console(text: str, logs: Sequence[str]) -> str:
    """Return an error text with the console lines below it."""
    return f"{text}\n\nConsole output:\n{chr(10).join(logs)}" if logs else text
