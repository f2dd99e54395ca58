"""``fetch`` for programs whose host lets requests out: each is a call to the kernel, which alone decides and sends.

Owns: the function and its response, in the words that Python's HTTP libraries share. A response is there as a whole.
"""

from __future__ import annotations

import json as json_text
from collections.abc import Coroutine, Mapping
from typing import Any
from urllib.parse import urlencode

from .connectors import Calls, ToolError, encode_arguments, named

CONNECTOR = "fetch"
_BODYLESS = ("GET", "HEAD")
_FORM = "application/x-www-form-urlencoded;charset=UTF-8"


class Response:
    """What a server answered. ``headers`` has its names in lower case."""

    def __init__(self, parts: Mapping[str, Any]) -> None:
        self.status_code: int = parts["status"]
        self.reason: str = parts["statusText"]
        self.url: str = parts["url"]
        self.headers: dict[str, str] = dict(parts["headers"])
        self._body: str | bytes = parts["body"]

    @property
    def ok(self) -> bool:
        """Whether the status says success, 200 to 299."""
        return 200 <= self.status_code <= 299  # noqa: PLR2004  the Fetch standard's "ok status"

    @property
    def text(self) -> str:
        """The body as text."""
        return self._body if isinstance(self._body, str) else self._body.decode("utf-8", "replace")

    @property
    def content(self) -> bytes:
        """The body as bytes."""
        return self._body if isinstance(self._body, bytes) else self._body.encode()

    def json(self) -> Any:
        """Return the value of a body that is JSON."""
        return json_text.loads(self.text)

    def raise_for_status(self) -> Response:
        """Return the response itself, or raise ``ToolError`` where its status says that the request failed."""
        if self.status_code >= 400:  # noqa: PLR2004  RFC 9110: client and server errors
            raise ToolError(f"{self.status_code} {self.reason} for {self.url}", name="HTTPError", code="http_error")
        return self

    def __repr__(self) -> str:
        return f"<Response [{self.status_code}]>"


class Fetch:
    """The global ``fetch``."""

    def __init__(self, calls: Calls, bridge: Any) -> None:
        self._calls = calls
        self._bridge = bridge

    def __call__(  # noqa: PLR0913  what a request has
        self,
        url: str,
        *,
        method: str = "GET",
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, Any] | None = None,
        data: str | bytes | Mapping[str, Any] | None = None,
        json: Any = None,
    ) -> Coroutine[Any, Any, Response]:
        """Make a request; ``data`` is text, bytes or the fields of a form, ``json`` any value.

        Raises
        ------
        ToolError
            The request was refused or no server answered; an answer of any status is none.
        """
        method = method.upper()
        request: dict[str, Any] = {"url": self._address(url, params)}
        fields = {str(name).lower(): str(value) for name, value in (headers or {}).items()}
        body, kind = _body(data, json)
        if body is not None and method in _BODYLESS:
            raise TypeError(f"A {method} request cannot have a body: say which method, such as method='POST'.")
        if kind is not None:
            fields.setdefault("content-type", kind)
        if fields:
            request["headers"] = dict(sorted(fields.items()))
        if body is not None:
            request["body"] = body
        return named(self._answer(method, encode_arguments((request,), {}, "fetch")), "fetch")

    async def _answer(self, method: str, arguments: str) -> Response:
        return Response(await self._calls.call(CONNECTOR, method, arguments))

    def _address(self, url: str, params: Mapping[str, Any] | None) -> str:
        if params:
            url = f"{url}{'&' if '?' in url else '?'}{urlencode(params, doseq=True)}"
        address: str = self._bridge.address(str(url))
        if not address:
            raise TypeError(f"fetch needs a whole address, such as https://host/path, not {url!r:.200}")
        return address


def _body(data: Any, json: Any) -> tuple[str | bytes | None, str | None]:
    """Return the body of a request and the content type that it stands for."""
    if json is not None:
        return json_text.dumps(json, ensure_ascii=False), "application/json"
    if isinstance(data, Mapping):
        return urlencode(data, doseq=True), _FORM
    if isinstance(data, str):
        return data, "text/plain;charset=UTF-8"
    if data is None or isinstance(data, bytes | bytearray | memoryview):
        return None if data is None else bytes(data), None
    raise TypeError("data= is text, bytes or a dict of fields; use json= for any other value")
