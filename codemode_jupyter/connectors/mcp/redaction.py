"""Secrets given for a server, taken out of every text that comes back from it.

Owns: which of the given values are secrets, and replacing them. Never does: keep a secret out of the server itself;
that is who it is for.

A server may print its environment or echo a header: its answers, messages and errors all pass through here before a
program, a log or a card sees them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

REDACTED = "[secret]"
"""What stands in place of a secret."""

_SHORTEST = 6
"""A shorter value is no secret worth the name, and would be found in ordinary words."""

_LONG = 20
_SECRET_NAME = re.compile(
    r"key|token|secret|passw|passphrase|credential|auth|cookie|session|bearer|signature|private|dsn|pat$|pwd",
    re.IGNORECASE,
)
_RANDOM = re.compile(r"(?=.*[A-Za-z])(?=.*\d)[A-Za-z0-9+/=_\-.~]+")
_ORDINARY_HEADERS = frozenset(
    {"accept", "accept-language", "content-type", "user-agent", "origin", "referer", "mcp-protocol-version"}
)


class Redaction:
    """The secrets of one server."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        found = {secret for secret in secrets if len(secret) >= _SHORTEST}
        longest_first = sorted(found, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if found else None

    def text(self, text: str) -> str:
        """Return a text without the secrets."""
        return text if self._pattern is None else self._pattern.sub(REDACTED, text)

    def value(self, value: Any) -> Any:
        """Return a JSON value without the secrets, in its texts and in the keys of its objects."""
        if self._pattern is None:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.value(key): self.value(one) for key, one in value.items()}
        if isinstance(value, list):
            return [self.value(one) for one in value]
        return value


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
