"""Tool definitions as dicts: those of OpenAI's and Anthropic's interfaces and of the AI SDK, with a function.

Owns: the forms in which a definition says its name, schema, function and approval. Never does: call a model.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from codemode_jupyter.connectors.functions.function import function_tool
from codemode_jupyter.connectors.names import sanitize_name
from codemode_jupyter.connectors.tool import Arguments, JsonSchema, Tool, ToolContext
from codemode_jupyter.connectors.toolset.approval_flags import approval_flag
from codemode_jupyter.connectors.toolset.foreign import ForeignTool, arguments_schema, first_line, positional
from codemode_jupyter.errors import CodemodeError

_SCHEMAS = ("parameters", "input_schema", "inputSchema", "parameters_json_schema")
_FUNCTIONS = ("execute", "function", "func", "handler", "call")


def read_definition(item: Mapping[str, Any], key: str | None, function: Any = None) -> ForeignTool:
    """Return the tool of a definition.

    Parameters
    ----------
    item : mapping
        ``{"type": "function", "function": {"name", "description", "parameters"}}``, the same without the inner
        ``"function"``, ``{"name", "description", "input_schema"}`` or ``{"description", "inputSchema", "execute"}``.
    key : str or None
        Its name, whatever the definition says.
    function : callable, optional
        What runs it; else what is under ``execute``, ``function``, ``func``, ``handler`` or ``call``, in the
        definition or beside it.

    Raises
    ------
    CodemodeError
        ``invalid_tool``: it has no name, or its function does not take its arguments.
    """
    inner = item.get("function")
    said = {**item, **inner} if isinstance(inner, Mapping) else dict(item)
    runs = function or next((said[one] for one in _FUNCTIONS if callable(said.get(one))), None)
    # Tools that a model's maker runs, such as a search of the web, are declared by their type, some by nothing else.
    name = key or said.get("name") or (said.get("type") if runs is None else None)
    if not isinstance(name, str) or not name:
        raise CodemodeError("invalid_tool", f"A tool definition has no name: {item!r:.200}.", hint='Give it a "name".')
    if runs is None:
        return ForeignTool(name, None)
    schema = arguments_schema(next((said[one] for one in _SCHEMAS if said.get(one) is not None), None))
    output = next((said[one] for one in ("output_schema", "outputSchema") if isinstance(said.get(one), Mapping)), None)
    call = _call(name, runs, schema)
    made = Tool(
        name=sanitize_name(name),
        call=call,
        description=first_line(said.get("description")),
        input_schema=schema,
        output_schema=None if output is None else dict(output),
        parameters=positional(schema),
        requires_approval=approval_flag(name, said),
        cancellable=call.cancellable,
    )
    return ForeignTool(name, made)


class _Call:
    """Calls a function with keywords, or with the one arguments object that it takes."""

    def __init__(self, whole: Tool, *, as_object: bool) -> None:
        self._whole = whole
        self._as_object = as_object
        self.cancellable = whole.cancellable

    async def __call__(self, arguments: Arguments, context: ToolContext) -> Any:
        given = {self._whole.parameters[0]: arguments} if self._as_object else arguments
        return await self._whole.call(self._whole.validate(given), context)


def _call(name: str, function: Callable[..., Any], schema: JsonSchema) -> _Call:
    whole = replace(function_tool(function, "call"), name=name)
    takes = whole.input_schema
    names, known = list(schema["properties"]), takes["properties"]
    if takes.get("additionalProperties") or all(one in known for one in names):
        return _Call(whole, as_object=False)
    if len(whole.parameters) == 1 and not whole.parameters[0].startswith("*"):
        return _Call(whole, as_object=True)
    lost = next(one for one in names if one not in known)
    raise CodemodeError(
        "invalid_tool",
        f"The function of {name}, {getattr(function, '__qualname__', function)}{inspect.signature(function)}, does not "
        f'take the argument "{lost}" that its definition has.',
        hint="Give both the same arguments, or let the function take one object.",
    )
