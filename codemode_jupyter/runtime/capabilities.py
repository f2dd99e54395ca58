"""What a program may call: the tools of the runtime's connectors, found by name.

Owns: asking each connector for its tools once, and answering "which tool is this?" with the nearest names for a miss.
Never does: run a tool.
"""

from __future__ import annotations

import asyncio
import difflib
import inspect
from collections.abc import Awaitable, Iterable, Sequence
from typing import Protocol

from codemode_jupyter.connectors.tool import Tool
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.names import check_connector_names, is_identifier
from codemode_jupyter.sandbox.protocol import CODEMODE_NAMESPACE, Namespace


class ConnectorLike(Protocol):
    """What the runtime asks of a connector; ``codemode_jupyter.connectors.Connector`` is one."""

    @property
    def name(self) -> str:
        """The global under which programs reach it."""

    def instructions(self) -> str:
        """Return what a model should know about the whole connector."""

    def tools(self) -> Sequence[Tool] | Awaitable[Sequence[Tool]]:
        """Return its tools."""

    def on_pass_end(self, execution_id: str, status: str) -> object:
        """Note that a pass paused or ended; may be a coroutine function."""

    def dispose_execution(self, execution_id: str, reason: str) -> object:
        """Note that an execution is over; may be a coroutine function."""


class Capabilities:
    """The connectors of one runtime and their tools.

    Raises
    ------
    CodemodeError
        When made: ``invalid_name``, ``reserved_name``, ``duplicate_name``.
    """

    def __init__(self, connectors: Iterable[ConnectorLike], built_in: Iterable[Tool] = ()) -> None:
        self.connectors = tuple(connectors)
        self.names = tuple(connector.name for connector in self.connectors)
        check_connector_names(self.names)
        self._tools: dict[str, dict[str, Tool]] | None = None
        self._built_in = {tool.name: tool for tool in built_in}
        self._loading = asyncio.Lock()

    async def load(self) -> None:
        """Ask every connector for its tools, the first time only.

        Raises
        ------
        CodemodeError
            ``connector_failed``: a connector could not say; ``invalid_tool``: a tool contradicts itself.
        """
        async with self._loading:
            if self._tools is None:
                tools = {connector.name: await _tools_of(connector) for connector in self.connectors}
                tools[CODEMODE_NAMESPACE] = self._built_in
                self._tools = tools

    def tools_of(self, connector: str) -> dict[str, Tool]:
        """Return the tools of one connector by name; empty when there is no such connector."""
        return (self._tools or {}).get(connector, {})

    def namespaces(self) -> tuple[Namespace, ...]:
        """Return what the sandbox needs to know of the connectors."""
        return tuple(Namespace(name, tuple(self.tools_of(name))) for name in self.names)

    def find(self, connector: str, method: str) -> Tool:
        """Return a tool.

        Raises
        ------
        CodemodeError
            ``unknown_connector`` or ``unknown_tool``, with the nearest names.
        """
        if self._tools is None or connector not in self._tools:
            raise CodemodeError(
                "unknown_connector",
                f'There is no connector "{connector}".',
                hint=_nearest(connector, self.names) or f"The connectors are: {', '.join(self.names) or 'none'}.",
            )
        tools = self._tools[connector]
        if method not in tools:
            raise CodemodeError(
                "unknown_tool",
                f'Tool "{method}" not found on {connector}.',
                hint=_nearest(method, tools, connector) or self._listed(connector),
            )
        return tools[method]

    def missing(self, names: Iterable[str]) -> list[str]:
        """Return those of ``names`` that are no connector of this runtime."""
        return [name for name in names if name not in self.names]

    def _listed(self, connector: str) -> str:
        names = list(self.tools_of(connector))
        if not names:
            return f"{connector} has no tools."
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""  # noqa: PLR2004  a readable list
        return f"{connector} has: {', '.join(names[:10])}{more}."


async def _tools_of(connector: ConnectorLike) -> dict[str, Tool]:
    try:
        answer = connector.tools()
        listed = await answer if inspect.isawaitable(answer) else answer
    except CodemodeError:
        raise
    except Exception as error:
        raise CodemodeError(
            "connector_failed",
            f'Connector "{connector.name}" could not list its tools: {type(error).__name__}: {error}.',
            hint="Check what it connects to, then run the program again.",
        ) from error
    tools: dict[str, Tool] = {}
    for tool in listed:
        _check_tool(connector.name, tool)
        if tool.name in tools:
            raise CodemodeError(
                "duplicate_name",
                f'Connector "{connector.name}" has two tools that are both called "{tool.name}".',
                hint="Rename one of them.",
            )
        tools[tool.name] = tool
    return tools


def _check_tool(connector: str, tool: Tool) -> None:
    if not is_identifier(tool.name):
        raise CodemodeError(
            "invalid_name",
            f"Tool name {tool.name!r} of {connector} is not a valid JavaScript identifier.",
            hint="Use letters, digits and `_`, not starting with a digit.",
        )
    if tool.requires_approval is not False and tool.replay == "reexecute":
        raise CodemodeError(
            "invalid_tool",
            f"{connector}.{tool.name} cannot combine requires_approval with "
            'replay="reexecute": it would act again in every pass.',
            hint='Drop `requires_approval`, or use replay="record".',
        )


def _nearest(name: str, known: Iterable[str], connector: str = "") -> str:
    lowered = {candidate.lower(): candidate for candidate in known}
    found = [lowered[match] for match in difflib.get_close_matches(name.lower(), lowered, n=3, cutoff=0.55)]
    prefix = f"{connector}." if connector else ""
    return f"Did you mean {' or '.join(prefix + match for match in found)}?" if found else ""
