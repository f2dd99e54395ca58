"""The table of journals: what the tool of a call did and asked before the call ended; and which waits were announced.

Owns: reading a journal in order, adding to it, and answering a question that still is open. Never does: open
transactions or decide whether an answer fits.
"""

from __future__ import annotations

import dataclasses
import operator
import sqlite3
from collections.abc import Iterable
from typing import Any

from codemode_jupyter.runtime.store.database import Database
from codemode_jupyter.runtime.store.rows import JournalRow

_NAMES = [field.name for field in dataclasses.fields(JournalRow)]
_COLUMNS = ", ".join(_NAMES)
_values_of = operator.attrgetter(*_NAMES)


class JournalTable:
    """Journals of all calls in one store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def insert(self, connection: sqlite3.Connection, execution_id: str, rows: Iterable[JournalRow]) -> None:
        """Add entries."""
        marks = ", ".join("?" * (len(_NAMES) + 1))
        connection.executemany(
            f"INSERT INTO journal (execution, {_COLUMNS}) VALUES ({marks})",  # noqa: S608  constant names
            ((execution_id, *_values_of(row)) for row in rows),
        )

    def of_call(self, execution_id: str, seq: int) -> list[JournalRow]:
        """Return the journal of one call in order."""
        return self._select("AND call = ?", (execution_id, seq))

    def open_questions(self, execution_id: str) -> list[JournalRow]:
        """Return the questions of one execution that have no answer, in order."""
        return self._select("AND state = 'waiting'", (execution_id,))

    def answer(
        self, connection: sqlite3.Connection, execution_id: str, row: JournalRow, outcome: str, now: float
    ) -> bool:
        """Give an open question its answer; tell whether it was open."""
        cursor = connection.execute(
            "UPDATE journal SET state = 'answered', outcome = ?, ended_at = ? "
            "WHERE execution = ? AND call = ? AND number = ? AND state = 'waiting'",
            (outcome, now, execution_id, row.call, row.number),
        )
        return cursor.rowcount == 1

    def take_back(self, connection: sqlite3.Connection, execution_id: str, seq: int, since: float | None) -> None:
        """Open the questions of a call again that were answered since that time."""
        connection.execute(
            "UPDATE journal SET state = 'waiting', outcome = NULL, ended_at = NULL "
            "WHERE execution = ? AND call = ? AND state = 'answered' AND ended_at >= ?",
            (execution_id, seq, since),
        )

    def announce(self, connection: sqlite3.Connection, execution_id: str, wait: str) -> bool:
        """Note that somebody is told of a wait; tell whether nobody was before."""
        cursor = connection.execute(
            "INSERT OR IGNORE INTO announced (execution, wait) SELECT id, ? FROM execution WHERE id = ?",
            (wait, execution_id),
        )
        return cursor.rowcount == 1

    def _select(self, where: str, parameters: tuple[Any, ...]) -> list[JournalRow]:
        rows = self._database.tuples(
            f"SELECT {_COLUMNS} FROM journal WHERE execution = ? {where} ORDER BY call, number",  # noqa: S608  constant texts
            parameters,
        )
        return [JournalRow(*row) for row in rows]
