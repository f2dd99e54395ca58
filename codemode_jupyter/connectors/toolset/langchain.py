"""Tools of LangChain: ``BaseTool``, ``@tool``, ``StructuredTool``.

Owns: recognising one, its schema without injected arguments, and its results and errors.
Never does: import LangChain (whoever passes its tools has), or let a program give what LangChain injects.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial, wraps
from typing import Any

from pydantic import ValidationError

from codemode_jupyter.connectors.faults import invalid_arguments
from codemode_jupyter.connectors.functions.plain_call import call_in_thread, call_on_loop
from codemode_jupyter.connectors.names import sanitize_name
from codemode_jupyter.connectors.schemas.references import references_in
from codemode_jupyter.connectors.tool import Arguments, JsonSchema, Tool, ToolContext
from codemode_jupyter.connectors.toolset.approval_flags import SPELLINGS, approval_flag
from codemode_jupyter.connectors.toolset.foreign import ForeignTool, arguments_schema, first_line, positional
from codemode_jupyter.errors import CodemodeError


def is_langchain_tool(item: object) -> bool:
    """Say whether something is a tool of LangChain."""
    return _from_langchain(type(item), "BaseTool")


def read_langchain_tool(item: Any, key: str | None) -> ForeignTool:
    """Return the tool, under ``key`` if there is one; ``metadata``, ``extras`` or an attribute may ask for approval.

    Raises
    ------
    CodemodeError
        ``invalid_tool``: an approval flag that says nothing.
    """
    name, schema = sanitize_name(key or item.name), _schema(item)
    flags: dict[str, Any] = {}
    for source in (item.extras if hasattr(item, "extras") else None, item.metadata, _attributes(item)):
        flags.update(source if isinstance(source, Mapping) else {})
    call = _Call(item, name, tuple(schema["properties"]))
    made = Tool(
        name=name,
        call=call,
        description=first_line(item.description),
        input_schema=schema,
        parameters=positional(schema),
        requires_approval=approval_flag(name, flags),
        cancellable=call.cancellable,
    )
    return ForeignTool(key or item.name, made)


class _Call:
    """Runs a tool as LangChain does, but with errors raised and results as they are."""

    def __init__(self, item: Any, name: str, known: tuple[str, ...]) -> None:
        self._known = known
        self._name = name
        handlers = {
            handler: _raiser(name, getattr(item, handler))
            for handler in ("handle_tool_error", "handle_validation_error")
            if getattr(item, handler, None)
        }
        self._item = item.model_copy(update=handlers)
        self.cancellable = not _blocks(item)
        if self.cancellable:
            object.__setattr__(self._item, "_arun", _guarded(name, item._arun))  # noqa: SLF001  LangChain's own hook
        self._has_artifact = item.response_format == "content_and_artifact"
        self._wants_id = self._has_artifact or _injects_call_id(item)

    async def __call__(self, arguments: Arguments, context: ToolContext) -> Any:
        call_id = context.idempotency_key if self._wants_id else None
        try:
            result = await self._run(dict(arguments), call_id)
        except CodemodeError:
            raise
        except ValidationError as error:
            raise invalid_arguments(self._name, arguments, error, self._known) from None
        except Exception as error:
            if _from_langchain(type(error), "ToolException"):
                raise _failed(self._name, str(error)) from error
            raise
        if not hasattr(result, "tool_call_id"):
            return result
        if getattr(result, "status", "") == "error":
            raise _failed(self._name, str(result.content))
        return {"content": result.content, "artifact": result.artifact} if self._has_artifact else result.content

    async def _run(self, arguments: Arguments, call_id: str | None) -> Any:
        # Not `invoke`, which would take arguments of the form of a tool call for one, and its name for the tool's.
        if self.cancellable:
            return await self._item.arun(arguments, tool_call_id=call_id, config={})
        run = partial(self._item.run, arguments, tool_call_id=call_id, config={})
        return await call_in_thread(self._name, run)


def _schema(item: Any) -> JsonSchema:
    called = item.tool_call_schema  # without what LangChain injects
    if isinstance(called, Mapping):
        raw: Any = dict(called)
    else:
        raw = called.model_json_schema() if hasattr(called, "model_json_schema") else called.schema()
    properties = raw.get("properties") or {}
    hidden = {*getattr(item, "_injected_args_keys", ()), *filter(lambda name: _is_config(properties[name]), properties)}
    if (args := _own_args(item)) is not None:
        raw = {"properties": args, "required": list(args)}
    return arguments_schema(raw, hidden)


def _own_args(item: Any) -> dict[str, Any] | None:
    """Return the arguments of a class that states them apart from its schema, as the ``Tool`` of one text does."""
    owner = next((cls for cls in type(item).__mro__ if "args" in vars(cls)), None)
    own = owner is not None and owner.__name__ != "BaseTool" and item.args_schema is None
    return dict(item.args) if own else None


def _is_config(schema: object) -> bool:
    return "#/$defs/RunnableConfig" in references_in(schema)


def _attributes(item: Any) -> dict[str, Any]:
    return {spelling: getattr(item, spelling) for spelling in SPELLINGS if hasattr(item, spelling)}


def _raiser(name: str, handler: Any) -> Any:
    """Return a handler that raises the text which another handler would have passed off as the tool's result."""

    def raises(error: Exception) -> str:
        text = handler(error) if callable(handler) else handler if isinstance(handler, str) else str(error)
        raise _failed(name, str(text)) from error

    return raises


def _guarded(name: str, run: Any) -> Any:
    """Return the coroutine function that a tool is: LangChain awaits it in a task of its own."""

    @wraps(run)
    async def guarded(*arguments: Any, **keywords: Any) -> Any:
        return await call_on_loop(name, partial(run, *arguments, **keywords))

    return guarded


def _failed(name: str, text: str) -> CodemodeError:
    return CodemodeError("tool_failed", text or f"{name} failed without a message.")


def _injects_call_id(item: Any) -> bool:
    fields = getattr(item.get_input_schema(), "model_fields", {})
    annotated = [part for field in fields.values() for part in (field.annotation, *field.metadata)]
    return any("InjectedToolCallId" in (getattr(part, "__name__", ""), type(part).__name__) for part in annotated)


def _blocks(item: Any) -> bool:
    """Say whether a tool is plain code: LangChain's own ``_arun`` would run it in a thread."""
    owner = next(cls for cls in type(item).__mro__ if "_arun" in vars(cls))
    return getattr(item, "coroutine", None) is None and owner.__module__.startswith("langchain_core.tools")


def _from_langchain(kind: type, name: str) -> bool:
    return any(cls.__name__ == name and cls.__module__.startswith("langchain_core.") for cls in kind.__mro__)
