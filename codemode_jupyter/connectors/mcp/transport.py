"""How a server is reached: what a connection needs of either way.

Owns: the interface, the bound of one message, and its words. Never does: open anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from typing import Protocol, TypeAlias

from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, ErrorData

from codemode_jupyter.connectors.redaction import Redactor
from codemode_jupyter.errors import CodemodeError

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


def checked_texts(given: Mapping[str, str] | None, option: str) -> dict[str, str]:
    """Return a mapping of texts.

    Raises
    ------
    CodemodeError
        ``invalid_option``: it holds something else.
    """
    for name, value in dict(given or {}).items():
        if not isinstance(name, str) or not isinstance(value, str):
            kind = type(value).__name__  # the value itself may be a secret
            raise CodemodeError(
                "invalid_option", f"{option} has a value of type {kind} under {name!r:.100}; it takes texts."
            )
    return dict(given or {})


def no_answer() -> ErrorData:
    """Return the error in place of an answer that JSON-RPC does not have, such as a result that is null."""
    return ErrorData(code=INTERNAL_ERROR, message="The server gave an answer that the protocol does not have.")


def too_large(size: int) -> ErrorData:
    """Return the error in place of an answer that was not read."""
    limit = MAX_MESSAGE_BYTES // (1024 * 1024)
    message = f"The answer of the server is too large: {size:,} bytes, the limit is {limit} MiB."
    return ErrorData(code=INTERNAL_ERROR, message=message)
