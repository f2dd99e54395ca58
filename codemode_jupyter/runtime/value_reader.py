"""Trees of JSON values and tags as Python values.

Owns: the meaning of each tag in Python, for results and for the arguments of tools.
Never does: text. A tag that it does not know, or that holds what it cannot, is data.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from codemode_jupyter.connectors.functions.native_values import (
    DateText,
    MapEntries,
    NativeText,
    SetItems,
    TupleItems,
    as_set,
    native,
)
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.python_values import NotReadableError, read_text
from codemode_jupyter.runtime.value_writer import MAX_DIGITS, TAG, Json

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DIGITS = re.compile(r"-?[0-9]+")
_FLOAT = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]{1,3})?")
_SPECIAL_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf, "-0": -0.0}


class ValueReader:
    """Turns a tree of JSON values and tags into Python values. A tag it does not know stays what it is: data."""

    def read(self, tree: Json) -> Any:
        """Return the value of one tree."""
        if isinstance(tree, list):
            items = []
            for item in tree:
                items.append(self.read(item))  # noqa: PERF401  a comprehension costs a second stack frame a level
            return items
        if not isinstance(tree, dict):
            return tree
        kind = tree.get(TAG)
        if isinstance(kind, str):
            if kind in ("undefined", "cycle"):
                if len(tree) == 1:
                    return self._undefined() if kind == "undefined" else self._unusual("cycle", "[cycle]")
            elif len(tree) == 2 and "value" in tree:  # noqa: PLR2004  a tag and its value
                value = tree["value"]
                if kind == "object" and isinstance(value, dict):
                    return self._plain(value)
                try:
                    return self._tagged(kind, value)
                except _MalformedTagError:
                    pass
        return self._plain(tree)

    def _plain(self, tree: dict[str, Json]) -> dict[str, Any]:
        fields = {}
        for key, item in tree.items():
            fields[key] = self.read(item)
        return fields

    def _tagged(self, kind: str, value: Json) -> Any:  # noqa: C901, PLR0911, PLR0912  one case for each tag of the wire form
        match kind, value:
            case "number", str() if value in _SPECIAL_NUMBERS:
                return _SPECIAL_NUMBERS[value]
            case "bigint", str() if _DIGITS.fullmatch(value) and len(value) <= MAX_DIGITS:
                return int(value)
            case "date", int() | float() | None if not isinstance(value, bool):
                return self._date(value)
            case "bytes" | "arraybuffer", str():
                return _bytes(value)
            case "map", list() if all(isinstance(pair, list) and len(pair) == 2 for pair in value):  # noqa: PLR2004
                return self._map([(self.read(key), self.read(item)) for key, item in value])
            case "float", str() if _FLOAT.fullmatch(value):
                return float(value)
            case "decimal", str() if len(value) <= MAX_DIGITS:
                return self._decimal(value)
            case "datetime", str():
                return self._moment(value)
            case "tuple", list():
                return self._tuple([self.read(item) for item in value])
            case "python", [str(kind_of), *form] if form:
                return self._python(kind_of, form)
            case "set", list():
                return self._set([self.read(item) for item in value])
            case "error", dict() if isinstance(value.get("message"), str):
                return self._plain(value)
            case "regexp", [str(source), str(flags)]:
                return self._unusual("pattern (RegExp)", f"/{source}/{flags}")
            case "function", str():
                return self._unusual("function", value)
            case "symbol", str():
                return self._unusual("symbol", f"Symbol({value})")
        raise _MalformedTagError

    def _python(self, kind: str, form: list[Json]) -> Any:
        match kind, form:
            case "tuple", [list(items)]:
                return self._tuple([self.read(item) for item in items])
            case "set", [list(items)]:
                return self._set([self.read(item) for item in items])
            case "dict", [dict(fields), list(keys)] if len(fields) == len(keys):
                read = [self.read(item) for item in fields.values()]
                return self._map(list(zip((self.read(key) for key in keys), read, strict=True)))
        try:
            return self._python_text(str(form[0]), read_text(kind, form))
        except NotReadableError:
            raise _MalformedTagError from None

    def _python_text(self, text: str, value: Any) -> Any:  # noqa: ARG002  the reader of arguments keeps the text
        return value

    def _undefined(self) -> Any:
        return None

    def _unusual(self, what: str, text: str) -> Any:  # noqa: ARG002  the reader of arguments names it in its refusal
        return text

    def _date(self, value: float | None) -> Any:
        return None if value is None else _datetime(value)

    def _map(self, pairs: list[tuple[Any, Any]]) -> Any:
        try:
            fields = dict(pairs)
        except TypeError:
            fields = {}
        return fields if len(fields) == len(pairs) else [list(pair) for pair in pairs]

    def _set(self, items: list[Any]) -> Any:
        return as_set(items)

    def _tuple(self, items: list[Any]) -> Any:
        return tuple(items)

    def _decimal(self, text: str) -> Any:
        try:
            return Decimal(text)
        except InvalidOperation:
            raise _MalformedTagError from None

    def _moment(self, text: str) -> Any:
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            raise _MalformedTagError from None


class ArgumentReader(ValueReader):
    """Reads arguments: what a JSON schema can describe, and bytes; no value that a tool could not take."""

    def _plain(self, tree: dict[str, Json]) -> dict[str, Any]:
        return super()._plain({key: item for key, item in tree.items() if item != {TAG: "undefined"}})

    def _unusual(self, what: str, text: str) -> Any:
        shown = text if len(text) <= 60 else text[:59] + "…"  # noqa: PLR2004  enough to recognise it
        raise CodemodeError(
            "not_storable",
            f"The arguments hold a {what}, {shown}, which cannot be passed to a tool.",
            hint="Pass plain data: text, numbers, lists, objects, dates or bytes.",
        )

    def _date(self, value: float | None) -> Any:
        if value is None:
            return None
        return DateText(_datetime(value).isoformat(timespec="milliseconds").replace("+00:00", "Z"))

    def _map(self, pairs: list[tuple[Any, Any]]) -> Any:
        entries = super()._map([(native(key) if isinstance(key, TupleItems) else key, item) for key, item in pairs])
        has_other_keys = isinstance(entries, dict) and not all(type(key) is str for key in entries)
        return MapEntries(entries) if has_other_keys else entries

    def _set(self, items: list[Any]) -> Any:
        return SetItems(items)

    def _tuple(self, items: list[Any]) -> Any:
        return TupleItems(items)

    def _python_text(self, text: str, value: Any) -> Any:
        return NativeText(text, value)

    def _decimal(self, text: str) -> Any:
        return NativeText(text, super()._decimal(text))

    def _moment(self, text: str) -> Any:
        moment = super()._moment(text)
        return NativeText(moment.isoformat(), moment)


class _MalformedTagError(Exception):
    """A known tag with a value it cannot have."""


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
