"""What values a JSON Schema allows, as a small tree of shapes that any language's printer can write.

Owns: the shapes. Never does: read schemas (``reader.py``) or write text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

ScalarKind: TypeAlias = Literal["string", "number", "integer", "boolean", "null", "bytes"]


@dataclass(frozen=True, slots=True)
class Unknown:
    """Any value."""


@dataclass(frozen=True, slots=True)
class Never:
    """No value."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """Any value of one simple kind."""

    kind: ScalarKind


PYTHON_KEYWORD = "x-python"
"""The keyword by which a schema of ours names the type that a value has in Python."""

PYTHON_KINDS = (
    *("datetime.datetime", "datetime.date", "datetime.time", "datetime.timedelta"),
    *("decimal.Decimal", "uuid.UUID", "set", "dict[int]"),
)


@dataclass(frozen=True, slots=True)
class Native:
    """A value for which Python has a type of its own, one of ``PYTHON_KINDS``, and other languages what JSON has."""

    kind: str
    plain: Shape


@dataclass(frozen=True, slots=True)
class Constant:
    """Exactly one value, held as its JSON text: equal texts are equal values, while ``1 == True`` in Python."""

    json: str


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of any length."""

    item: Shape


@dataclass(frozen=True, slots=True)
class TupleOf:
    """A list whose first items have shapes of their own.

    ``least`` items are always there; ``rest`` is the shape of further ones, ``None`` where there are none.
    """

    items: tuple[Shape, ...]
    least: int
    rest: Shape | None


@dataclass(frozen=True, slots=True)
class Field:
    """One named property of an object, with the lines of its comment."""

    name: str
    shape: Shape
    required: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """An object.

    ``others`` is the shape of properties without a name here, ``None`` where there are none; ``says_others`` tells that
    the schema mentions them.
    """

    fields: tuple[Field, ...]
    others: Shape | None
    says_others: bool = False


@dataclass(frozen=True, slots=True)
class Either:
    """A value of any of some shapes."""

    members: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Both:
    """A value of all of some shapes at once."""

    members: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Named:
    """A shape that is declared elsewhere under a name."""

    name: str


Shape: TypeAlias = Unknown | Never | Scalar | Native | Constant | ListOf | TupleOf | Record | Either | Both | Named

UNKNOWN = Unknown()
NEVER = Never()
NULL = Scalar("null")
ANY_OBJECT = Record((), UNKNOWN)


def either(members: Iterable[Shape]) -> Shape:
    """Return the shape of any of some shapes, each once, those within one another flattened."""
    flat: dict[Shape, None] = {}
    for member in members:
        flat.update(dict.fromkeys(member.members if isinstance(member, Either) else (member,)))
    if UNKNOWN in flat:
        return UNKNOWN
    flat.pop(NEVER, None)
    return next(iter(flat), NEVER) if len(flat) <= 1 else Either(tuple(flat))


def both(members: Iterable[Shape]) -> Shape:
    """Return the shape of all of some shapes at once: objects become one object with the properties of all."""
    flat: dict[Shape, None] = {}
    for member in members:
        flat.update(dict.fromkeys(member.members if isinstance(member, Both) else (member,)))
    flat.pop(UNKNOWN, None)
    if NEVER in flat:
        return NEVER
    records = [member for member in flat if isinstance(member, Record)]
    if len(records) > 1:
        merged = merge_records(records)
        rest = [member for member in flat if not isinstance(member, Record)]
        flat = dict.fromkeys((merged, *rest))
    if len(flat) > 1:
        flat.pop(ANY_OBJECT, None)  # says nothing beside a named object
    return next(iter(flat), UNKNOWN) if len(flat) <= 1 else Both(tuple(flat))


def merge_records(records: Iterable[Record]) -> Record:
    """Return one object with the properties of all; a property that several have must fit all of them."""
    fields: dict[str, Field] = {}
    others: list[Shape] = []
    closed = says_others = False
    for record in records:
        for field in record.fields:
            known = fields.get(field.name)
            fields[field.name] = (
                field
                if known is None
                else Field(
                    field.name,
                    both([known.shape, field.shape]),
                    known.required or field.required,
                    known.notes or field.notes,
                )
            )
        says_others = says_others or record.says_others
        if record.others is None:
            closed = True
        else:
            others.append(record.others)
    return Record(tuple(fields.values()), None if closed else both(others), says_others and not closed)
