"""The table of executions.

Owns: reading rows and changing them only where their status still is what the caller saw. Never does: open
transactions; every change takes the connection of the transaction it belongs to.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from codemode_jupyter.runtime.records import ExecutionStatus
from codemode_jupyter.runtime.store.database import Database
from codemode_jupyter.runtime.store.rows import ExecutionRow

FINISHED: tuple[ExecutionStatus, ...] = ("completed", "error", "rejected", "rolled_back", "partly_rolled_back")
"""Statuses of executions that will never run again; only these are pruned."""

_COLUMNS = (
    "id, code, source, line_offset, language, status, connectors, clock, seed, timeout, created_at, updated_at, "
    "passes, result, result_note, error, logs, running_time, owner, heartbeat, modules, "
    "detachable, detached_at, metadata, packages"
)


class ExecutionTable:
    """Executions of one runtime name in one store."""

    def __init__(self, database: Database, runtime: str) -> None:
        self._database = database
        self._runtime = runtime

    def insert(self, connection: sqlite3.Connection, row: ExecutionRow) -> None:
        """Add a new execution."""
        values = [json.dumps(row.connectors) if name == "connectors" else getattr(row, name) for name in _names()]
        marks = ", ".join("?" * (len(values) + 1))
        connection.execute(
            f"INSERT INTO execution (runtime, {_COLUMNS}) VALUES ({marks})",  # noqa: S608  constant names
            (self._runtime, *values),
        )

    def get(self, execution_id: str) -> ExecutionRow | None:
        """Return one execution, or ``None``."""
        found = self._select("AND id = ?", (execution_id,))
        return found[0] if found else None

    def newest(self, limit: int | None = None) -> list[ExecutionRow]:
        """Return executions, newest first."""
        return self._select("ORDER BY id DESC LIMIT ?", (-1 if limit is None else limit,))

    def with_status(self, status: ExecutionStatus) -> list[ExecutionRow]:
        """Return executions in one status, newest first."""
        return self._select("AND status = ? ORDER BY id DESC", (status,))

    def update(
        self,
        connection: sqlite3.Connection,
        execution_id: str,
        expected: Sequence[ExecutionStatus],
        **changes: Any,
    ) -> bool:
        """Change columns of one execution if its status is still one of ``expected``; tell whether it was."""
        assignments = ", ".join(f"{name} = ?" for name in changes)
        marks = ", ".join("?" * len(expected))
        cursor = connection.execute(
            f"UPDATE execution SET {assignments} WHERE id = ? AND runtime = ? AND status IN ({marks})",  # noqa: S608  our own column names
            (*changes.values(), execution_id, self._runtime, *expected),
        )
        return cursor.rowcount == 1

    def beat(self, connection: sqlite3.Connection, execution_id: str, owner: str, now: float) -> bool:
        """Renew the lease of a running execution; ``False`` when it is not this owner's any more."""
        cursor = connection.execute(
            "UPDATE execution SET heartbeat = ? WHERE id = ? AND owner = ? AND status = 'running'",
            (now, execution_id, owner),
        )
        return cursor.rowcount == 1

    def detach(self, connection: sqlite3.Connection, execution_id: str, now: float, metadata: str | None) -> bool:
        """Detach an execution, or leave it detached; ``False`` when it has ended.

        ``metadata`` replaces what is there, unless it is ``None``.
        """
        cursor = connection.execute(
            "UPDATE execution SET detached_at = coalesce(detached_at, ?), metadata = coalesce(?, metadata) "
            "WHERE id = ? AND runtime = ? AND status IN ('running', 'paused')",
            (now, metadata, execution_id, self._runtime),
        )
        return cursor.rowcount == 1

    def delete(self, connection: sqlite3.Connection, execution_id: str) -> bool:
        """Delete one execution with its log; tell whether it existed."""
        cursor = connection.execute("DELETE FROM execution WHERE id = ? AND runtime = ?", (execution_id, self._runtime))
        return cursor.rowcount == 1

    def prune(self, connection: sqlite3.Connection, keep: int) -> int:
        """Delete finished executions but the newest ``keep``; return how many were deleted."""
        marks = ", ".join("?" * len(FINISHED))
        cursor = connection.execute(
            f"DELETE FROM execution WHERE id IN (SELECT id FROM execution WHERE runtime = ? AND status IN ({marks}) "  # noqa: S608
            "ORDER BY id DESC LIMIT -1 OFFSET ?)",
            (self._runtime, *FINISHED, keep),
        )
        return cursor.rowcount

    def _select(self, where: str, parameters: Sequence[Any]) -> list[ExecutionRow]:
        rows = self._database.rows(
            f"SELECT {_COLUMNS} FROM execution WHERE runtime = ? {where}",  # noqa: S608  constant texts
            (self._runtime, *parameters),
        )
        return [ExecutionRow(**{**dict(row), "connectors": _connectors(row["connectors"])}) for row in rows]


def _names() -> list[str]:
    return _COLUMNS.split(", ")


def _connectors(text: str) -> tuple[str, ...]:
    """Return stored names; none where they cannot be read, so that one bad row spoils no list."""
    try:
        return tuple(json.loads(text))
    except (ValueError, TypeError):
        return ()
