"""Which of the values given for a server are secrets.

Owns: finding them in an environment, headers, an address, a command. Never does: keep a secret out of the server
itself; that is who it is for. A server may print its environment or echo a header: its answers, messages and errors
all pass through a ``Redactor`` before a program, a log or a card sees them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, unquote, urlsplit

_LONG = 20
_SECRET_NAME = re.compile(
    r"key|token|secret|passw|passphrase|credential|auth|cookie|session|bearer|signature|private|dsn|pat$|pwd",
    re.IGNORECASE,
)
_RANDOM = re.compile(r"(?=.*[A-Za-z])(?=.*\d)[A-Za-z0-9+/=_\-.~]+")
_ORDINARY_HEADERS = frozenset(
    {"accept", "accept-language", "content-type", "user-agent", "origin", "referer", "mcp-protocol-version"}
)


def environment_secrets(env: Mapping[str, str]) -> list[str]:
    """Return the values of an environment that are secrets, by their names or because they look random."""
    return [
        value
        for name, value in env.items()
        if _SECRET_NAME.search(name) or (len(value) >= _LONG and _RANDOM.fullmatch(value))
    ]


def header_secrets(headers: Mapping[str, str]) -> list[str]:
    """Return the values of headers that are secrets: all but a few ordinary ones, with the words they consist of."""
    values = [value for name, value in headers.items() if name.lower() not in _ORDINARY_HEADERS]
    return [*values, *(word for value in values for word in value.split()[1:])]


def url_secrets(url: str) -> list[str]:
    """Return what an address carries that nobody else should read: user, password, and the values of its query."""
    parts = urlsplit(url)
    named = [parts.password or "", *(value for _, value in parse_qsl(parts.query)), parts.query]
    return [*named, *map(unquote, named)]


def argument_secrets(command: Iterable[str]) -> list[str]:
    """Return the arguments of a command that are secrets: values of options with such a name, and random ones."""
    secrets: list[str] = []
    option = ""
    for argument in command:
        name, _, value = argument.partition("=") if argument.startswith("-") else (option, "", argument)
        if value and (_SECRET_NAME.search(name) or (len(value) >= _LONG and _RANDOM.fullmatch(value))):
            secrets.append(value)
        option = argument if argument.startswith("-") and "=" not in argument else ""
    return secrets
