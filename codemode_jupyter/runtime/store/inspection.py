"""A look at a store's file without opening it as one.

Owns: what is at the path, as data. Never does: make, lock, migrate or write anything, not even SQLite's own side files.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from codemode_jupyter.runtime.store import faults
from codemode_jupyter.runtime.store.database import on_network_file_system
from codemode_jupyter.runtime.store.schema import APPLICATION_ID, SCHEMA_VERSION

_BUSY_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class StoreFile:
    """What is at the path of a store. ``schema``, ``size`` (bytes), ``mode`` and ``journal`` only when it exists."""

    path: Path
    exists: bool
    is_writable: bool
    is_on_network: bool
    size: int = 0
    mode: int = 0
    schema: int = 0
    journal: str = ""


def inspect_store(path: Path) -> StoreFile:
    """Return what is at ``path``.

    Raises
    ------
    CodemodeError
        ``not_a_store``, ``newer_schema``, ``store_damaged``, ``store_unavailable``: why no runtime could use it.
    """
    path = path.absolute()
    on_network = on_network_file_system(path)
    try:
        found = path.stat()
    except FileNotFoundError:
        folder = path.parent
        return StoreFile(path, False, folder.is_dir() and os.access(folder, os.W_OK | os.X_OK), on_network)  # noqa: FBT003  fields in order
    except OSError as error:
        raise faults.unavailable(path) from error
    if not stat.S_ISREG(found.st_mode):
        raise faults.unavailable(path)
    schema, journal = _read(path)
    return StoreFile(
        path,
        exists=True,
        is_writable=os.access(path, os.W_OK) and bool(found.st_mode & 0o222),
        is_on_network=on_network,
        size=found.st_size,
        mode=stat.S_IMODE(found.st_mode),
        schema=schema,
        journal=journal,
    )


def _read(path: Path) -> tuple[int, str]:
    """Return the schema's number and the journal's kind."""
    # With no log beside it the file is all there is, and opened as immutable it gets no side files either.
    side_log = path.with_name(path.name + "-wal")
    options = "mode=ro" if side_log.exists() else "mode=ro&immutable=1"
    with faults.named_faults(path), closing(_connect(path, options)) as connection:
        application, schema, tables = (
            connection.execute(question).fetchone()[0]
            for question in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_schema")
        )
        if application != APPLICATION_ID and (application or tables):
            raise faults.not_a_store(path)
        if schema > SCHEMA_VERSION:
            raise faults.newer_schema(path, schema, SCHEMA_VERSION)
    return schema, _journal(path)


def _journal(path: Path) -> str:
    """Return the journal's kind by the file's header, since a connection as immutable knows none."""
    with path.open("rb") as file:
        header = file.read(20)
    return "wal" if header[18:20] == b"\x02\x02" else "delete"


def _connect(path: Path, options: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.as_uri()}?{options}", uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
