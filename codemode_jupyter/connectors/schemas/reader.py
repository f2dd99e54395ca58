"""JSON Schema read into shapes.

Owns: what each keyword means, recursion and shared parts as named shapes, and a bound on the work for one schema.
Never does: fail on a schema (what it cannot read is ``Unknown``), or write text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from codemode_jupyter.connectors.declarations.notes import schema_notes
from codemode_jupyter.connectors.schemas.references import References, points_into_aliases
from codemode_jupyter.connectors.schemas.shapes import (
    NEVER,
    NULL,
    PYTHON_KEYWORD,
    PYTHON_KINDS,
    UNKNOWN,
    Constant,
    Field,
    ListOf,
    Named,
    Native,
    Record,
    Scalar,
    ScalarKind,
    Shape,
    TupleOf,
    both,
    either,
)

_SHAPES = ("properties", "additionalProperties", "patternProperties", "items", "prefixItems", "additionalItems")
_SIMPLE = frozenset(["string", "number", "integer", "boolean", "null"])

MOST_PARTS = 5000
"""Schemas within one schema that are read; the others are unknown."""

MOST_DEPTH = 40
"""Schemas within each other that are read."""

_MOST_CHOICES = 300
_LONGEST_CONSTANT = 1000  # characters of JSON


@dataclass
class Declared:
    """A shape that has a name, with the lines of its comment."""

    shape: Shape = UNKNOWN
    notes: tuple[str, ...] = ()


@dataclass
class ShapeNames:
    """The named shapes so far, over all schemas of one text; equal ones share a name.

    ``declarations`` holds them in the order in which they were asked for; ``taken`` are names that cannot be given.
    """

    taken: frozenset[str] = frozenset()
    declarations: dict[str, Declared] = field(default_factory=dict)
    _by_meaning: dict[str, str] = field(default_factory=dict)
    _next: dict[str, int] = field(default_factory=dict)
    _given: set[str] = field(default_factory=set)

    def reserve(self, wanted: str) -> str:
        """Return a name that is free, as near to ``wanted`` as can be."""
        name = self.reserve_only(wanted)
        self.declarations[name] = Declared()
        return name

    def reserve_only(self, wanted: str) -> str:
        """Return a free name for something that is declared elsewhere."""
        name = wanted
        while name in self.taken or name in self._given:
            number = self._next.get(wanted, 2)
            self._next[wanted] = number + 1
            name = f"{wanted}{number}"
        self._given.add(name)
        return name

    def is_given(self, name: str) -> bool:
        """Say whether a name was given to a shape."""
        return name in self._given

    def known(self, meaning: str) -> str | None:
        """Return the name of the shape with this meaning, if it has one."""
        return self._by_meaning.get(meaning)

    def remember(self, meaning: str, name: str) -> None:
        """Say that a shape with this meaning has a name."""
        self._by_meaning[meaning] = name

    def declare(self, schema: object, wanted: str) -> str:
        """Add a schema and the named shapes it uses; return the name it got."""
        name = self.reserve(type_name_of(wanted))
        self.declarations[name] = Declared(SchemaReader(schema, self).whole())
        return name


def type_name_of(text: str) -> str:
    """Return a type name made of a tool's or a definition's name: ``list-all.items`` gives ``ListAllItems``."""
    words = re.split(r"[^A-Za-z0-9]+", text[:200])
    name = "".join(word[:1].upper() + word[1:] for word in words if word) or "Type"
    return f"_{name}" if name[0].isdigit() else name


class SchemaReader:
    """Reads the schemas of one document.

    ``aliases`` holds the places whose declaration is being read at this very level: no language takes a name for itself
    as its meaning, so a reference to one of them is ``Unknown`` here, while below an object or list it is its name.
    """

    def __init__(self, root: object, names: ShapeNames) -> None:
        self._references = References(root)
        self._names = names
        self._root = root
        self._left = MOST_PARTS
        self._waiting: list[tuple[str, str, object]] = []

    def whole(self) -> Shape:
        """Return the shape of the document, and declare the named shapes that it uses."""
        made = self.read(self._root, frozenset(["#"]), 0)
        while self._waiting:  # one after the other: they may lead from one to the next without end
            name, pointer, target = self._waiting.pop()
            self._names.declarations[name].shape = self.read(target, frozenset([pointer]), 0)
        return made

    def read(self, schema: object, aliases: frozenset[str], depth: int) -> Shape:
        """Return the shape of one schema that stands ``depth`` schemas deep."""
        if schema is True or not isinstance(schema, Mapping):
            return NEVER if schema is False else UNKNOWN
        if self._left <= 0 or depth > MOST_DEPTH:
            return UNKNOWN
        self._left -= 1
        if isinstance(pointer := schema.get("$ref"), str):
            made = self._reference(pointer, schema, aliases, depth)
        elif "const" in schema:
            made = constant(schema["const"])
        elif isinstance(choices := schema.get("enum"), list):
            made = _choice(choices)
        else:
            made = self._combined(schema, aliases, depth)
            if (kind := schema.get(PYTHON_KEYWORD)) in PYTHON_KINDS:
                made = Native(kind, made)
        return either([made, NULL]) if schema.get("nullable") is True and made != NEVER else made

    def _combined(self, schema: Mapping[str, Any], aliases: frozenset[str], depth: int) -> Shape:
        """Return the meaning of ``type`` and its keywords, and of ``anyOf``, ``oneOf`` and ``allOf`` beside them."""
        alternatives = [branches for key in ("anyOf", "oneOf") if isinstance(branches := schema.get(key), list)]
        parts = [
            either(self.read(_inheriting(branch, schema), aliases, depth + 1) for branch in branches)
            for branches in alternatives
        ]
        if isinstance(branches := schema.get("allOf"), list):
            parts.extend(self._whole(branch, aliases, depth + 1) for branch in branches)
        narrowed = any(part != UNKNOWN for part in parts)
        base = UNKNOWN if narrowed and not _has_shape(schema) else self._typed(schema, depth)
        made = both([base, *parts])
        required = schema.get("required")
        if isinstance(made, Record) and isinstance(required, list):  # it may speak of properties of the branches
            needed = {key for key in required if isinstance(key, str)}
            fields = tuple(
                Field(one.name, one.shape, one.required or one.name in needed, one.notes) for one in made.fields
            )
            return Record(fields, made.others, made.says_others)
        return made

    def _whole(self, branch: object, aliases: frozenset[str], depth: int) -> Shape:
        """Return a part of an ``allOf``; an object that it refers to is written out, so that it can be merged."""
        if isinstance(branch, Mapping) and isinstance(pointer := branch.get("$ref"), str) and len(branch) == 1:
            target = self._references.resolve(pointer)
            if pointer not in aliases and isinstance(target, Mapping) and not self._references.is_recursive(pointer):
                return self.read(target, aliases | {pointer}, depth)
        return self.read(branch, aliases, depth)

    def _typed(self, schema: Mapping[str, Any], depth: int) -> Shape:
        kind = schema.get("type")
        if isinstance(kind, list):
            return either(self._of_kind(one, schema, depth) for one in kind[:20]) if kind else UNKNOWN
        if kind is None:
            if "properties" in schema or isinstance(schema.get("required"), list):
                return self._object(schema, depth) if schema.get("properties") else UNKNOWN
            kind = "array" if "items" in schema or "prefixItems" in schema else None
        return self._of_kind(kind, schema, depth)

    def _of_kind(self, kind: object, schema: Mapping[str, Any], depth: int) -> Shape:
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            return self._array(schema, depth)
        if kind == "string" and schema.get("format") == "binary":
            return Scalar("bytes")
        return Scalar(cast("ScalarKind", kind)) if isinstance(kind, str) and kind in _SIMPLE else UNKNOWN

    def _object(self, schema: Mapping[str, Any], depth: int) -> Shape:
        properties = schema.get("properties")
        named = properties if isinstance(properties, Mapping) else {}
        required = schema.get("required")
        needed = {key for key in required if isinstance(key, str)} if isinstance(required, list) else set[str]()
        fields = [
            Field(str(key), self.read(value, frozenset(), depth + 1), key in needed, self._notes(value))
            for key, value in list(named.items())[:MOST_PARTS]
        ]
        others = self._others(schema, depth)
        says = (
            bool(fields)
            and others is not None
            and (schema.get("additionalProperties") not in (None, False) or "patternProperties" in schema)
        )
        return Record(tuple(fields), others, says)

    def _notes(self, schema: object) -> tuple[str, ...]:
        """Return the comment on a property; a reference without one of its own has that of its target."""
        notes = schema_notes(schema)
        if notes or not isinstance(schema, Mapping) or not isinstance(pointer := schema.get("$ref"), str):
            return notes
        return () if self._references.deserves_name(pointer) else schema_notes(self._references.resolve(pointer))

    def _others(self, schema: Mapping[str, Any], depth: int) -> Shape | None:
        """Return the shape of the properties that are not named, ``None`` where there are none."""
        more = schema.get("additionalProperties", True)
        patterns = schema.get("patternProperties")
        found = (
            [self.read(value, frozenset(), depth + 1) for value in patterns.values()]
            if isinstance(patterns, Mapping)
            else []
        )
        if isinstance(more, Mapping) or (more is not False and not found):
            found.append(self.read(more, frozenset(), depth + 1))
        return either(found) if found else None

    def _array(self, schema: Mapping[str, Any], depth: int) -> Shape:
        items, first = schema.get("items", True), schema.get("prefixItems")
        if first is None and isinstance(items, list):  # the tuple of drafts before 2020-12
            first, items = items, schema.get("additionalItems", False)
        elif isinstance(first, list):
            items = schema.get("items", False)
        if not isinstance(first, list):
            return ListOf(self.read(items, frozenset(), depth + 1))
        least, most = schema.get("minItems", len(first)), schema.get("maxItems")
        members = tuple(self.read(one, frozenset(), depth + 1) for one in first)
        ends = items is False or (isinstance(most, int) and most <= len(first))
        rest = None if ends else self.read(items, frozenset(), depth + 1)
        certain = min(max(least, 0), len(first)) if isinstance(least, int) else len(first)
        return TupleOf(members, certain, rest)

    def _reference(self, pointer: str, schema: Mapping[str, Any], aliases: frozenset[str], depth: int) -> Shape:
        target = self._references.resolve(pointer)
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        rest = self.read(beside, aliases, depth + 1) if _says_a_type(beside) else UNKNOWN
        if target is None or pointer in aliases:
            return rest
        if not self._references.deserves_name(pointer) or points_into_aliases(self._references, pointer, aliases):
            return both([self.read(target, aliases | {pointer}, depth + 1), rest])
        return both([self._named(pointer, target), rest])

    def _named(self, pointer: str, target: object) -> Shape:
        meaning = self._references.meaning(pointer)
        name = self._names.known(meaning)
        if name is None:
            if self._left <= 0:
                return UNKNOWN
            name = self._names.reserve(type_name_of(self._references.name_of(pointer)))
            self._names.remember(meaning, name)
            self._names.declarations[name].notes = schema_notes(target)
            self._waiting.append((name, pointer, target))
        return Named(name)


def constant(value: object) -> Shape:
    """Return the shape of exactly one JSON value."""
    if isinstance(value, float) and not math.isfinite(value):
        return Scalar("number")
    try:
        text = json.dumps(value, ensure_ascii=True)
    except (TypeError, ValueError, RecursionError):
        return UNKNOWN
    return Constant(text) if len(text) <= _LONGEST_CONSTANT else _kind_of(value)


def _choice(values: list[Any]) -> Shape:
    """Return the shape of any of some values; of too many only their kinds."""
    return either(map(constant, values) if len(values) <= _MOST_CHOICES else map(_kind_of, values))


def _kind_of(value: object) -> Shape:
    if isinstance(value, bool):
        return Scalar("boolean")
    if isinstance(value, str):
        return Scalar("string")
    if isinstance(value, int | float):
        return Scalar("integer" if isinstance(value, int) else "number")
    return NULL if value is None else UNKNOWN


def _inheriting(branch: object, parent: Mapping[str, Any]) -> object:
    """Return a branch with the type that stands beside it, which narrows it."""
    if not isinstance(branch, Mapping) or "type" not in parent or _says_a_type(branch):
        return branch
    return {"type": parent["type"], **branch} if any(key in branch for key in _SHAPES) else branch


def _has_shape(schema: Mapping[str, Any]) -> bool:
    return any(key in schema for key in _SHAPES)


def _says_a_type(schema: Iterable[str]) -> bool:
    return any(key in schema for key in ("type", "$ref", "const", "enum", "anyOf", "oneOf", "allOf"))
