"""Tool sets as a namespace.

Owns: telling what each item of a tool set is, names, and who approves. Never does: import a library of tools.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from codemode_jupyter.connectors.approval import ApprovalPolicy, Approve
from codemode_jupyter.connectors.base import Connector, check_options
from codemode_jupyter.connectors.functions.function import function_tool
from codemode_jupyter.connectors.names import check_tool_name, sanitize_names
from codemode_jupyter.connectors.schemas.validation import load_checker
from codemode_jupyter.connectors.tool import Tool
from codemode_jupyter.connectors.toolset.definitions import read_definition
from codemode_jupyter.connectors.toolset.foreign import ForeignTool
from codemode_jupyter.connectors.toolset.langchain import is_langchain_tool, read_langchain_tool
from codemode_jupyter.connectors.toolset.pydantic_ai import PydanticToolset, is_pydantic_tool, is_pydantic_toolset
from codemode_jupyter.errors import CodemodeError


class ToolSetConnector(Connector):
    """Tools made for other libraries as a namespace.

    Parameters
    ----------
    tools : iterable, mapping or toolset
        In a list, or by name in a dict: LangChain tools; pydantic-ai tools and toolsets; tool definitions as OpenAI's
        and Anthropic's interfaces and the AI SDK take them, with a function under ``execute``, ``function``, ``func``,
        ``handler`` or ``call``, as a pair ``(definition, function)``, or in ``functions``; plain functions; ``Tool``s.
        One that has no implementation is left out, with one warning for all.
    name : str, default "tools"
        Name of the global in programs.
    instructions : str, default ""
        What a model should know before it uses any of them.
    approve : optional
        Which tools a person approves: ``"never"``, ``"destructive"`` or ``"writes"`` (both: all, since tool sets do not
        tell what only reads), names as programs use them, or a function of such a name. By default what the tools ask
        for themselves: ``requires_approval`` or ``needsApproval`` (a truth value or a function of the arguments
        object), and pydantic-ai's ``requires_approval=True`` and ``toolset.approval_required(…)``.
    functions : mapping, optional
        The functions of definitions, by the definitions' names.
    deps : object, optional
        What pydantic-ai tools get as ``ctx.deps``.

    Raises
    ------
    CodemodeError
        ``invalid_name``, ``reserved_name``, ``duplicate_name`` (two names that make one identifier; the message has
        both), ``invalid_tool`` or ``invalid_option``.

    Examples
    --------
    >>> ToolSetConnector([search_tool, calculator])
    >>> ToolSetConnector([({"name": "add", "input_schema": {…}}, add)], name="sums")
    """

    def __init__(  # noqa: PLR0913  the last three by name only
        self,
        tools: Any,
        name: str = "tools",
        instructions: str = "",
        *,
        approve: Approve | None = None,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        deps: object = None,
    ) -> None:
        super().__init__(name, instructions)
        self._policy = None if approve is None else ApprovalPolicy(approve)
        self._functions = dict(functions or {})
        self._deps = deps
        self._items = list(self._read(tools))
        self._warned: set[str] = set()
        if not any(isinstance(item, PydanticToolset) for item in self._items):
            self._made([item for item in self._items if isinstance(item, ForeignTool)])

    async def tools(self) -> list[Tool]:
        """Return the tools in the order given; toolsets are asked for theirs."""
        await load_checker()
        found: list[ForeignTool] = []
        for item in self._items:
            found += await item.tools() if isinstance(item, PydanticToolset) else [item]
        return self._made(found)

    def _made(self, found: list[ForeignTool]) -> list[Tool]:
        self._warn_of([one for one in found if one.tool is None])
        made = [(one.name, one.tool) for one in found if one.tool is not None]
        names = sanitize_names(self.name, (name for name, _ in made))
        tools = [self._decided(replace(tool, name=names[name])) for name, tool in made]
        for tool in tools:
            check_tool_name(tool.name, self.name)
            check_options(tool, f"{self.name}.{tool.name}")
        if self._policy is not None:
            self._policy.check_names(self.name, [tool.name for tool in tools])
        return tools

    def _decided(self, tool: Tool) -> Tool:
        if self._policy is None:
            return tool
        requires = self._policy.requires(tool.name, only_reads=False, destructive=True)
        return replace(tool, requires_approval=requires)

    def _warn_of(self, left_out: list[ForeignTool]) -> None:
        new = [one for one in left_out if one.name not in self._warned]
        if new:
            self._warned.update(one.name for one in new)
            listed = ", ".join(f"{one.name} ({one.missing})" for one in new)
            message = f'Left out of "{self.name}": {listed}.'
            warnings.warn(message, UserWarning, stacklevel=3)

    def _read(self, tools: Any) -> Iterator[ForeignTool | PydanticToolset]:
        if isinstance(tools, Mapping) and not _is_definition(tools):
            for key, item in tools.items():
                yield self._item(item, str(key))
        elif _is_one(tools) or not isinstance(tools, Iterable) or isinstance(tools, str):
            yield self._item(tools, None)
        else:
            for item in tools:
                yield self._item(item, None)

    def _item(self, item: Any, key: str | None) -> ForeignTool | PydanticToolset:
        if isinstance(item, Tool):
            return ForeignTool(key or item.name, item)
        if is_langchain_tool(item):
            return read_langchain_tool(item, key)
        if is_pydantic_toolset(item) or is_pydantic_tool(item):
            return PydanticToolset(item, self._deps, waived=self._policy is not None)
        if isinstance(item, tuple | list) and len(item) == 2 and isinstance(item[0], Mapping):  # noqa: PLR2004  a pair
            return read_definition(item[0], key, item[1])
        if isinstance(item, Mapping):
            return self._with_function(item, key)
        if callable(item) and not isinstance(item, type):
            made = function_tool(item, key)
            return ForeignTool(key or made.name, made)
        raise CodemodeError(
            "invalid_tool",
            f'"{self.name}" cannot make a tool of {item!r:.200}.',
            hint="Pass LangChain or pydantic-ai tools, definitions with a function, or functions.",
        )

    def _with_function(self, item: Mapping[str, Any], key: str | None) -> ForeignTool:
        read = read_definition(item, key)
        given = self._functions.get(read.name)
        return read if given is None else read_definition(item, key, given)


def _is_definition(item: Mapping[Any, Any]) -> bool:
    """Say whether a dict is one definition, rather than tools by their names."""
    return isinstance(item.get("name"), str) or (
        item.get("type") == "function" and isinstance(item.get("function"), dict)
    )


def _is_one(item: object) -> bool:
    single = isinstance(item, Mapping | Tool) or is_langchain_tool(item)
    return single or is_pydantic_tool(item) or is_pydantic_toolset(item)
