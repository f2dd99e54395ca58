"""The rows of the store as Python objects.

Owns: one class per table, values still as tagged texts. Never does: decode values or decide anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from codemode_jupyter.runtime.records import CallState, ExecutionStatus

IN_DOUBT = "in_doubt"
"""``CallRow.code`` of a call that a person has let run again, until it has: it may have happened before."""

INTERRUPTED = "interrupted"
"""``CallRow.code`` of a call that has asked a person something, until it has ended: its tool ran up to the question."""

UNDECIDED: tuple[CallState, ...] = ("pending", "approved", "waiting", "answered")
"""States of calls that end with their execution: they wait for a person, or are to run (again) after a decision."""


@dataclass(slots=True)
class ExecutionRow:
    """One execution.

    ``error``, ``logs``, ``modules``, ``metadata`` and ``packages`` are JSON texts, ``result`` is a tagged text; times
    are seconds, ``clock`` milliseconds. ``detachable``: it is to be detached when it waits; ``detached_at``: since when
    it is. ``packages`` is ``None`` until the execution first needs Python.
    """

    id: str
    code: str
    source: str
    line_offset: int
    language: str
    status: ExecutionStatus
    connectors: tuple[str, ...]
    clock: float
    seed: str
    timeout: float
    created_at: float
    updated_at: float
    passes: int = 0
    result: str | None = None
    result_note: str | None = None
    error: str | None = None
    logs: str | None = None
    running_time: float = 0.0
    owner: str | None = None
    heartbeat: float | None = None
    modules: str = "{}"
    detachable: bool = False
    detached_at: float | None = None
    metadata: str | None = None
    packages: str | None = None


@dataclass(slots=True)
class CallRow:
    """One call of a log.

    ``arguments`` is what the program sent, compared on replay; ``bound`` is the arguments object made of it
    (``None``: the same text). ``outcome`` is the value of an applied call, the error of a failed one; ``code`` the
    machine-readable code of that error, or ``IN_DOUBT``. Rows that were read have 0 and 1 as flags, as SQLite has them.
    """

    seq: int
    connector: str
    method: str
    arguments: str
    state: CallState
    requires_approval: bool = False
    ephemeral: bool = False
    can_revert: bool = False
    digest: str = ""
    bound: str | None = None
    outcome: str | None = None
    code: str | None = None
    token: str | None = None
    late: bool = False
    started_at: float | None = None
    ended_at: float | None = None
    decided_at: float | None = None

    @property
    def name(self) -> str:
        """Return ``connector.method``."""
        return f"{self.connector}.{self.method}"

    @property
    def shown_arguments(self) -> str:
        """Return the arguments object that a person is shown and the tool is run with, as tagged text."""
        return self.arguments if self.bound is None else self.bound


@dataclass(slots=True)
class JournalRow:
    """One entry of a call's journal: a step that the tool made, or a question that it asked.

    ``subject`` is the step's name, or the question's payload as tagged text; ``schema`` the JSON Schema of its answer.
    ``outcome`` is a tagged text: a step's value, the fields of its error, or the answer.
    """

    call: int
    number: int
    kind: Literal["step", "question"]
    subject: str
    digest: str
    state: Literal["done", "failed", "waiting", "answered"]
    schema: str | None = None
    outcome: str | None = None
    asked_at: float = 0.0
    ended_at: float | None = None


@dataclass(frozen=True, slots=True)
class SnippetRow:
    """One saved program."""

    name: str
    description: str
    code: str
    language: str
    connectors: tuple[str, ...]
    saved_at: float


@dataclass(frozen=True, slots=True)
class ExitRow:
    """The end of a detached execution, to be delivered.

    ``failures`` is how often the hook raised; ``owner`` who is being told at present.
    """

    id: str
    execution: str
    status: ExecutionStatus
    result: str | None
    result_note: str | None
    error: str | None
    metadata: str | None
    logs: str | None
    created_at: float
    detached_at: float
    ended_at: float
    failures: int
    owner: str | None
