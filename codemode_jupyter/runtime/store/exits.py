"""The table of exits: the ends of detached executions that are still to be delivered.

Owns: reading them, who is being told of one, and forgetting one. Never does: write one; triggers of the schema do, in
the transaction that ends the execution.
"""

from __future__ import annotations

import dataclasses
import sqlite3

from codemode_jupyter.runtime.store.database import Database
from codemode_jupyter.runtime.store.rows import ExitRow

_COLUMNS = ", ".join(field.name for field in dataclasses.fields(ExitRow))


class ExitTable:
    """Exits of one runtime name in one store."""

    def __init__(self, database: Database, runtime: str) -> None:
        self._database = database
        self._runtime = runtime

    def all(self) -> list[ExitRow]:
        """Return all exits in the order of their ends."""
        rows = self._database.rows(
            f"SELECT {_COLUMNS} FROM exit WHERE runtime = ? ORDER BY ended_at, rowid",  # noqa: S608  constant names
            (self._runtime,),
        )
        return [ExitRow(**dict(row)) for row in rows]

    def claim(self, connection: sqlite3.Connection, row: ExitRow, owner: str) -> bool:
        """Make an exit this owner's to deliver; ``False`` when it is not as it was read any more."""
        cursor = connection.execute(
            "UPDATE exit SET owner = ? WHERE id = ? AND owner IS ? AND failures = ?",
            (owner, row.id, row.owner, row.failures),
        )
        return cursor.rowcount == 1

    def release(self, connection: sqlite3.Connection, exit_id: str, owner: str, *, failed: bool) -> None:
        """Leave an exit to whoever asks next; ``failed``: the hook raised."""
        connection.execute(
            "UPDATE exit SET owner = NULL, failures = failures + ? WHERE id = ? AND owner = ?",
            (int(failed), exit_id, owner),
        )

    def delete(self, connection: sqlite3.Connection, exit_id: str) -> bool:
        """Forget an exit that was delivered; tell whether it was there."""
        return connection.execute("DELETE FROM exit WHERE id = ?", (exit_id,)).rowcount == 1
