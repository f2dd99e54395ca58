"""JSON Schema as TypeScript types.

Owns: how a shape is written in TypeScript. Never does: let a schema's text become code.
"""

from __future__ import annotations

import json

from codemode_jupyter.connectors.declarations.comments import comment, comment_lines
from codemode_jupyter.connectors.declarations.typescript_text import (
    Binding,
    TypeText,
    intersection,
    literal,
    property_name,
    union,
)
from codemode_jupyter.connectors.schemas.reader import ShapeNames
from codemode_jupyter.connectors.schemas.shapes import (
    ANY_OBJECT,
    UNKNOWN,
    Both,
    Constant,
    Either,
    ListOf,
    Named,
    Native,
    Never,
    Record,
    Scalar,
    Shape,
    TupleOf,
)

_INDENT = "    "
_SCALARS = {
    "string": "string",
    "number": "number",
    "integer": "number",
    "boolean": "boolean",
    "null": "null",
    "bytes": "Uint8Array",
}

TAKEN = frozenset(
    [  # names of TypeScript's own library, which a declaration would hide
        *("Array", "ArrayBuffer", "Awaited", "Boolean", "Date", "Error", "Function", "Iterator"),
        *("Map", "Number", "Object", "Omit", "Partial", "Pick", "Promise", "Readonly"),
        *("Record", "Required", "Set", "String", "Symbol", "Uint8Array"),
    ]
)
"""Type names that a declaration must not get."""


def json_schema_to_type(schema: object, type_name: str = "T") -> str:
    """Return the TypeScript declaration of a JSON Schema, preceded by nothing and followed by the named types it uses.

    Parameters
    ----------
    schema : object
        A schema of any draft from 4 to 2020-12, or of OpenAPI 3.0; what is not one becomes ``unknown``.
    type_name : str, default "T"
        Name of the declared type.
    """
    names = ShapeNames(TAKEN)
    names.declare(schema, type_name)
    return write_declarations(names)


def write_declarations(names: ShapeNames) -> str:
    """Return the declarations of all named shapes."""
    lines: list[str] = []
    for name, declared in names.declarations.items():
        lines += comment(_safe(declared.notes), "")
        lines.append(f"type {name} = {write(declared.shape, '').text}")
    return "\n".join(lines)


def write(shape: Shape, indent: str) -> TypeText:  # noqa: C901, PLR0911  one for each shape
    """Return a shape as a type expression; ``indent`` is the blank before the line it stands in."""
    match shape:
        case Scalar(kind):
            return TypeText(_SCALARS[kind])
        case Native(_, plain):
            return write(plain, indent)
        case Constant(text):
            return TypeText(literal(json.loads(text)))
        case ListOf(item):
            return TypeText(f"{write(item, indent).within(Binding.ATOM)}[]")
        case TupleOf():
            return _tuple(shape, indent)
        case Record():
            return TypeText(_record(shape, indent))
        case Either(members):
            return union(dict.fromkeys(write(one, indent) for one in members))
        case Both(members):
            return intersection(write(one, indent) for one in members)
        case Named(name):
            return TypeText(name)
        case Never():
            return TypeText("never")
    return TypeText("unknown")


def _tuple(shape: TupleOf, indent: str) -> TypeText:
    members = [
        f"{write(one, indent).within(Binding.ATOM)}{'' if index < shape.least else '?'}"
        for index, one in enumerate(shape.items)
    ]
    if shape.rest is not None:
        members.append(f"...{write(shape.rest, indent).within(Binding.ATOM)}[]")
    return TypeText(f"[{', '.join(members)}]")


def _record(shape: Record, indent: str) -> str:
    if shape == ANY_OBJECT:
        return "Record<string, unknown>"
    if not shape.fields:
        return (
            "Record<string, never>"
            if shape.others is None
            else f"{{ [key: string]: {write(shape.others, indent + _INDENT).text} }}"
        )
    inner = indent + _INDENT
    lines: list[str] = []
    for field in shape.fields:
        lines += comment(_safe(field.notes), inner)
        mark = "" if field.required else "?"
        lines.append(f"{inner}{property_name(field.name)}{mark}: {write(field.shape, inner).text};")
    if shape.says_others and shape.others is not None:
        if shape.others != UNKNOWN:
            lines += comment(_safe((f"Others are {write(shape.others, '').text}",)), inner)
        lines.append(f"{inner}[key: string]: unknown;")  # TypeScript wants it to cover the named ones as well
    return "\n".join(["{", *lines, f"{indent}}}"])


def _safe(notes: tuple[str, ...]) -> list[str]:
    return [line for note in notes for line in comment_lines(note)]
