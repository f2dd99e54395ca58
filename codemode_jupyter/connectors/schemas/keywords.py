"""The keywords of JSON Schema as the ``jsonschema`` package evaluates them, made safe for schemas of strangers.

Owns: linear patterns and comparisons, bytes as text, references that are never fetched, and an end to the work.
Never does: wording of faults.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import regex
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]

SECONDS = 3.0
"""Time that the validation of one value may take; what takes longer does not fit."""

_PATTERN_SECONDS = 0.5
_LONGEST_PATTERN = 10_000
_BINARY_FORMATS = ("binary", "byte")
_BINARY_KEYWORDS = ("contentEncoding", "contentMediaType")
_END = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\$", re.DOTALL)


class TooMuchWork(Exception):  # noqa: N818  a signal, caught in this room
    """A value and its schema would take too long."""


class Allowance:
    """The work that one validation may still do, and the references it is following."""

    def __init__(self) -> None:
        self._deadline = time.monotonic() + SECONDS
        self.following: set[tuple[int, int]] = set()

    def check(self) -> float:
        """Return how many seconds are left.

        Raises
        ------
        TooMuchWork
            None.
        """
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TooMuchWork
        return left

    def matches(self, pattern: object, text: str) -> bool:
        """Say whether a pattern is found in a text; one that cannot be read is found everywhere.

        The engine gives up after half a second: a pattern may need time that grows with every power of the text.

        Raises
        ------
        TooMuchWork
            It gave up.
        """
        matcher = _matcher(pattern) if isinstance(pattern, str) else None
        if matcher is None:
            return True
        try:
            return matcher.search(text, timeout=min(_PATTERN_SECONDS, self.check())) is not None
        except TimeoutError:
            raise TooMuchWork from None


def validator_class(renew: Callable[[], Allowance]) -> type[Draft202012Validator]:
    """Return a validator of 2020-12 whose work is counted against the allowance that ``renew`` returns."""
    own: dict[str, Keyword] = {
        "$ref": _reference(renew),
        "additionalProperties": _additional_properties(renew),
        "pattern": _pattern(renew),
        "patternProperties": _pattern_properties(renew),
        "type": _type,
        "uniqueItems": _unique_items,
    }
    given: Mapping[str, Keyword] = Draft202012Validator.VALIDATORS
    # `unevaluatedProperties` matches patterns without a limit in time; `format` only annotates (Validation 7.2.1).
    kept = {
        name: keyword for name, keyword in {**given, **own}.items() if name not in ("unevaluatedProperties", "format")
    }
    safe = {name: _guarded(keyword, renew) for name, keyword in kept.items()}
    left_out = {name: _nothing for name in given if name not in kept}
    made: type[Draft202012Validator] = extend(  # type: ignore[no-untyped-call]
        Draft202012Validator, {**safe, **left_out}
    )
    return made


def _guarded(keyword: Keyword, allowance: Callable[[], Allowance]) -> Keyword:
    """Return a keyword that asks for nothing where it cannot be evaluated, such as a reference to nowhere."""

    def guarded(validator: Any, said: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
        allowance().check()
        try:
            yield from keyword(validator, said, value, schema) or ()
        except (TooMuchWork, RecursionError):
            raise
        except OverflowError:
            yield ValidationError("is too large to be checked")
        except Exception:  # noqa: BLE001  what a stranger's schema breaks is not known beforehand
            return

    return guarded


def _nothing(validator: Any, said: Any, value: Any, schema: Any) -> Iterator[ValidationError]:  # noqa: ARG001  a keyword's signature
    yield from ()


def _reference(allowance: Callable[[], Allowance]) -> Keyword:
    follow: Keyword = Draft202012Validator.VALIDATORS["$ref"]

    def reference(validator: Any, said: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
        following, step = allowance().following, (id(schema), id(value))
        if step in following:
            return  # a circle of references alone asks for nothing
        following.add(step)
        try:
            yield from follow(validator, said, value, schema) or ()
        finally:
            following.discard(step)

    return reference


def _type(validator: Any, said: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    kinds = [said] if isinstance(said, str) else said
    if not isinstance(kinds, list) or not kinds:
        return  # it names no type
    if isinstance(value, bytes | bytearray | memoryview):
        binary = schema.get("format") in _BINARY_FORMATS or any(key in schema for key in _BINARY_KEYWORDS)
        fits = binary and "string" in kinds
    elif isinstance(value, float) and not math.isfinite(value):
        fits = False  # no number of JSON (RFC 8259, 6), and every bound lets NaN pass
    else:
        fits = any(validator.is_type(value, kind) for kind in kinds)
    if not fits:
        yield ValidationError("has another type")


def _pattern(allowance: Callable[[], Allowance]) -> Keyword:
    def pattern(validator: Any, said: Any, value: Any, schema: Any) -> Iterator[ValidationError]:  # noqa: ARG001
        if isinstance(value, str) and not allowance().matches(said, value):
            yield ValidationError("does not match")

    return pattern


def _pattern_properties(allowance: Callable[[], Allowance]) -> Keyword:
    def pattern_properties(validator: Any, said: Any, value: Any, schema: Any) -> Iterator[ValidationError]:  # noqa: ARG001
        if isinstance(value, dict):
            for pattern, subschema in said.items():
                if _matcher(pattern) is None:
                    continue  # which properties it means is not known
                for key, item in value.items():
                    if isinstance(key, str) and allowance().matches(pattern, key):
                        yield from validator.descend(item, subschema, path=key, schema_path=pattern)

    return pattern_properties


def _additional_properties(allowance: Callable[[], Allowance]) -> Keyword:
    def additional_properties(validator: Any, said: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
        if not isinstance(value, dict):
            return
        known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        extra = [key for key in value if key not in known]
        extra = [key for key in extra if not any(allowance().matches(one, str(key)) for one in patterns)]
        if said is False:
            for key in extra:
                fault = ValidationError("is not known", path=(key,))
                yield fault
        else:
            for key in extra:
                yield from validator.descend(value[key], said, path=key)

    return additional_properties


def _unique_items(validator: Any, said: Any, value: Any, schema: Any) -> Iterator[ValidationError]:  # noqa: ARG001
    # The package compares each item with each, which takes minutes for a long list of objects.
    if said and isinstance(value, list) and len({_text(item) for item in value}) < len(value):
        yield ValidationError("has equal items")


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=repr)


@lru_cache(maxsize=512)
def _matcher(pattern: str) -> regex.Pattern[str] | None:
    """Return a pattern of ECMA-262, where ``$`` is the very end (22.2.2.4), ``None`` for what is no pattern."""
    if len(pattern) > _LONGEST_PATTERN:
        return None
    try:
        return regex.compile(_END.sub(lambda found: r"\Z" if found[0] == "$" else found[0], pattern))
    except (regex.error, RecursionError, OverflowError):
        return None
