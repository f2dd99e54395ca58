"""A tool as another library declares it, on its way to be one of ours.

Owns: what the readers of all libraries give, and the schema of arguments without what only the library may give.
Never does: import a library.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from codemode_jupyter.connectors.tool import JsonSchema, Tool


@dataclass(frozen=True, slots=True)
class ForeignTool:
    """One tool of a tool set.

    Attributes
    ----------
    name : str
        Its name in its library, before it is made an identifier.
    tool : Tool or None
        The tool, under its foreign name; ``None`` for one that only declares itself.
    missing : str
        Why there is none.
    """

    name: str
    tool: Tool | None
    missing: str = "has no implementation"


def arguments_schema(schema: object, hidden: Collection[str] = ()) -> JsonSchema:
    """Return the schema of an arguments object, without ``hidden`` ones, which a program must not give.

    A schema that does not say whether other arguments are allowed does not allow them: an argument that the library
    drops in silence would be lost.
    """
    made: JsonSchema = dict(schema) if isinstance(schema, Mapping) else {}
    for name in ("title", "description"):  # of the whole, which the tool's own description repeats
        made.pop(name, None)
    properties = made.get("properties")
    shown = properties if isinstance(properties, Mapping) else {}
    made = {**made, "type": "object", "properties": {key: one for key, one in shown.items() if key not in hidden}}
    if isinstance(required := made.get("required"), list):
        made["required"] = [name for name in required if name not in hidden]
    if hidden or not any(
        key in made for key in ("additionalProperties", "patternProperties", "$ref", "allOf", "anyOf")
    ):
        made["additionalProperties"] = False
    return made


def positional(schema: JsonSchema) -> tuple[str, ...]:
    """Return the names of arguments in the order in which they can be given by position: the required ones first."""
    names = [str(name) for name in schema["properties"]]
    required = schema.get("required")
    needed = required if isinstance(required, list) else []
    return tuple(sorted(names, key=lambda name: name not in needed))


def first_line(text: object) -> Any:
    """Return a description as text."""
    return text.strip() if isinstance(text, str) else ""
