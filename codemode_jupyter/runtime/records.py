"""What the runtime tells: outcomes, executions, calls, pending calls, snippets.

Owns: immutable records and their wire form (the field names a model sees). Never does: storage or decisions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from codemode_jupyter.connectors.questions import Question
from codemode_jupyter.program import truncate_response, truncate_result
from codemode_jupyter.runtime.plain import plain, with_console
from codemode_jupyter.sandbox.python.packages.package import PACKAGE_CODES, Package

CallState: TypeAlias = Literal[
    "executing",
    "applied",
    "failed",
    "pending",
    "approved",
    "waiting",
    "answered",
    "rejected",
    "in_doubt",
    "reverting",
    "reverted",
    "cancelled",
]
"""Where a call stands.

``waiting``: its tool has asked a person something and was ended; it runs again with the answer. ``answered``: an answer
is there and it is about to.
``in_doubt``: its outcome was not recorded when its kernel died; it may or may not have happened.
``reverting``: its undoing began; found in a later process, it is not known whether it was undone."""
ExecutionStatus: TypeAlias = Literal[
    "running", "paused", "completed", "error", "rejected", "rolled_back", "partly_rolled_back"
]


NEVER_RAN = frozenset(
    {
        "syntax_error",
        "invalid_code",
        "unknown_language",
        "python_not_available",
        "unknown_execution",
        "not_paused",
        "stale_decision",
        "no_sandbox",
        "no_page",
        *PACKAGE_CODES,
    }
)
"""Codes of errors that came before the program could run."""


@dataclass(frozen=True, slots=True)
class ErrorDetail:
    """Why something failed.

    ``line`` and ``column`` count from 1 in the text the author wrote; ``excerpt`` is that line with the one before.
    ``faults`` are those of a refused answer, each with its ``path`` and ``message``.
    """

    code: str
    message: str
    name: str = "Error"
    line: int | None = None
    column: int | None = None
    excerpt: str | None = None
    hint: str | None = None
    faults: Sequence[Mapping[str, str]] = ()

    def __str__(self) -> str:
        return self.message

    def told(self) -> str:
        """Return all of it as one text: what failed, where, and how to mend it."""
        ran = self.code not in NEVER_RAN
        # A syntax error says its place itself.
        placed = self.line is None or self.code == "syntax_error"
        place = "" if placed else f" (line {self.line}, column {self.column})"
        text = f"{'Code execution failed: ' if ran else ''}{self.message}{place}"
        if self.excerpt and self.excerpt not in text:
            text += f"\n{self.excerpt}"
        return f"{text}\n{self.hint}" if self.hint else text


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a running call is: ``done`` of ``total`` in any unit; ``None`` where the end is not known."""

    done: float
    total: float | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A call that waits for a person. ``digest`` binds a decision to exactly what is shown.

    Attributes
    ----------
    kind : {"approval", "in_doubt", "question", "interrupt"}
        What is asked. ``approval``: may it run? (``approve`` or ``reject``). ``in_doubt``: did it happen? ``question``:
        a tool that runs now asks ``question``, and is gone with its kernel. ``interrupt``: its tool asked ``payload``
        with ``ToolContext.interrupt``, and runs again with the answer, whenever that comes. The last three are answered
        with ``respond(call_id, answer)``.
    call_id : str
        Names what is asked: the call, or one question of it. A call may be listed once for each question.
    question : Question or None
        The form of a ``question`` or an ``interrupt``.
    payload : any
        What the tool of an ``interrupt`` shows.
    """

    execution_id: str
    seq: int
    connector: str
    method: str
    args: Any
    digest: str
    description: str = ""
    kind: Literal["approval", "in_doubt", "question", "interrupt"] = "approval"
    question: Question | None = None
    call_id: str = ""
    payload: Any = None


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One entry of an execution's log.

    Times are seconds since the epoch, ``duration`` is in seconds, values are decoded to Python.
    """

    seq: int
    connector: str
    method: str
    args: Any
    state: CallState
    requires_approval: bool
    ephemeral: bool = False
    has_result: bool = False
    result: Any = None
    error: ErrorDetail | None = None
    started_at: float | None = None
    duration: float | None = None
    decided_at: float | None = None
    digest: str = ""
    can_revert: bool = False
    late: bool = False


@dataclass(frozen=True, slots=True)
class ConsoleRecord:
    """One console line of the newest pass; ``source`` says who wrote it where that was not the program."""

    level: str
    text: str
    source: str = ""

    def __str__(self) -> str:
        return self.text if self.level in ("log", "info", "debug") else f"[{self.level}] {self.text}"


@dataclass(frozen=True, slots=True)
class ExecutionRecord:
    """One execution with its log. ``code`` is what the author wrote; ``passes`` how often the program was run."""

    id: str
    code: str
    language: str
    status: ExecutionStatus
    connectors: tuple[str, ...]
    created_at: float
    updated_at: float
    passes: int
    calls: Sequence[CallRecord] = ()
    result: Any = None
    has_result: bool = False
    error: ErrorDetail | None = None
    logs: tuple[ConsoleRecord, ...] = ()
    running_time: float = 0.0
    progress: dict[int, Progress] = field(default_factory=dict)
    """How far running calls are, by ``seq``: what they have told in this process."""

    waits_for_turn: bool = False
    """It is ``running``, but other programs of this process have all places in the sandbox."""

    preparation: str = ""
    """It is ``running``, but waits for what these words say, such as files of the sandbox that are loaded."""

    packages: tuple[Package, ...] = ()
    """Packages that its program could import, where it is in Python: the same in every pass."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one ``execute`` or ``approve`` came to.

    ``status`` is ``completed`` (``result``), ``paused`` (``pending``) or ``error`` (``error``); ``calls`` and
    ``logs`` are there in every case. Of a detached execution, whose end the hook hears, it is ``waiting``
    (``pending``), ``running`` or ``ended``, with the last console lines and a ``note`` for the model.
    """

    status: Literal["completed", "paused", "error", "waiting", "running", "ended"]
    execution_id: str
    result: Any = None
    pending: tuple[PendingCall, ...] = ()
    error: ErrorDetail | None = None
    logs: tuple[str, ...] = ()
    calls: Sequence[CallRecord] = field(default=(), repr=False)
    note: str = ""

    @property
    def is_detached(self) -> bool:
        """Whether this is no outcome yet: the execution goes on by itself, and the hook hears how it ended."""
        return self.status in ("waiting", "running", "ended")

    def to_wire(self) -> dict[str, Any]:
        """Return the JSON form that a model reads: never the log of calls, never the program.

        Each part is cut to the budget of ``truncate_result``; what is cut says so.
        """
        wire: dict[str, Any] = {"status": self.status, "executionId": self.execution_id}
        if self.status == "completed":
            wire["result"] = truncate_result(plain(self.result))
        elif self.status in ("paused", "waiting", "running"):
            wire["pending" if self.status == "paused" else "waiting"] = [
                {
                    "executionId": call.execution_id,
                    "seq": call.seq,
                    "connector": call.connector,
                    "method": call.method,
                    "args": truncate_result(plain(call.args)),
                    **_asked(call),
                }
                for call in self.pending
            ]
        elif self.status == "error":
            error = self.error or ErrorDetail("internal_error", "The run failed without saying why.")
            wire["error"] = truncate_response(with_console(error.told(), self.logs))
            wire["code"] = error.code
        if self.logs or self.is_detached:
            wire["logs"] = truncate_result(list(self.logs))
        if self.note:
            wire["note"] = self.note
        return wire


def _asked(call: PendingCall) -> dict[str, Any]:
    """Return what a model reads of a question, beside its call."""
    if call.kind != "interrupt":
        return {}
    return {"callId": call.call_id, "kind": call.kind, "payload": truncate_result(plain(call.payload))}


@dataclass(frozen=True, slots=True)
class Snippet:
    """A saved program, addressable by name. ``saved_at`` is seconds since the epoch."""

    name: str
    description: str
    code: str
    language: str
    connectors: tuple[str, ...]
    saved_at: float
