"""Values that Python has a type for and JSON has not, as the tag ``python`` of the wire form (``sandbox/protocol.py``).

Owns: which types these are, the JSON that stands for each, and the way back. A reader that knows no Python takes the
JSON; it is what pydantic makes of the value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from pydantic_core import to_jsonable_python

PYTHON_TAG = "python"

_MICROSECOND = timedelta(microseconds=1)
_TEXTS: Mapping[type, str] = {
    datetime: "datetime",
    date: "date",
    time: "time",
    timedelta: "timedelta",
    Decimal: "decimal",
    UUID: "uuid",
}
_COLLECTIONS: Mapping[type, str] = {tuple: "tuple", set: "set", frozenset: "set"}
_READERS: Mapping[str, Callable[[str], Any]] = {
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "decimal": Decimal,
    "uuid": UUID,
}
LONGEST = 4_300
"""Longest text that stands for a value, in characters."""


class NotReadableError(Exception):
    """What a tag holds is no value of its kind."""


def text_form(value: object) -> list[Any] | None:
    """Return ``[kind, text]`` of a value that a text stands for, a ``timedelta``'s microseconds after it, or ``None``.

    Only the very types are meant: what a subclass adds would be lost.
    """
    kind = _TEXTS.get(type(value))
    if kind is None:
        return None
    form: list[Any] = [kind, to_jsonable_python(value)]
    return [*form, str(value // _MICROSECOND)] if isinstance(value, timedelta) else form


def collection_kind(value: object) -> str | None:
    """Return the kind of a value for which a list stands, or ``None``."""
    return _COLLECTIONS.get(type(value))


def read_text(kind: str, form: list[Any]) -> Any:
    """Return the value of a form that ``text_form`` made.

    Raises
    ------
    NotReadableError
    """
    text = form[-1]
    if not isinstance(text, str) or len(text) > LONGEST:
        raise NotReadableError
    try:
        return timedelta(microseconds=int(text)) if kind == "timedelta" else _READERS[kind](text)
    except (ValueError, KeyError, InvalidOperation, OverflowError):
        raise NotReadableError from None
