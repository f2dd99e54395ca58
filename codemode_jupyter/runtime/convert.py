"""Python objects as plainer values: what a model, a dataclass, an array or a table is in JSON.

Owns: one step of conversion; the caller goes on with what comes back.
Never does: text, tags or limits, nor import numpy or pandas: their objects are known by their module's name.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections import deque
from collections.abc import Callable, ItemsView, Iterator, KeysView, ValuesView
from enum import Enum
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

_LISTS = (tuple, deque, range, KeysView, ValuesView, ItemsView)
_WITHOUT_KEY_TEXT = (bytes, tuple, frozenset)


class NotConvertibleError(Exception):
    """A value without a JSON form; the message continues a sentence that names the value."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


def simpler(value: Any) -> Any:
    """Return a value one step closer to dicts, lists, text, numbers and bytes.

    Raises
    ------
    NotConvertibleError
        There is no JSON form; the message says what it is.
    """
    _refuse_what_is_not_data(value)
    if isinstance(value, Enum):
        return value.value
    if (library := _library(value)) is not None:
        return library(value)
    if isinstance(value, int | float | str):
        return _without_subclass(value)
    if isinstance(value, _LISTS):
        return list(value)
    return _fields(value) if dataclasses.is_dataclass(value) or _is_model(value) else _by_pydantic(value)


def key_text(key: object) -> str:
    """Return the text that JSON uses for a key that is not text.

    Raises
    ------
    NotConvertibleError
        Keys of this type have no text form.
    """
    if isinstance(key, Enum):
        return key_text(key.value)
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, bool) or key is None:
        return {None: "null", True: "true", False: "false"}[key]
    if isinstance(key, int | float):
        return str(int(key)) if isinstance(key, int) or key.is_integer() else float.__repr__(key)
    text = None if isinstance(key, _WITHOUT_KEY_TEXT) else simpler(key)
    if isinstance(text, str | int | float):
        return key_text(text)
    raise NotConvertibleError(f"has a key of type {type(key).__name__}", "Use text keys, or a list of pairs.")


def _refuse_what_is_not_data(value: Any) -> None:
    if isinstance(value, type) or inspect.isroutine(value) or isinstance(value, functools.partial):
        name = getattr(value, "__qualname__", "partial")
        raise NotConvertibleError(f"is a function or class ({name})", "Return what it computes.")
    if inspect.isawaitable(value):
        raise NotConvertibleError("is an awaitable that nobody awaited", "Await it in the tool.")
    if isinstance(value, Iterator):
        raise NotConvertibleError(f"is an iterator ({type(value).__name__})", "Return `list(…)` of it.")


def _library(value: Any) -> Callable[[Any], Any] | None:
    """Return the converter for the objects of a library, if this is one."""
    name = type(value).__module__.partition(".")[0]
    return {"numpy": _from_numpy, "pandas": _from_pandas}.get(name)


def _without_subclass(value: float | str) -> float | str:
    if isinstance(value, int):
        return int.__int__(value)
    return float.__float__(value) if isinstance(value, float) else str.__str__(value)


def _by_pydantic(value: Any) -> Any:
    """Convert dates, decimals, paths, UUIDs, URLs, secrets and the like as pydantic writes them to JSON."""
    try:
        plain = to_jsonable_python(value)
    except (PydanticSerializationError, ValueError, TypeError, RecursionError):
        plain = value
    if type(plain) is type(value):
        raise NotConvertibleError(
            f"is of type {type(value).__qualname__}, which has no JSON form", "Return text, numbers, lists or dicts."
        )
    return plain


def _is_model(value: Any) -> bool:
    return hasattr(type(value), "__pydantic_serializer__")


def _fields(value: Any) -> Any:
    """Return a dataclass' fields, or dump a model as it writes itself to JSON, with bytes kept as bytes."""
    if not _is_model(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    dump: Callable[..., Any] = type(value).__pydantic_serializer__.to_python
    try:
        plain = dump(value, mode="python", by_alias=True)
        return plain if _holds_bytes(plain) else dump(value, mode="json", by_alias=True, warnings=False)
    except (ValueError, TypeError, RecursionError) as error:  # PydanticSerializationError is a ValueError
        message = f"is a {type(value).__qualname__} that cannot be written as JSON ({error})"
        raise NotConvertibleError(message) from None


def _holds_bytes(value: Any) -> bool:
    if isinstance(value, bytes | bytearray | memoryview):
        return True
    if isinstance(value, dict):
        return any(map(_holds_bytes, value.values()))
    return isinstance(value, list | tuple | set | frozenset) and any(map(_holds_bytes, value))


def _from_numpy(value: Any) -> Any:
    """Return Python's own numbers, text and dates, in nested lists for an array."""
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if kind is None or not hasattr(value, "tolist"):
        raise NotConvertibleError(f"is a numpy {type(value).__name__} without a JSON form")
    if kind in ("M", "m"):  # finer than a microsecond, numpy would give a bare integer
        value = value.astype(f"{value.dtype.str[:2]}8[us]")
    plain = value.tolist()
    names = value.dtype.names
    if names and isinstance(plain, tuple):
        return dict(zip(names, plain, strict=True))
    if names and value.ndim == 1:
        return [dict(zip(names, row, strict=True)) for row in plain]
    if type(plain) is type(value):  # such as a long double, which Python's float cannot hold
        raise NotConvertibleError(f"is a numpy {type(value).__name__} without a JSON form", "Convert it to float.")
    return plain


def _from_pandas(value: Any) -> Any:
    """Return records for a table, a list or an object for a series.

    What is missing is ``None``, as in pandas' own JSON. An index that holds more than row numbers is kept.
    """
    match type(value).__name__:
        case "DataFrame":
            return _records(value)
        case "Series":
            return _series(value)
        case "NaTType" | "NAType":
            return None
        case "Timestamp":
            return value.isoformat()
        case "Timedelta":
            return value.to_pytimedelta()
    if hasattr(value, "tolist"):  # an index or an extension array
        return value.tolist()
    raise NotConvertibleError(f"is a pandas {type(value).__name__} without a JSON form")


def _records(table: Any) -> list[dict[str, Any]]:
    if _has_labels(table.index):
        table = table.reset_index()
    names = [key_text(column) for column in table.columns]
    if len(set(names)) != len(names):
        raise NotConvertibleError("is a DataFrame with two columns of one name", "Rename one of them.")
    columns = [_column(table.iloc[:, position]) for position in range(len(names))]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _series(series: Any) -> Any:
    if not _has_labels(series.index):
        return _column(series)
    if series.index.nlevels == 1 and series.index.is_unique:
        return dict(zip(series.index, _column(series), strict=True))
    return series.to_frame("value" if series.name is None else series.name)


def _has_labels(index: Any) -> bool:
    """Say whether an index holds more than row numbers."""
    return bool(index.nlevels > 1 or index.name is not None or index.dtype.kind not in "iu")


def _column(series: Any) -> list[Any]:
    missing = series.isna().tolist()
    return [None if gone is True else item for item, gone in zip(series.tolist(), missing, strict=True)]
