"""Values written for people: a one-line preview, a pretty text of several lines, a few words.

Owns: the notation (JavaScript literals, for programs of either language) and its bounds.
Never does: elements. Nothing here walks a whole value when only its beginning is shown, nor recurses: a value may be
large and deep.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from typing import TypeAlias, TypeGuard

_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_LINE_WIDTH = 76
_DEEPEST_INDENT = 12
_BYTES_SHOWN = 16
_UNLIMITED = 1 << 40

Container: TypeAlias = "Mapping[object, object] | list[object] | tuple[object, ...] | AbstractSet[object]"
"""A value that holds others."""


@dataclass(frozen=True, slots=True)
class Written:
    """A text and whether it holds the whole value."""

    text: str
    complete: bool


def preview(value: object, limit: int = 80) -> str:
    """Return the value on one line of at most ``limit`` characters; ``…`` stands for what is left out."""
    written = one_line(value, limit)
    return written.text if written.complete else written.text[: limit - 1] + "…"


def one_line(value: object, limit: int) -> Written:
    """Return the value on one line, cut at ``limit`` characters."""
    return _write(value, limit, pretty=False)


def pretty(value: object, limit: int | None = None) -> Written:
    """Return the value on as many lines as it takes, at most ``limit`` characters."""
    return _write(value, _UNLIMITED if limit is None else limit, pretty=True)


def in_words(value: object) -> str:
    """Return what a value is in a few words: ``365 rows``, ``[] 0 items``, ``{id: 12}``."""
    if is_records(value):
        return count(len(value), "row")
    if isinstance(value, Mapping):
        short = _write(value, 26, pretty=False)
        return short.text if short.complete else "{…} " + count(len(value), "key")
    if isinstance(value, list | tuple | AbstractSet):
        return ("[…] " if value else "[] ") + count(len(value), "item")
    if isinstance(value, bytes | bytearray):
        return count(len(value), "byte")
    return preview(value, 28)


def is_records(value: object) -> TypeGuard[Sequence[Mapping[object, object]]]:
    """Tell whether the value is a list of objects: what a table can show."""
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(item, Mapping) and item for item in value)


def count(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 row``, ``1,024 bytes``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def key_text(key: object) -> str:
    """Return a key as it is written before its colon."""
    if isinstance(key, str):
        return key if _IDENTIFIER.fullmatch(key) else quoted(key)
    return f"[{preview(key, 40)}]"


def quoted(text: str) -> str:
    """Return text between quotation marks, with line breaks and other control characters as escapes."""
    return json.dumps(text, ensure_ascii=False)


def scalar(value: object, limit: int = _UNLIMITED) -> str:  # noqa: PLR0911  one case for each type
    """Return the text of a value that holds no others."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value[: limit + 1])
        case float() if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case float() if value.is_integer() and abs(value) < 1e15:  # noqa: PLR2004  a number as JavaScript prints it
            return "-0" if value == 0 and math.copysign(1, value) < 0 else str(int(value))
        case int():
            return _integer(value)
        case bytes() | bytearray():
            more = " …" if len(value) > _BYTES_SHOWN else ""
            return f"<{count(len(value), 'byte')}: {bytes(value[:_BYTES_SHOWN]).hex(' ')}{more}>"
        case datetime():
            return value.isoformat(sep=" ", timespec="milliseconds" if value.microsecond else "seconds")
        case date():
            return value.isoformat()
    return str(value)[: limit + 1]


def _integer(value: int) -> str:
    try:
        return str(value)
    except ValueError:  # more digits than Python converts
        return f"<an integer of {value.bit_length():,} bits>"


def _write(value: object, limit: int, *, pretty: bool) -> Written:
    """Write from a stack of what is still to come: texts, and values with the depth they stand at."""
    parts: list[str] = []
    size = 0
    waiting: list[str | tuple[object, int]] = [(value, 0)]
    while waiting:
        if size > limit:
            break
        upcoming = waiting.pop()
        if isinstance(upcoming, str):
            text = upcoming
        else:
            item, depth = upcoming
            if not holds_others(item):
                text = scalar(item, limit - size)
            elif (line := _on_one_line(item, depth, pretty=pretty)) is not None:
                text = line
            else:
                waiting.extend(reversed(_opened(item, depth, limit - size, pretty=pretty)))
                continue
        parts.append(text)
        size += len(text)
    text = "".join(parts)
    return Written(text[:limit], complete=not waiting and len(text) <= limit)


def holds_others(value: object) -> TypeGuard[Container]:
    """Tell whether a value is a mapping, a list or a set."""
    return isinstance(value, Mapping | list | tuple | AbstractSet)


def _on_one_line(value: Container, depth: int, *, pretty: bool) -> str | None:
    """Return the container on one line when it is empty or, in the pretty form, short enough; else ``None``."""
    if not value:
        return "{}" if isinstance(value, Mapping) else "[]"
    if not pretty:
        return None
    width = _LINE_WIDTH - 2 * min(depth, _DEEPEST_INDENT)
    written = _write(value, width, pretty=False)
    return written.text if written.complete else None


def _opened(value: Container, depth: int, limit: int, *, pretty: bool) -> list[str | tuple[object, int]]:
    indented = pretty and depth < _DEEPEST_INDENT
    separator = ",\n" + "  " * (depth + 1) if indented else ", "
    start, end = ("\n" + "  " * (depth + 1), "\n" + "  " * depth) if indented else ("", "")
    opening, closing = ("{", "}") if isinstance(value, Mapping) else ("[", "]")
    pieces: list[str | tuple[object, int]] = [opening + start]
    entries = _entries(value)
    for index, (key, item) in enumerate(islice(entries, limit + 1)):
        if index:
            pieces.append(separator)
        if key is not None:
            pieces.append(f"{key}: ")
        pieces.append((item, depth + 1))
    pieces.append(end + closing)
    return pieces


def _entries(value: Container) -> Iterator[tuple[str | None, object]]:
    if isinstance(value, Mapping):
        return ((key_text(key), item) for key, item in value.items())
    return ((None, item) for item in value)
