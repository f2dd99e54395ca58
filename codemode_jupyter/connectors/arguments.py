"""From what a program passed to a tool's arguments object.

Owns: binding positional arguments to parameters. Never does: validation (the tool's own ``validate``), or losing one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from codemode_jupyter.connectors.tool import Arguments, JsonSchema, Tool
from codemode_jupyter.errors import CodemodeError


def bind_arguments(tool: Tool, arguments: Sequence[Any], name: str | None = None) -> Arguments:
    """Return the arguments object of a call.

    One object whose keys are parameters is the arguments object as it is. Anything else is bound in order: a single
    value to the first parameter, several to the first ones. One object with none of the tool's parameters as a key is
    the first parameter's value if that parameter takes objects: ``save({title: "x"})`` for ``save(issue)``.

    Parameters
    ----------
    tool : Tool
        The tool that was called.
    arguments : sequence
        The positional arguments.
    name : str, optional
        How messages name the tool; its own name by default.

    Raises
    ------
    CodemodeError
        ``invalid_arguments``: more arguments than parameters.
    """
    if not arguments:
        return {}
    if len(arguments) == 1 and isinstance(arguments[0], dict):
        return _bind_object(tool, arguments[0])
    rest = tool.parameters[-1][1:] if tool.parameters and tool.parameters[-1].startswith("*") else None
    names = tool.parameters[:-1] if rest else tool.parameters
    if len(arguments) > len(names) and rest is None:
        raise _too_many(tool, len(arguments), name or tool.name)
    bound = dict(zip(names, arguments, strict=False))
    if rest and len(arguments) > len(names):
        bound[rest] = list(arguments[len(names) :])
    return bound


def _bind_object(tool: Tool, value: dict[str, Any]) -> Arguments:
    first = tool.parameters[0] if tool.parameters else ""
    properties = tool.input_schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    foreign = not any(key in known for key in value)
    if value and foreign and first in known and not tool.input_schema.get("additionalProperties"):
        others = [key for key in tool.input_schema.get("required", ()) if key != first]
        if not others and takes_objects(known[first], tool.input_schema):
            return {first: value}
    return dict(value)


def takes_objects(schema: object, root: JsonSchema) -> bool:
    """Say whether a schema allows an object, as far as it can be told at a glance."""
    for _ in range(20):  # a chain of references is short; a circle of them ends
        if not isinstance(schema, dict) or "$ref" not in schema:
            break
        schema = root.get("$defs", {}).get(str(schema["$ref"]).removeprefix("#/$defs/"))
    if not isinstance(schema, dict):
        return schema is True
    if isinstance(branches := schema.get("anyOf", schema.get("oneOf")), list):
        return any(takes_objects(branch, root) for branch in branches)
    if "enum" in schema or "const" in schema:
        return False
    kind = schema.get("type", "object")
    return "object" in kind if isinstance(kind, list) else kind == "object"


def _too_many(tool: Tool, given: int, name: str) -> CodemodeError:
    takes = f"{len(tool.parameters)} ({', '.join(tool.parameters)})" if tool.parameters else "none"
    if not tool.parameters and tool.input_schema.get("properties"):
        takes = "one object"
    return CodemodeError(
        "invalid_arguments",
        f"{name} was called with {given} positional argument{'s' * (given != 1)}; it takes {takes}.",
        hint="Pass one object with a key for each argument.",
        data={"faults": [{"path": "", "message": f"{given} arguments given, {len(tool.parameters)} allowed"}]},
    )
