"""Addresses of the web, read strictly: which server a text means, and nothing that two readers could take differently.

Owns: the origin (scheme, host and port; RFC 6454) of an address. Never does: percent-decoding, name resolution or
guessing: an address that is not written in its plain form is refused.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from codemode_jupyter.errors import CodemodeError

_DEFAULT_PORTS = {"http": 80, "https": 443}
_ADDRESS = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?(?P<rest>[/?][!-~]*)?",
    re.IGNORECASE,
)
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


@dataclass(frozen=True, slots=True)
class Origin:
    """A server: scheme, host (lower case, an IPv6 address in brackets and in its shortest form) and port."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        port = "" if self.port == _DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}"


@dataclass(frozen=True, slots=True)
class Address:
    """An address in its plain form, without a fragment."""

    origin: Origin
    path: str

    def __str__(self) -> str:
        return f"{self.origin}{self.path}"


def parse_address(text: str) -> Address:
    """Read an ``http`` or ``https`` address.

    Raises
    ------
    ValueError
        It has a user name, a host that is not plain (percent-encoded, not ASCII, a number that is no IPv4 address), a
        port that is none, blanks, or another scheme.
    """
    match = _ADDRESS.fullmatch(text.split("#", 1)[0])
    if match is None:
        raise ValueError(
            "an address has the form https://host/path, without a user name, blanks or encoded characters in the host"
        )
    scheme, rest = match["scheme"].lower(), match["rest"] or "/"
    port = int(match["port"]) if match["port"] else _DEFAULT_PORTS[scheme]
    if not 0 < port < 65536:  # noqa: PLR2004  TCP's range
        raise ValueError(f"{port} is not a port")
    return Address(Origin(scheme, _plain_host(match["host"].lower()), port), rest if rest[0] == "/" else f"/{rest}")


def parse_origin(text: object) -> Origin:
    """Read an origin as a user writes it: ``https://api.example.com`` or ``http://localhost:8080``.

    Raises
    ------
    CodemodeError
        ``invalid_option``: it is no address, or has a path.
    """
    why = "it is not a text"
    if isinstance(text, str):
        try:
            address = parse_address(text)
        except ValueError as fault:
            why = str(fault)
        else:
            if address.path == "/" and "#" not in text:
                return address.origin
            why = "it has a path"
    raise CodemodeError(
        "invalid_option",
        f"{text!r} is not an origin: {why}.",
        hint="Write scheme, host and port only, such as https://api.example.com or http://localhost:8080.",
    )


def _plain_host(host: str) -> str:
    if host.startswith("["):
        return f"[{ipaddress.IPv6Address(host[1:-1]).compressed}]"
    labels = host.removesuffix(".").split(".")
    if not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError(f"{host!r} is not the name of a host")
    if _NUMBER.fullmatch(labels[-1]):
        return str(ipaddress.IPv4Address(host))  # a host that ends in a number is an IPv4 address, as browsers have it
    return host
