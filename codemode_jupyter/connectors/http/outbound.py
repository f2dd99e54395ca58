"""Requests that programs may make: to whom, how, and which of them a person approves.

Owns: the option ``outbound=``, the types of a request and its response, and the tools behind the sandbox's ``fetch``.
Never does: network (``sender.py``, or the user's own function), or logging: a request is a call like any other.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from codemode_jupyter.connectors.http.origins import Origin, parse_address, parse_origin
from codemode_jupyter.connectors.http.outbound_messages import (
    OutboundRequest,
    OutboundResponse,
    not_allowed,
    refused,
)
from codemode_jupyter.connectors.http.request_headers import can_be_sent, is_forbidden
from codemode_jupyter.connectors.http.sender import HttpSender
from codemode_jupyter.connectors.tool import Arguments, Tool, ToolContext
from codemode_jupyter.errors import CodemodeError

Send: TypeAlias = Callable[[OutboundRequest], Awaitable[OutboundResponse]]
"""Makes a request and returns what came back."""

Approve: TypeAlias = Literal["never", "writes", "always"]

METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
"""Methods of a request that programs can make."""

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
"""Methods that ask for no change (RFC 9110, 9.2.1, without TRACE)."""


@dataclass(frozen=True, slots=True)
class Outbound:
    """Where the requests of programs go.

    Parameters
    ----------
    target : iterable of str, or async function
        Origins that may be reached (``"https://api.example.com"``; needs the extra ``[outbound]``), or a function that
        takes an ``OutboundRequest`` and returns an ``OutboundResponse``: it alone says what is reached, and may add
        credentials that no program and no log sees.
    approve : {"writes", "never", "always"}, default "writes"
        Which requests a person approves; ``writes``: all but GET, HEAD and OPTIONS.

    Raises
    ------
    CodemodeError
        ``invalid_option``: not an origin, or no such word; ``missing_extra``: httpx is not installed.
    """

    target: Send | Iterable[str]
    approve: Approve = "writes"
    origins: tuple[Origin, ...] | None = field(init=False)
    send: Send = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.approve not in ("never", "writes", "always"):
            raise CodemodeError(
                "invalid_option", f"approve={self.approve!r} is not known.", hint="Use never, writes or always."
            )
        origins, send = None, self.target
        if not callable(send):
            if isinstance(self.target, str) or not isinstance(self.target, Iterable):
                raise CodemodeError(
                    "invalid_option",
                    f"outbound={self.target!r} is neither a list of origins nor a function.",
                    hint='Write a list, such as ["https://api.example.com"], or an async function of a request.',
                )
            origins = tuple(parse_origin(origin) for origin in self.target)
            send = HttpSender(origins).send
        object.__setattr__(self, "origins", origins)
        object.__setattr__(self, "send", send)

    @property
    def described(self) -> str:
        """What a model is told about ``fetch``."""
        if self.origins is None:
            return "`fetch` goes through the host, which may refuse"
        return f"`fetch` reaches only {', '.join(map(str, self.origins)) or 'nothing'}"


def fetch_tools(outbound: Outbound) -> tuple[Tool, ...]:
    """Return one tool for each method of a request."""
    return tuple(_tool(outbound, method) for method in METHODS)


def _tool(outbound: Outbound, method: str) -> Tool:
    def validate(arguments: Arguments) -> OutboundRequest:
        return _request(outbound.origins, method, arguments)

    async def call(request: OutboundRequest, context: ToolContext) -> object:  # noqa: ARG001  the shape of every tool
        answer: object = outbound.send(request)
        response = await answer if inspect.isawaitable(answer) else answer
        return _response_value(request, response)

    is_safe = method in SAFE_METHODS
    schema = {
        "type": "object",
        "properties": {"url": {"type": "string"}, "headers": {"type": "object"}, "body": {}},
        "required": ["url"],
    }
    return Tool(
        method,
        call,
        f"Send an HTTP {method} request to the address.",
        schema,
        parameters=("url", "headers", "body"),
        validate=validate,
        requires_approval=outbound.approve == "always" or (outbound.approve == "writes" and not is_safe),
        idempotent=is_safe,
    )


def _request(origins: Sequence[Origin] | None, method: str, arguments: Arguments) -> OutboundRequest:
    """Return the request that the arguments mean, or refuse it; nobody was asked and nothing was sent yet."""
    url, body = arguments.get("url"), arguments.get("body")
    if not isinstance(url, str):
        raise CodemodeError("invalid_arguments", "The address of a request must be a text.")
    try:
        address = parse_address(url)
    except ValueError as fault:
        raise refused(f"The address {url[:200]!r} is refused: {fault}.", origins) from None
    if origins is not None and address.origin not in origins:
        raise not_allowed(address.origin, origins)
    if body is not None and method in ("GET", "HEAD"):
        raise CodemodeError("invalid_arguments", f"A {method} request cannot have a body.")
    if body is not None and not isinstance(body, str | bytes):
        raise CodemodeError("invalid_arguments", "The body of a request must be a text or bytes.")
    data = body.encode("utf-8", "replace") if isinstance(body, str) else body or b""
    return OutboundRequest(method, str(address), _headers(arguments.get("headers")), data)


def _headers(given: object) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise CodemodeError("invalid_arguments", "The headers of a request must be an object of texts.")
    headers: dict[str, str] = {}
    for name, value in given.items():
        if not can_be_sent(name, value):
            raise CodemodeError("invalid_arguments", f"{name[:100]!r} is not a header that can be sent.")
        if is_forbidden(name):
            raise refused(f"A program cannot set the header {name.lower()!r}.", None)
        headers[name.lower()] = value
    return headers


def _response_value(request: OutboundRequest, response: object) -> dict[str, Any]:
    """Return what is recorded of a response and handed to the sandbox."""
    if not isinstance(response, OutboundResponse):
        raise CodemodeError(
            "invalid_response",
            f"The outbound function returned {type(response).__name__}, not an OutboundResponse.",
            hint="Return OutboundResponse(status, body, headers).",
        )
    headers = response.headers.items() if isinstance(response.headers, Mapping) else ()
    url = response.url or request.url
    return {
        "status": int(response.status),
        "statusText": response.reason,
        "url": url,
        "redirected": url != request.url,
        # Cookies are the server's and the kernel's business.
        "headers": {str(name).lower(): str(value) for name, value in headers if str(name).lower() != "set-cookie"},
        "body": _text_if_it_is(response.body),
    }


def _text_if_it_is(body: str | bytes) -> str | bytes:
    """Return bytes as text where they are UTF-8: readable in the log, and half as long."""
    if isinstance(body, str):
        return body
    try:
        return bytes(body).decode("utf-8")
    except UnicodeDecodeError:
        return bytes(body)
