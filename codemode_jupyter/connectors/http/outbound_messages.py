"""A request of a program and what came back, and the words in which one is refused.

Owns: these shapes. Never does: decide or send.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from codemode_jupyter.connectors.http.origins import Origin
from codemode_jupyter.errors import CodemodeError


@dataclass(frozen=True, slots=True)
class OutboundRequest:
    """A request that a program makes.

    ``method`` is GET, HEAD, OPTIONS, POST, PUT, PATCH or DELETE; ``url`` an http or https address in its plain form;
    header names are in lower case.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class OutboundResponse:
    """What came back.

    All of it but ``set-cookie`` reaches the program and the log. ``url`` is where it came from after redirects
    (``None``: from where it was asked for); ``reason`` the text of the status line.
    """

    status: int
    body: bytes | str = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    url: str | None = None
    reason: str = ""


def refused(message: str, origins: Iterable[Origin] | None) -> CodemodeError:
    """Return the refusal of a request (code ``outbound_refused``)."""
    return CodemodeError("outbound_refused", message if origins is None else f"{message} {allowed(origins)}")


def not_allowed(origin: Origin, origins: Iterable[Origin]) -> CodemodeError:
    """Return the refusal of a request to an origin that is not on the list."""
    return refused(f"A program may not reach {origin}.", origins)


def allowed(origins: Iterable[Origin]) -> str:
    """Return the sentence that names the allowed origins."""
    return f"Allowed: {', '.join(map(str, origins)) or 'none'}."
