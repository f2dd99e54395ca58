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
