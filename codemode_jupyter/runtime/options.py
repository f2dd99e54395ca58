"""Options of a runtime that a person may get wrong: numbers with a meaning, and texts.

Owns: their limits and the words of the refusal. Never does: keep them.
"""

from __future__ import annotations

import sys
from os import PathLike
from typing import TypeGuard

from codemode_jupyter.errors import CodemodeError


def _is_number(value: object) -> TypeGuard[int | float]:
    """Tell whether a value counts seconds; integers beyond every float count nothing that a clock or a store knows."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, float) or -sys.float_info.max <= value <= sys.float_info.max


def _shown(value: object) -> str:
    """Return the beginning of how a value is written; an integer of thousands of digits cannot be."""
    try:
        return repr(value)[:100]
    except ValueError:
        return f"a {type(value).__name__} that is too long to show"


def check_seconds(name: str, value: object) -> None:
    """Refuse what is no time limit: a limit is a number of seconds above 0 (``math.inf``: none).

    Raises
    ------
    CodemodeError
        ``invalid_option``
    """
    if not _is_number(value) or not value > 0:
        hint = "Use a number of seconds above 0; `math.inf` for no limit."
        raise CodemodeError("invalid_option", f"`{name}` is {_shown(value)}.", hint=hint)


def check_count(name: str, value: object) -> None:
    """Refuse what is no count: a whole number, 0 or more.

    Raises
    ------
    CodemodeError
        ``invalid_option``
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise CodemodeError("invalid_option", f"`{name}` is {_shown(value)}.", hint="Use a whole number, 0 or more.")


def check_age(name: str, value: object) -> None:
    """Refuse what is no age: a number of seconds, 0 or more.

    Raises
    ------
    CodemodeError
        ``invalid_option``
    """
    if not _is_number(value) or not value >= 0:
        raise CodemodeError(
            "invalid_option", f"`{name}` is {_shown(value)}.", hint="Use a number of seconds, 0 or more."
        )


def check_function(name: str, value: object) -> None:
    """Refuse what can neither be called nor left out (``None``).

    Raises
    ------
    CodemodeError
        ``invalid_option``
    """
    if value is not None and not callable(value):
        raise CodemodeError("invalid_option", f"`{name}` is {_shown(value)}.", hint="Use a function, or None.")


def check_path(name: str, value: object) -> None:
    """Refuse what is no path of a file.

    Raises
    ------
    CodemodeError
        ``invalid_option``
    """
    if value is not None and not isinstance(value, str | PathLike):
        raise CodemodeError("invalid_option", f"`{name}` is {_shown(value)}.", hint="Use a path, or None.")


def check_text(name: str, value: object) -> None:
    """Refuse what is no text that can be stored: half of a surrogate pair has no UTF-8.

    Raises
    ------
    CodemodeError
        ``invalid_option``
    """
    if not isinstance(value, str):
        raise CodemodeError("invalid_option", f"`{name}` is {_shown(value)}.", hint="Use a text.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise CodemodeError(
            "invalid_option",
            f"`{name}` has half of a surrogate pair at character {error.start + 1}.",
            hint="Use whole characters.",
        ) from None


def may_interrupt(on_interrupt: object) -> bool:
    """Return whether tools may ask a person.

    Raises
    ------
    CodemodeError
        ``invalid_option``
    """
    if on_interrupt not in ("replay", "fail"):
        raise CodemodeError(
            "invalid_option", f"`on_interrupt` is {on_interrupt!r:.100}.", hint='Use "replay" or "fail".'
        )
    return on_interrupt == "replay"
