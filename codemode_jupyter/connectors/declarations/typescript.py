"""Tools as TypeScript declarations: what a model reads before it writes a program.

Owns: the declared namespace and its methods. Never does: types of schemas (``typescript_types.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from codemode_jupyter.connectors.declarations.comments import comment, comment_lines
from codemode_jupyter.connectors.declarations.notes import shortened
from codemode_jupyter.connectors.declarations.typescript_text import property_name
from codemode_jupyter.connectors.declarations.typescript_types import TAKEN, write_declarations
from codemode_jupyter.connectors.names import is_identifier, sanitize_name
from codemode_jupyter.connectors.schemas.reader import ShapeNames
from codemode_jupyter.connectors.tool import Tool

_LONGEST_DESCRIPTION = 8000  # characters of a tool's description


def generate_types(tools: Iterable[Tool] | Mapping[str, Tool], namespace: str = "codemode") -> str:
    """Return the TypeScript declarations of a namespace of tools.

    Parameters
    ----------
    tools : iterable or mapping of Tool
        The tools, in the order in which they are declared.
    namespace : str, default "codemode"
        Name of the global.
    """
    names = ShapeNames(TAKEN)
    listed = list(tools.values() if isinstance(tools, Mapping) else tools)
    methods = [line for tool in listed for line in ("", *_method(tool, names))][1:]
    body = "\n".join(["{", *methods, "}"]) if methods else "{}"
    declared = write_declarations(names)
    name = namespace if is_identifier(namespace) else sanitize_name(namespace)
    return f"{declared}\n\ndeclare const {name}: {body}" if declared else f"declare const {name}: {body}"


def tool_notes(tool: Tool) -> list[str]:
    """Return what is to be known before a tool is called: description, approval, deprecation."""
    notes = [shortened(tool.description, _LONGEST_DESCRIPTION)] if tool.description.strip() else []
    if tool.requires_approval is not False:
        notes.append(
            "Needs approval by a person." if tool.requires_approval is True else "May need approval by a person."
        )
    if isinstance(tool.input_schema, Mapping) and tool.input_schema.get("deprecated") is True:
        notes.append("@deprecated")
    return notes


def takes_arguments(schema: object) -> bool:
    """Say whether there is anything to pass."""
    if not isinstance(schema, Mapping):
        return schema is not False
    closed: Any = schema.get("additionalProperties") is False
    return not (closed and not schema.get("properties") and not schema.get("patternProperties"))


def needs_arguments(schema: object) -> bool:
    """Say whether a tool cannot be called with nothing."""
    if not isinstance(schema, Mapping) or schema.get("type", "object") != "object":
        return True
    return bool(schema.get("required")) or any(key in schema for key in ("anyOf", "oneOf", "allOf", "$ref"))


def _method(tool: Tool, names: ShapeNames) -> list[str]:
    parameter = ""
    if takes_arguments(tool.input_schema):
        optional = "" if needs_arguments(tool.input_schema) else "?"
        parameter = f"input{optional}: {names.declare(tool.input_schema, f'{tool.name}-input')}"
    result = "unknown"
    if tool.output_schema is not None:
        result = names.declare(tool.output_schema, f"{tool.name}-output")
    notes = [line for note in tool_notes(tool) for line in comment_lines(note)]
    return [*comment(notes, "    "), f"    {property_name(tool.name)}: ({parameter}) => Promise<{result}>;"]
