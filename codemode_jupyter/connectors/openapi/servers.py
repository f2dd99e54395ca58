"""Where the requests of an operation go.

Owns: servers with their variables, and the base address that replaces them. Never does: send anything.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

from codemode_jupyter.connectors.http.origins import Address, parse_address
from codemode_jupyter.errors import CodemodeError

_VARIABLE = re.compile(r"\{([^{}]*)\}")


def parse_base(text: object, option: str = "base_url") -> Address:
    """Read an address that paths are put after.

    Raises
    ------
    CodemodeError
        ``invalid_option``: no http or https address, or one with a query.
    """
    why = "it is not a text"
    if isinstance(text, str):
        try:
            address = parse_address(text)
        except ValueError as fault:
            why = str(fault)
        else:
            if "?" not in address.path:
                return Address(address.origin, address.path.rstrip("/"))
            why = "it has a query"
    raise CodemodeError(
        "invalid_option",
        f"{option}={text!r:.200} cannot be the base of requests: {why}.",
        hint="Write it such as https://api.example.com/v1.",
    )


def server_address(server: Mapping[str, Any], variables: Mapping[str, str], document: str) -> Address:
    """Return the base address that a Server Object means.

    Parameters
    ----------
    server : mapping
        The Server Object.
    variables : mapping of str to str
        Values of variables; a variable's default is taken where there is none.
    document : str
        Where the document came from: a relative server is relative to it.

    Raises
    ------
    CodemodeError
        ``no_server``: the server is no address that requests can go to.
    """
    described = server.get("variables")
    described = described if isinstance(described, Mapping) else {}

    def value(found: re.Match[str]) -> str:
        name = found[1]
        variable = described.get(name)
        default = variable.get("default", "") if isinstance(variable, Mapping) else ""
        return str(variables.get(name, default))

    written = str(server.get("url", "/"))
    text = _VARIABLE.sub(value, written)
    why = "it has a query"
    try:
        address = parse_address(urljoin(document, text))
    except ValueError as fault:
        why = str(fault)
    else:
        if document.startswith("http") and is_local(address.origin.host) and not is_local(urlsplit(document).hostname):
            why = "the document comes from elsewhere and names a server on this machine or network"
        elif "?" not in address.path:
            return Address(address.origin, address.path.rstrip("/"))
    raise CodemodeError(
        "no_server",
        f"The document's server {written[:200]!r} is no address that requests can go to: {why}.",
        hint='Say where the service is: OpenApiConnector(…, base_url="https://api.example.com").',
    )


def is_local(host: str | None) -> bool:
    """Say whether a host is this machine or in a network of its own, as far as its name tells (RFC 6761, RFC 6890)."""
    name = (host or "").strip("[]").lower().removesuffix(".")
    try:
        return not ipaddress.ip_address(name).is_global
    except ValueError:
        return name == "localhost" or name.endswith((".localhost", ".local", ".internal"))
