"""The one error type of the project: every refusal says what, where and how to mend it, and carries a code.

A code is a short snake_case word that never changes once released; programs and models match on it,
people read the message. This module knows no other room.
"""

from __future__ import annotations

from typing import Any


class CodemodeError(Exception):
    """A refusal or failure with a machine-readable code.

    Parameters
    ----------
    code : str
        Stable snake_case identifier, such as ``"unknown_tool"``.
    message : str
        One sentence for a person: what was wrong and where.
    hint : str or None, default None
        How to mend it; shown after the message.
    data : dict or None, default None
        JSON-like details for programs, such as the list of faults of a validation.
    """

    def __init__(self, code: str, message: str, *, hint: str | None = None, data: dict[str, Any] | None = None) -> None:
        self.code = code
        self.message = message
        self.hint = hint
        self.data = data
        super().__init__(message if hint is None else f"{message} {hint}")

    def _render_traceback_(self) -> list[str]:
        """Show one line in IPython: the reader needs the sentence, not our frames."""
        return [f"{type(self).__name__} [{self.code}]: {self}"]
