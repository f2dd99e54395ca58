"""Values as text: the one encoding in which arguments and results are compared, stored and sent.

Owns: Python value to tagged JSON text and back (the form is described in ``sandbox/protocol.py``), and the text by which two values
are compared. Never does: storage, validation, or guessing; a value either survives or is refused with its path.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn, TypeAlias

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.convert import NotConvertibleError, key_text, simpler

Json: TypeAlias = Any

MAX_BYTES = 1_000_000
"""Largest stored value in UTF-8 bytes of its tagged text, inclusive."""

MAX_DEPTH = 400
"""Deepest nesting of the tagged text, in brackets. Both languages parse it with ease, and no stack overflows."""

MAX_SAFE_INTEGER = 2**53 - 1
"""Largest integer that is exact as a JavaScript number (ECMAScript ``Number.MAX_SAFE_INTEGER``)."""

_MAX_DIGITS = 4300  # CPython's default limit of int <-> str conversion
_TAG = "$type"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_DIGITS = re.compile(r"-?[0-9]+")
_SPECIAL_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf, "-0": -0.0}
_SIZE_ADVICE = "Write large data to a file or workspace and pass a small reference, such as a path."


def encode(value: object, *, limit: int | None = MAX_BYTES) -> str:
    """Return the tagged JSON text of a Python value.

    Models, dataclasses, dates, decimals, paths, enums, UUIDs, numpy and pandas values are converted as pydantic or their own library
    writes them to JSON; sets become lists, dates ISO 8601 text. Exceptions become errors.

    Parameters
    ----------
    value : object
        What a tool returned, or any other value that must be kept.
    limit : int or None, default 1,000,000
        Largest size in UTF-8 bytes, inclusive; ``None``: no limit.

    Raises
    ------
    CodemodeError
        ``not_storable`` (a cycle, too deep, an object without a JSON form; ``data["path"]`` says where) or ``too_large``.
    """
    try:
        text = _dump(_Writer(limit).write(value, 0))
    except RecursionError:
        _refuse("is nested too deeply", "")
    if limit is not None and (size := byte_size(text)) > limit:
        raise _too_large(f"{size:,} bytes", limit)
    return text


def encode_error(error: BaseException) -> str:
    """Return the tagged JSON text of an exception; never raises. What cannot be stored of its data is left out."""
    try:
        return encode(error)
    except CodemodeError:
        message = str(error)[:10_000]
        return _dump({_TAG: "error", "value": {"name": type(error).__name__, "message": message}})


def decode(text: str) -> Any:
    """Return the Python value of a tagged JSON text.

    ``undefined`` becomes ``None``; a Date an aware ``datetime``; a Map a ``dict`` (a list of pairs where keys cannot be); a Set a ``set``
    (a list where items cannot be); byte arrays ``bytes``; a bigint an ``int``; an Error a ``dict`` with ``name`` and ``message``;
    functions, symbols, patterns and cycles a readable text. A tag that is unknown or malformed is kept as plain data.

    Raises
    ------
    CodemodeError
        ``unreadable_value``: the text is not JSON, or too deep.
    """
    return _Reader().read(_parse(text))


def decode_arguments(text: str) -> list[Any]:
    """Return the positional arguments of a call, in the types that JSON users expect.

    As ``decode``, but dates are ISO 8601 text, Sets are lists, Maps with other than text keys are lists of pairs, and keys whose value is
    ``undefined`` are left out. A single empty object means that there are no arguments.

    Raises
    ------
    CodemodeError
        ``unreadable_value``, or ``not_storable``: an argument holds a function, a symbol, a pattern or a cycle.
    """
    tree = _parse(text)
    if isinstance(tree, dict) and tree.keys() == {_TAG, "value"} and tree[_TAG] == "arguments":
        items = tree["value"]
    else:
        items = [] if tree == {} else [tree]
    if not isinstance(items, list):
        items = [tree]
    while items and items[-1] == {_TAG: "undefined"}:
        items = items[:-1]
    reader = _ArgumentReader()
    return [reader.read(item) for item in items]


def canonical(text: str) -> str:
    """Return the text by which two values are compared: keys sorted at every level, one spelling for each number.

    Raises
    ------
    CodemodeError
        ``unreadable_value``: the text is not JSON, or too deep.
    """
    try:
        return _dump(_parse(text), sort_keys=True)
    except RecursionError:
        raise _unreadable("it is nested too deeply") from None


def byte_size(text: str) -> int:
    """Return the size of a text in UTF-8 bytes, in which limits are counted."""
    return len(text.encode("utf-8", "surrogatepass"))


def check_size(text: str, what: str = "The value", *, limit: int = MAX_BYTES) -> None:
    """Refuse a text over the limit; ``what`` names the value in the message.

    Raises
    ------
    CodemodeError
        ``too_large``
    """
    if (size := byte_size(text)) > limit:
        raise _too_large(f"{size:,} bytes", limit, what)


class _Writer:
    """Turns one Python value into a tree of JSON values and tags."""

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._least = 0  # a lower bound of the size so far, so that a huge value is refused before it is all copied
        self._path: list[str | int] = []
        self._ancestors: set[int] = set()

    def write(self, value: object, depth: int) -> Json:
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
            data = bytes(value)
            self._counted(None, len(data) * 4 // 3)
            return {_TAG: "bytes", "value": base64.b64encode(data).decode("ascii")}
        return self._container(value, depth)

    def _container(self, value: object, depth: int) -> Json:
        if depth >= MAX_DEPTH:
            self._refuse(f"is nested more than {MAX_DEPTH} levels deep")
        if id(value) in self._ancestors:
            self._refuse("refers back to itself (a cycle)")
        self._ancestors.add(id(value))
        try:
            if type(value) is dict or isinstance(value, Mapping):
                return self._object(value, depth)
            if isinstance(value, list | AbstractSet) or type(value) is tuple:
                return self._list(value, depth)
            if isinstance(value, BaseException):
                return self._error(value, depth)
            try:
                plain = simpler(value)
            except NotConvertibleError as refusal:
                self._refuse(str(refusal), refusal.hint)
            return self.write(plain, depth)
        finally:
            self._ancestors.discard(id(value))

    def _object(self, value: Mapping[Any, object], depth: int) -> Json:
        escaped = _TAG in value
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
        return {_TAG: "object", "value": written} if escaped or _TAG in written else written

    def _list(self, items: Iterable[object], depth: int) -> Json:
        written = []
        for index, item in enumerate(items):
            self._path.append(index)
            self._counted(None, 1)
            written.append(self.write(item, depth + 1))
            self._path.pop()
        return written

    def _error(self, error: BaseException, depth: int) -> Json:
        fields: dict[str, Json] = {"name": type(error).__name__, "message": str(error)}
        data = (
            {"code": error.code, **(error.data or {})}
            if isinstance(error, CodemodeError)
            else getattr(error, "data", None)
        )
        if data is not None:
            self._path.append("data")
            fields["data"] = self.write(data, depth + 2)
            self._path.pop()
        return {_TAG: "error", "value": fields}

    def _integer(self, value: int) -> Json:
        if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
            return self._counted(value, 1)
        if value.bit_length() > _MAX_DIGITS * 3.32:
            self._refuse(f"is an integer of more than {_MAX_DIGITS:,} digits")
        return {_TAG: "bigint", "value": self._counted(str(value), 40)}

    def _float(self, value: float) -> Json:
        return _number_tag(value) or self._counted(value, 1)

    def _counted(self, value: Json, size: int) -> Json:
        self._least += size
        if self._limit is not None and self._least > self._limit:
            # The bound counts text in characters, and null as long as true: only a clear excess is refused here.
            if self._least > 4 * self._limit:
                raise _too_large(f"more than {self._limit:,} bytes", self._limit)
        return value

    def _refuse(self, why: str, hint: str | None = None) -> NoReturn:
        _refuse(why, path_text(self._path), hint)


class _Reader:
    """Turns a tree of JSON values and tags into Python values. A tag it does not know stays what it is: data."""

    def read(self, tree: Json) -> Any:
        if isinstance(tree, list):
            items = []
            for item in tree:
                items.append(self.read(item))  # noqa: PERF401  a comprehension costs a second stack frame a level
            return items
        if not isinstance(tree, dict):
            return tree
        kind = tree.get(_TAG)
        if isinstance(kind, str):
            if kind in ("undefined", "cycle"):
                if len(tree) == 1:
                    return self.undefined() if kind == "undefined" else self.unusual("cycle", "[cycle]")
            elif len(tree) == 2 and "value" in tree:  # noqa: PLR2004  a tag and its value
                value = tree["value"]
                if kind == "object" and isinstance(value, dict):
                    return self.plain(value)
                try:
                    return self.tagged(kind, value)
                except _MalformedTagError:
                    pass
        return self.plain(tree)

    def plain(self, tree: dict[str, Json]) -> dict[str, Any]:
        fields = {}
        for key, item in tree.items():
            fields[key] = self.read(item)  # noqa: PERF403  a comprehension costs a second stack frame a level
        return fields

    def tagged(self, kind: str, value: Json) -> Any:  # noqa: PLR0911  one line for each tag of the wire form
        match kind, value:
            case "number", str() if value in _SPECIAL_NUMBERS:
                return _SPECIAL_NUMBERS[value]
            case "bigint", str() if _DIGITS.fullmatch(value) and len(value) <= _MAX_DIGITS:
                return int(value)
            case "date", int() | float() | None if not isinstance(value, bool):
                return self.date(value)
            case "bytes" | "arraybuffer", str():
                return _bytes(value)
            case "map", list() if all(isinstance(pair, list) and len(pair) == 2 for pair in value):  # noqa: PLR2004
                return self.map([(self.read(key), self.read(item)) for key, item in value])
            case "set", list():
                return self.set([self.read(item) for item in value])
            case "error", dict() if isinstance(value.get("message"), str):
                return self.plain(value)
            case "regexp", [str(source), str(flags)]:
                return self.unusual("pattern (RegExp)", f"/{source}/{flags}")
            case "function", str():
                return self.unusual("function", value)
            case "symbol", str():
                return self.unusual("symbol", f"Symbol({value})")
        raise _MalformedTagError

    def undefined(self) -> Any:
        return None

    def unusual(self, what: str, text: str) -> Any:  # noqa: ARG002  the reader of arguments names it in its refusal
        return text

    def date(self, value: float | None) -> Any:
        return None if value is None else _datetime(value)

    def map(self, pairs: list[tuple[Any, Any]]) -> Any:
        try:
            fields = dict(pairs)
        except TypeError:
            fields = {}
        return fields if len(fields) == len(pairs) else [list(pair) for pair in pairs]

    def set(self, items: list[Any]) -> Any:
        try:
            members = set(items)
        except TypeError:
            return items
        return members if len(members) == len(items) else items


class _ArgumentReader(_Reader):
    """Reads arguments: the types JSON has, and bytes; no value that a tool could not take."""

    def plain(self, tree: dict[str, Json]) -> dict[str, Any]:
        return super().plain({key: item for key, item in tree.items() if item != {_TAG: "undefined"}})

    def unusual(self, what: str, text: str) -> Any:
        shown = text if len(text) <= 60 else text[:59] + "…"  # noqa: PLR2004  enough to recognise it
        raise CodemodeError(
            "not_storable",
            f"The arguments hold a {what}, {shown}, which cannot be passed to a tool.",
            hint="Pass plain data: text, numbers, lists, objects, dates or bytes.",
        )

    def date(self, value: float | None) -> Any:
        return None if value is None else _datetime(value).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def map(self, pairs: list[tuple[Any, Any]]) -> Any:
        if all(isinstance(key, str) for key, _ in pairs):
            return dict(pairs)
        return [list(pair) for pair in pairs]

    def set(self, items: list[Any]) -> Any:
        return items


class _MalformedTagError(Exception):
    """A known tag with a value it cannot have."""


def path_text(path: Iterable[str | int]) -> str:
    """Return a path into a value as a program would write it: ``items[0].title``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part.isidentifier():
            text += f".{part}" if text else part
        else:
            text += f"[{json.dumps(part)}]"
    return text


def _number_tag(value: float) -> Json:
    """Return the tag of a number that JSON cannot spell, or ``None``."""
    if math.isnan(value):
        return {_TAG: "number", "value": "NaN"}
    if math.isinf(value):
        return {_TAG: "number", "value": "Infinity" if value > 0 else "-Infinity"}
    if value == 0 and math.copysign(1, value) < 0:
        return {_TAG: "number", "value": "-0"}
    return None


def _parse_float(text: str) -> Json:
    """Read a number as JavaScript does, with one form for equal numbers."""
    value = float(text)
    if (tag := _number_tag(value)) is not None:
        return tag
    return int(value) if value.is_integer() and abs(value) <= MAX_SAFE_INTEGER else value


def _parse_int(text: str) -> Json:
    value = int(text) if len(text) < 18 else None  # noqa: PLR2004  no safe integer is longer
    if value is None or abs(value) > MAX_SAFE_INTEGER or text == "-0":
        return _parse_float(text)  # a bare literal is a JavaScript number, whatever its digits
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _parse(text: str) -> Json:
    try:
        return json.loads(text, parse_float=_parse_float, parse_int=_parse_int, parse_constant=_no_constant)
    except RecursionError:
        raise _unreadable("it is nested too deeply") from None
    except (ValueError, TypeError) as error:
        raise _unreadable(str(error)) from None


def _dump(tree: Json, *, sort_keys: bool = False) -> str:
    text = json.dumps(
        tree, ensure_ascii=False, separators=(",", ":"), sort_keys=sort_keys, allow_nan=False, check_circular=False
    )
    if _SURROGATE.search(text):
        text = _SURROGATE_PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
        text = _SURROGATE.sub(lambda unit: f"\\u{ord(unit[0]):04x}", text)
    return text


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise _MalformedTagError from None


def _datetime(milliseconds: float) -> datetime:
    try:
        return _EPOCH + timedelta(milliseconds=milliseconds)
    except (OverflowError, ValueError):
        raise _MalformedTagError from None


def _unreadable(why: str) -> CodemodeError:
    return CodemodeError("unreadable_value", f"A stored value cannot be read: {why}.")


def _too_large(size: str, limit: int, what: str = "The value") -> CodemodeError:
    return CodemodeError(
        "too_large", f"{what} is too large to record durably: {size}, the limit is {limit:,} bytes.", hint=_SIZE_ADVICE
    )


def _refuse(why: str, path: str, hint: str | None = None) -> NoReturn:
    where = f"The value at {path}" if path else "The value"
    raise CodemodeError("not_storable", f"{where} {why}; it cannot be recorded.", hint=hint, data={"path": path})
