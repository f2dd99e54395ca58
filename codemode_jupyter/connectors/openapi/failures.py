"""What a program catches when a service refuses.

Owns: the error made of a response that is no success. Never does: send, or decide to try again.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from codemode_jupyter.connectors.http.outbound_messages import OutboundResponse
from codemode_jupyter.connectors.openapi.responses import as_bytes, shown_headers, value_of
from codemode_jupyter.errors import CodemodeError

_LONGEST_MESSAGE = 300
_LARGEST_BODY = 100_000
_TELLING = ("message", "detail", "title", "error_description", "error", "reason")  # `detail`, `title`: RFC 9457


def is_success(response: OutboundResponse) -> bool:
    """Say whether a response is one that was asked for (RFC 9110, 15.3)."""
    return 200 <= response.status < 300  # noqa: PLR2004  the class of success


def http_error(name: str, line: str, response: OutboundResponse, hint: str | None = None) -> CodemodeError:
    """Return the error of a response that is no success.

    Its ``data`` holds ``status``, ``reason``, ``headers`` and ``body``, and ``retryAfter`` where the service says it.
    """
    headers = shown_headers(response.headers)
    raw = as_bytes(response.body)
    cut = len(raw) > _LARGEST_BODY
    try:
        body = raw[:_LARGEST_BODY].decode(errors="replace") if cut else value_of(headers, raw)
    except CodemodeError:
        body = None
    reason = response.reason or _phrase(response.status)
    told = _message(body)
    data: dict[str, Any] = {"status": response.status, "reason": reason, "headers": headers, "body": body}
    if cut:
        data["bodyTruncated"] = True
    if "retry-after" in headers:
        data["retryAfter"] = headers["retry-after"]
    message = f"{name} ({line}) was answered {response.status} {reason}".rstrip()
    return CodemodeError("http_error", f"{message}: {told}" if told else f"{message}.", hint=hint, data=data)


def _message(body: object) -> str:
    """Return what a body says went wrong, in one line."""
    text = body if isinstance(body, str) else ""
    if isinstance(body, Mapping):
        found = (body.get(key) for key in _TELLING)
        text = next((one for one in found if isinstance(one, str) and one.strip()), "")
    line = " ".join(text.split())
    if line.startswith("<"):  # a page for a browser
        return ""
    return line if len(line) <= _LONGEST_MESSAGE else f"{line[:_LONGEST_MESSAGE]}…"


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
