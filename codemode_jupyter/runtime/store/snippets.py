"""The table of snippets.

Owns: saved programs by name. Never does: prepare or run them.
"""

from __future__ import annotations

import json
import sqlite3

from codemode_jupyter.runtime.store.database import Database
from codemode_jupyter.runtime.store.rows import SnippetRow

_COLUMNS = "name, description, code, language, connectors, saved_at"


class SnippetTable:
    """Snippets of one runtime name in one store."""

    def __init__(self, database: Database, runtime: str) -> None:
        self._database = database
        self._runtime = runtime

    def put(self, connection: sqlite3.Connection, row: SnippetRow) -> None:
        """Save a snippet, in place of one of the same name."""
        connection.execute(
            f"INSERT OR REPLACE INTO snippet (runtime, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608  constant names
            (
                self._runtime,
                row.name,
                row.description,
                row.code,
                row.language,
                json.dumps(row.connectors),
                row.saved_at,
            ),
        )

    def get(self, name: str) -> SnippetRow | None:
        """Return one snippet, or ``None``."""
        return next(iter(self._select("AND name = ?", (name,))), None)

    def all(self) -> list[SnippetRow]:
        """Return all snippets by name."""
        return self._select("ORDER BY name", ())

    def delete(self, connection: sqlite3.Connection, name: str) -> bool:
        """Delete one snippet; tell whether it existed."""
        cursor = connection.execute("DELETE FROM snippet WHERE runtime = ? AND name = ?", (self._runtime, name))
        return cursor.rowcount == 1

    def _select(self, where: str, parameters: tuple[str, ...]) -> list[SnippetRow]:
        rows = self._database.rows(
            f"SELECT {_COLUMNS} FROM snippet WHERE runtime = ? {where}",  # noqa: S608  constant texts
            (self._runtime, *parameters),
        )
        return [SnippetRow(**{**dict(row), "connectors": tuple(json.loads(row["connectors"]))}) for row in rows]
