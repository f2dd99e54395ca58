"""Values of a program that JSON has no type for, in a form that both JSON users and Python code can take.

Owns: the form in which a Date, a Set and a Map with keys other than text reach a tool, and of a program in Python what
JavaScript has no type for: as the JSON value a schema expects, still knowing what they were. ``native`` gives what they
are in Python.
Never does: the wire form (the runtime reads and writes it), nor validation.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Self


class DateText(str):
    """A ``Date``: ISO 8601 text in UTC with milliseconds (ECMAScript ``Date.prototype.toISOString``)."""

    __slots__ = ()


class NativeText(str):  # noqa: SLOT000  it has one attribute more
    """What Python has a type for and JSON only text, such as a ``Decimal``; ``native`` is the value itself."""

    native: Any

    def __new__(cls, text: str, native: Any = None) -> Self:
        """Return ``text``, which stands for ``native``."""
        made = super().__new__(cls, text)
        made.native = native
        return made


class TupleItems(list[Any]):
    """A ``tuple``."""

    __slots__ = ()


class SetItems(list[Any]):
    """A ``Set``: its members in the order in which the program added them."""

    __slots__ = ()


class MapEntries(dict[Any, Any]):
    """A ``Map`` with keys other than text."""

    __slots__ = ()


def native(value: Any) -> Any:  # noqa: PLR0911  one line for each kind of value
    """Return a value in Python's own types.

    A Date is an aware ``datetime``, a Set a ``set`` (a list where its members cannot be members of one), a Map a
    ``dict``, and what a program in Python had as another type is that. Lists, tuples and dicts are looked into; all
    else is returned as it is.
    """
    if isinstance(value, DateText):
        return datetime.fromisoformat(value)
    if isinstance(value, NativeText):
        return value.native
    if isinstance(value, dict):
        return {key.native if isinstance(key, NativeText) else key: native(item) for key, item in value.items()}
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(native(item) for item in value)
    if not isinstance(value, list):
        return value
    items = [native(item) for item in value]
    if isinstance(value, TupleItems):
        return tuple(items)
    return as_set(items) if isinstance(value, SetItems) else items


def as_set(items: list[Any]) -> set[Any] | list[Any]:
    """Return a set of the items, or the list where they cannot be members or would be fewer."""
    try:
        members = set(items)
    except TypeError:
        return items
    return members if len(members) == len(items) else items
