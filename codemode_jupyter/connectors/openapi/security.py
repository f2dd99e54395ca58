"""Credentials of a service: secrets that are given in Python and added to a request on its way out.

Owns: which scheme an operation wants (OpenAPI 3.0.3, Security Requirement Object) and where its secret goes.
Never does: hand a secret to anything but a request.
"""

from __future__ import annotations

import base64
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import quote

from codemode_jupyter.connectors.http.origins import Origin
from codemode_jupyter.connectors.http.request_headers import can_be_sent
from codemode_jupyter.connectors.names import did_you_mean
from codemode_jupyter.connectors.openapi.oauth import ClientCredentials, TokenSource
from codemode_jupyter.connectors.redaction import Redactor
from codemode_jupyter.errors import CodemodeError

Secret: TypeAlias = str | tuple[str, str] | ClientCredentials | Callable[[], str | Awaitable[str]]
"""An API key or token; user name and password; OAuth2 client credentials; or a function that returns a key or token."""

Auth: TypeAlias = Mapping[str, Secret] | Secret
"""Secrets by the names of the document's security schemes, or one secret where the document has one scheme."""

_HARMLESS = ("accept", "accept-language", "user-agent")
_SAYS_SECRET = ("auth", "token", "key", "secret", "password", "cookie", "session")


@dataclass(slots=True)
class Additions:
    """What is added to one request."""

    headers: dict[str, str] = field(default_factory=dict, repr=False)
    query: list[str] = field(default_factory=list, repr=False)
    cookies: list[str] = field(default_factory=list, repr=False)


class Credentials:
    """The secrets of one connector.

    Parameters
    ----------
    schemes : mapping
        The document's security schemes by name.
    auth : mapping, secret or None
        The secrets.
    headers : mapping of str to str
        Headers that every request gets.
    redactor : Redactor
        Learns every secret.
    trusted : callable
        Says whether an origin may see a secret.

    Raises
    ------
    CodemodeError
        ``invalid_option``: a secret for a scheme that the document does not have, or of a form that it cannot use.
    """

    def __init__(
        self,
        schemes: Mapping[str, Mapping[str, Any]],
        auth: Auth | None,
        headers: Mapping[str, str],
        redactor: Redactor,
        trusted: Callable[[Origin], bool],
    ) -> None:
        self._schemes = schemes
        self._redactor = redactor
        self.trusted = trusted
        self._headers = _checked_headers(headers)
        self._secrets: dict[str, Any] = {}
        for name, secret in _by_scheme(schemes, auth).items():
            scheme = schemes[name]
            if isinstance(secret, ClientCredentials):
                secret = TokenSource(secret, scheme, trusted, redactor)  # noqa: PLW2901  one form of many
            _check(name, scheme, secret)
            self._secrets[name] = secret
        secret_headers = [value for name, value in self._headers.items() if _is_secret(name)]
        redactor.learn(part for value in secret_headers for part in (value, *value.split()[1:]))
        redactor.learn(one for one in self._secrets.values() if isinstance(one, str))
        redactor.learn(
            part for one in self._secrets.values() if isinstance(one, tuple) for part in (one[1], ":".join(one))
        )

    @property
    def are_given(self) -> bool:
        """Whether there is any secret."""
        return bool(self._secrets) or any(_is_secret(name) for name in self._headers)

    @property
    def header_names(self) -> frozenset[str]:
        """Names of the headers, in lower case, that programs may not set and no redirect takes elsewhere."""
        return frozenset({"authorization", "cookie", *self._headers, *self._places("header")})

    def owns(self, place: str, name: str) -> bool:
        """Say whether a parameter is filled with a secret, so that no program sets it."""
        return (name.lower() if place == "header" else name) in (
            {*self._headers, *self._places("header")} if place == "header" else self._places(place)
        )

    async def additions(self, security: Sequence[Mapping[str, Any]] | None) -> Additions:
        """Return what a request gets.

        Parameters
        ----------
        security : sequence of mapping or None
            The alternatives that the operation allows; ``None``: the document does not say.
        """
        made = Additions(dict(self._headers))
        for name in self._chosen(security):
            secret = self._secrets[name]
            if callable(secret):
                answer = secret()
                secret = str(await answer if inspect.isawaitable(answer) else answer)
                self._redactor.learn_passing(secret)
            _add(made, self._schemes[name], secret)
        return made

    def renew(self) -> bool:
        """Forget tokens that a service refused; say whether there were any."""
        sources = [one for one in self._secrets.values() if isinstance(one, TokenSource)]
        return any([source.forget() for source in sources])  # noqa: C419  each of them is to forget

    def _chosen(self, security: Sequence[Mapping[str, Any]] | None) -> list[str]:
        if security is None:
            return list(self._secrets) if len(self._secrets) == 1 else []
        for alternative in security:
            if alternative and all(name in self._secrets for name in alternative):
                return [str(name) for name in alternative]
        return []

    def _places(self, place: str) -> set[str]:
        found = set()
        for name in self._secrets:
            scheme = self._schemes[name]
            if scheme.get("type") == "apiKey" and scheme.get("in") == place:
                found.add(str(scheme.get("name")).lower() if place == "header" else str(scheme.get("name")))
        return found


def _by_scheme(schemes: Mapping[str, Any], auth: Auth | None) -> dict[str, Any]:
    if auth is None:
        return {}
    if isinstance(auth, Mapping):
        for name in auth:
            if name not in schemes:
                listed = f"Its schemes: {', '.join(schemes)}." if schemes else "It has none; use headers={…}."
                raise CodemodeError(
                    "invalid_option",
                    f"auth names {name!r:.100}, which is no security scheme of the document.",
                    hint=did_you_mean(str(name), schemes) or listed,
                )
        return dict(auth)
    if len(schemes) != 1:
        raise CodemodeError(
            "invalid_option",
            f"auth is one secret, but the document has {len(schemes)} security schemes.",
            hint=f"Say which it is for: auth={{{next(iter(schemes), 'name')!r}: …}}."
            if schemes
            else 'Send it in a header: headers={"Authorization": "Bearer …"}.',
        )
    return {next(iter(schemes)): auth}


def _check(name: str, scheme: Mapping[str, Any], secret: Any) -> None:
    kind, detail = scheme.get("type"), str(scheme.get("scheme", "")).lower()
    wants = "a text, or a function that returns one"
    fits = isinstance(secret, str) or (callable(secret) and not isinstance(secret, TokenSource))
    if kind == "oauth2":
        wants, fits = f"{wants}, or ClientCredentials", fits or isinstance(secret, TokenSource)
    elif kind == "http" and detail == "basic":
        wants, fits = "a tuple of user name and password", _is_pair(secret)
    elif kind not in ("apiKey", "http", "openIdConnect") or detail == "digest":
        wants, fits = "something that cannot be sent from here", False
    if fits and isinstance(secret, str):
        fits, wants = can_be_sent("x", secret) and bool(secret), "a text that can stand in a header"
    if not fits:
        raise CodemodeError(
            "invalid_option",
            f"auth[{name!r}] does not fit: the scheme ({kind} {detail}".rstrip() + f") takes {wants}.",
            hint="Or give headers={…} that every request gets.",
        )


def _add(made: Additions, scheme: Mapping[str, Any], secret: Any) -> None:
    if isinstance(secret, tuple):
        pair = base64.b64encode(":".join(secret).encode()).decode()
        made.headers["authorization"] = f"Basic {pair}"
    elif not can_be_sent("x", secret):
        raise CodemodeError("invalid_option", "A function of auth returned a text that cannot stand in a header.")
    elif scheme.get("type") != "apiKey":
        word = str(scheme.get("scheme", "bearer"))
        made.headers["authorization"] = f"{'Bearer' if word.lower() == 'bearer' else word} {secret}"
    elif scheme.get("in") == "query":
        made.query.append(f"{quote(str(scheme.get('name')), safe='')}={quote(secret, safe='')}")
    elif scheme.get("in") == "cookie":
        made.cookies.append(f"{quote(str(scheme.get('name')), safe='')}={quote(secret, safe='')}")
    else:
        made.headers[str(scheme.get("name")).lower()] = secret


def _checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not can_be_sent(name, value):
            raise CodemodeError("invalid_option", f"headers has {name!r:.100}, which is no header that can be sent.")
    return {name.lower(): value for name, value in headers.items()}


def _is_pair(secret: object) -> bool:
    return isinstance(secret, tuple) and len(secret) == 2 and all(isinstance(one, str) for one in secret)  # noqa: PLR2004


def _is_secret(header: str) -> bool:
    return header not in _HARMLESS and any(word in header for word in _SAYS_SECRET)
