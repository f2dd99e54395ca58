"""One tool of a server, called.

Owns: the rounds of a call, and what its failures are for a program. Never does: repeat a call that may have happened.

A call is sent again in three cases, in each of which the protocol says that it was not carried out: the server no
longer knows the session (HTTP 404), it first wants an answer of the person, or it first wants an address visited.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import mcp_types as types
from mcp import ClientSession, MCPError, UrlElicitationRequiredError
from mcp.client.session import ClientRequestContext
from mcp_types import CONNECTION_CLOSED, INVALID_REQUEST, URL_ELICITATION_REQUIRED
from pydantic import TypeAdapter, ValidationError

from codemode_jupyter.connectors.mcp.conversation import Conversation
from codemode_jupyter.connectors.mcp.keeper import Sessions
from codemode_jupyter.connectors.mcp.results import unwrap
from codemode_jupyter.connectors.mcp.transport import refusals
from codemode_jupyter.connectors.schemas.validation import SchemaValidator
from codemode_jupyter.connectors.tool import Arguments, ToolContext
from codemode_jupyter.errors import CodemodeError

_MOST_ROUNDS = 10
_LOST = re.compile("Connection closed$|SSE stream (ended|failed)")
"""How the SDK's own errors of a lost connection begin: servers use their code, -32000, for errors of any kind."""

_MESSAGE = 2_000
_Answer = types.CallToolResult | types.InputRequiredResult
_ADAPTER: TypeAdapter[_Answer] = TypeAdapter(_Answer)


class RemoteTool:
    """Calls one tool; ``path`` is its name in programs, with the connector's."""

    def __init__(
        self, sessions: Sessions, conversation: Conversation, name: str, path: str, output: SchemaValidator | None
    ) -> None:
        self._sessions = sessions
        self._conversation = conversation
        self._name = name
        self._path = path
        self._output = output

    async def __call__(self, arguments: Arguments, context: ToolContext) -> Any:
        """Call the tool and return the value of its result.

        Raises
        ------
        CodemodeError
            ``tool_failed`` (the tool says so), ``connector_failed`` (not sent), ``connection_lost`` (it may have
            happened), ``server_error``, ``protocol_error``, ``result_invalid``.
        """
        with self._conversation.calls.during(context):
            try:
                result = await self._rounds(arguments, context)
            except MCPError as error:
                raise self._failure(error) from None  # the cause may name what is secret
            except (ValidationError, RuntimeError, ValueError) as error:
                raise self._breach(error) from None
        return self._value(result)

    async def _rounds(self, arguments: Arguments, context: ToolContext) -> types.CallToolResult:
        session = await self._sessions.session()
        params = types.CallToolRequestParams(name=self._name, arguments=arguments)
        for _ in range(_MOST_ROUNDS):
            statuses: list[int] = []
            try:
                answer = await self._send(session, params, context, statuses)
            except MCPError as error:
                if HTTPStatus.NOT_FOUND in statuses:  # MCP "Transports": the server does not know the session any more
                    self._sessions.lost()
                    session = await self._sessions.session()
                elif error.code != URL_ELICITATION_REQUIRED or not await self._visited(error):
                    raise
                continue
            if isinstance(answer, types.CallToolResult):
                return answer
            params = params.model_copy(
                update={
                    "input_responses": await self._responses(session, answer),
                    "request_state": answer.request_state,
                }
            )
        raise MCPError(INVALID_REQUEST, f"it asked for more than {_MOST_ROUNDS} times before it did anything")

    async def _send(
        self, session: ClientSession, params: types.CallToolRequestParams, context: ToolContext, statuses: list[int]
    ) -> _Answer:
        async def show(progress: float, total: float | None, message: str | None) -> None:
            context.progress(progress, total, self._sessions.redaction.text(message or ""))

        request = types.CallToolRequest(params=params)
        token = refusals.set(statuses)
        try:
            return await session.send_request(request, _ADAPTER, progress_callback=show)
        finally:
            refusals.reset(token)

    async def _responses(self, session: ClientSession, asked: types.InputRequiredResult) -> types.InputResponses | None:
        """Answer what the server wants to know before it goes on (MCP 2026-07-28), one question after the other."""
        responses: types.InputResponses = {}
        for key, request in (asked.input_requests or {}).items():
            around = ClientRequestContext(session=session, request_id=key)
            response: types.InputResponse | types.ErrorData
            if isinstance(request, types.ElicitRequest):
                response = await self._conversation.elicit(around, request.params)
            else:
                response = await session.dispatch_input_request(around, request)  # refused: the SDK's own answer
            if isinstance(response, types.ErrorData):
                raise MCPError.from_error_data(response)
            responses[key] = response
        return responses or None

    async def _visited(self, error: MCPError) -> bool:
        """Ask the person to visit the addresses that the server names; tell whether they say so of all."""
        for params in UrlElicitationRequiredError.from_error(error.error).elicitations:
            if (await self._conversation.ask(params)).action != "accept":
                return False
        return True

    def _value(self, result: types.CallToolResult) -> Any:
        wire = result.model_dump(mode="python", by_alias=True, exclude_unset=True)
        cleaned: Mapping[str, Any] = self._sessions.redaction.data(wire)
        value = unwrap(cleaned, declared=self._output is not None)
        structured = cleaned.get("structuredContent")
        if self._output is not None and structured is not None:
            faults = self._output.faults(structured)
            if faults:
                first = f"{faults[0]['path']}: {faults[0]['message']}".removeprefix(": ")
                raise CodemodeError(
                    "result_invalid",
                    f"{self._path} ran, but its result does not fit its output schema: {first}.",
                    data={"faults": faults},
                )
        return value

    def _failure(self, error: MCPError) -> CodemodeError:
        message = self._sessions.redaction.text(error.message)[:_MESSAGE]
        if error.code == CONNECTION_CLOSED and _LOST.match(error.message):
            return CodemodeError(
                "connection_lost",
                f"The connection to the MCP server ({self._sessions.name}) was lost while {self._path} was under way.",
                hint="Whether it had an effect is not known, and it is not called again by itself. "
                "The next call connects anew.",
            )
        return CodemodeError("server_error", message or f"{self._path} failed.", data={"code": error.code})

    def _breach(self, error: Exception) -> CodemodeError:
        first = self._sessions.redaction.text(str(error)).splitlines()[:1]
        return CodemodeError(
            "protocol_error",
            f"The MCP server ({self._sessions.name}) answered {self._path} in a way that the protocol does not have: "
            f"{''.join(first)[:300]}.",
            hint="Whether it had an effect is not known.",
        )
