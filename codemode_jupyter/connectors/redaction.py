"""Secrets, taken out of whatever leaves the kernel.

Owns: the forms in which a secret may come back. Never does: know what a secret is for.
"""

from __future__ import annotations

import base64
import json
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

SHORTEST = 6
"""Characters of the shortest secret that is looked for: a shorter one is part of too many harmless texts."""

_INSTEAD = "[secret]"
_MOST_PASSING = 20


class Redactor:
    """Replaces the secrets it was told of, in the forms in which a service or a library may repeat them."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._kept = set(secrets)
        self._passing: deque[str] = deque(maxlen=_MOST_PASSING)
        self._forms: list[str] = []
        self._renew()

    def learn(self, secrets: Iterable[str]) -> None:
        """Remember secrets."""
        self._kept.update(secrets)
        self._renew()

    def learn_passing(self, token: str) -> None:
        """Remember a secret that another will follow; the newest of these are kept."""
        if token not in self._kept and token not in self._passing:
            self._passing.append(token)
            self._renew()

    def _renew(self) -> None:
        known = [secret for secret in (*self._kept, *self._passing) if len(secret) >= SHORTEST]
        self._forms = sorted({form for secret in known for form in _forms(secret)}, key=len, reverse=True)

    def text(self, text: str) -> str:
        """Return a text without the secrets."""
        for form in self._forms:
            text = text.replace(form, _INSTEAD)
        return text

    def body(self, body: bytes) -> bytes:
        """Return bytes without the secrets."""
        for form in self._forms:
            body = body.replace(form.encode(), _INSTEAD.encode())
        return body

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return headers without the secrets."""
        return {name: self.text(str(value)) for name, value in headers.items()}

    def data(self, data: Any) -> Any:
        """Return JSON-like data without the secrets, in its texts and in the keys of its objects."""
        if isinstance(data, str):
            return self.text(data)
        if isinstance(data, Mapping):
            return {self.data(key): self.data(value) for key, value in data.items()}
        return [self.data(one) for one in data] if isinstance(data, list) else data


def _forms(secret: str) -> tuple[str, ...]:
    encoded = base64.b64encode(secret.encode()).decode()
    return secret, quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1], encoded
