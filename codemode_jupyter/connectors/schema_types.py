"""JSON Schema as TypeScript types.

Owns: the type of one schema, with recursion and shared parts as named types.
Never does: fail on a schema (what it cannot read is ``unknown``), or let a schema's text become code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from codemode_jupyter.connectors.comments import comment
from codemode_jupyter.connectors.schema_references import References, points_into_aliases
from codemode_jupyter.connectors.type_text import (
    NEVER,
    NULL,
    UNKNOWN,
    Binding,
    TypeText,
    intersection,
    literal,
    property_name,
    schema_notes,
    union,
)

_SHAPES = ("properties", "additionalProperties", "patternProperties", "items", "prefixItems", "additionalItems")
_SIMPLE = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "null": "null"}
_INDENT = "    "


_TAKEN = frozenset(
    [  # names of TypeScript's own library, which a declaration would hide
        *("Array", "ArrayBuffer", "Awaited", "Boolean", "Date", "Error", "Function", "Iterator"),
        *("Map", "Number", "Object", "Omit", "Partial", "Pick", "Promise", "Readonly"),
        *("Record", "Required", "Set", "String", "Symbol", "Uint8Array"),
    ]
)


@dataclass
class TypeNames:
    """The names of the types declared so far, over all schemas of one text; equal types share a name.

    ``declarations`` holds the text of each named type in the order in which they were asked for.
    """

    declarations: dict[str, str] = field(default_factory=dict)
    _by_meaning: dict[str, str] = field(default_factory=dict)

    def reserve(self, wanted: str) -> str:
        """Return a name that is free, as near to ``wanted`` as can be."""
        name, number = wanted, 2
        while name in self.declarations or name in _TAKEN:
            name, number = f"{wanted}{number}", number + 1
        self.declarations[name] = ""
        return name

    def known(self, meaning: str) -> str | None:
        """Return the name of the type with this meaning, if it has one."""
        return self._by_meaning.get(meaning)

    def remember(self, meaning: str, name: str) -> None:
        """Say that a type with this meaning has a name."""
        self._by_meaning[meaning] = name


def json_schema_to_type(schema: object, type_name: str = "T") -> str:
    """Return the TypeScript declaration of a JSON Schema, preceded by nothing and followed by the named types it uses.

    Parameters
    ----------
    schema : object
        A schema of any draft from 4 to 2020-12, or of OpenAPI 3.0; what is not one becomes ``unknown``.
    type_name : str, default "T"
        Name of the declared type.
    """
    names = TypeNames()
    declare_type(schema, type_name, names)
    return "\n".join(names.declarations.values())


def declare_type(schema: object, wanted: str, names: TypeNames) -> str:
    """Add the declaration of a schema to ``names`` and return the name it got."""
    name = names.reserve(type_name_of(wanted))
    try:
        text = TypeWriter(schema, names).write(schema, frozenset(["#"]), "").text
    except RecursionError:
        text = UNKNOWN.text  # a schema nested too deeply costs its own type only
    names.declarations[name] = f"type {name} = {text}"
    return name


def type_name_of(text: str) -> str:
    """Return a type name made of a tool's or a definition's name: ``list-all.items`` gives ``ListAllItems``."""
    words = re.split(r"[^A-Za-z0-9$]+", text)
    name = "".join(word[:1].upper() + word[1:] for word in words if word) or "Type"
    return f"_{name}" if name[0].isdigit() else name


class TypeWriter:
    """Writes the types of one document of schemas.

    ``aliases`` holds the places whose type alias is being written at this very level: TypeScript refuses an alias that
    is its own meaning, so a reference to one of them is ``unknown`` here, while below an object or list it is its name.
    """

    def __init__(self, root: object, names: TypeNames) -> None:
        self._references = References(root)
        self._names = names

    def write(self, schema: object, aliases: frozenset[str], indent: str) -> TypeText:
        """Return the type of one schema; ``indent`` is the blank before the line it stands in."""
        if schema is True or not isinstance(schema, Mapping):
            return NEVER if schema is False else UNKNOWN
        if isinstance(pointer := schema.get("$ref"), str):
            made = self._reference(pointer, schema, aliases, indent)
        elif "const" in schema:
            made = literal(schema["const"])
        elif isinstance(schema.get("enum"), list):
            made = union(map(literal, schema["enum"]))
        else:
            made = self._combined(schema, aliases, indent)
        return union([made, NULL]) if schema.get("nullable") is True and made is not NEVER else made

    def _combined(self, schema: Mapping[str, Any], aliases: frozenset[str], indent: str) -> TypeText:
        """Return the meaning of ``type`` and its keywords, and of ``anyOf``, ``oneOf`` and ``allOf`` beside them."""
        alternatives = [branches for key in ("anyOf", "oneOf") if isinstance(branches := schema.get(key), list)]
        parts = [
            union(self.write(_inheriting(branch, schema), aliases, indent) for branch in branches)
            for branches in alternatives
        ]
        if isinstance(branches := schema.get("allOf"), list):
            parts.extend(self.write(branch, aliases, indent) for branch in branches)
        narrowed = any(part != UNKNOWN for part in parts)
        base = UNKNOWN if narrowed and not _has_shape(schema) else self._typed(schema, indent)
        return intersection([base, *parts])

    def _typed(self, schema: Mapping[str, Any], indent: str) -> TypeText:
        kind = schema.get("type")
        if isinstance(kind, list):
            return union(self._of_kind(one, schema, indent) for one in kind) if kind else UNKNOWN
        if kind is None:
            if "properties" in schema or isinstance(schema.get("required"), list):
                return self._object(schema, indent) if schema.get("properties") else UNKNOWN
            kind = "array" if "items" in schema or "prefixItems" in schema else None
        return self._of_kind(kind, schema, indent)

    def _of_kind(self, kind: object, schema: Mapping[str, Any], indent: str) -> TypeText:
        if kind == "object":
            return self._object(schema, indent)
        if kind == "array":
            return self._array(schema, indent)
        if kind == "string" and schema.get("format") == "binary":
            return TypeText("Uint8Array")
        return TypeText(_SIMPLE[kind]) if isinstance(kind, str) and kind in _SIMPLE else UNKNOWN

    def _object(self, schema: Mapping[str, Any], indent: str) -> TypeText:
        properties = schema.get("properties")
        fields = properties if isinstance(properties, Mapping) else {}
        required = schema.get("required")
        needed = {key for key in required if isinstance(key, str)} if isinstance(required, list) else set()
        inner = indent + _INDENT
        lines: list[str] = []
        for key, value in fields.items():
            lines.extend(comment(schema_notes(value), inner))
            mark = "" if key in needed else "?"
            lines.append(f"{inner}{property_name(str(key))}{mark}: {self.write(value, frozenset(), inner).text};")
        others = self._others(schema, inner)
        if others is not None and not fields:
            return (
                TypeText("Record<string, unknown>")
                if others == UNKNOWN
                else TypeText(f"{{ [key: string]: {others.text} }}")
            )
        if others is not None and (schema.get("additionalProperties") or "patternProperties" in schema):
            lines.append(f"{inner}[key: string]: unknown;")  # TypeScript wants it to cover the named ones as well
        return TypeText("\n".join(["{", *lines, f"{indent}}}"])) if lines else TypeText("Record<string, never>")

    def _others(self, schema: Mapping[str, Any], indent: str) -> TypeText | None:
        """Return the type of the properties that are not named, ``None`` where there are none."""
        more = schema.get("additionalProperties", True)
        patterns = schema.get("patternProperties")
        found = (
            [self.write(value, frozenset(), indent) for value in patterns.values()]
            if isinstance(patterns, Mapping)
            else []
        )
        if isinstance(more, Mapping) or (more is not False and not found):
            found.append(self.write(more, frozenset(), indent))
        return union(found) if found else None

    def _array(self, schema: Mapping[str, Any], indent: str) -> TypeText:
        items, first = schema.get("items", True), schema.get("prefixItems")
        if first is None and isinstance(items, list):  # the tuple of drafts before 2020-12
            first, items = items, schema.get("additionalItems", False)
        elif isinstance(first, list):
            items = schema.get("items", False)
        if not isinstance(first, list):
            return TypeText(f"{self.write(items, frozenset(), indent).within(Binding.ATOM)}[]")
        least, most = schema.get("minItems", len(first)), schema.get("maxItems")
        members = []
        for index, one in enumerate(first):
            optional = "?" if isinstance(least, int) and index >= least else ""
            members.append(f"{self.write(one, frozenset(), indent).within(Binding.ATOM)}{optional}")
        if items is not False and not (isinstance(most, int) and most <= len(first)):
            members.append(f"...{self.write(items, frozenset(), indent).within(Binding.ATOM)}[]")
        return TypeText(f"[{', '.join(members)}]")

    def _reference(self, pointer: str, schema: Mapping[str, Any], aliases: frozenset[str], indent: str) -> TypeText:
        target = self._references.resolve(pointer)
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        rest = self.write(beside, aliases, indent) if _says_a_type(beside) else UNKNOWN
        if target is None or pointer in aliases:
            return rest
        if not self._references.deserves_name(pointer) or points_into_aliases(self._references, pointer, aliases):
            return intersection([self.write(target, aliases | {pointer}, indent), rest])
        return intersection([TypeText(self._named(pointer, target)), rest])

    def _named(self, pointer: str, target: object) -> str:
        meaning = self._references.meaning(pointer)
        name = self._names.known(meaning)
        if name is None:
            name = self._names.reserve(type_name_of(self._references.name_of(pointer)))
            self._names.remember(meaning, name)
            notes = "\n".join([*comment(schema_notes(target), ""), ""])
            text = self.write(target, frozenset([pointer]), "").text
            self._names.declarations[name] = f"{notes}type {name} = {text}"
        return name


def _inheriting(branch: object, parent: Mapping[str, Any]) -> object:
    """Return a branch with the type that stands beside it, which narrows it."""
    if not isinstance(branch, Mapping) or "type" not in parent or _says_a_type(branch):
        return branch
    return {"type": parent["type"], **branch} if any(key in branch for key in _SHAPES) else branch


def _has_shape(schema: Mapping[str, Any]) -> bool:
    return any(key in schema for key in _SHAPES)


def _says_a_type(schema: Mapping[str, Any]) -> bool:
    return any(key in schema for key in ("type", "$ref", "const", "enum", "anyOf", "oneOf", "allOf"))
