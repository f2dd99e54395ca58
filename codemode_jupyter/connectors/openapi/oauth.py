"""OAuth2 client credentials (RFC 6749, 4.4): a token is fetched when one is needed, and kept until it ends.

Owns: the token and its end. Never does: send a client's secret to a server that the user has not named.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from codemode_jupyter.connectors.http.origins import Origin, parse_address
from codemode_jupyter.connectors.openapi.extra import needed
from codemode_jupyter.connectors.redaction import Redactor
from codemode_jupyter.errors import CodemodeError

_EARLY = 30.0  # seconds before its end at which a token is no longer used
_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """How a client proves itself to an authorization server.

    Attributes
    ----------
    client_id, client_secret : str
        The client.
    token_url : str or None
        Where tokens are; the document's own is used only on the service's origin.
    scopes : sequence of str
        What is asked for; all that the server gives by default where empty.
    """

    client_id: str
    client_secret: str = field(repr=False)
    token_url: str | None = None
    scopes: Sequence[str] = ()


class TokenSource:
    """Gives a valid access token."""

    def __init__(
        self,
        client: ClientCredentials,
        scheme: Mapping[str, Any],
        trusted: Callable[[Origin], bool],
        redactor: Redactor,
    ) -> None:
        self._client = client
        self._scheme = scheme
        self._trusted = trusted
        self._redactor = redactor
        self._token, self._ends = "", 0.0
        redactor.learn([client.client_secret, f"{client.client_id}:{client.client_secret}"])

    async def __call__(self) -> str:
        """Return a token, a new one where the last has ended.

        Raises
        ------
        CodemodeError
            ``authorization_failed``: there is no token to be had; the message says why.
        """
        if not self._token or time.monotonic() >= self._ends:
            answer = await self._fetch(self._url())
            token, seconds = answer.get("access_token"), answer.get("expires_in")
            if not isinstance(token, str) or not token:
                raise _failed("the answer of the authorization server holds no access_token")
            self._token = token
            lifetime = float(seconds) if isinstance(seconds, int | float) else 300.0
            self._ends = time.monotonic() + max(lifetime - _EARLY, min(lifetime, 1.0))
        return self._token

    def forget(self) -> bool:
        """Forget the token, which a service refused; say whether there was one."""
        had, self._token = bool(self._token), ""
        return had

    def _url(self) -> str:
        if self._client.token_url is not None:
            return self._client.token_url
        flows = self._scheme.get("flows")
        flow = flows.get("clientCredentials") if isinstance(flows, Mapping) else None
        url = flow.get("tokenUrl") if isinstance(flow, Mapping) else None
        if not isinstance(url, str):
            raise _failed("the document has no flow with client credentials", "Give ClientCredentials(token_url=…).")
        try:
            is_trusted = self._trusted(parse_address(url).origin)
        except ValueError:
            is_trusted = False
        if not is_trusted:
            raise _failed(
                f"the document's token URL {url[:200]!r} is on another server than the service",
                "If it is right, say so: ClientCredentials(token_url=…).",
            )
        return url

    async def _fetch(self, url: str) -> Mapping[str, Any]:
        httpx = needed("httpx")
        form = {"grant_type": "client_credentials"}
        if self._client.scopes:
            form["scope"] = " ".join(self._client.scopes)
        try:
            async with httpx.AsyncClient(timeout=_SECONDS) as client:
                login = httpx.BasicAuth(self._client.client_id, self._client.client_secret)
                response = await client.post(url, data=form, auth=login, headers={"accept": "application/json"})
            answer = response.json() if response.is_success else None
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise _failed(self._redactor.text(str(error) or type(error).__name__)) from None
        if not isinstance(answer, Mapping):
            raise _failed(f"the authorization server answered {response.status_code}")
        return answer


def _failed(why: str, hint: str | None = None) -> CodemodeError:
    return CodemodeError("authorization_failed", f"No OAuth2 token: {why}.", hint=hint)
