"""The tool that an operation becomes.

Owns: its description, its schemas and its call. Never does: let a fault in one operation cost another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codemode_jupyter.connectors.approval import ApprovalPolicy
from codemode_jupyter.connectors.http.origins import Address
from codemode_jupyter.connectors.http.outbound_messages import OutboundRequest, OutboundResponse
from codemode_jupyter.connectors.http.request_headers import is_forbidden
from codemode_jupyter.connectors.openapi.bodies import body_schema
from codemode_jupyter.connectors.openapi.document import Document
from codemode_jupyter.connectors.openapi.failures import http_error, is_success
from codemode_jupyter.connectors.openapi.media_types import by_preference, kind_of
from codemode_jupyter.connectors.openapi.naming import ArgumentNames
from codemode_jupyter.connectors.openapi.operations import Body, Operation, Parameter
from codemode_jupyter.connectors.openapi.requests import RequestShape, RequestWriter
from codemode_jupyter.connectors.openapi.responses import accepted, as_bytes, output_schema, shown_headers, value_of
from codemode_jupyter.connectors.openapi.schemas import Schemas
from codemode_jupyter.connectors.openapi.sending import IDEMPOTENT, Sender
from codemode_jupyter.connectors.schemas.validation import SchemaValidator
from codemode_jupyter.connectors.tool import Arguments, JsonSchema, Tool, ToolContext

SAFE = ("GET", "HEAD", "OPTIONS")
"""Methods that ask for no change (RFC 9110, 9.2.1, without TRACE)."""

OVERWRITING = ("PUT", "PATCH", "DELETE")
"""Methods that change or remove what is there (RFC 9110, 9.3; RFC 5789)."""


@dataclass(frozen=True, slots=True)
class ToolMaker:
    """Makes the tools of one connector."""

    connector: str
    document: Document
    requests: Schemas
    responses: Schemas
    sender: Sender
    policy: ApprovalPolicy
    base: Callable[[Operation], Address]

    def tool(self, operation: Operation, name: str) -> Tool:
        """Return the tool of an operation."""
        shape, schema = self._request(operation)
        output, uses = output_schema(operation, self.responses)
        if output is not None and uses:
            output = {**output, "$defs": self.responses.definitions(uses)}
        path = f"{self.connector}.{name}"
        check = SchemaValidator(path, schema)
        writer = RequestWriter(path, shape, lambda: self.base(operation))

        def validate(arguments: Arguments) -> OutboundRequest:
            given = without_nulls(arguments, shape.parameters)
            return writer.write(check(given))

        async def call(request: OutboundRequest, context: ToolContext) -> object:
            response = await self.sender.send(path, request, operation.security, context)
            return self.outcome(path, operation.line, request, response)

        return Tool(
            name,
            call,
            _description(operation),
            schema,
            output,
            tuple(schema["properties"]),
            validate,
            self.policy.requires(
                name, only_reads=operation.method in SAFE, destructive=operation.method in OVERWRITING
            ),
            idempotent=operation.method in IDEMPOTENT,
            timeout=self.sender.timeout,
        )

    def outcome(self, path: str, line: str, request: OutboundRequest, response: OutboundResponse) -> object:
        """Return the value of a response, or raise the error that it is."""
        if not is_success(response):
            hint = None
            if (
                response.status in (401, 403)
                and self.sender.credentials.are_given
                and not self.sender.is_trusted(request.url)
            ):
                hint = "It was asked without credentials: name its origin in OpenApiConnector(…, credentials_to=[…])."
            raise http_error(path, line, response, hint)
        if request.method == "HEAD":
            return {"status": response.status, "headers": shown_headers(response.headers)}
        return value_of(response.headers, as_bytes(response.body))

    def _request(self, operation: Operation) -> tuple[RequestShape, JsonSchema]:
        """Return what requests are made of, and the schema of the arguments."""
        owned = self.sender.credentials.owns
        parameters = [
            one
            for one in operation.parameters
            if not owned(one.place, one.name) and not (one.place == "header" and is_forbidden(one.name))
        ]
        names = ArgumentNames(parameters)
        properties: dict[str, Any] = {}
        uses: set[str] = set()
        for name, parameter in names.parameters.items():
            properties[name], more = self._parameter_schema(parameter)
            uses |= more
        required = [name for name, parameter in names.parameters.items() if parameter.required]
        body = content_type = accept = None
        media = tuple(by_preference(operation.body.media)) if operation.body is not None else ()
        if operation.body is not None:
            body = names.further("body", "requestBody")
            schema, more = self._body_schema(operation.body)
            uses |= more
            optional = {name: properties.pop(name) for name in list(properties) if name not in required}
            properties = (
                {**properties, body: schema, **optional}
                if operation.body.required
                else {**properties, **optional, body: schema}
            )
            required += [body] if operation.body.required else []
            if len(media) > 1 or ("*" in media[0].type and kind_of(media[0].type) != "any"):
                content_type = names.further("contentType", "requestContentType")
                properties[content_type] = _choice((one.type for one in media), "Media type of the body.")
        types = tuple(accepted(operation))
        if len(types) > 1:
            accept = names.further("accept", "responseType")
            properties[accept] = _choice(types, "Media type of the response.")
        made: JsonSchema = {"type": "object", "properties": properties}
        if required:
            made["required"] = required
        made["additionalProperties"] = False
        if operation.deprecated:
            made["deprecated"] = True
        if uses:
            made["$defs"] = self.requests.definitions(uses)
        shape = RequestShape(operation, names.parameters, body, media, content_type, accept, types)
        return shape, made

    def _parameter_schema(self, parameter: Parameter) -> tuple[Any, frozenset[str]]:
        schema, uses = self.requests.translate(parameter.schema)
        notes: dict[str, Any] = {}
        if parameter.description:
            notes["description"] = parameter.description
        if parameter.deprecated:
            notes["deprecated"] = True
        if not isinstance(schema, dict):
            return (notes if schema is True else schema), uses
        return {**schema, **notes}, uses

    def _body_schema(self, body: Body) -> tuple[Any, frozenset[str]]:
        found: list[Any] = []
        uses: set[str] = set()
        for media in by_preference(body.media):
            schema, more = body_schema(media, self.requests, self.document)
            uses |= more
            if schema not in found:
                found.append(schema)
        made = found[0] if len(found) == 1 else {"anyOf": found}
        if body.description and isinstance(made, dict):
            made = {"description": body.description, **made}
        return made, frozenset(uses)


def without_nulls(arguments: Arguments, parameters: Mapping[str, Parameter]) -> Arguments:
    """Return the arguments without parameters that are null, which stands for not giving them."""
    return {name: value for name, value in arguments.items() if value is not None or name not in parameters}


def _choice(types: Iterable[str], description: str) -> JsonSchema:
    listed: Sequence[str] = list(types)
    if any("*" in one for one in listed):
        return {"type": "string", "description": f"{description} One of: {', '.join(listed)}."}
    return {"type": "string", "enum": list(listed), "default": listed[0], "description": description}


def _description(operation: Operation) -> str:
    """Return what people and models read: the summary, the description, then the method and the path."""
    parts = [operation.summary, operation.description if operation.description != operation.summary else ""]
    if operation.deprecated:
        parts.append("Deprecated.")
    return "\n\n".join(part for part in (*parts, operation.line) if part)
