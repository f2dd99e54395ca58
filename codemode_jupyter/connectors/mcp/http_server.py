"""A server that is reached over streamable HTTP (MCP 2025-11-25, "Transports").

Owns: the HTTP client with its headers, limits of time, and the bound of an answer. Never does: know what a message
means; the SDK's transport does the rest.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import httpx2
from mcp.client.streamable_http import streamable_http_client

from codemode_jupyter.connectors.mcp.secrets import header_secrets, url_secrets
from codemode_jupyter.connectors.mcp.transport import MAX_MESSAGE_BYTES, Streams, checked_texts, refusals, too_large
from codemode_jupyter.connectors.redaction import Redactor
from codemode_jupyter.errors import CodemodeError

_CONNECT_SECONDS = 30.0
_HEADER = re.compile(r"[\t\x20-\x7e\x80-\uffff]*")  # RFC 9110, 5.5: no control characters


class HttpServer:
    """An address; redirects are followed within its origin only.

    Parameters
    ----------
    url : str
        ``http:`` or ``https:``.
    headers : mapping or None
        Sent with every request, to nobody else.

    Raises
    ------
    CodemodeError
        ``invalid_option``: not such an address, or headers that cannot be sent.
    """

    def __init__(self, url: str, headers: Mapping[str, str] | None) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise CodemodeError(
                "invalid_option", "The address of an MCP server begins with https:// or http://, and has a host."
            )
        self._url = url
        self._headers = checked_texts(headers, "headers")
        if not all(_HEADER.fullmatch(text) for header in self._headers.items() for text in header):
            raise CodemodeError("invalid_option", "headers holds characters that no header has, such as a line break.")
        self._refusal = ""
        self.name = parts.hostname if parts.port is None else f"{parts.hostname}:{parts.port}"
        self.redaction = Redactor([*header_secrets(self._headers), *url_secrets(url)])

    def last_words(self) -> str:
        """Return the status of the last answer when that was a refusal."""
        return self._refusal

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Streams]:
        """Yield the two streams; the first request connects."""
        self._refusal = ""
        client = httpx2.AsyncClient(
            headers={**self._headers, "accept-encoding": "identity"},
            # How long an answer may take is the limit of the call; a stream of events may rest for long.
            timeout=httpx2.Timeout(_CONNECT_SECONDS, read=None),
            event_hooks={"response": [self._look]},
        )
        async with (
            client,
            streamable_http_client(self._url, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES) as streams,
        ):
            yield streams

    async def _look(self, response: httpx2.Response) -> None:
        if response.status_code >= 400:  # noqa: PLR2004  RFC 9110, 15.5: errors of client and server
            statuses = refusals.get()  # the SDK sends a request in the context of the call that made it
            if statuses is not None and "mcp-session-id" in response.request.headers:
                statuses.append(response.status_code)
            self._refusal = f"HTTP {response.status_code} {response.reason_phrase}".strip()
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.DecodingError("The server compressed its answer though it was asked not to.")
        if response.headers.get("content-type", "").startswith("application/json"):
            response.stream = _Bounded(response.stream)


class _Bounded(httpx2.AsyncByteStream):
    """The body of an answer, up to the largest message."""

    def __init__(self, body: httpx2.SyncByteStream | httpx2.AsyncByteStream) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        assert isinstance(self._body, httpx2.AsyncByteStream)  # noqa: S101  the client is an asynchronous one
        async for piece in self._body:
            size += len(piece)
            if size > MAX_MESSAGE_BYTES:
                raise httpx2.StreamError(too_large(size).message)
            yield piece

    async def aclose(self) -> None:
        if isinstance(self._body, httpx2.AsyncByteStream):
            await self._body.aclose()
