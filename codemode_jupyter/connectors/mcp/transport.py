"""How a server is reached: what a connection needs of either way.

Owns: the interface, the bound of one message, and its words. Never does: open anything.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from typing import Protocol, TypeAlias

from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, ErrorData

from codemode_jupyter.connectors.redaction import Redactor

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""Largest message that is read, in bytes."""

refusals: ContextVar[list[int] | None] = ContextVar("mcp_refusals", default=None)
"""The HTTP statuses by which a server refused requests of the call whose context this is."""

Streams: TypeAlias = tuple[ReadStream[SessionMessage | Exception], WriteStream[SessionMessage]]


class Server(Protocol):
    """A way to a server."""

    name: str
    """How messages name it; holds no secret."""

    redaction: Redactor

    def open(self) -> AbstractAsyncContextManager[Streams]:
        """Connect: two streams of messages, until the context is left."""

    def last_words(self) -> str:
        """Return what the server said last outside the protocol, without secrets; empty when nothing is known."""


def too_large(size: int) -> ErrorData:
    """Return the error in place of an answer that was not read."""
    limit = MAX_MESSAGE_BYTES // (1024 * 1024)
    message = f"The answer of the server is too large: {size:,} bytes, the limit is {limit} MiB."
    return ErrorData(code=INTERNAL_ERROR, message=message)
