"""Values as text: the one encoding in which arguments and results are compared, stored and sent.

Owns: Python value to tagged JSON text and back (``sandbox/protocol.py`` describes the form), and the text by which two
values are compared.
Never does: storage, validation, or guessing: a value survives, is converted as documented, or is refused with its path.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.value_reader import ArgumentReader, ValueReader
from codemode_jupyter.runtime.value_writer import (
    MAX_SAFE_INTEGER,
    TAG,
    Json,
    ValueWriter,
    message_of,
    not_storable,
    number_tag,
    too_large,
)

MAX_BYTES = 1_000_000
"""Largest stored value in UTF-8 bytes of its tagged text, inclusive."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def encode(value: object, *, limit: int | None = MAX_BYTES, native: bool = False) -> str:
    """Return the tagged JSON text of a Python value.

    Models, dataclasses, dates, decimals, paths, enums, UUIDs, numpy and pandas values are converted as pydantic or
    their own library writes them to JSON; sets become lists, dates ISO 8601 text. Exceptions become errors. What
    ``decode_arguments`` read is written as what it was.

    Parameters
    ----------
    value : object
        What a tool returned, or any other value that must be kept.
    limit : int or None, default 1,000,000
        Largest size in UTF-8 bytes, inclusive; ``None``: no limit.
    native : bool, default False
        Say beside the JSON what Python has another type for, so that programs in Python get that: dates, times,
        decimals, UUIDs, tuples, sets, keys that are no text. JavaScript reads the JSON alone.

    Raises
    ------
    CodemodeError
        ``not_storable`` (a cycle, too deep, an object without a JSON form; ``data["path"]`` says where), ``too_large``.
    """
    try:
        text = _dump(ValueWriter(limit, native=native).write(value, 0))
    except RecursionError:
        raise not_storable("is nested too deeply", "") from None
    if limit is not None and (size := byte_size(text)) > limit:
        raise too_large(f"{size:,} bytes", limit)
    return text


def encode_error(error: BaseException) -> str:
    """Return the tagged JSON text of an exception; never raises. What cannot be stored of its data is left out."""
    try:
        return encode(error)
    except Exception:  # noqa: BLE001  the data of the tool's own class may do anything when read
        message = message_of(error)[:10_000]
        return _dump({TAG: "error", "value": {"name": type(error).__name__, "message": message}})


def decode(text: str) -> Any:
    """Return the Python value of a tagged JSON text.

    ``undefined`` becomes ``None``; a Date an aware ``datetime``; a Map a ``dict`` (a list of pairs where its keys
    cannot be keys); a Set a ``set`` (a list where its items cannot be members); byte arrays ``bytes``; a bigint an
    ``int``; an Error a ``dict`` with ``name`` and ``message``; functions, symbols, patterns and cycles a readable text.
    A tag that is unknown or malformed is kept as plain data.

    Raises
    ------
    CodemodeError
        ``unreadable_value``: the text is not JSON, or too deep.
    """
    if _has_no_tags(text):
        return _parse(text, _PLAIN_DECODER)
    return _read_all(ValueReader(), [_parse(text, _VALUE_DECODER)])[0]


def decode_arguments(text: str) -> list[Any]:
    """Return the positional arguments of a call, in the types that JSON users expect.

    As ``decode``, but a Date is ISO 8601 text and a Set a list which still know what they were (``native_values``),
    and keys whose value is ``undefined`` are left out. A single empty object means that there are no arguments.

    Raises
    ------
    CodemodeError
        ``unreadable_value``, or ``not_storable``: an argument holds a function, a symbol, a pattern or a cycle.
    """
    if _has_no_tags(text):
        value = _parse(text, _PLAIN_DECODER)
        return [] if value == {} else [value]
    tree = _parse(text, _VALUE_DECODER)
    if isinstance(tree, dict) and tree.keys() == {TAG, "value"} and tree[TAG] == "arguments":
        items = tree["value"]
    else:
        items = [] if tree == {} else [tree]
    if not isinstance(items, list):
        items = [tree]
    while items and items[-1] == {TAG: "undefined"}:
        items = items[:-1]
    return _read_all(ArgumentReader(), items)


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
        raise too_large(f"{size:,} bytes", limit, what)


def _parse_float(text: str) -> Json:
    """Read a number as JavaScript does, with one form for equal numbers."""
    value = float(text)
    if (tag := number_tag(value)) is not None:
        return tag
    return int(value) if value.is_integer() and abs(value) <= MAX_SAFE_INTEGER else value


def _parse_int(text: str) -> Json:
    value = int(text) if len(text) < 18 else None  # noqa: PLR2004  no safe integer is longer
    if value is None or abs(value) > MAX_SAFE_INTEGER or text == "-0":
        return _parse_float(text)  # a bare literal is a JavaScript number, whatever its digits
    return value


def _keep_float(text: str) -> Json:
    """Read a number as Python does: ``1.0``, which JavaScript never writes, is no integer."""
    value = float(text)
    return number_tag(value) or value


def _read_float(text: str) -> Any:
    number = _keep_float(text)
    return ValueReader().read(number) if isinstance(number, dict) else number


def _read_int(text: str) -> Any:
    if len(text) < 16 and text != "-0":  # noqa: PLR2004  every integer of 15 digits is safe
        return int(text)
    number = _parse_int(text)
    return ValueReader().read(number) if isinstance(number, dict) else number


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


# Made once: ``json.loads`` and ``json.dumps`` with options make one for each text.
_DECODER = json.JSONDecoder(parse_float=_parse_float, parse_int=_parse_int, parse_constant=_no_constant)
_VALUE_DECODER = json.JSONDecoder(parse_float=_keep_float, parse_int=_parse_int, parse_constant=_no_constant)
_PLAIN_DECODER = json.JSONDecoder(parse_float=_read_float, parse_int=_read_int, parse_constant=_no_constant)
"""For texts without tags: what it gives is the value itself."""


def _encoder(*, sort_keys: bool) -> json.JSONEncoder:
    return json.JSONEncoder(
        ensure_ascii=False, separators=(",", ":"), sort_keys=sort_keys, allow_nan=False, check_circular=False
    )


_ENCODER = _encoder(sort_keys=False)
_SORTING_ENCODER = _encoder(sort_keys=True)


def _has_no_tags(text: str) -> bool:
    """Tell for sure that a text holds no tag; most do not, and are the value itself."""
    return TAG not in text and "\\u" not in text  # an escape may spell the tag


def _parse(text: str, decoder: json.JSONDecoder = _DECODER) -> Json:
    try:
        return decoder.decode(text)
    except RecursionError:
        raise _unreadable("it is nested too deeply") from None
    except (ValueError, TypeError) as error:
        raise _unreadable(str(error)) from None


def _dump(tree: Json, *, sort_keys: bool = False) -> str:
    text = (_SORTING_ENCODER if sort_keys else _ENCODER).encode(tree)
    if _SURROGATE.search(text):
        text = _SURROGATE_PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
        text = _SURROGATE.sub(lambda unit: f"\\u{ord(unit[0]):04x}", text)
    return text


def _read_all(reader: ValueReader, trees: list[Json]) -> list[Any]:
    try:
        return [reader.read(tree) for tree in trees]
    except RecursionError:
        raise _unreadable("it is nested too deeply") from None


def _unreadable(why: str) -> CodemodeError:
    return CodemodeError("unreadable_value", f"A stored value cannot be read: {why}.")
