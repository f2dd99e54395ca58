"""The base of all connectors: a namespace of tools with its code and credentials in the kernel.

Owns: what a connector must and may say, and reading its tools with every check.
Never does: call a tool, or know of executions beyond the two hooks.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Iterable
from dataclasses import replace

from codemode_jupyter.connectors.names import check_connector_name, check_tool_name, unique_by_name
from codemode_jupyter.connectors.tool import Tool
from codemode_jupyter.errors import CodemodeError


class Connector:
    """A namespace of tools, a global of that name in every program.

    Subclasses implement ``tools``; the other methods have working defaults. The hooks ``on_pass_end`` and
    ``dispose_execution`` may be plain or coroutine functions, are called for every connector of a runtime, used or not,
    must be idempotent, and should keep nothing in the instance: after a restart another instance gets them.

    Parameters
    ----------
    name : str
        Name of the global: an identifier in JavaScript and Python, and no reserved word or builtin of either.
    instructions : str, default ""
        What a model should know before it uses any of the tools.

    Raises
    ------
    CodemodeError
        ``invalid_name`` or ``reserved_name``
    """

    def __init__(self, name: str, instructions: str = "") -> None:
        check_connector_name(name, self)
        self.name = name
        self._instructions = instructions

    def instructions(self) -> str:
        """Return what a model should know before it uses any of the tools."""
        return self._instructions

    def tools(self) -> Iterable[Tool] | Awaitable[Iterable[Tool]]:
        """Return the tools, in the order in which they should be listed."""
        raise NotImplementedError(f"{type(self).__name__} does not say what its tools are.")

    def tool(self, name: str, tool: Tool) -> Tool | None:  # noqa: ARG002  the name is for subclasses
        """Return a tool as programs shall have it; ``None`` leaves it out.

        The place to add an approval, a revert or a better description to derived tools:
        ``return replace(tool, requires_approval=True)`` with ``dataclasses.replace``.
        """
        return tool

    def revision(self) -> object:
        """Return a value that changes whenever ``tools`` or ``instructions`` may answer otherwise than before.

        Compared with ``==`` before each pass and each search: what has changed is asked for again.
        """
        return None

    async def close(self) -> None:
        """Let go of processes, connections and tasks: called when a runtime closes, or its event loop ends.

        What is used afterwards is opened anew, so another runtime may go on with the same connector.
        """

    def on_pass_end(self, execution_id: str, status: str) -> object:
        """Do what is due after a pass of an execution, which now is ``paused``, ``completed``, ``error`` and so on."""

    def dispose_execution(self, execution_id: str, status: str) -> object:
        """Free what is held for an execution that is over; called again after a rollback."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


async def load_tools(connector: Connector) -> dict[str, Tool]:
    """Return a connector's tools by name, after its ``tool`` hook, each checked.

    Raises
    ------
    CodemodeError
        ``connector_failed`` (it could not say), ``invalid_name``, ``reserved_name``, ``duplicate_name`` or
        ``invalid_tool``.
    """
    try:
        answer = connector.tools()
        listed = list(await answer if inspect.isawaitable(answer) else answer)
    except CodemodeError:
        raise
    except (Exception, SystemExit) as error:  # the latter would end the event loop
        raise _failed(connector, error) from error
    return _checked(connector, listed)


def tools_at_once(connector: Connector) -> dict[str, Tool] | None:
    """Return the tools of a connector that lists them without waiting, ``None`` for another or a failing one.

    Raises
    ------
    CodemodeError
        As ``load_tools``, but for ``connector_failed``: what fails now may work when it is needed.
    """
    if inspect.iscoroutinefunction(connector.tools):
        return None
    try:
        answer = connector.tools()
        if inspect.isawaitable(answer):
            getattr(answer, "close", bool)()
            return None
        listed = list(answer)
    except CodemodeError:
        raise
    except (Exception, SystemExit):  # noqa: BLE001  loading says what failed
        return None
    return _checked(connector, listed)


def _checked(connector: Connector, listed: list[Tool]) -> dict[str, Tool]:
    tools: list[Tool] = []
    for tool in listed:
        _check_kind(tool, f"tools() of {connector!r}")
        try:
            decorated = connector.tool(tool.name, tool)
        except CodemodeError:
            raise
        except (Exception, SystemExit) as error:
            raise _failed(connector, error) from error
        if decorated is not None:
            _check_kind(decorated, f"tool({tool.name!r}, …) of {connector!r}")
            tools.append(decorated)
    for tool in tools:
        check_tool_name(tool.name, connector.name)
        check_options(tool, f"{connector.name}.{tool.name}")
    unique_by_name(connector.name, ((tool.name, _shown(tool)) for tool in tools))
    return {tool.name: tool for tool in tools}


def _check_kind(tool: object, where: str) -> None:
    if not isinstance(tool, Tool):
        if inspect.iscoroutine(tool):
            tool.close()
        raise CodemodeError(
            "invalid_tool",
            f"{where} gave {tool!r:.100}, which is no Tool.",
            hint="Return Tool(…)s; FunctionConnector makes them of functions.",
        )


def _failed(connector: Connector, error: BaseException) -> CodemodeError:
    return CodemodeError(
        "connector_failed",
        f'Connector "{connector.name}" could not list its tools: {type(error).__name__}: {error}.',
        hint="Check what it connects to, then run the program again.",
    )


def check_options(tool: Tool, path: str) -> None:
    """Refuse a tool whose options are not what ``Tool`` says, or that would act again in every pass.

    Raises
    ------
    CodemodeError
        ``invalid_tool``
    """
    approval, timeout = tool.requires_approval, tool.timeout
    is_number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    for option, value, fits, wanted in (
        ("requires_approval", approval, isinstance(approval, bool) or callable(approval), "True, False or a function"),
        ("revert", tool.revert, tool.revert is None or callable(tool.revert), "a function"),
        ("replay", tool.replay, tool.replay in ("record", "reexecute"), '"record" or "reexecute"'),
        ("idempotent", tool.idempotent, isinstance(tool.idempotent, bool), "True or False"),
        ("timeout", timeout, timeout is None or (is_number and timeout > 0), "a number of seconds above 0"),
    ):
        if not fits:
            message = f"{path} cannot have {option}={value!r:.100}."
            raise CodemodeError("invalid_tool", message, hint=f"Use {wanted}.")
    if approval is not False and tool.replay == "reexecute":
        raise CodemodeError(
            "invalid_tool",
            f'{path} cannot combine requires_approval with replay="reexecute": it would act again in every pass.',
            hint='Leave out `requires_approval`, or use replay="record".',
        )


def with_name(tool: Tool, name: str) -> Tool:
    """Return the same tool under another name."""
    return replace(tool, name=name)


def _shown(tool: Tool) -> str:
    return f"“{tool.description.splitlines()[0]}”" if tool.description else "one without a description"
