"""Rows of the store as the records a user sees.

Owns: decoding, entry by entry, so that one unreadable value spoils nothing else. Never does: change anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, overload

from codemode_jupyter.connectors.question_form import form_of
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime import failures, values
from codemode_jupyter.runtime.call_ids import CallId, live_mark
from codemode_jupyter.runtime.capabilities import Capabilities
from codemode_jupyter.runtime.live_call import LiveCall
from codemode_jupyter.runtime.recorded_packages import packages_of
from codemode_jupyter.runtime.records import (
    CallRecord,
    CallState,
    ConsoleRecord,
    ErrorDetail,
    ExecutionRecord,
    Outcome,
    PendingCall,
)
from codemode_jupyter.runtime.store.rows import CallRow, ExecutionRow, JournalRow

MAX_LOG_BYTES = 1_000_000
"""Most console text kept with an execution, in UTF-8 bytes."""

ASKING: tuple[CallState, ...] = ("pending", "in_doubt", "waiting", "answered", "executing")
"""States of calls that a person may be asked about."""


def execution_record(
    row: ExecutionRow,
    calls: Sequence[CallRow],
    logs: Sequence[ConsoleRecord] | None = None,
    live: Mapping[int, LiveCall] | None = None,
) -> ExecutionRecord:
    """Return an execution; while a pass is going ``logs`` replaces the stored lines and ``live`` has what runs."""
    result = readable_value(row.result)
    return ExecutionRecord(
        id=row.id,
        code=row.code,
        language=row.language,
        status=row.status,
        connectors=row.connectors,
        created_at=row.created_at,
        updated_at=row.updated_at,
        passes=row.passes,
        calls=CallRecords(calls),
        result=row.result_note if row.result_note is not None else result,
        has_result=row.result is not None or row.result_note is not None,
        error=failures.from_json(row.error),
        logs=tuple(logs) if logs is not None else stored_logs(row),
        running_time=row.running_time,
        progress={seq: call.told for seq, call in (live or {}).items() if call.told is not None},
        packages=packages_of(row),
    )


def outcome_of(
    row: ExecutionRow,
    calls: Sequence[CallRow],
    capabilities: Capabilities,
    result: str | None = None,
    questions: Sequence[JournalRow] = (),
) -> Outcome:
    """Return what an execution came to; ``result`` replaces a result that was too large to be stored.

    ``questions`` are the open ones of its calls.
    """
    record = execution_record(row, calls)
    logs = tuple(str(line) for line in record.logs if not line.source)  # a model reads what its program printed
    if row.status == "completed":
        value = readable_value(result or row.result)
        return Outcome("completed", row.id, result=value, logs=logs, calls=record.calls)
    if row.status == "paused":
        pending = pending_of(row, calls, capabilities, questions)
        return Outcome("paused", row.id, pending=pending, logs=logs, calls=record.calls)
    error = record.error or failures.detail_of(
        CodemodeError(row.status, f"Execution {row.id} is {row.status.replace('_', ' ')}.")
    )
    return Outcome("error", row.id, error=error, logs=logs, calls=record.calls)


def pending_of(
    row: ExecutionRow, calls: Iterable[CallRow], capabilities: Capabilities, questions: Sequence[JournalRow] = ()
) -> tuple[PendingCall, ...]:
    """Return the calls of an execution that wait for a person, a call once for each of its open ``questions``.

    Questions are answered also while the execution runs; all else is decided once it is paused.
    """
    found: list[PendingCall] = []
    for call in calls:
        if call.state in ("pending", "in_doubt") and row.status == "paused":
            found.append(pending_call(row.id, call, capabilities))
        elif call.state in ("waiting", "answered", "executing"):
            asked = (one for one in questions if one.call == call.seq)
            found += [pending_question(row.id, call, one, capabilities) for one in asked]
    return tuple(found)


class CallRecords(Sequence[CallRecord]):
    """The entries of a log, each decoded when it is first looked at: most callers look at none of thousands.

    Compares and prints as the tuple of them.
    """

    def __init__(self, rows: Iterable[CallRow]) -> None:
        self._entries: list[CallRow | CallRecord] = list(rows)

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, index: int) -> CallRecord: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[CallRecord, ...]: ...

    def __getitem__(self, index: int | slice) -> CallRecord | tuple[CallRecord, ...]:
        if isinstance(index, slice):
            return tuple(self[position] for position in range(*index.indices(len(self))))
        entry = self._entries[index]
        if isinstance(entry, CallRow):
            entry = self._entries[index] = call_record(entry)
        return entry

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CallRecords | tuple):
            return NotImplemented
        return len(self) == len(other) and all(mine == its for mine, its in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


def call_record(row: CallRow) -> CallRecord:
    """Return one entry of a log."""
    applied = row.state in ("applied", "reverting", "reverted")
    has_result = applied and row.outcome is not None
    error: ErrorDetail | None
    try:
        error = failures.call_detail(row)
    except CodemodeError as unreadable:
        error = failures.detail_of(unreadable)
    return CallRecord(
        seq=row.seq,
        connector=row.connector,
        method=row.method,
        args=readable_value(row.shown_arguments),
        state=row.state,
        requires_approval=bool(row.requires_approval),
        ephemeral=bool(row.ephemeral),
        has_result=has_result,
        result=readable_value(row.outcome) if has_result else None,
        error=error,
        started_at=row.started_at,
        duration=None if row.started_at is None or row.ended_at is None else max(0.0, row.ended_at - row.started_at),
        decided_at=row.decided_at,
        digest=row.digest,
        can_revert=bool(row.can_revert) and row.state == "applied",
        late=bool(row.late),
    )


def pending_call(execution_id: str, row: CallRow, capabilities: Capabilities) -> PendingCall:
    """Return a call that waits for a person, with the tool's own description where the tool is there."""
    tool = capabilities.tools_of(row.connector).get(row.method)
    return PendingCall(
        execution_id=execution_id,
        seq=row.seq,
        connector=row.connector,
        method=row.method,
        args=readable_value(row.shown_arguments),
        digest=row.digest,
        description=tool.description if tool else "",
        kind="in_doubt" if row.state == "in_doubt" else "approval",
        call_id=str(CallId(execution_id, row.seq)),
    )


def pending_question(execution_id: str, row: CallRow, asked: JournalRow, capabilities: Capabilities) -> PendingCall:
    """Return a call whose tool has asked something, with the question and its form."""
    payload = readable_value(asked.subject)
    schema = None if asked.schema is None else json.loads(asked.schema)
    return replace(
        pending_call(execution_id, row, capabilities),
        kind="interrupt",
        call_id=str(CallId(execution_id, row.seq, asked.number)),
        digest=asked.digest,
        payload=payload,
        question=form_of(payload if isinstance(payload, str) else "", schema, row.name),
    )


def open_questions(
    execution_id: str, calls: Iterable[CallRow], live: Mapping[int, LiveCall], capabilities: Capabilities
) -> list[PendingCall]:
    """Return the questions that running calls ask, oldest call first."""
    return [
        replace(
            pending_call(execution_id, call, capabilities),
            kind="question",
            call_id=str(CallId(execution_id, call.seq, live=live_mark(asked.digest))),
            digest=asked.digest,
            question=asked.question,
        )
        for call in calls
        if call.seq in live
        for asked in live[call.seq].questions
    ]


def readable_value(text: str | None) -> Any:
    """Return a stored value, or a note in its place when it cannot be read."""
    if text is None:
        return None
    try:
        return values.decode(text)
    except CodemodeError as unreadable:
        return f"[codemode: {unreadable.message}]"


def logs_text(lines: Iterable[ConsoleRecord]) -> str:
    """Return the stored form of console lines; when they are too many, the older half is dropped until they fit."""
    kept = [[line.level, line.text, *([line.source] if line.source else [])] for line in lines]
    dropped = 0
    while values.byte_size(text := json.dumps(kept)) > MAX_LOG_BYTES:
        half = max(1, len(kept) // 2)
        dropped += half
        kept = kept[half:]
    if dropped:
        text = json.dumps([["warn", f"[codemode: {dropped} earlier console lines were dropped]"], *kept])
    return text


def stored_logs(row: ExecutionRow) -> tuple[ConsoleRecord, ...]:
    """Return the console lines of the newest pass."""
    return logs_of(row.logs)


def logs_of(text: str | None) -> tuple[ConsoleRecord, ...]:
    """Return console lines from their stored form."""
    try:
        return tuple(ConsoleRecord(*line) for line in json.loads(text or "[]"))
    except (ValueError, TypeError):
        return (ConsoleRecord("warn", "[codemode: the stored console lines cannot be read]"),)
