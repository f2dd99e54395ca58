"""Pieces of TypeScript types: how they are joined and quoted.

Owns: parentheses, literals and property names. Never does: read a schema's structure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import NamedTuple

_PROPERTY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_NOT_PRINTABLE = re.compile(r"[\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


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


def union(members: Iterable[TypeText]) -> TypeText:
    """Return ``a | b``."""
    return TypeText(" | ".join(one.text for one in members), Binding.UNION)


def intersection(members: Iterable[TypeText]) -> TypeText:
    """Return ``a & b``."""
    return TypeText(" & ".join(one.within(Binding.INTERSECTION) for one in members), Binding.INTERSECTION)


def literal(value: object) -> str:
    """Return the type of exactly one JSON value."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, Mapping):
        fields = "; ".join(f"{property_name(str(key))}: {literal(item)}" for key, item in value.items())
        return f"{{ {fields} }}" if fields else "Record<string, never>"
    return json.dumps(value)


def quoted(text: str) -> str:
    """Return a text as a TypeScript string; nothing in it can end it or hide."""
    return _NOT_PRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def property_name(name: str) -> str:
    """Return a property's name as it is written in a type."""
    return name if _PROPERTY.fullmatch(name) else quoted(name)
