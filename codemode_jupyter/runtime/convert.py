"""Python objects as plainer values: what a model, a dataclass, an array or a table is in JSON.

Owns: one step of conversion; the caller goes on with what comes back. Never does: text, tags or limits, nor import numpy or pandas:
their objects are known by their module's name.
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
    for base in (bool, int, float, str):
        if isinstance(value, base) and not isinstance(value, Enum):
            return base.__call__(value) if base is not str else str.__str__(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, type) or inspect.isroutine(value) or isinstance(value, functools.partial):
        name = getattr(value, "__qualname__", "partial")
        raise NotConvertibleError(f"is a function or class ({name})", "Return what it computes.")
    if inspect.isawaitable(value):
        raise NotConvertibleError("is an awaitable that nobody awaited", "Await it in the tool.")
    library = type(value).__module__.partition(".")[0]
    if library == "numpy":
        return _from_numpy(value)
    if library == "pandas":
        return _from_pandas(value)
    if hasattr(type(value), "__pydantic_serializer__"):
        return _from_pydantic(value)
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, tuple | deque | range | KeysView | ValuesView | ItemsView):
        return list(value)
    if isinstance(value, Iterator):
        raise NotConvertibleError(f"is an iterator ({type(value).__name__})", "Return `list(…)` of it.")
    return _by_pydantic(value)


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
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    if isinstance(key, int):
        return int.__repr__(key)
    if isinstance(key, float):
        return str(int(key)) if key.is_integer() else float.__repr__(key)
    if type(key).__module__.partition(".")[0] in ("numpy", "pandas"):
        plain = simpler(key)
        if type(plain) is not type(key):
            return key_text(plain)
    if not isinstance(key, bytes | tuple | frozenset):
        try:
            text = to_jsonable_python(key)
        except (PydanticSerializationError, ValueError, TypeError):
            text = None
        if isinstance(text, str):
            return text
    raise NotConvertibleError(f"has a key of type {type(key).__name__}", "Use text keys, or a list of pairs.")


def _by_pydantic(value: Any) -> Any:
    """Convert dates, decimals, paths, UUIDs, URLs, secrets and the like as pydantic writes them to JSON."""
    try:
        plain = to_jsonable_python(value, bytes_mode="base64")
    except (PydanticSerializationError, ValueError, TypeError, RecursionError):
        raise NotConvertibleError(
            f"is a {type(value).__qualname__}, which has no JSON form", "Return text, numbers, lists or dicts."
        ) from None
    if type(plain) is type(value):
        raise NotConvertibleError(f"is a {type(value).__qualname__}, which has no JSON form")
    return plain


def _from_pydantic(value: Any) -> Any:
    """Dump a model as it writes itself to JSON; where it holds bytes, these are kept as bytes."""
    dump: Callable[..., Any] = type(value).__pydantic_serializer__.to_python
    try:
        plain = dump(value, mode="python", by_alias=True)
        return plain if _holds_bytes(plain) else dump(value, mode="json", by_alias=True, warnings=False)
    except Exception as error:
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
    if kind == "c" or not hasattr(value, "tolist"):
        raise NotConvertibleError(f"is a numpy {type(value).__name__} without a JSON form")
    if kind in ("M", "m"):  # finer than a microsecond, numpy would give a bare integer
        value = value.astype(f"{value.dtype.str[:2]}8[us]")
    if getattr(value.dtype, "names", None) and value.ndim:
        return [dict(zip(value.dtype.names, row, strict=True)) for row in value.tolist()]
    return value.tolist()


def _from_pandas(value: Any) -> Any:
    """Return records for a table, a list or an object for a series; what is missing is ``None``, as in pandas' own JSON."""
    name = type(value).__name__
    if name == "DataFrame":
        table = value.reset_index() if _has_labels(value.index) else value
        columns = [key_text(column) for column in table.columns]
        if len(set(columns)) != len(columns):
            raise NotConvertibleError("is a DataFrame with two columns of one name")
        lists = [_column(table.iloc[:, position]) for position in range(len(columns))]
        return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)] if columns else []
    if name == "Series":
        if not _has_labels(value.index):
            return _column(value)
        if value.index.nlevels == 1 and value.index.is_unique:
            return dict(zip(value.index, _column(value), strict=True))
        return value.to_frame(value.name if value.name is not None else "value")
    if name in ("NaTType", "NAType"):
        return None
    if name == "Timestamp":
        return value.isoformat()
    if name == "Timedelta":
        return value.to_pytimedelta()
    if hasattr(value, "tolist"):  # an index or an extension array
        return value.tolist()
    if name in ("Period", "Interval"):
        return str(value)
    raise NotConvertibleError(f"is a pandas {name} without a JSON form")


def _has_labels(index: Any) -> bool:
    """Say whether an index holds more than row numbers."""
    return bool(index.nlevels > 1 or index.name is not None or index.dtype.kind not in "iu")


def _column(series: Any) -> list[Any]:
    return [
        None if missing is True else item for item, missing in zip(series.tolist(), series.isna().tolist(), strict=True)
    ]
