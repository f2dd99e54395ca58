"""Values of parameters as text: ``style`` and ``explode`` (OpenAPI 3.0.4, style values; RFC 6570).

Owns: percent-encoding and the shapes of lists and objects. Never does: check a value against its schema.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from codemode_jupyter.connectors.openapi.operations import Parameter

_RESERVED = ":/?@!$'()*,;=[]"
"""Reserved characters (RFC 3986, 2.2) without those that would end the query or a pair of it: ``#``, ``&``, ``+``."""

_DELIMITERS = {"form": ",", "spaceDelimited": "%20", "pipeDelimited": "%7C", "tabDelimited": "%09"}


def text_of(value: object) -> str:
    """Return one value as the text that stands for it in an address or a header."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:  # noqa: PLR2004  exact, and not in exponents
        return str(int(value))
    return str(value) if isinstance(value, int | float) else json_text(value)


def json_text(value: object) -> str:
    """Return a value as compact JSON.

    Raises
    ------
    TypeError, ValueError
        It has no JSON form, such as a number that is none.
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_base64)


def encoded(text: str, *, allow_reserved: bool = False) -> str:
    """Percent-encode all but the unreserved characters of RFC 3986."""
    return quote(text, safe=_RESERVED if allow_reserved else "", errors="strict")


def path_text(parameter: Parameter, value: object) -> str:
    """Return what takes the place of a placeholder; nothing in it can end a segment of the path."""
    if parameter.media_type is not None:
        return encoded(json_text(value) if not isinstance(value, str) else value)
    style, name, explode = parameter.style, encoded(parameter.name), parameter.explode
    items = _items(value)
    if items is None:
        text = encoded(text_of(value))
        return {"simple": text, "label": f".{text}", "matrix": f";{name}={text}" if text else f";{name}"}[style]
    first, between = {"simple": ("", ","), "label": (".", "."), "matrix": (";", ";")}[style]
    if not items:
        return ""
    if explode:
        pairs = [
            (f"{encoded(key)}=" if key is not None else f"{name}=" * (style == "matrix")) + encoded(text)
            for key, text in items
        ]
        return first + between.join(pairs)
    flat = ",".join(_flat(items))
    return f";{name}={flat}" if style == "matrix" else first + flat


def query_pairs(parameter: Parameter, value: object) -> Iterator[str]:
    """Yield the encoded ``name=value`` pairs of a parameter of the query, or of a field of a form."""
    name, keep = encoded(parameter.name), parameter.allow_reserved
    if parameter.media_type is not None:
        text = value if isinstance(value, str) and "json" not in parameter.media_type else json_text(value)
        yield f"{name}={encoded(text, allow_reserved=keep)}"
        return
    if parameter.style == "deepObject" and isinstance(value, dict):
        yield from _deep(name, value, keep=keep)
        return
    items = _items(value)
    if items is None:
        yield f"{name}={encoded(text_of(value), allow_reserved=keep)}"
    elif parameter.explode or parameter.style == "deepObject":
        for key, text in items:
            yield f"{name if key is None else encoded(key)}={encoded(text, allow_reserved=keep)}"
    elif items:
        yield f"{name}={_DELIMITERS[parameter.style].join(_flat(items, keep=keep))}"


def header_text(parameter: Parameter, value: object) -> str:
    """Return the value of a header, which is not percent-encoded."""
    if parameter.media_type is not None and not isinstance(value, str):
        return json_text(value)
    items = _items(value)
    if items is None:
        return text_of(value)
    if parameter.explode:
        return ",".join(text if key is None else f"{key}={text}" for key, text in items)
    return ",".join(part for key, text in items for part in ((text,) if key is None else (key, text)))


def cookie_pairs(parameter: Parameter, value: object) -> Iterator[str]:
    """Yield the ``name=value`` pairs of a cookie, encoded so that none can end another."""
    yield from query_pairs(replace(parameter, allow_reserved=False), value)  # a reserved `;` would begin another


def _base64(value: object) -> str:
    """Return bytes as JSON has them (``format: byte``; ``contentEncoding`` of JSON Schema)."""
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode()
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _items(value: object) -> list[tuple[str | None, str]] | None:
    """Return the members of a list or an object with their keys, ``None`` for a single value; null is no member."""
    if isinstance(value, dict):
        return [(str(key), text_of(item)) for key, item in value.items() if item is not None]
    if isinstance(value, list | tuple):
        return [(None, text_of(item)) for item in value if item is not None]
    return None


def _flat(items: list[tuple[str | None, str]], *, keep: bool = False) -> list[str]:
    parts = (part for key, text in items for part in ((text,) if key is None else (key, text)))
    return [encoded(part, allow_reserved=keep) for part in parts]


def _deep(name: str, value: Any, *, keep: bool) -> Iterator[str]:
    """Yield ``name[key]=value``; deeper levels, which the standard leaves open, go on in the same way."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _deep(f"{name}%5B{encoded(str(key))}%5D", item, keep=keep)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _deep(name, item, keep=keep)
    elif value is not None:
        yield f"{name}={encoded(text_of(value), allow_reserved=keep)}"
