"""The calls of one server that are under way, so that what the server asks or tells finds the card it belongs to.

Owns: which call a message of the server belongs to. Never does: call anything.

Over HTTP the SDK keeps the caller's context with each message. Over stdio the protocol does not say which call a
message belongs to: it is taken for the newest one's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from codemode_jupyter.connectors.tool import ToolContext

_current: ContextVar[ToolContext | None] = ContextVar("mcp_call", default=None)


class CallsUnderWay:
    """The calls under way of one connector, oldest first."""

    def __init__(self) -> None:
        self._calls: list[ToolContext] = []

    @contextmanager
    def during(self, call: ToolContext) -> Iterator[None]:
        """Count a call as under way."""
        token = _current.set(call)
        self._calls.append(call)
        try:
            yield
        finally:
            self._calls = [one for one in self._calls if one is not call]
            _current.reset(token)

    def current(self) -> ToolContext | None:
        """Return the call that a message of the server belongs to; ``None`` when there is none."""
        known = _current.get()
        if known is not None and any(one is known for one in self._calls):
            return known
        return self._calls[-1] if self._calls else None
