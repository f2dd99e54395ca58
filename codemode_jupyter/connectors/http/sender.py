"""Requests of programs over httpx, to a list of origins and no further.

Owns: redirects, the limit of a response, and the words for a failed connection. Never does: keep anything between two
requests (no cookies, no connections), or send credentials of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from codemode_jupyter.connectors.http.origins import Origin, parse_address
from codemode_jupyter.connectors.http.outbound_messages import (
    OutboundRequest,
    OutboundResponse,
    not_allowed,
    refused,
)
from codemode_jupyter.errors import CodemodeError

if TYPE_CHECKING:
    import httpx

MAX_BODY = 1_000_000
"""Largest body of a response in bytes: no larger value can be recorded."""

MAX_REDIRECTS = 20
"""Most redirects of one request (as in the Fetch standard)."""

_REDIRECTS = (301, 302, 303, 307, 308)
_CREDENTIALS = ("authorization", "cookie")
_OF_THE_BODY = ("content-type", "content-encoding", "content-language", "content-location")


class HttpSender:
    """Sends requests to some origins.

    Parameters
    ----------
    origins : sequence of Origin
        Where requests and redirects may go.
    credentials : collection of str, default ()
        Names of headers, in lower case, that no redirect takes to another origin; ``authorization`` and ``cookie`` are
        always among them.

    Raises
    ------
    CodemodeError
        ``missing_extra``: httpx is not installed.
    """

    def __init__(self, origins: Sequence[Origin], credentials: Collection[str] = ()) -> None:
        try:
            import httpx  # noqa: PLC0415  the extra is looked for where it is asked for
        except ImportError:
            raise CodemodeError(
                "missing_extra",
                "A list of origins needs httpx, which is not installed.",
                hint="Run `pip install 'codemode-jupyter[outbound]'`, or pass an async function of a request.",
            ) from None
        self._origins = tuple(origins)
        self._credentials = frozenset({*_CREDENTIALS, *credentials})
        self._trusted = httpx.create_ssl_context()  # reading the certificates takes longer than a request

    async def send(self, request: OutboundRequest) -> OutboundResponse:
        """Make a request, following redirects within the origins.

        Raises
        ------
        CodemodeError
            ``outbound_refused``, ``outbound_failed``, ``too_large``
        """
        import httpx  # noqa: PLC0415  an extra

        try:
            # The tool's own limit in time holds; proxies of the environment are used.
            async with httpx.AsyncClient(verify=self._trusted, timeout=httpx.Timeout(None)) as client:
                for _ in range(MAX_REDIRECTS + 1):
                    response = await self._once(client, request)
                    target = response.headers.get("location")
                    if response.status not in _REDIRECTS or target is None:
                        return response
                    request = self._redirected(request, response.status, target)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            why = str(error) or type(error).__name__
            raise CodemodeError("outbound_failed", f"{request.method} {request.url} failed: {why}") from error
        raise CodemodeError("outbound_failed", f"{request.url} redirects more than {MAX_REDIRECTS} times.")

    async def _once(self, client: httpx.AsyncClient, request: OutboundRequest) -> OutboundResponse:
        # Uncompressed, so that the limit holds for what is read.
        headers = {"accept": "*/*", "accept-encoding": "identity", **request.headers}
        async with client.stream(request.method, request.url, headers=headers, content=request.body) as response:
            body = b""
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > MAX_BODY:
                    raise CodemodeError(
                        "too_large",
                        f"The response of {request.url} is larger than {MAX_BODY:,} bytes, which cannot be recorded.",
                        hint="Ask for less, such as one page of it, or have a tool fetch and store it.",
                    )
            return OutboundResponse(
                response.status_code, body, dict(response.headers), request.url, response.reason_phrase
            )

    def _redirected(self, request: OutboundRequest, status: int, target: str) -> OutboundRequest:
        """Return the request that a redirect asks for, as the Fetch standard has it (HTTP-redirect fetch)."""
        before = parse_address(request.url).origin
        try:
            address = parse_address(urljoin(request.url, target))
        except ValueError as fault:
            raise refused(f"{request.url} redirects to {target[:200]!r}: {fault}.", self._origins) from None
        if address.origin not in self._origins:
            raise not_allowed(address.origin, self._origins)
        method, body, headers = request.method, request.body, dict(request.headers)
        if (status in (301, 302) and method == "POST") or (status == 303 and method not in ("GET", "HEAD")):  # noqa: PLR2004
            method, body = "GET", b""
            headers = {name: value for name, value in headers.items() if name not in _OF_THE_BODY}
        if address.origin != before:
            headers = {name: value for name, value in headers.items() if name not in self._credentials}
        return OutboundRequest(method, str(address), headers, body)
