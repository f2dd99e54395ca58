"""Options of a runtime that a person may get wrong: numbers with a meaning.

Owns: their limits and the words of the refusal. Never does: keep them.
"""

from __future__ import annotations

from codemode_jupyter.errors import CodemodeError


def check_seconds(name: str, value: object) -> None:
    """Refuse what is no time limit: a limit is a number of seconds above 0 (``math.inf``: none).

    Raises
    ------
    CodemodeError
        ``invalid_option``
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        hint = "Use a number of seconds above 0; `math.inf` for no limit."
        raise CodemodeError("invalid_option", f"`{name}` is {value!r}.", hint=hint)


def check_count(name: str, value: object) -> None:
    """Refuse what is no count: a whole number, 0 or more.

    Raises
    ------
    CodemodeError
        ``invalid_option``
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise CodemodeError("invalid_option", f"`{name}` is {value!r}.", hint="Use a whole number, 0 or more.")
