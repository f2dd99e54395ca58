"""The tables of calls and events: the log of each execution.

Owns: reading a log in order and changing a call only where its state still is what the caller saw.
Never does: open transactions or decide what a call may do.
"""

from __future__ import annotations

import dataclasses
import operator
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from codemode_jupyter.runtime.records import CallState
from codemode_jupyter.runtime.store.database import Database
from codemode_jupyter.runtime.store.rows import CallRow
from codemode_jupyter.sandbox.protocol import Event

_NAMES = [field.name for field in dataclasses.fields(CallRow)]
_COLUMNS = ", ".join(_NAMES)
_values_of = operator.attrgetter(*_NAMES)


class CallTable:
    """Calls and events of all executions in one store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def insert(self, connection: sqlite3.Connection, execution_id: str, rows: Iterable[CallRow]) -> None:
        """Add calls to the end of a log."""
        marks = ", ".join("?" * (len(_NAMES) + 1))
        connection.executemany(
            f"INSERT INTO call (execution, {_COLUMNS}) VALUES ({marks})",  # noqa: S608  constant names
            ((execution_id, *_values_of(row)) for row in rows),
        )

    def update(
        self,
        connection: sqlite3.Connection,
        execution_id: str,
        seq: int,
        expected: Sequence[CallState],
        **changes: Any,
    ) -> bool:
        """Change columns of one call if its state is still one of ``expected``; tell whether it was."""
        assignments = ", ".join(f"{name} = ?" for name in changes)
        marks = ", ".join("?" * len(expected))
        cursor = connection.execute(
            f"UPDATE call SET {assignments} WHERE execution = ? AND seq = ? AND state IN ({marks})",  # noqa: S608  our own column names
            (*changes.values(), execution_id, seq, *expected),
        )
        return cursor.rowcount == 1

    def update_all(
        self,
        connection: sqlite3.Connection,
        execution_id: str,
        expected: Sequence[CallState],
        **changes: Any,
    ) -> int:
        """Change columns of every call of an execution whose state is one of ``expected``; return how many."""
        assignments = ", ".join(f"{name} = ?" for name in changes)
        marks = ", ".join("?" * len(expected))
        cursor = connection.execute(
            f"UPDATE call SET {assignments} WHERE execution = ? AND state IN ({marks})",  # noqa: S608  our own column names
            (*changes.values(), execution_id, *expected),
        )
        return cursor.rowcount

    def of(self, execution_id: str) -> list[CallRow]:
        """Return the log of one execution in order."""
        return self._select("WHERE execution = ? ORDER BY seq", (execution_id,))

    def with_state(self, execution_id: str, *states: CallState) -> list[CallRow]:
        """Return the calls of one execution that are in one of some states, in order."""
        marks = ", ".join("?" * len(states))
        return self._select(f"WHERE execution = ? AND state IN ({marks}) ORDER BY seq", (execution_id, *states))

    def events(self, execution_id: str) -> list[Event]:
        """Return what happened to the program, in order."""
        events: list[Any] = self._database.tuples(
            "SELECT kind, id, clock FROM event WHERE execution = ? ORDER BY position", (execution_id,)
        )
        return events

    def append_events(
        self, connection: sqlite3.Connection, execution_id: str, position: int, events: Sequence[Event]
    ) -> None:
        """Add events; ``position`` is how many there are already."""
        connection.executemany(
            "INSERT INTO event (execution, position, kind, id, clock) VALUES (?, ?, ?, ?, ?)",
            ((execution_id, position + index, *event) for index, event in enumerate(events)),
        )

    def _select(self, where: str, parameters: Sequence[Any]) -> list[CallRow]:
        rows = self._database.tuples(f"SELECT {_COLUMNS} FROM call {where}", parameters)  # noqa: S608  constant texts
        return [CallRow(*row) for row in rows]
