"""The log of one execution while it is being driven: in memory for speed, in the store first.

Owns: the one place where calls of a running execution are recorded; a row in memory changes only after its commit.
Never does: decide or run.

Commits: all calls of one batch share one (durable where a tool runs after it), all outcomes of one tick share another.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.records import CallState
from codemode_jupyter.runtime.store.rows import INTERRUPTED, CallRow, JournalRow
from codemode_jupyter.runtime.tool_run import CallOutcome
from codemode_jupyter.sandbox.protocol import Event, RecordedCall

if TYPE_CHECKING:
    from codemode_jupyter.runtime.store import Store


class ExecutionLog:
    """The calls and events of one execution."""

    def __init__(self, store: Store, execution_id: str, owner: str) -> None:
        self._store = store
        self._owner = owner
        self.execution_id = execution_id
        self.calls = store.calls.of(execution_id)
        self.events = store.calls.events(execution_id)

    def find(self, seq: int) -> CallRow | None:
        """Return a recorded call, or ``None``."""
        return self.calls[seq] if 0 <= seq < len(self.calls) else None

    def recorded(self) -> list[RecordedCall]:
        """Return the log as a pass is handed it."""
        return [
            RecordedCall(row.seq, row.connector, row.method, row.arguments, row.state, row.outcome)
            if row.state in ("applied", "failed") and row.outcome is not None and not row.ephemeral
            else RecordedCall(row.seq, row.connector, row.method, row.arguments, "open")
            for row in self.calls
        ]

    def record_batch(
        self, new: Sequence[CallRow], started: Sequence[CallRow], events: Sequence[Event], *, durable: bool
    ) -> None:
        """Record new calls, recorded ones that start (again), and what happened to the program before them.

        ``durable``: one of them may have an effect, so the record must survive a power cut.

        Raises
        ------
        CodemodeError
            ``not_owner``, or the store's; nothing of the batch is recorded then, and none of it may run.
        """
        now = time.time()
        for row in new:
            row.started_at = now
            if row.state == "failed":
                row.ended_at = now
        with self._store.transaction(durable=durable) as connection:
            self._check_ours(connection, now)
            self._append_events(connection, events)
            self._store.calls.insert(connection, self.execution_id, new)
            for row in started:
                self._start(connection, row, now)
        self.calls.extend(new)
        for row in started:
            row.state, row.started_at, row.ended_at = "executing", now, None
        self.events.extend(events)

    def record_events(self, events: Sequence[Event]) -> None:
        """Record what happened to the program."""
        if events:
            with self._store.transaction(durable=False) as connection:
                self._append_events(connection, events)
            self.events.extend(events)

    def journal_of(self, row: CallRow) -> list[JournalRow]:
        """Return the steps and questions of a call."""
        return self._store.journal.of_call(self.execution_id, row.seq)

    def record_step(self, entry: JournalRow) -> None:
        """Record what a step of a tool came to.

        Raises
        ------
        CodemodeError
            ``not_owner``, or the store's; the step was run nevertheless.
        """
        entry.asked_at = entry.ended_at = now = time.time()
        with self._store.transaction(durable=False) as connection:
            self._check_ours(connection, now)
            self._store.journal.insert(connection, self.execution_id, [entry])

    def suspend(self, row: CallRow, questions: Sequence[JournalRow]) -> None:
        """Record that a call waits for answers; new questions have no time yet.

        Where an older question was answered meanwhile, the call is at once recorded as ``answered``.

        Raises
        ------
        CodemodeError
            ``not_owner``, or the store's; nothing is recorded then.
        """
        now = time.time()
        new = [entry for entry in questions if not entry.asked_at]
        older = {entry.number for entry in questions if entry.asked_at}
        with self._store.transaction() as connection:
            self._check_ours(connection, now)
            self._store.journal.insert(connection, self.execution_id, [replace(entry, asked_at=now) for entry in new])
            given = [one.ended_at or now for one in self.journal_of(row) if one.number in older and one.outcome]
            state: CallState = "answered" if given else "waiting"
            decided_at = min(given, default=row.decided_at)
            changes = {"state": state, "code": INTERRUPTED, "decided_at": decided_at}
            if not self._store.calls.update(connection, self.execution_id, row.seq, ("executing",), **changes):
                raise not_owner(self.execution_id)
        for entry in new:
            entry.asked_at = now
        row.state, row.code, row.decided_at = state, INTERRUPTED, decided_at

    def reload(self) -> None:
        """Read the calls anew: somebody else has changed their states."""
        self.calls = self._store.calls.of(self.execution_id)

    def record_outcomes(self, outcomes: Iterable[tuple[CallRow, CallOutcome]], *, late: bool) -> list[CallRow]:
        """Record how calls ended; return those that were still executing (others are left as they are)."""
        now = time.time()
        changed: list[tuple[CallRow, dict[str, Any]]] = []
        with self._store.transaction(durable=False) as connection:
            for row, outcome in outcomes:
                changes = {
                    "state": outcome.state,
                    "outcome": None if row.ephemeral and outcome.state == "applied" else outcome.text,
                    "code": outcome.code,
                    "late": late,
                    "ended_at": now,
                    "token": None,
                }
                if self._store.calls.update(connection, self.execution_id, row.seq, ("executing",), **changes):
                    changed.append((row, changes))
        for row, changes in changed:
            for name, value in changes.items():
                setattr(row, name, value)
        return [row for row, _ in changed]

    def _check_ours(self, connection: sqlite3.Connection, now: float) -> None:
        if not self._store.executions.beat(connection, self.execution_id, self._owner, now):
            raise not_owner(self.execution_id)

    def _append_events(self, connection: sqlite3.Connection, events: Sequence[Event]) -> None:
        self._store.calls.append_events(connection, self.execution_id, len(self.events), events)

    def _start(self, connection: sqlite3.Connection, row: CallRow, now: float) -> None:
        changes = {"state": "executing", "started_at": now, "ended_at": None, "token": row.token}
        if not self._store.calls.update(connection, self.execution_id, row.seq, (row.state,), **changes):
            raise not_owner(self.execution_id)


def not_owner(execution_id: str) -> CodemodeError:
    """Return the refusal to go on with an execution that was ended, deleted or taken over by somebody else."""
    return CodemodeError(
        "not_owner",
        f"Execution {execution_id} was ended or taken over by somebody else.",
        hint="Nothing more was run; look at the execution again.",
    )
