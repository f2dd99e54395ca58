"""The approval flags of other libraries.

Owns: reading ``requires_approval``, ``needsApproval`` and their spellings, truth values or functions.
Never does: approve.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from codemode_jupyter.connectors.approval import Requires
from codemode_jupyter.connectors.tool import Arguments
from codemode_jupyter.errors import CodemodeError

SPELLINGS = ("requires_approval", "requiresApproval", "needs_approval", "needsApproval")


def approval_flag(name: str, declaration: Mapping[str, Any]) -> Requires:
    """Return whether a declaration asks for approval: ``True`` where any of its flags does.

    A function is asked with the arguments object. One that must be awaited asks a person at every call, since what a
    call needs is decided before anything runs.

    Raises
    ------
    CodemodeError
        ``invalid_tool``: a flag is neither a truth value nor a function; it would protect nothing.
    """
    flags = [(one, declaration[one]) for one in SPELLINGS if declaration.get(one) is not None]
    for spelling, flag in flags:
        if not isinstance(flag, bool) and not callable(flag):
            raise CodemodeError(
                "invalid_tool",
                f"{name} says {spelling}={flag!r:.100}, which is neither true nor false nor a function.",
                hint="Use True, False, or a function of the arguments object.",
            )
    if any(flag is True for _, flag in flags):
        return True
    rules = [flag for _, flag in flags if callable(flag)]
    return _any_of(rules) if rules else False


def _any_of(rules: list[Callable[[Arguments], object]]) -> Callable[[Arguments], bool]:
    def requires(arguments: Arguments) -> bool:
        return any(_answer(rule(arguments)) for rule in rules)

    return requires


def _answer(answer: object) -> bool:
    if inspect.iscoroutine(answer):
        answer.close()
    return bool(answer)  # what must be awaited is true
