"""Pieces of TypeScript types: how they are joined, quoted and commented.

Owns: parentheses, literals, property names, and the notes of a schema. Never does: read a schema's structure.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import NamedTuple

from codemode_jupyter.connectors.comments import comment_lines

_PROPERTY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_NOT_PRINTABLE = re.compile(r"[\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_NOTED = (
    *("default", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "pattern", "minItems", "maxItems"),
)


class Binding(IntEnum):
    """How tightly a type expression binds, loosest first."""

    UNION = 0
    INTERSECTION = 1
    ATOM = 2


class TypeText(NamedTuple):
    """A type expression."""

    text: str
    binding: Binding = Binding.ATOM

    def within(self, binding: Binding) -> str:
        """Return the text, in parentheses where the place binds more tightly."""
        return f"({self.text})" if self.binding < binding else self.text


UNKNOWN = TypeText("unknown")
NEVER = TypeText("never")
NULL = TypeText("null")


def union(members: Iterable[TypeText]) -> TypeText:
    """Return ``a | b``, each member once."""
    distinct = list(dict.fromkeys(members))
    if UNKNOWN in distinct:
        return UNKNOWN
    distinct = [one for one in distinct if one != NEVER]
    if len(distinct) <= 1:
        return distinct[0] if distinct else NEVER
    return TypeText(" | ".join(one.text for one in distinct), Binding.UNION)


def intersection(members: Iterable[TypeText]) -> TypeText:
    """Return ``a & b``, each member once."""
    distinct = [one for one in dict.fromkeys(members) if one != UNKNOWN]
    if len(distinct) <= 1:
        return distinct[0] if distinct else UNKNOWN
    return TypeText(" & ".join(one.within(Binding.INTERSECTION) for one in distinct), Binding.INTERSECTION)


def literal(value: object) -> TypeText:
    """Return the type of exactly one JSON value."""
    if isinstance(value, str):
        return TypeText(quoted(value))
    if isinstance(value, list):
        return TypeText(f"[{', '.join(literal(item).text for item in value)}]")
    if isinstance(value, Mapping):
        fields = "; ".join(f"{property_name(str(key))}: {literal(item).text}" for key, item in value.items())
        return TypeText(f"{{ {fields} }}") if fields else TypeText("Record<string, never>")
    if isinstance(value, float) and not math.isfinite(value):
        return TypeText("number")
    return TypeText(json.dumps(value)) if value is None or isinstance(value, int | float) else UNKNOWN


def quoted(text: str) -> str:
    """Return a text as a TypeScript string; nothing in it can end it or hide."""
    return _NOT_PRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def property_name(name: str) -> str:
    """Return a property's name as it is written in a type."""
    return name if _PROPERTY.fullmatch(name) else quoted(name)


def schema_notes(schema: object) -> list[str]:
    """Return the lines of a comment on a schema: description, then default, format, bounds and deprecation."""
    if not isinstance(schema, Mapping):
        return []
    lines = comment_lines(schema.get("description"))
    for key in _NOTED:
        value = schema.get(key)
        if value is not None and (key == "default" or isinstance(value, str | int | float)):
            lines.append(f"@{key} {value if isinstance(value, str) and key != 'default' else _json(value)}")
    if schema.get("deprecated") is True:
        lines.append("@deprecated")
    return lines


def _json(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return "…"
    return text if len(text) <= 200 else text[:199] + "…"  # noqa: PLR2004  a hint, not the value itself
