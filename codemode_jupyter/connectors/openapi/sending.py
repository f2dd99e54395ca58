"""Sending a request that a program made, with the credentials that it does not have.

Owns: which origins see a secret, waiting where a service asks for it, and taking secrets out of what comes back.
Never does: follow a redirect to another server that the user has not named, or wait beyond the tool's limit.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeAlias

from codemode_jupyter.connectors.http.origins import Origin, parse_address
from codemode_jupyter.connectors.http.outbound_messages import OutboundRequest, OutboundResponse
from codemode_jupyter.connectors.http.sender import HttpSender
from codemode_jupyter.connectors.openapi.responses import as_bytes
from codemode_jupyter.connectors.openapi.security import Additions, Credentials
from codemode_jupyter.connectors.redaction import Redactor
from codemode_jupyter.connectors.tool import ToolContext
from codemode_jupyter.errors import CodemodeError

Send: TypeAlias = Callable[[OutboundRequest], Awaitable[OutboundResponse]]

IDEMPOTENT = ("GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE")
"""Methods that may be sent twice with the effect of once (RFC 9110, 9.2.2)."""

_MOST_TRIES = 4
_TOO_MANY, _UNAVAILABLE, _UNAUTHORIZED = 429, 503, 401
_MARGIN = 1.0  # seconds of a tool's limit that are left for the last try


class Sender:
    """Sends the requests of one connector.

    Parameters
    ----------
    credentials : Credentials
        What is added to requests to trusted origins.
    redactor : Redactor
        Takes secrets out of responses and messages.
    redirect_to : iterable of Origin, default ()
        Other servers that redirects may lead to, without credentials.
    timeout : float, default 60.0
        Seconds that a call may take, waiting included.
    send : async function, optional
        Makes a request instead of httpx.
    """

    def __init__(
        self,
        credentials: Credentials,
        redactor: Redactor,
        redirect_to: Iterable[Origin] = (),
        timeout: float = 60.0,
        send: Send | None = None,
    ) -> None:
        self.credentials = credentials
        self.timeout = timeout
        self._redirect_to = tuple(redirect_to)
        self._redactor = redactor
        self._send = send
        self._senders: dict[Origin, HttpSender] = {}

    async def send(
        self,
        name: str,
        request: OutboundRequest,
        security: Sequence[Mapping[str, Any]] | None,
        context: ToolContext,
    ) -> OutboundResponse:
        """Send a request and return what came back, whatever its status; no secret is in it.

        The person is told of a wait.

        Raises
        ------
        CodemodeError
            ``request_failed``, ``redirect_refused``, ``too_large``, ``authorization_failed``
        """
        ends = time.monotonic() + self.timeout - _MARGIN
        origin = parse_address(request.url).origin
        for attempt in range(1, _MOST_TRIES + 1):
            added = await self.credentials.additions(security) if self.credentials.trusted(origin) else Additions()
            response = await self._once(name, origin, _with(request, added))
            if response.status == _UNAUTHORIZED and attempt == 1 and self.credentials.renew():
                continue
            wait = _wait(response, attempt) if request.method in IDEMPOTENT else None
            if wait is None or attempt == _MOST_TRIES or time.monotonic() + wait > ends:
                break
            context.progress(
                attempt, _MOST_TRIES, f"Answered {response.status}; waiting {wait:.0f} s, then trying again"
            )
            await asyncio.sleep(wait)
        return self._without_secrets(response, request)

    def is_trusted(self, url: str) -> bool:
        """Say whether the server of an address sees the secrets."""
        return self.credentials.trusted(parse_address(url).origin)

    async def _once(self, name: str, origin: Origin, request: OutboundRequest) -> OutboundResponse:
        try:
            if self._send is None:
                return await self._http_sender(origin).send(request)
            answer: object = self._send(request)
            response = await answer if inspect.isawaitable(answer) else answer
        except CodemodeError as error:
            raise self._told(name, error) from None  # its cause may hold the address, and with it a key
        if not isinstance(response, OutboundResponse):
            raise CodemodeError(
                "invalid_response",
                f"The function of `send` returned {type(response).__name__}, not an OutboundResponse.",
                hint="Return OutboundResponse(status, body, headers).",
            )
        return response

    def _http_sender(self, origin: Origin) -> HttpSender:
        if origin not in self._senders:
            self._senders[origin] = HttpSender((origin, *self._redirect_to), self.credentials.header_names)
        return self._senders[origin]

    def _told(self, name: str, error: CodemodeError) -> CodemodeError:
        message = self._redactor.text(error.message)
        hint = None if error.hint is None else self._redactor.text(error.hint)
        if error.code == "outbound_refused":
            hint = "If that server is right, name its origin: OpenApiConnector(…, redirect_to=[…])."
            return CodemodeError("redirect_refused", f"{name} was redirected to another server: {message}", hint=hint)
        code = "request_failed" if error.code == "outbound_failed" else error.code
        return CodemodeError(code, f"{name}: {message}", hint=hint)

    def _without_secrets(self, response: OutboundResponse, request: OutboundRequest) -> OutboundResponse:
        return replace(
            response,
            body=self._redactor.body(as_bytes(response.body)),
            headers=self._redactor.headers({name.lower(): value for name, value in response.headers.items()}),
            url=request.url,
            reason=self._redactor.text(response.reason),
        )


def _with(request: OutboundRequest, added: Additions) -> OutboundRequest:
    headers = {**request.headers, **added.headers}
    cookies = [text for text in (request.headers.get("cookie"), added.headers.get("cookie"), *added.cookies) if text]
    if cookies:
        headers["cookie"] = "; ".join(cookies)
    url = request.url
    if added.query:
        url += ("&" if "?" in url else "?") + "&".join(added.query)
    return replace(request, headers=headers, url=url)


def _wait(response: OutboundResponse, attempt: int) -> float | None:
    """Return the seconds to wait before another try, ``None``: there is none (RFC 6585, 4; RFC 9110, 10.2.3)."""
    if response.status not in (_TOO_MANY, _UNAVAILABLE):
        return None
    headers = {name.lower(): value for name, value in response.headers.items()}
    asked = headers.get("retry-after", "").strip()
    if not asked:
        return float(2 ** (attempt - 1)) if response.status == _TOO_MANY else None
    if asked.isdecimal():
        return float(asked[:9])
    try:
        date = parsedate_to_datetime(asked)
    except ValueError:
        return None
    date = date if date.tzinfo is not None else date.replace(tzinfo=UTC)
    return max(0.0, (date - datetime.now(UTC)).total_seconds())
