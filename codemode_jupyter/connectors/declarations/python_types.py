"""Shapes as Python type expressions and the classes they need.

Owns: how a shape is written for a type checker (PEP 484, 586, 589, 646): every object is a ``TypedDict`` of its own.
Never does: let a schema's text become code.
"""

from __future__ import annotations

import builtins
import json
import keyword
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from codemode_jupyter.connectors.declarations.comments import python_comment
from codemode_jupyter.connectors.schemas.reader import ShapeNames, type_name_of
from codemode_jupyter.connectors.schemas.shapes import (
    ANY_OBJECT,
    NEVER,
    UNKNOWN,
    Both,
    Constant,
    Either,
    Field,
    ListOf,
    Named,
    Native,
    Never,
    Record,
    Scalar,
    Shape,
    TupleOf,
    either,
)

IMPORTED = ("Any", "Literal", "Never", "NotRequired", "TypeAlias", "TypedDict")
"""What the stubs take from ``typing``."""

TAKEN = frozenset([*IMPORTED, *dir(builtins), "builtins", "typing"])
"""Type names that a declaration must not get."""

_SCALARS = {
    "string": "str",
    "number": "float",
    "integer": "int",
    "boolean": "bool",
    "bytes": "bytes",
}
_BUILT_IN = frozenset([*_SCALARS.values(), "dict", "list", "set", "tuple"])
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_UNPRINTABLE = re.compile(r"[^ -~]")
_MOST_LENGTHS = 4  # of a tuple with optional items


def is_parameter(name: str) -> bool:
    """Say whether a property can be a keyword argument and a field of a class."""
    return bool(_IDENTIFIER.fullmatch(name)) and not keyword.iskeyword(name) and not name.startswith("__")


def quoted(text: str) -> str:
    """Return a text as a Python string on one line, in ASCII; nothing in it can end it."""
    escaped = json.dumps(text, ensure_ascii=False)  # JSON's escapes are Python's as well
    return _UNPRINTABLE.sub(lambda found: _escape(found[0]), escaped)


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004  the last code of four digits


@dataclass
class PythonTypes:
    """Writes the types of one text; objects without a name get one made of where they stand.

    ``hidden`` are names that mean something else where the types are used, so that these are reached by their module;
    ``lines`` has the declarations.
    """

    names: ShapeNames
    hidden: frozenset[str] = frozenset()
    lines: list[str] = field(default_factory=list)
    _classes: dict[Record, str] = field(default_factory=dict)

    def declare_named(self) -> None:
        """Write the declarations of all named shapes, those that others use before them."""
        for name, declared in reversed(self.names.declarations.items()):
            if isinstance(declared.shape, Record) and declared.shape.fields:
                self._class(name, declared.shape, declared.notes)
            else:
                self.lines += [
                    *python_comment(declared.notes, ""),
                    f"{name}: {self._word('TypeAlias')} = {self.write(declared.shape, name)}",
                ]

    def write(self, shape: Shape, place: str) -> str:  # noqa: C901, PLR0911  one for each shape
        """Return a shape as a type expression; ``place`` names the objects within it."""
        match shape:
            case Scalar(kind):
                return "None" if kind == "null" else self._word(_SCALARS[kind])
            case Native(kind, plain):
                return self._native(kind, plain, place)
            case Constant(text):
                return self._either([shape], place) if _in_literal(text) is not None else self._of_kind(text)
            case ListOf(item):
                return f"{self._word('list')}[{self.write(item, f'{place}Item')}]"
            case TupleOf():
                return self._tuple(shape, place)
            case Record():
                return self._record(shape, place)
            case Either(members):
                return self._either(members, place)
            case Both(members):
                return self._narrowest(members, place)
            case Named(name):
                return name
            case Never():
                return self._word("Never")
        return self._word("Any")

    def _native(self, kind: str, plain: Shape, place: str) -> str:
        if kind == "set":
            item = self.write(plain.item if isinstance(plain, ListOf) else UNKNOWN, f"{place}Item")
            return f"{self._word('set')}[{item}]"
        if kind == "dict[int]":
            value = self.write(plain.others if isinstance(plain, Record) and plain.others else UNKNOWN, f"{place}Value")
            return f"{self._word('dict')}[{self._word('int')}, {value}]"
        return self._word("Any") if kind.partition(".")[0] in self.hidden else kind

    def _word(self, name: str) -> str:
        """Return the name of a type of the language."""
        if name not in self.hidden:
            return name
        return f"builtins.{name}" if name in _BUILT_IN else f"typing.{name}"

    def _either(self, members: Iterable[Shape], place: str) -> str:
        literals: list[str] = []
        types: dict[str, None] = {}
        for member in members:
            made = _in_literal(member.json) if isinstance(member, Constant) else None
            if made is None:
                types[self.write(member, place)] = None
            else:
                literals.append(made)
        if (unknown := self._word("Any")) in types:
            return unknown
        listed = [f"{self._word('Literal')}[{', '.join(dict.fromkeys(literals))}]"] if literals else []
        return " | ".join([*listed, *types])

    def _narrowest(self, members: Iterable[Shape], place: str) -> str:
        """Return the member that says most: Python cannot write a type of several at once."""
        order = (Constant, Record, TupleOf, ListOf, Named, Either, Scalar)
        ranked = sorted(members, key=lambda one: order.index(type(one)) if type(one) in order else len(order))
        return self.write(ranked[0], place)

    def _tuple(self, shape: TupleOf, place: str) -> str:
        items = [self.write(one, f"{place}Item") for one in shape.items]
        rest = None if shape.rest is None else self.write(shape.rest, f"{place}Item")
        if shape.least < len(items):
            if len(items) - shape.least > _MOST_LENGTHS or rest is not None:
                every = either(shape.items if shape.rest is None else (*shape.items, shape.rest))
                return self.write(ListOf(every), place)
            return " | ".join(self._fixed(items[:length]) for length in range(shape.least, len(items) + 1))
        if rest is None:
            return self._fixed(items)
        return self._fixed([*items, f"*{self._word('tuple')}[{rest}, ...]"])

    def _fixed(self, items: list[str]) -> str:
        return f"{self._word('tuple')}[{', '.join(items) or '()'}]"

    def _record(self, shape: Record, place: str) -> str:
        if not shape.fields:
            value = self.write(NEVER if shape.others is None else shape.others, f"{place}Value")
            return f"{self._word('dict')}[{self._word('str')}, {value}]"
        known = self._classes.get(shape)
        return self._class(self.names.reserve_only(type_name_of(place)), shape, ()) if known is None else known

    def _class(self, name: str, shape: Record, notes: tuple[str, ...]) -> str:
        self._classes.setdefault(shape, name)
        types = [self._field(one, name) for one in shape.fields]
        more = []
        if shape.says_others and shape.others is not None:
            more = [f"Others are {self.write(shape.others, f'{name}Value')}"] if shape.others != UNKNOWN else ["Open"]
        head = python_comment(notes, "")
        if all(is_parameter(one.name) and not self._is_type(one.name) for one in shape.fields):
            self.lines += [*head, f"class {name}({self._word('TypedDict')}):", *python_comment(tuple(more), "    ")]
            for one, text in zip(shape.fields, types, strict=True):
                self.lines += [*python_comment(one.notes, "    "), f"    {one.name}: {text}"]
        else:  # the form for names that a class cannot have, or that would hide a type
            self.lines += [
                *head,
                f"{name} = {self._word('TypedDict')}({quoted(name)}, {{",
                *python_comment(tuple(more), "    "),
            ]
            for one, text in zip(shape.fields, types, strict=True):
                self.lines += [*python_comment(one.notes, "    "), f"    {quoted(one.name)}: {text},"]
            self.lines.append("})")
        return name

    def _field(self, one: Field, owner: str) -> str:
        text = self.write(one.shape, f"{owner}-{one.name}")
        return text if one.required else f"{self._word('NotRequired')}[{text}]"

    def _is_type(self, name: str) -> bool:
        """Say whether a field of that name would hide a type that the other fields may need."""
        return name in _BUILT_IN or name in IMPORTED or self.names.is_given(name)

    def _of_kind(self, text: str) -> str:
        """Return the kind of a value that ``Literal`` cannot have."""
        value = json.loads(text)
        if isinstance(value, list):
            return self.write(ListOf(UNKNOWN), "")
        return self.write(ANY_OBJECT, "") if isinstance(value, Mapping) else self._word("float")


def _in_literal(text: str) -> str | None:
    """Return a JSON value as a member of ``Literal``, ``None`` where it cannot be one."""
    value = json.loads(text)
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, str):
        return quoted(value)
    return str(value) if isinstance(value, int) else None
