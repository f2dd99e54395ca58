"""Results cut to what a model can read: the largest parts go first, the shape stays, and what is gone is counted.

Owns: the two public utilities. Lengths are characters of the text, or of a value's compact JSON text; a token
counts as four characters. Never changes a value that fits.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

MARKER = "--- TRUNCATED ---"
"""Stands wherever something was cut."""

DEFAULT_MAX_TOKENS = 6_000
CHARACTERS_PER_TOKEN = 4

_SMALLEST_PART = 64
_ROOM_FOR_NAMES = 60
_GONE = object()


def truncate_response(text: str, *, max_tokens: int | None = None, max_chars: int | None = None) -> str:
    """Cut a text to a budget and say so below it.

    Parameters
    ----------
    text : str
        The text; returned as it is when it fits.
    max_tokens : int or None, default None
        The budget in tokens; 6,000 when neither budget is given.
    max_chars : int or None, default None
        The budget in characters; wins over ``max_tokens``. The note below the text comes on top.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        For a negative budget.
    """
    budget = _budget(max_tokens, max_chars)
    if len(text) <= budget:
        return text
    note = f"Tokens: about {_tokens(len(text)):,}, limit {_tokens(budget):,}. Ask for less."
    return f"{text[:budget]}\n\n{MARKER}\n{note}"


def truncate_result(value: Any, *, max_tokens: int | None = None, max_chars: int | None = None) -> Any:
    """Cut a value, such as a program's result, to a budget and keep its shape.

    Texts are cut, lists and objects lose what comes last; the largest parts are cut first. Each cut says how
    much there was. A text, and a value that cannot keep any shape within the budget, become a text as by
    ``truncate_response``.

    Parameters
    ----------
    value : object
        A value of JSON's types. Returned as it is when it fits, and when JSON cannot hold it.
    max_tokens, max_chars : int or None, default None
        As in ``truncate_response``, for the value's compact JSON text.

    Returns
    -------
    object
        The very same object when nothing was cut, else a new one.

    Raises
    ------
    ValueError
        For a negative budget.
    """
    budget = _budget(max_tokens, max_chars)
    try:
        text = _json(value)
    except (TypeError, ValueError, RecursionError):
        return value
    if isinstance(value, str):
        return truncate_response(value, max_chars=budget)
    if len(text) <= budget:
        return value
    try:
        cut = _fit(_measured(json.loads(text)), budget)
    except RecursionError:
        cut = _GONE
    return truncate_response(text, max_chars=budget) if cut is _GONE else cut


@dataclass(slots=True)
class _Part:
    """A value, the length of its JSON text, and its own parts with the length of what precedes each."""

    value: Any
    size: int
    keys: list[str] = field(default_factory=list)
    parts: list[_Part] = field(default_factory=list)
    lead: list[int] = field(default_factory=list)


def _measured(value: Any) -> _Part:
    if isinstance(value, dict):
        keys = list(value)
        parts = [_measured(item) for item in value.values()]
        lead = [len(_json(key)) + 2 for key in keys]
        return _Part(value, _size(parts, lead), keys, parts, lead)
    if isinstance(value, list):
        parts = [_measured(item) for item in value]
        lead = [1] * len(parts)
        return _Part(value, _size(parts, lead), [], parts, lead)
    return _Part(value, len(_json(value)))


def _size(parts: Sequence[_Part], lead: Sequence[int]) -> int:
    """Length of a list or object: its brackets, and its parts with what precedes them (one comma less than parts)."""
    return 2 + sum(part.size for part in parts) + sum(lead) - (1 if parts else 0)


def _fit(part: _Part, budget: int) -> Any:
    """Cut the value to the budget, or return ``_GONE`` if nothing sensible fits."""
    if part.size <= budget:
        return part.value
    if isinstance(part.value, str):
        return _cut_text(part.value, budget)
    if not part.parts:
        return _GONE
    level = _level(part, budget)
    if level >= _SMALLEST_PART:
        cut = [_fit(inner, level) for inner in part.parts]
        if not any(item is _GONE for item in cut):
            return dict(zip(part.keys, cut, strict=True)) if isinstance(part.value, dict) else cut
    return _cut_object(part, budget) if isinstance(part.value, dict) else _cut_list(part, budget)


def _level(part: _Part, budget: int) -> int:
    """Find the length that no part may exceed so that all fit; smaller ones leave their share to the others."""
    left = budget - (_size(part.parts, part.lead) - sum(inner.size for inner in part.parts))
    sizes = sorted(inner.size for inner in part.parts)
    for index, size in enumerate(sizes):
        share = left // (len(sizes) - index)
        if size > share:
            return share
        left -= size
    return left


def _cut_text(text: str, budget: int) -> Any:
    mark = f" {MARKER} {len(text):,} chars"
    room = budget - 2 - len(mark)
    if room < 0:
        return _GONE
    # Characters that JSON escapes count as long as their escapes.
    fitting = bisect_right(range(1, min(len(text), room) + 1), room, key=lambda length: len(_json(text[:length])) - 2)
    return text[:fitting] + mark


def _cut_list(part: _Part, budget: int) -> Any:
    kept, count = _first_parts(part, budget - len(_json(_items_mark(len(part.parts)))) - 1)
    cut = [*kept, _items_mark(len(part.parts) - count)]
    return cut if len(_json(cut)) <= budget else _GONE


def _cut_object(part: _Part, budget: int) -> Any:
    mark = MARKER
    while mark in part.keys:
        mark += "-"
    reserved = len(_json({mark: _keys_mark(part.keys, 0)})) - 1 + min(_ROOM_FOR_NAMES, budget // 8)
    kept, count = _first_parts(part, budget - reserved)
    cut = dict(zip(part.keys, kept, strict=False))
    omitted = part.keys[count:]

    def length_with(names: int) -> int:
        return len(_json({**cut, mark: _keys_mark(omitted, names)}))

    fitting = bisect_right(range(min(len(omitted), budget) + 1), budget, key=length_with)
    return {**cut, mark: _keys_mark(omitted, fitting - 1)} if fitting else _GONE


def _first_parts(part: _Part, budget: int) -> tuple[list[Any], int]:
    """As many of the first parts as fit, none larger than half of the budget, and how many they are."""
    kept: list[Any] = []
    left = budget - 2
    for inner, lead in zip(part.parts, part.lead, strict=True):
        item = _fit(inner, min(left - lead, max(budget // 2, _SMALLEST_PART)))
        if item is _GONE:
            break
        kept.append(item)
        left -= lead + len(_json(item))
    return kept, len(kept)


def _items_mark(count: int) -> str:
    return f"{MARKER} {count:,} more {'item' if count == 1 else 'items'}"


def _keys_mark(keys: Sequence[str], names: int) -> str:
    count = f"{len(keys):,} {'key' if len(keys) == 1 else 'keys'} omitted"
    if not names:
        return count
    more = ", …" if names < len(keys) else ""
    return f"{count}: {', '.join(keys[:names])}{more}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _budget(max_tokens: int | None, max_chars: int | None) -> int:
    budget = max_chars
    if budget is None:
        budget = (DEFAULT_MAX_TOKENS if max_tokens is None else max_tokens) * CHARACTERS_PER_TOKEN
    if budget < 0:
        raise ValueError(f"A budget cannot be negative, got {budget}.")
    return budget


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)
