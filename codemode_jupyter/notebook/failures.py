"""How a cell fails when its program did.

Owns: the exception that makes a cell fail. Never does: showing the run; the card has done that.
"""

from __future__ import annotations

from codemode_jupyter.runtime.records import Outcome


class ProgramFailedError(Exception):
    """The program of a cell ended with an error, so the cell does: "Run All" stops, as at an error of Python.

    Shown as one line, since the card above it tells the rest. ``outcome`` is what the runtime returned.
    """

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        super().__init__(_sentence(outcome))

    def _render_traceback_(self) -> list[str]:
        code = self.outcome.error.code if self.outcome.error else "error"
        return [f"Failed [{code}]: {self}"]


def returned_or_raised(outcome: Outcome) -> Outcome:
    """Return an outcome that a cell may return.

    Raises
    ------
    ProgramFailedError
        The program failed.
    """
    if outcome.status == "error":
        raise ProgramFailedError(outcome)
    return outcome


def _sentence(outcome: Outcome) -> str:
    error = outcome.error
    if error is None:
        return "no reason was given"
    first_line = next((line for line in error.message.splitlines() if line.strip()), error.name)
    place = f" (line {error.line}, column {error.column})" if error.line else ""
    hint = f" {error.hint}" if error.hint else ""
    return f"{first_line}{place}{hint}"
