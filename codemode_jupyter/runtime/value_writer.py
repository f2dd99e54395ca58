"""Python values as trees of JSON values and tags.

Owns: the walk over a value, with its limits of depth and size, and the path of what is refused.
Never does: text; nor the conversion of models, arrays and tables (``convert.py``).
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn, TypeAlias

from codemode_jupyter.connectors.functions.native_values import DateText, MapEntries, NativeText, SetItems, TupleItems
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.convert import NotConvertibleError, key_text, simpler
from codemode_jupyter.runtime.python_values import PYTHON_TAG, collection_kind, text_form

Json: TypeAlias = Any

MAX_DEPTH = 256
"""Deepest nesting of the tagged text, in brackets. Both languages parse it with ease, and no stack overflows."""

MAX_SAFE_INTEGER = 2**53 - 1
"""Largest integer that is exact as a JavaScript number (ECMAScript ``Number.MAX_SAFE_INTEGER``)."""

MAX_DIGITS = 4300
"""Most digits of an integer; CPython's own default limit for reading and printing one."""

LONGEST_PATH = 20
"""Most parts of a path that a message names; the sandbox's encoder has the same limit."""

_TAGGED = (DateText, NativeText, TupleItems, SetItems, MapEntries)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

TAG = "$type"
"""The key that makes an object of the tagged form a tag."""


class ValueWriter:
    """Turns one Python value into a tree of JSON values and tags; with ``native`` it keeps Python's own types."""

    def __init__(self, limit: int | None, *, native: bool = False) -> None:
        self._limit = limit
        self._native = native
        self._least = 0  # a lower bound of the size so far, so that a huge value is refused before it is all copied
        self._path: list[str | int] = []
        self._ancestors: set[int] = set()

    def write(self, value: object, depth: int) -> Json:  # noqa: C901, PLR0911, PLR0912  one line for each kind of value
        """Return the tree of one value, which stands ``depth`` brackets deep."""
        if value is None or value is True or value is False:
            return self._counted(value, 4)
        kind = type(value)
        if kind is str:
            return self._counted(value, len(value) + 2)  # type: ignore[arg-type]
        if kind is int:
            return self._integer(value)  # type: ignore[arg-type]
        if kind is float:
            return self._float(value)  # type: ignore[arg-type]
        if isinstance(value, bytes | bytearray | memoryview):
            return self._bytes(bytes(value))
        if depth >= MAX_DEPTH:
            self._refuse(f"is nested more than {MAX_DEPTH} levels deep")
        if id(value) in self._ancestors:
            self._refuse("refers back to itself (a cycle)")
        self._ancestors.add(id(value))
        try:
            if kind in _TAGGED:
                return self._of_a_program(value, depth)
            if self._native and (form := self._python(value, depth)) is not None:
                return form
            if isinstance(value, dict | Mapping):
                return self._object(value, depth)
            if isinstance(value, list | AbstractSet) or kind is tuple:
                return self._list(value, depth)  # type: ignore[arg-type]
            if isinstance(value, BaseException):
                return self._error(value, depth)
            return self.write(self._simpler(value), depth)
        finally:
            self._ancestors.discard(id(value))

    def _simpler(self, value: object) -> object:
        try:
            return simpler(value)
        except NotConvertibleError as refusal:
            self._refuse(str(refusal), refusal.hint)

    def _of_a_program(self, value: object, depth: int) -> Json:
        if isinstance(value, DateText):
            moment = datetime.fromisoformat(value)
            return {TAG: "date", "value": self._counted((moment - _EPOCH) // timedelta(milliseconds=1), 13)}
        if isinstance(value, NativeText):
            return self._python(value.native, depth)
        if isinstance(value, TupleItems):
            return {TAG: "tuple", "value": self._list(value, depth + 1)}
        if isinstance(value, MapEntries):
            pairs = ([TupleItems(key) if type(key) is tuple else key, item] for key, item in value.items())
            return {TAG: "map", "value": self._list(pairs, depth + 1)}
        return {TAG: "set", "value": self._list(value, depth + 1)}  # type: ignore[arg-type]

    def _python(self, value: object, depth: int) -> Json:
        """Return the tag of what only Python has a type for, or ``None``."""
        if (form := text_form(value)) is not None:
            return {TAG: PYTHON_TAG, "value": [self._counted(part, len(part)) for part in form]}
        if (kind := collection_kind(value)) is not None:
            return {TAG: PYTHON_TAG, "value": [kind, self._list(value, depth + 2)]}  # type: ignore[arg-type]
        if isinstance(value, dict) and any(type(key) is tuple for key in value):  # JSON has no text for one
            return self._of_a_program(MapEntries(value), depth)
        if isinstance(value, dict) and not all(type(key) is str for key in value):
            keys = self._list(value, depth + 2)
            return {TAG: PYTHON_TAG, "value": ["dict", self._object(value, depth + 2), keys]}
        return None

    def _bytes(self, data: bytes) -> Json:
        self._counted(None, len(data) * 4 // 3)
        return {TAG: "bytes", "value": base64.b64encode(data).decode("ascii")}

    def _object(self, value: Mapping[Any, object], depth: int) -> Json:
        escaped = TAG in value
        inner = depth + (2 if escaped else 1)
        written: dict[str, Json] = {}
        for key, item in value.items():
            try:
                name = key if type(key) is str else key_text(key)
            except NotConvertibleError as refusal:
                self._refuse(str(refusal), refusal.hint)
            if name in written:
                self._refuse(f"has two keys that are both {name!r} as text")
            self._path.append(name)
            self._counted(None, len(name) + 4)
            written[name] = self.write(item, inner)
            self._path.pop()
        return {TAG: "object", "value": written} if escaped or TAG in written else written

    def _list(self, items: Iterable[object], depth: int) -> Json:
        written = []
        for index, item in enumerate(items):
            self._path.append(index)
            self._counted(None, 1)
            written.append(self.write(item, depth + 1))
            self._path.pop()
        return written

    def _error(self, error: BaseException, depth: int) -> Json:
        fields: dict[str, Json] = {"name": type(error).__name__, "message": message_of(error)}
        data = (
            {"code": error.code, **(error.data or {})}
            if isinstance(error, CodemodeError)
            else getattr(error, "data", None)
        )
        if data is not None:
            self._path.append("data")
            fields["data"] = self.write(data, depth + 2)
            self._path.pop()
        return {TAG: "error", "value": fields}

    def _integer(self, value: int) -> Json:
        if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
            return self._counted(value, 1)
        if value.bit_length() > MAX_DIGITS * 3.32:
            self._refuse(f"is an integer of more than {MAX_DIGITS:,} digits")
        return {TAG: "bigint", "value": self._counted(str(value), 1)}

    def _float(self, value: float) -> Json:
        return number_tag(value) or self._counted(value, 1)

    def _counted(self, value: Json, size: int) -> Json:
        self._least += size
        if self._limit is not None and self._least > self._limit:
            raise too_large(f"more than {self._limit:,} bytes", self._limit)
        return value

    def _refuse(self, why: str, hint: str | None = None) -> NoReturn:
        raise not_storable(why, path_text(self._path), hint)


def message_of(error: BaseException) -> str:
    """Return the message of an exception, or what can be said of one that cannot tell it."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001  the tool's own class may do anything
        return f"{type(error).__name__}, whose message cannot be read"


def number_tag(value: float) -> dict[str, str] | None:
    """Return the tag of a number that JSON cannot spell, or ``None``."""
    if math.isnan(value):
        return {TAG: "number", "value": "NaN"}
    if math.isinf(value):
        return {TAG: "number", "value": "Infinity" if value > 0 else "-Infinity"}
    if value == 0 and math.copysign(1, value) < 0:
        return {TAG: "number", "value": "-0"}
    return None


def path_text(path: Sequence[str | int]) -> str:
    """Return a path into a value as a program would write it, ``items[0].title``; a long one is cut."""
    text = ""
    for part in path[:LONGEST_PATH]:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part.isidentifier():
            text += f".{part}" if text else part
        else:
            text += f"[{json.dumps(part)}]"
    return text if len(path) <= LONGEST_PATH else f"{text}…"


def too_large(size: str, limit: int, what: str = "The value") -> CodemodeError:
    """Return the refusal of a value over the limit."""
    return CodemodeError(
        "too_large",
        f"{what} is too large to record durably: {size}, the limit is {limit:,} bytes.",
        hint="Write large data to a file or workspace and pass a small reference, such as a path.",
    )


def not_storable(why: str, path: str, hint: str | None = None) -> CodemodeError:
    """Return the refusal of the value at ``path``; ``why`` continues a sentence that names it."""
    where = f"The value at {path}" if path else "The value"
    return CodemodeError("not_storable", f"{where} {why}; it cannot be recorded.", hint=hint, data={"path": path})
