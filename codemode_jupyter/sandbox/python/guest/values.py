"""A program's values as tagged JSON text, and back. The form is described in ``sandbox/protocol.py``.

Owns: the one reading of a value that is recorded, shown and run, with its limits.
"""

from __future__ import annotations

import base64
import dataclasses
import enum
import json
import math
import re
import uuid
from collections import deque
from collections.abc import Iterator, Mapping, MappingView, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePath
from typing import Any, NoReturn

MAX_DEPTH = 256
MAX_SAFE_INTEGER = 2**53 - 1
MAX_BITS = 14_000
"""Longest integer in bits: about as many digits as CPython reads and prints."""

TAG = "$type"
NOTHING = f'{{"{TAG}":"undefined"}}'
"""The text of what was not given."""

_HALF = re.compile("[\ud800-\udfff]")
# Made once: `json.dumps` makes an encoder for each text.
_write_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_write_escaped_json = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_COMPOUND = object()
"""Stands for no text: the value holds others."""
_MICROSECOND = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAMES = {float("inf"): "Infinity", float("-inf"): "-Infinity"}


class NotStorableError(TypeError):
    """A value that cannot be recorded; the message says where in it and why."""

    code = "not_storable"


def encode(value: object, what: str) -> str:
    """Return the tagged text of a value; ``what`` names it in refusals.

    Raises
    ------
    NotStorableError
        It holds something that is no data.
    """
    tree = _Writer(what).write(value, 0)
    text = _write_json(tree)
    # Half a character cannot leave the sandbox but as an escape.
    return text if text.isascii() or not _HALF.search(text) else _write_escaped_json(tree)


def decode(text: str) -> Any:
    """Return the value of a tagged text."""
    tree = json.loads(text)
    return _read(tree) if f'"{TAG}"' in text else tree


class _Writer:
    def __init__(self, what: str) -> None:
        self._what = what
        self._path: list[str | int] = []
        self._ancestors: set[int] = set()

    def write(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            return self._integer(value)
        if kind is float:
            return _number(value)
        if kind is not dict and kind is not list:  # which most are
            written = self._scalar(value, depth)
            if written is not _COMPOUND:
                return written
        if depth >= MAX_DEPTH:
            self._refuse(f"is nested more than {MAX_DEPTH} levels deep")
        if id(value) in self._ancestors:
            self._refuse("refers back to itself (a cycle)")
        self._ancestors.add(id(value))
        try:
            return self._compound(value, depth)
        finally:
            self._ancestors.discard(id(value))

    def _scalar(self, value: Any, depth: int) -> Any:  # noqa: C901, PLR0911  one line for each kind of value
        if isinstance(value, enum.Enum):
            return self.write(value.value, depth)
        if isinstance(value, str):
            return str(value)
        if isinstance(value, bytes | bytearray | memoryview):
            return {TAG: "bytes", "value": base64.b64encode(value).decode()}
        if isinstance(value, datetime):
            return _moment(value)
        if isinstance(value, Decimal):
            return {TAG: "decimal", "value": str(value)}
        if isinstance(value, date):
            return _python("date", value.isoformat())
        if isinstance(value, time):
            return _python("time", value.isoformat())
        if isinstance(value, timedelta):
            return _python("timedelta", _duration(value), str(value // _MICROSECOND))
        if isinstance(value, uuid.UUID):
            return _python("uuid", str(value))
        if isinstance(value, PurePath | Fraction | re.Pattern):
            return value.pattern if isinstance(value, re.Pattern) else str(value)
        if isinstance(value, int):
            return self._integer(int(value))
        if isinstance(value, float):
            return _number(float(value))
        return _COMPOUND

    def _compound(self, value: Any, depth: int) -> Any:  # noqa: C901, PLR0911, RET503  one line for each kind of value
        if isinstance(value, Mapping):
            return self._mapping(value, depth)
        if isinstance(value, tuple):
            if hasattr(value, "_asdict"):
                return self._mapping(value._asdict(), depth)
            return {TAG: "tuple", "value": self._items(value, depth + 1)}
        if isinstance(value, MappingView):  # in the mapping's order, though most are sets, too
            return self._items(value, depth)
        if isinstance(value, AbstractSet):
            return {TAG: "set", "value": self._items(value, depth + 1)}
        if isinstance(value, BaseException):
            return {TAG: "error", "value": {"name": type(value).__name__, "message": str(value)}}
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
            return self._mapping(fields, depth)
        if isinstance(value, Sequence | deque):
            return self._items(value, depth)
        for name in ("tolist", "item"):  # arrays and their numbers
            if callable(method := getattr(value, name, None)):
                return self.write(method(), depth)
        if hasattr(value, "__await__"):
            self._refuse("is a coroutine", "Await it first: `await …`, or `await asyncio.gather(*list)`.")
        if isinstance(value, Iterator):
            self._refuse(f"is an iterator ({type(value).__name__})", "Make a list of it: `list(…)`.")
        self._refuse(f"is of type {type(value).__name__}")

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> Any:
        if not all(isinstance(key, str) for key in value):
            pairs = []
            for key, item in value.items():
                self._path.append(repr(key)[:60])
                pairs.append([self.write(key, depth + 2), self.write(item, depth + 2)])
                self._path.pop()
            return {TAG: "map", "value": pairs}
        escaped = TAG in value
        fields = {}
        for key, item in value.items():
            self._path.append(str(key))
            fields[str(key)] = self.write(item, depth + (2 if escaped else 1))
            self._path.pop()
        return {TAG: "object", "value": fields} if escaped else fields

    def _items(self, items: Any, depth: int) -> list[Any]:
        written = []
        for index, item in enumerate(items):
            self._path.append(index)
            written.append(self.write(item, depth + 1))
            self._path.pop()
        return written

    def _integer(self, value: int) -> Any:
        if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
            return value
        if value.bit_length() > MAX_BITS:
            self._refuse("is an integer of more than 4,300 digits")
        return {TAG: "bigint", "value": str(value)}

    def _refuse(self, why: str, hint: str = "Pass plain data: text, numbers, lists, dicts, dates, bytes.") -> NoReturn:
        where = "".join(f"[{part!r}]" for part in self._path[:20])
        raise NotStorableError(f"{self._what}{' at ' + where if where else ''} {why}; it cannot be recorded. {hint}")


def _python(kind: str, *form: str) -> Any:
    return {TAG: "python", "value": [kind, *form]}


def _duration(value: timedelta) -> str:
    """Return ISO 8601's form of a duration, in days and seconds."""
    sign, whole = ("-", -value) if value < timedelta(0) else ("", value)
    fraction = f".{whole.microseconds:06}".rstrip("0") if whole.microseconds else ""
    return f"{sign}P{whole.days}DT{whole.seconds}{fraction}S"


def _number(value: float) -> Any:
    if math.isfinite(value):
        if value == 0 and math.copysign(1, value) < 0:
            return {TAG: "number", "value": "-0"}
        # JavaScript has one kind of number; the tag keeps 1.0 a float.
        return {TAG: "float", "value": repr(value)} if value.is_integer() else value
    return {TAG: "number", "value": _NAMES.get(value, "NaN")}


def _moment(value: datetime) -> Any:
    if value.tzinfo is UTC and value.microsecond % 1000 == 0:
        return {TAG: "date", "value": (value - _EPOCH) // timedelta(milliseconds=1)}
    return {TAG: "datetime", "value": value.isoformat()}


def _read(tree: Any) -> Any:
    if isinstance(tree, list):
        return [_read(item) for item in tree]
    if not isinstance(tree, dict):
        return tree
    kind = tree.get(TAG)
    if isinstance(kind, str):
        try:
            return _tagged(kind, tree.get("value"))
        except (ValueError, TypeError, LookupError, OverflowError):
            pass
    return {key: _read(item) for key, item in tree.items()}


def _of_python(kind: str, plain: Any, exact: Any = None) -> Any:  # noqa: PLR0911  one case for each kind
    match kind:
        case "datetime":
            return datetime.fromisoformat(plain)
        case "date":
            return date.fromisoformat(plain)
        case "time":
            return time.fromisoformat(plain)
        case "timedelta":
            return timedelta(microseconds=int(exact))
        case "uuid":
            return uuid.UUID(plain)
        case "dict":
            return _tagged("map", list(zip(exact, plain.values(), strict=True)))
    return _tagged(kind, plain)


def _tagged(kind: str, value: Any) -> Any:  # noqa: C901, PLR0911, PLR0912  one case for each tag of the wire form
    match kind:
        case "undefined":
            return None
        case "number" | "float":
            return float(value)
        case "bigint":
            return int(value)
        case "decimal":
            return Decimal(value)
        case "date":
            return None if value is None else _EPOCH + timedelta(milliseconds=value)
        case "datetime":
            return datetime.fromisoformat(value)
        case "map":
            pairs = [(_read(key), _read(item)) for key, item in value]
            try:
                return dict(pairs)
            except TypeError:
                return [list(pair) for pair in pairs]
        case "set":
            items = [_read(item) for item in value]
            try:
                return set(items)
            except TypeError:
                return items
        case "tuple":
            return tuple(_read(item) for item in value)
        case "python":
            return _of_python(*value)
        case "bytes" | "arraybuffer":
            return base64.b64decode(value)
        case "error":
            return {key: _read(item) for key, item in value.items()}
        case "object":
            return {key: _read(item) for key, item in value.items()}
        case "regexp":
            return value[0]
        case "function" | "symbol":
            return value
        case "cycle":
            return "[cycle]"
    raise ValueError(kind)
