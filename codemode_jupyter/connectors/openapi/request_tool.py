"""The tool ``request``: what no other tool of a service does.

Owns: its arguments and their checks. Never does: reach another server than the service's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from codemode_jupyter.connectors.approval import ApprovalPolicy, Requires
from codemode_jupyter.connectors.faults import path_of, refuse_arguments
from codemode_jupyter.connectors.http.origins import Address, parse_address
from codemode_jupyter.connectors.http.outbound_messages import OutboundRequest
from codemode_jupyter.connectors.http.request_headers import can_be_sent, is_forbidden
from codemode_jupyter.connectors.openapi.bodies import encode_body
from codemode_jupyter.connectors.openapi.document import Place
from codemode_jupyter.connectors.openapi.failures import http_error, is_success
from codemode_jupyter.connectors.openapi.operations import Media, Parameter
from codemode_jupyter.connectors.openapi.requests import climbing_segment, join_path, literal_path
from codemode_jupyter.connectors.openapi.responses import as_bytes, shown_headers, value_of
from codemode_jupyter.connectors.openapi.sending import Sender
from codemode_jupyter.connectors.openapi.serialization import query_pairs, text_of
from codemode_jupyter.connectors.openapi.tools import OVERWRITING, SAFE
from codemode_jupyter.connectors.schemas.validation import SchemaValidator
from codemode_jupyter.connectors.tool import Arguments, JsonSchema, Tool, ToolContext

NAME = "request"

_METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
_QUERY = re.compile(r"[!$&-;=?-Z\[\]_a-z~%]*")
_SCHEMA: JsonSchema = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Path after the base address, such as /items/1; begins with /."},
        "method": {"type": "string", "enum": list(_METHODS), "default": "GET"},
        "params": {"type": "object", "description": "Parameters of the query; a list is given once for each member."},
        "body": {"description": "Sent as JSON; a text or bytes are sent as they are if contentType says another type."},
        "headers": {"type": "object", "additionalProperties": {"type": "string"}},
        "contentType": {"type": "string", "description": "Media type of the body.", "default": "application/json"},
    },
    "required": ["path"],
    "additionalProperties": False,
}
_OUTPUT: JsonSchema = {
    "type": "object",
    "properties": {
        "status": {"type": "integer"},
        "headers": {"type": "object", "additionalProperties": {"type": "string"}},
        "body": {},
    },
    "required": ["status", "headers", "body"],
}


def request_tool(
    connector: str,
    sender: Sender,
    policy: ApprovalPolicy,
    base: Callable[[], Address],
    security: Sequence[Mapping[str, Any]] | None,
) -> Tool:
    """Return the tool."""
    name = f"{connector}.{NAME}"
    check = SchemaValidator(name, _SCHEMA)

    def validate(arguments: Arguments) -> OutboundRequest:
        given = {key: value for key, value in arguments.items() if value is not None or key == "body"}
        if isinstance(method := given.get("method"), str):
            given["method"] = method.upper()
        check(given)
        try:
            return _request(given, base(), sender)
        except _Refused as fault:
            raise refuse_arguments(name, [fault.row], list(_SCHEMA["properties"])) from None

    async def call(request: OutboundRequest, context: ToolContext) -> object:
        response = await sender.send(name, request, security, context)
        if not is_success(response):
            raise http_error(name, f"{request.method} {parse_address(request.url).path}", response)
        value = value_of(response.headers, as_bytes(response.body))
        return {"status": response.status, "headers": shown_headers(response.headers), "body": value}

    return Tool(
        NAME,
        call,
        "Make any request to the service, with its credentials, when no other tool fits.\n\n"
        "Returns status, headers and body.",
        _SCHEMA,
        _OUTPUT,
        ("path", "method", "params", "body", "headers", "contentType"),
        validate,
        _approval(policy),
        timeout=sender.timeout,
    )


class _Refused(Exception):  # noqa: N818  it never leaves this module
    def __init__(self, argument: str, message: str) -> None:
        super().__init__(message)
        self.row = {"path": path_of([argument]), "message": message}


def _approval(policy: ApprovalPolicy) -> Requires:
    """Return whether a person is asked: by method where the policy goes by what a tool does."""
    reading = policy.requires(NAME, only_reads=True, destructive=False)
    adding = policy.requires(NAME, only_reads=False, destructive=False)
    overwriting = policy.requires(NAME, only_reads=False, destructive=True)
    if reading == adding == overwriting:
        return reading

    def asks(arguments: Arguments) -> bool:
        method = str(arguments.get("method") or "GET").upper()
        answer = reading if method in SAFE else overwriting if method in OVERWRITING else adding
        return answer(arguments) if callable(answer) else answer

    return asks


def _request(given: Arguments, base: Address, sender: Sender) -> OutboundRequest:
    path, separator, query = str(given["path"]).partition("?")
    if not path.startswith("/") or "#" in path or "\\" in path:
        raise _Refused("path", "it must begin with / and hold neither # nor \\")
    if not _QUERY.fullmatch(query):
        raise _Refused("path", "its query holds characters that must be percent-encoded; use params")
    whole = join_path(base, literal_path(path))
    if climbing_segment(whole) is not None:
        raise _Refused("path", "it holds . or .. as a segment, which leads to another path")
    for name in given.get("params", {}):
        if sender.credentials.owns("query", name):
            raise _Refused("params", f"{name!r} is filled with a secret; no program sets it")
    try:
        pairs = [pair for name, value in given.get("params", {}).items() for pair in _pairs(name, value)]
        body, headers = _body(given)
    except (TypeError, ValueError) as fault:
        raise _Refused("body" if "body" in given else "params", str(fault)) from None
    query = "&".join([*([query] if separator and query else []), *pairs])
    url = f"{base.origin}{whole}" + (f"?{query}" if query else "")
    try:
        address = parse_address(url)
    except ValueError as fault:
        raise _Refused("path", str(fault)) from None
    return OutboundRequest(
        given.get("method", "GET"), str(address), {**headers, **_headers(given.get("headers", {}), sender)}, body
    )


def _pairs(name: str, value: object) -> list[str]:
    is_object = isinstance(value, dict)
    parameter = Parameter(
        name,
        "query",
        Place({}, ""),
        style="deepObject" if is_object else "form",
        explode=True,
    )
    return list(query_pairs(parameter, value)) if value is not None else []


def _body(given: Arguments) -> tuple[bytes, dict[str, str]]:
    if "body" not in given or (given["body"] is None and given.get("method", "GET") in SAFE):
        return b"", {"accept": "application/json, */*;q=0.1"}
    if given.get("method", "GET") in ("GET", "HEAD"):
        raise ValueError(f"a {given.get('method', 'GET')} request has no body")
    named = given.get("contentType")
    if named is None:
        named = "application/octet-stream" if isinstance(given["body"], bytes) else "application/json"
    body, content_type = encode_body(text_of(named), Media(text_of(named), Place({}, "")), given["body"])
    return body, {"accept": "application/json, */*;q=0.1", "content-type": content_type}


def _headers(given: Mapping[str, Any], sender: Sender) -> dict[str, str]:
    for name, value in given.items():
        if not can_be_sent(name, value):
            raise _Refused("headers", f"{name[:100]!r} is no header that can be sent")
        if is_forbidden(name) or name.lower() in sender.credentials.header_names:
            raise _Refused("headers", f"a program cannot set {name.lower()[:100]!r}")
    return {name.lower(): value for name, value in given.items()}
