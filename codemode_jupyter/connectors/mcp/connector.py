"""A server of the Model Context Protocol as a connector.

Owns: the options, and the tools made of the server's list. Never does: the protocol (the official SDK), or the
session's life (``keeper.py``).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import mcp_types as types
from mcp import ClientSession, MCPError
from pydantic import ValidationError

from codemode_jupyter.connectors.approval import ApprovalPolicy, Approve, Requires
from codemode_jupyter.connectors.base import Connector
from codemode_jupyter.connectors.mcp.connection import Callbacks
from codemode_jupyter.connectors.mcp.conversation import Conversation
from codemode_jupyter.connectors.mcp.http_server import HttpServer
from codemode_jupyter.connectors.mcp.keeper import GivenSession, SessionKeeper, Sessions
from codemode_jupyter.connectors.mcp.listing import identifiers, list_tools
from codemode_jupyter.connectors.mcp.remote_tool import RemoteTool
from codemode_jupyter.connectors.mcp.stdio_server import StdioServer
from codemode_jupyter.connectors.schemas.validation import SchemaValidator
from codemode_jupyter.connectors.tool import JsonSchema, Tool
from codemode_jupyter.errors import CodemodeError

CONNECT_SECONDS = 30.0
"""How long connecting and listing the tools may take, by default."""

ANSWER_SECONDS = 600.0
"""How long a person has for the answer to a question of a server, by default."""

_DESCRIPTION = 10_000
_INSTRUCTIONS = 20_000
_log = logging.getLogger(__name__)


class McpConnector(Connector):
    """The tools of an MCP server. Made by ``stdio``, ``http``, or of a session that is there.

    The server is connected when its tools are first needed; the session lives until ``Runtime.close``, is made anew
    when it was lost, and follows changes of the list of tools. What a server asks is shown in the card of the run.

    Parameters
    ----------
    name : str
        Name of the global in programs.
    server : ClientSession, StdioServer or HttpServer
        A session that its owner has entered and will leave; or how a server is reached, as ``stdio`` and ``http``
        make it. What a server tells and asks by itself over a given session goes to the callbacks that it was made
        with; after a change of its tools call ``refresh``.
    approve : {"writes", "destructive", "never"}, iterable of str or callable, default "writes"
        Which tools a person approves (``approval.py``). What a tool does is known from its hints: a tool without
        ``readOnlyHint`` writes, one without ``destructiveHint: false`` destroys as well. A server's change of its
        hints never takes an approval away.
    instructions : str, default ""
        What a model should know, after what the server says itself.
    rename : mapping of str to str, optional
        Names in programs for tools by their names in the server; others are sanitized (``sanitize_name``).
    timeout : float, optional
        Limit of a call in seconds; the runtime's ``tool_timeout`` by default.
    connect_timeout : float, default 30.0
        Seconds that connecting may take, and listing the tools.
    answer_timeout : float, default 600.0
        Seconds that a person has for an answer; then the question is cancelled. No other limit counts meanwhile.

    Raises
    ------
    CodemodeError
        ``invalid_name``, ``reserved_name``, ``invalid_option``; ``missing_extra`` without the extra ``[mcp]``.

    Examples
    --------
    >>> McpConnector.stdio("files", ["npx", "-y", "@modelcontextprotocol/server-filesystem", "data"])
    >>> McpConnector.http("tickets", "https://mcp.example.com/mcp", headers={"Authorization": f"Bearer {token}"})
    """

    def __init__(  # noqa: PLR0913  all but the first two are keywords with defaults
        self,
        name: str,
        server: ClientSession | StdioServer | HttpServer,
        *,
        approve: Approve = "writes",
        instructions: str = "",
        rename: Mapping[str, str] | None = None,
        timeout: float | None = None,
        connect_timeout: float = CONNECT_SECONDS,
        answer_timeout: float = ANSWER_SECONDS,
    ) -> None:
        super().__init__(name, instructions)
        self._policy = ApprovalPolicy(approve)
        self._rename = dict(rename or {})
        self._timeout = timeout
        self._connect_timeout = connect_timeout
        self._changes = 0
        self._known: tuple[Tool, ...] | None = None
        self._gated: set[str] = set()
        self._server_words = ""
        self._keeper: SessionKeeper | None = None
        self._sessions: Sessions
        if not isinstance(server, ClientSession | StdioServer | HttpServer):
            raise CodemodeError(
                "invalid_option",
                f"{server!r:.100} is no MCP server.",
                hint="Use McpConnector.stdio(…), McpConnector.http(…), or pass a ClientSession.",
            )
        if isinstance(server, ClientSession):
            self._sessions = GivenSession(name, server)
            self._conversation = Conversation(name, self._sessions.redaction, answer_timeout)
        else:
            self._conversation = Conversation(name, server.redaction, answer_timeout)
            callbacks = Callbacks(self._conversation.elicit, self._conversation.log, self.refresh)
            self._sessions = self._keeper = SessionKeeper(name, server, callbacks, connect_timeout)

    @classmethod
    def stdio(
        cls,
        name: str,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        **options: Any,
    ) -> Self:
        """Return a connector to a server that is started here and spoken to over its standard input and output.

        Parameters
        ----------
        command : sequence of str
            The program and its arguments; no shell reads them.
        env : mapping of str to str, optional
            Environment variables, added to the few that every program needs. Values that look like secrets are taken
            out of everything that comes back from the server.
        cwd : path, optional
            Its working directory; the kernel's by default.
        **options
            As of ``McpConnector``.
        """
        return cls(name, StdioServer(command, env, cwd), **options)

    @classmethod
    def http(cls, name: str, url: str, *, headers: Mapping[str, str] | None = None, **options: Any) -> Self:
        """Return a connector to a server that is reached over streamable HTTP.

        Parameters
        ----------
        url : str
            The address of the server's endpoint.
        headers : mapping of str to str, optional
            Sent with every request. Their values are taken out of everything that comes back from the server.
        **options
            As of ``McpConnector``.
        """
        return cls(name, HttpServer(url, headers), **options)

    def instructions(self) -> str:
        """Return what the server says, then what was given here."""
        return "\n\n".join(text for text in (self._server_words, super().instructions()) if text)

    def refresh(self) -> None:
        """Have the tools listed again before the next pass or search."""
        self._changes += 1

    def revision(self) -> object:
        """Return a value that changes with the server's list and with every connection after the first."""
        return self._changes, max(1, self._keeper.connects if self._keeper is not None else 1)

    async def tools(self) -> tuple[Tool, ...]:
        """Return the server's tools; where it cannot be reached any more, those that were known.

        Raises
        ------
        CodemodeError
            ``connector_failed``, ``duplicate_name``, ``invalid_option`` (``approve`` names a tool that is not there).
        """
        try:
            session = await self._sessions.session()
            listed = await self._listed(session)
            self._server_words = self._sessions.redaction.text(session.instructions or "")[:_INSTRUCTIONS].strip()
            made = self._made(listed)
        except CodemodeError as refusal:
            if self._known is None:
                raise
            _log.warning("The tools of %s stay as they were: %s", self.name, refusal)
            return self._known
        if self._known is None:
            self._policy.check_names(self.name, [tool.name for tool in made])
        self._known = made
        return made

    async def close(self) -> None:
        """End the connection and, over stdio, the process."""
        await self._sessions.close()

    async def _listed(self, session: ClientSession) -> list[types.Tool]:
        try:
            async with asyncio.timeout(self._connect_timeout):
                return await list_tools(session, self.name)
        except TimeoutError:
            why = f"it did not list its tools within {self._connect_timeout:g} s"
        except MCPError as error:
            why = error.message
        except (ValidationError, RuntimeError, ValueError) as error:
            why = f"its list of tools is not as the protocol has it: {' '.join(str(error).split())}"
        raise CodemodeError(
            "connector_failed",
            f'Connector "{self.name}" cannot use its MCP server ({self._sessions.name}): '
            f"{self._sessions.redaction.text(why)[:500]}.",
            hint="The server is at fault; the next run asks it again.",
        )

    def _made(self, listed: Sequence[types.Tool]) -> tuple[Tool, ...]:
        names = identifiers(self.name, [tool.name for tool in listed], self._rename)
        return tuple(self._tool_of(tool, names[tool.name]) for tool in listed)

    def _tool_of(self, tool: types.Tool, name: str) -> Tool:
        path = f"{self.name}.{name}"
        hints = tool.annotations or types.ToolAnnotations()
        only_reads = hints.read_only_hint is True
        clean = self._sessions.redaction
        schema = clean.data(_input_schema(tool.input_schema))
        output = None if tool.output_schema is None else clean.data(tool.output_schema)
        properties = schema.get("properties")
        return Tool(
            name=name,
            call=RemoteTool(
                self._sessions,
                self._conversation,
                tool.name,
                path,
                None if output is None else SchemaValidator(f"the result of {path}", output),
            ),
            description=clean.text(tool.description or tool.title or hints.title or "")[:_DESCRIPTION],
            input_schema=schema,
            output_schema=output,
            parameters=tuple(map(str, properties)) if isinstance(properties, Mapping) else (),
            validate=SchemaValidator(path, schema),
            requires_approval=self._requires_approval(name, only_reads, hints.destructive_hint),
            idempotent=only_reads or hints.idempotent_hint is True,
            timeout=self._timeout,
        )

    def _requires_approval(self, name: str, only_reads: bool, destructive: bool | None) -> Requires:  # noqa: FBT001  hints as they are
        """Return whether a tool needs approval; one that did once does for good, whatever its server says later."""
        asked = self._policy.requires(
            name, only_reads=only_reads, destructive=not only_reads and destructive is not False
        )
        if asked is True:
            self._gated.add(name)
        return True if asked is False and name in self._gated else asked


def _input_schema(schema: Mapping[str, Any]) -> JsonSchema:
    """Return the schema of an arguments object; one that says nothing of an object is an open object."""
    if "$ref" in schema:
        return dict(schema)
    if schema.get("type") == "object" or "properties" in schema:
        return {**schema, "type": "object"}
    return {"type": "object"}
