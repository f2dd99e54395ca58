"""A service on this machine, and what an independent validator says of the requests that it got."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from openapi_core import Config, OpenAPI
from openapi_core.datatypes import RequestParameters
from werkzeug.datastructures import Headers, ImmutableMultiDict

from codemode_jupyter.connectors.base import load_tools
from codemode_jupyter.connectors.http.outbound_messages import OutboundRequest, OutboundResponse
from codemode_jupyter.connectors.openapi.connector import OpenApiConnector
from codemode_jupyter.connectors.tool import Tool, ToolContext
from codemode_jupyter.errors import CodemodeError

SHARED = Path(__file__).parents[3].parent / "shared"
CONTEXT = ToolContext("execution", 1, "key")


def document(paths: Mapping[str, Any], version: str = "3.0.3", **more: Any) -> dict[str, Any]:
    """Return a document of our own."""
    return {"openapi": version, "info": {"title": "Harbour", "version": "1"}, "paths": paths, **more}


def operation(*parameters: dict[str, Any], id: str = "call", **more: Any) -> dict[str, Any]:  # noqa: A002  OpenAPI's word
    """Return an operation with the parameters."""
    return {"operationId": id, "parameters": list(parameters), "responses": {"200": {"description": "Fine."}}, **more}


async def tools_of(description: Any, **options: Any) -> dict[str, Tool]:
    """Return the tools of a document by name."""
    return await load_tools(OpenApiConnector("api", description, **options))


async def call(tool: Tool, arguments: dict[str, Any] | None = None) -> Any:
    """Call a tool as the runtime does."""
    return await tool.call(tool.validate(arguments or {}), CONTEXT)


async def refusal(tool: Tool, arguments: dict[str, Any] | None = None) -> CodemodeError:
    """Return the error of a call that must fail."""
    try:
        value = await call(tool, arguments)
    except CodemodeError as error:
        return error
    raise AssertionError(f"no error, but {value!r}")


class Recorder:
    """Stands for a service where only the request counts."""

    def __init__(self, *answers: OutboundResponse) -> None:
        self.requests: list[OutboundRequest] = []
        self._answers = list(answers)

    async def __call__(self, request: OutboundRequest) -> OutboundResponse:
        self.requests.append(request)
        return self._answers.pop(0) if len(self._answers) > 1 else (self._answers or [OutboundResponse(204)])[0]


class ReceivedRequest:
    """A request as the validator reads it: what came over the wire, nothing that the sender knows."""

    def __init__(self, origin: str, asked: tuple[str, str, dict[str, str], bytes]) -> None:
        method, target, headers, body = asked
        path, _, query = target.partition("?")
        self.host_url = origin
        # The validator does not decode paths; a slash within a segment stays encoded, so that it still is one.
        self.path = "/".join(unquote(part).replace("/", "%2F").replace("?", "%3F") for part in path.split("/"))
        self.method = method.lower()
        self.body = body or None
        self.content_type = headers.get("content-type", "")
        cookies = [pair.partition("=") for pair in headers.get("cookie", "").split("; ") if pair]
        self.parameters = RequestParameters(
            query=ImmutableMultiDict(parse_qsl(query, keep_blank_values=True)),
            header=Headers(list(headers.items())),
            cookie=ImmutableMultiDict([(name, unquote(value)) for name, _, value in cookies]),
        )


class Validator:
    """Says what is wrong with received requests, going by the document alone."""

    def __init__(self, description: dict[str, Any], origin: str) -> None:
        self._origin = origin
        local = _without_servers({**description, "servers": [{"url": origin}]})
        self._openapi = OpenAPI.from_dict(local, config=Config(spec_validator_cls=None))

    def faults(self, asked: tuple[str, str, dict[str, str], bytes]) -> str:
        """Return what is wrong, nothing where all is well."""
        try:
            self._openapi.validate_request(ReceivedRequest(self._origin, asked))
        except Exception as error:  # noqa: BLE001  any exception is a complaint
            causes = [error]
            while causes[-1].__cause__ is not None:
                causes.append(causes[-1].__cause__)
            return " < ".join(f"{type(one).__name__}: {str(one)[:200]}" for one in causes)
        return ""


def received(request: OutboundRequest) -> tuple[str, str, dict[str, str], bytes]:
    """Return a request as a server gets it."""
    address = urlsplit(request.url)
    target = address.path + (f"?{address.query}" if address.query else "")
    return request.method, target, dict(request.headers), request.body


def _without_servers(description: dict[str, Any]) -> dict[str, Any]:
    """Return the document for a validator on this machine: other servers are this one."""

    def plain(item: Any) -> Any:
        if not isinstance(item, dict):
            return item
        return {
            key: {name: part for name, part in value.items() if name != "servers"} if isinstance(value, dict) else value
            for key, value in item.items()
            if key != "servers"
        }

    return {**description, "paths": {path: plain(item) for path, item in description["paths"].items()}}
