"""The store as the runtime holds it: one file, its tables, its transactions.

Owns: putting the tables of one runtime name together over one connection. Never does: decisions.
"""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager
from pathlib import Path

from codemode_jupyter.runtime.store.calls import CallTable
from codemode_jupyter.runtime.store.database import Database
from codemode_jupyter.runtime.store.executions import ExecutionTable
from codemode_jupyter.runtime.store.exits import ExitTable
from codemode_jupyter.runtime.store.journal import JournalTable
from codemode_jupyter.runtime.store.snippets import SnippetTable


class Store:
    """All that one runtime keeps.

    Raises
    ------
    CodemodeError
        When made: ``not_a_store``, ``newer_schema``, ``store_locked``, ``store_unavailable``.
    """

    def __init__(self, path: Path, runtime: str) -> None:
        self._database = Database(path)
        self.path = path
        self.executions = ExecutionTable(self._database, runtime)
        self.calls = CallTable(self._database)
        self.journal = JournalTable(self._database)
        self.exits = ExitTable(self._database, runtime)
        self.snippets = SnippetTable(self._database, runtime)

    def transaction(self, *, durable: bool = True) -> AbstractContextManager[sqlite3.Connection]:
        """Open a transaction; see ``Database.transaction``."""
        return self._database.transaction(durable=durable)

    def close(self) -> None:
        """Close the file."""
        self._database.close()
