"""Tools and toolsets of pydantic-ai.

Owns: recognising them, listing and calling a toolset as an agent's run would, and its ways to ask for approval.
Never does: import pydantic-ai before such a tool is there, or run a model.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pydantic import ValidationError

from codemode_jupyter.connectors.approval import Requires
from codemode_jupyter.connectors.faults import invalid_arguments
from codemode_jupyter.connectors.functions.plain_call import call_on_loop
from codemode_jupyter.connectors.names import sanitize_name
from codemode_jupyter.connectors.questions import Question
from codemode_jupyter.connectors.tool import Arguments, Tool, ToolContext
from codemode_jupyter.connectors.toolset.foreign import ForeignTool, arguments_schema, first_line, positional
from codemode_jupyter.errors import CodemodeError


def is_pydantic_tool(item: object) -> bool:
    """Say whether something is a tool of pydantic-ai, or the definition of one."""
    return _is(type(item), "Tool") or _is(type(item), "ToolDefinition")


def is_pydantic_toolset(item: object) -> bool:
    """Say whether something is a toolset of pydantic-ai."""
    return _is(type(item), "AbstractToolset")


class PydanticToolset:
    """One toolset, or a single tool as a toolset of its own.

    Parameters
    ----------
    item : AbstractToolset, Tool or ToolDefinition
        What was passed.
    deps : object
        ``ctx.deps`` of its tools.
    waived : bool, default False
        Somebody else decides about approval: what the toolset asks for is taken as given.
    """

    def __init__(self, item: Any, deps: object, *, waived: bool = False) -> None:
        self._waived = waived
        self._toolset = item if is_pydantic_toolset(item) else _single(item)
        self._deps = deps

    async def tools(self) -> list[ForeignTool]:
        """Return the tools that the toolset lists now."""
        async with self.entered(self.context()) as toolset:
            listed = await toolset.get_tools(self.context())
        return [self._tool(name, one) for name, one in listed.items() if one.tool_def.kind != "output"]

    def _tool(self, name: str, listed: Any) -> ForeignTool:
        definition = listed.tool_def
        if definition.kind == "external":
            return ForeignTool(name, None, "is run outside of pydantic-ai")
        schema = arguments_schema(definition.parameters_json_schema)
        check = _Validation(sanitize_name(name), listed.args_validator, tuple(schema["properties"]))
        requires = _requires_approval(self, name, listed)
        made = Tool(
            name=sanitize_name(name),
            call=_Call(self, name, listed, asks=True if self._waived else requires),
            description=first_line(definition.description),
            input_schema=schema,
            output_schema=getattr(definition, "return_schema", None) or None,
            parameters=positional(schema),
            requires_approval=requires,
            timeout=definition.timeout,
            cancellable=bool(getattr(listed, "is_async", True)),
        )
        checked_by_schema = made.validate
        return ForeignTool(name, replace(made, validate=lambda arguments: check(checked_by_schema(arguments))))

    @asynccontextmanager
    async def entered(self, context: Any) -> AsyncIterator[Any]:
        """Enter the toolset for one use, as a run enters it for one run."""
        toolset = self._toolset
        for step in ("for_run", "for_run_step"):
            if hasattr(toolset, step):
                toolset = await getattr(toolset, step)(context)
        async with toolset:
            yield toolset

    def context(self, call: ToolContext | None = None, *, name: str | None = None, approved: bool = False) -> Any:
        """Return the context of a run in which no model takes part."""
        from pydantic_ai import RunContext  # noqa: PLC0415  its tools are here, so it is loaded
        from pydantic_ai.models.test import TestModel  # noqa: PLC0415
        from pydantic_ai.usage import RunUsage  # noqa: PLC0415

        return RunContext(
            deps=self._deps,
            model=TestModel(),
            usage=RunUsage(),
            tool_call_id=None if call is None else call.idempotency_key,
            tool_name=name,
            run_id=None if call is None else call.execution_id,
            tool_call_approved=approved,
        )

    def approval_rules(self, name: str, listed: Any) -> list[Any]:
        """Return the rules of ``approval_required(…)`` around one tool, each a function of the arguments object."""
        return list(_rules(self, self._toolset, name, listed))


class _Validation:
    """Checks and converts arguments with the validator that pydantic-ai made for them."""

    def __init__(self, name: str, validator: Any, known: tuple[str, ...]) -> None:
        self._name, self._validator, self._known = name, validator, known

    def __call__(self, arguments: Arguments) -> Arguments:
        try:
            validated: Arguments = self._validator.validate_python(dict(arguments))
        except ValidationError as error:
            raise invalid_arguments(self._name, arguments, error, self._known) from None
        return validated


class _Call:
    def __init__(self, source: PydanticToolset, name: str, listed: Any, *, asks: Requires) -> None:
        self._source, self._name, self._listed = source, name, listed
        self._asks = asks

    async def __call__(self, arguments: Arguments, context: ToolContext) -> Any:
        # Where the tool asked beforehand, a person has approved; else the toolset may still ask.
        approved = self._asks(arguments) if callable(self._asks) else self._asks
        try:
            return await self._run(arguments, context, approved=approved)
        except _Deferred as deferred:
            if deferred.what != "ApprovalRequired":
                message = f"{self._name} wants its result to come from elsewhere, which no program can wait for."
                raise CodemodeError("tool_deferred", message) from None
        await self._ask(context)
        return await self._run(arguments, context, approved=True)

    async def _run(self, arguments: Arguments, context: ToolContext, *, approved: bool) -> Any:
        run = self._source.context(context, name=self._name, approved=approved)
        try:
            async with self._source.entered(run) as toolset:
                tool = await self._present(toolset, run)
                if (check := getattr(tool, "args_validator_func", None)) is not None:
                    await _awaited(check(run, **arguments))
                call = partial(toolset.call_tool, self._name, dict(arguments), run, tool)
                result = await call_on_loop(self._name, call)
        except Exception as error:
            raise _translated(self._name, error) from error
        return result.return_value if _is(type(result), "ToolReturn") else result

    async def _present(self, toolset: Any, run: Any) -> Any:
        tools = await toolset.get_tools(run)
        if self._name not in tools:
            raise CodemodeError("tool_failed", f"{self._name} is not offered at present by its toolset.")
        return tools[self._name]

    async def _ask(self, context: ToolContext) -> None:
        question = Question(f"{self._name} asks for approval of this call. Shall it run?", source=self._name)
        answer = await context.ask(question)
        if answer.action != "accept":
            raise CodemodeError("tool_failed", f"{self._name} was not approved.")


@dataclass
class _Deferred(Exception):  # noqa: N818  a signal
    what: str


def _translated(name: str, error: Exception) -> Exception:
    """Return the error that a program can catch."""
    kind = type(error)
    for signal in ("ApprovalRequired", "CallDeferred"):
        if _is(kind, signal):
            return _Deferred(signal)
    if _is(kind, "ModelRetry") or _is(kind, "ToolFailed"):
        return CodemodeError(
            "tool_failed", str(getattr(error, "message", error)) or f"{name} failed without a message."
        )
    return error


def _requires_approval(source: PydanticToolset, name: str, listed: Any) -> Requires:
    if listed.tool_def.kind == "unapproved":
        return True
    rules = source.approval_rules(name, listed)
    return (lambda arguments: any(rule(arguments) for rule in rules)) if rules else False


def _rules(source: PydanticToolset, toolset: Any, name: str, listed: Any) -> Iterator[Any]:
    """Yield the rules from the outside to the inside, each asked under the name that the tool has there."""
    if (asked := getattr(toolset, "approval_required_func", None)) is not None:
        definition = replace(listed.tool_def, name=name)
        yield lambda arguments: asked(source.context(name=name), definition, arguments)
    if (prefix := getattr(toolset, "prefix", None)) is not None:
        name = name.removeprefix(f"{prefix}_")
    name = (getattr(toolset, "name_map", None) or {}).get(name, name)
    inner = getattr(toolset, "wrapped", None)
    if inner is not None:
        yield from _rules(source, inner, name, listed)
    elif (owner := getattr(listed, "source_toolset", None)) is not None and hasattr(toolset, "toolsets"):
        yield from _rules(source, owner, name, listed.source_tool)


async def _awaited(value: Any) -> Any:
    return await value if hasattr(value, "__await__") else value


def _single(item: Any) -> Any:
    from pydantic_ai import toolsets  # noqa: PLC0415  its tool is here, so it is loaded

    if _is(type(item), "ToolDefinition"):
        return toolsets.ExternalToolset([item])
    return toolsets.FunctionToolset([item])


def _is(kind: type, name: str) -> bool:
    return any(cls.__name__ == name and cls.__module__.startswith("pydantic_ai.") for cls in kind.__mro__)
