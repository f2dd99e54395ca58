"""One schema, ready to check values; and its faults in words.

Owns: running the validator, and the wording of each fault. Never does: read other drafts (``dialect.py``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

from referencing import Registry

from codemode_jupyter.connectors.faults import path_of
from codemode_jupyter.connectors.names import did_you_mean
from codemode_jupyter.connectors.schemas.keywords import Allowance, TooMuchWork, validator_class

_Fault = dict[str, str]
_LONGEST = 200


class SchemaChecker:
    """Checks values against one schema of 2020-12.

    Parameters
    ----------
    schema : dict or bool
        The schema.
    most : int
        Most faults to return.
    """

    def __init__(self, schema: dict[str, Any] | bool, most: int) -> None:  # noqa: FBT001  what a schema may be
        self._allowance = Allowance()
        # An empty registry: without one, jsonschema would fetch foreign references from wherever they point.
        self._validator = validator_class(lambda: self._allowance)(schema, registry=Registry())
        self._most = most

    def faults(self, value: object) -> list[_Fault]:
        """Return what does not fit, each with a ``path`` and a ``message``."""
        self._allowance = Allowance()
        try:
            errors = islice(self._validator.iter_errors(value), self._most)
            faults = {(one["path"], one["message"]): one for error in errors for one in _faults(error)}
            return list(faults.values())[: self._most]
        except RecursionError:
            return [{"path": "", "message": "nested too deeply"}]
        except TooMuchWork:
            return [{"path": "", "message": "too large to be checked against the schema"}]


def _faults(error: Any) -> Iterator[_Fault]:
    path = list(error.absolute_path)
    if error.validator == "required":
        for name in _missing(error):
            yield {"path": path_of([*path, name]), "message": "is missing"}
    elif error.validator in ("anyOf", "oneOf") and error.context:
        yield from _of_branches(error)
    else:
        yield {"path": path_of(path), "message": _message(error)}


def _missing(error: Any) -> list[str]:
    return [name for name in error.validator_value if isinstance(name, str) and name not in error.instance]


def _of_branches(error: Any) -> Iterator[_Fault]:
    """Yield the faults of the branch that was most likely meant: of those that have the right type the nearest."""
    branches: dict[int, list[Any]] = {}
    for fault in error.context:
        branches.setdefault(fault.relative_schema_path[0], []).append(fault)
    here = len(error.absolute_path)
    meant = [
        faults
        for faults in branches.values()
        if not any(
            fault.validator in ("type", "const", "enum") and len(fault.absolute_path) <= here for fault in faults
        )
    ]
    if meant:
        for fault in min(meant, key=len):
            yield from _faults(fault)
        return
    wanted = [_wanted(faults[0]) for faults in branches.values()]
    message = f"must be {' or '.join(dict.fromkeys(wanted))}, not {_kind(error.instance)}"
    yield {"path": path_of(list(error.absolute_path)), "message": _cut(message)}


def _wanted(fault: Any) -> str:
    said = fault.validator_value
    if fault.validator == "type":
        return " or ".join(map(str, said if isinstance(said, list) else [said]))
    return _shown(said) if fault.validator in ("const", "enum") else "what another alternative asks for"


def _message(error: Any) -> str:
    said = error.validator_value
    keyword = str(error.validator)
    if keyword == "additionalProperties" and len(error.absolute_path) == 1:
        near = did_you_mean(str(error.absolute_path[0]), [str(key) for key in error.schema.get("properties", {})])
        return f"unknown argument. {near}".strip().rstrip(".")
    if keyword == "additionalProperties" and said is False:
        return "unknown key"
    if keyword == "type":
        return _cut(f"must be {_wanted(error)}, not {_kind(error.instance)}")
    if keyword == "items" and said is False:
        return "has too many items"
    if keyword in _WORDING:
        return _cut(f"{_WORDING[keyword]} {_shown(said)}".strip())
    return "is not allowed here" if said is False or keyword == "None" else _cut(f"does not fit {keyword}")


_WORDING = {
    "const": "must be",
    "contains": "must contain an item that fits",
    "dependentRequired": "lacks properties that come with others",
    "enum": "must be one of",
    "exclusiveMaximum": "must be less than",
    "exclusiveMinimum": "must be greater than",
    "maxItems": "must not have more items than",
    "maxLength": "must not be longer than",
    "maxProperties": "must not have more keys than",
    "maximum": "must not be greater than",
    "minItems": "must have at least as many items as",
    "minLength": "must be at least as long as",
    "minProperties": "must have at least as many keys as",
    "minimum": "must not be less than",
    "multipleOf": "must be a multiple of",
    "not": "is not allowed here",
    "oneOf": "must fit one alternative only",
    "pattern": "must match",
    "uniqueItems": "must not have equal items",
}


def _kind(value: object) -> str:
    kinds: dict[type, str] = {bool: "boolean", str: "string", dict: "object", list: "array", bytes: "bytes"}
    if value is None:
        return "null"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return next((name for kind, name in kinds.items() if isinstance(value, kind)), type(value).__name__)
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity"
    return "integer" if isinstance(value, int) else "number"


def _shown(said: object) -> str:
    if said is True:
        return ""
    if isinstance(said, dict) or (isinstance(said, list) and any(isinstance(one, dict) for one in said)):
        return ""
    return ", ".join(map(repr, said)) if isinstance(said, list) else repr(said)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
