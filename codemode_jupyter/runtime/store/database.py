"""One connection to one SQLite file: opening, migrating, transactions.

Owns: the connection, its pragmas and the rule that every change is one explicit transaction. Never does: know what the
tables mean.

Durability: a commit that precedes a side effect is ``synchronous=FULL`` (it survives a power cut). Others are
``NORMAL`` in WAL mode: they survive a killed process, and a later FULL commit makes them safe as well. Without WAL
everything is FULL.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from codemode_jupyter.runtime.store import faults
from codemode_jupyter.runtime.store.schema import APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION

BUSY_SECONDS = 2.0
"""How long a transaction waits for another program's before it is refused as ``store_locked``."""

_ASK_AGAIN_SECONDS = 0.002

_NETWORK_FILE_SYSTEMS = {
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "lustre",
    "gpfs",
    "beegfs",
    "ceph",
    "afs",
    "glusterfs",
}
_NETWORK_PREFIXES = ("fuse.sshfs", "fuse.glusterfs", "fuse.s3fs", "fuse.rclone", "fuse.gcsfuse", "fuse.ceph")


class Database:
    """An open store file.

    Parameters
    ----------
    path : Path
        The file; made with mode 0600 when it is not there.

    Raises
    ------
    CodemodeError
        ``not_a_store``, ``newer_schema``, ``store_locked``, ``store_unavailable``: the file is left as it was.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()  # whatever becomes of the working directory
        self._lock = threading.RLock()
        self._is_closed = False
        self._open()

    @contextmanager
    def transaction(self, *, durable: bool) -> Iterator[sqlite3.Connection]:
        """Change the store: all of the block or nothing of it.

        Parameters
        ----------
        durable : bool
            The commit must survive a power cut, since a side effect follows.

        Raises
        ------
        CodemodeError
            ``store_locked`` after a bounded wait, ``store_read_only``, ``store_full``: nothing of the block is kept.
        """
        with self._lock, faults.named_faults(self.path):
            self._follow_path()
            if self.read_only:
                raise faults.read_only(self.path)
            self._set_synchronous(full=durable or not self.wal)
            self._ask_often("BEGIN IMMEDIATE")
            if not self.wal:  # without it even the commit may have to wait, for readers
                self._wait_for_locks(BUSY_SECONDS)
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def rows(self, statement: str, parameters: Iterable[Any] = ()) -> list[sqlite3.Row]:
        """Return all rows of a query."""
        with self._lock, faults.named_faults(self.path):
            self._follow_path()
            self._wait_for_locks(BUSY_SECONDS)
            return self._connection.execute(statement, tuple(parameters)).fetchall()

    def tuples(self, statement: str, parameters: Iterable[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query by position, which is quicker for thousands of them."""
        with self._lock, faults.named_faults(self.path):
            self._follow_path()
            self._wait_for_locks(BUSY_SECONDS)
            cursor = self._connection.cursor()
            cursor.row_factory = None
            return cursor.execute(statement, tuple(parameters)).fetchall()

    def row(self, statement: str, parameters: Iterable[Any] = ()) -> sqlite3.Row | None:
        """Return the first row of a query, or ``None``."""
        found = self.rows(statement, parameters)
        return found[0] if found else None

    def close(self) -> None:
        """Close the connection; a second call does nothing."""
        with self._lock:
            self._is_closed = True
            self._connection.close()

    def _follow_path(self) -> None:
        """Open the file again when another one, or none, stands at the path.

        What is written to a file that was deleted or replaced is lost with the connection, and nobody would know.
        """
        if self._is_closed or self._file_at_path() == self._file:
            return
        if self._file is not None and self._connection.in_transaction:
            return
        self._connection.close()
        self._open()

    def _file_at_path(self) -> tuple[int, ...]:
        """Return what tells the file at the path from any other; nothing when there is none."""
        try:
            found = self.path.stat()
        except OSError:
            return ()
        return found.st_dev, found.st_ino

    def _open(self) -> None:
        self._file: tuple[int, ...] | None = None
        self._create()
        # A person who took away every write bit means it, whoever runs the kernel.
        self.read_only = not (os.access(self.path, os.W_OK) and self.path.stat().st_mode & 0o222)
        with faults.named_faults(self.path):
            self._connection = self._connect()
            self._file = self._file_at_path()
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                self._file = None
                raise

    def _create(self) -> None:
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, stat.S_IRUSR | stat.S_IWUSR))
        except FileExistsError:
            if not self.path.is_file():
                raise faults.unavailable(self.path) from None
        except OSError as error:
            raise faults.unavailable(self.path) from error

    def _connect(self) -> sqlite3.Connection:
        mode = "ro" if self.read_only else "rw"
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.row_factory = sqlite3.Row
        self._lock_seconds = BUSY_SECONDS
        return connection

    def _prepare(self) -> None:
        self._synchronous_full: bool | None = None
        self.wal = False
        # One reading: another process may be making the store at this moment.
        self._connection.execute("BEGIN")
        try:
            version = self._check_identity()
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        if self.read_only:
            return
        self._connection.execute("PRAGMA foreign_keys = ON")
        if not on_network_file_system(self.path):
            self.wal = self._ask_often("PRAGMA journal_mode = WAL").fetchone()[0] == "wal"
        if version < SCHEMA_VERSION:
            self._migrate()

    def _check_identity(self) -> int:
        """Return the schema's number, or refuse the file before anything in it is touched.

        To be called in a transaction.
        """
        application = self._connection.execute("PRAGMA application_id").fetchone()[0]
        version: int = self._connection.execute("PRAGMA user_version").fetchone()[0]
        tables = self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        if application != APPLICATION_ID and (application or tables):
            raise faults.not_a_store(self.path)
        if version > SCHEMA_VERSION:
            raise faults.newer_schema(self.path, version, SCHEMA_VERSION)
        return version

    def _migrate(self) -> None:
        with self.transaction(durable=True) as connection:
            # Another process may have migrated while this one waited for the lock.
            version = self._check_identity()
            for statements in MIGRATIONS[version:]:
                for statement in statements:
                    connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _ask_often(self, statement: str) -> sqlite3.Cursor:
        """Execute a statement that needs a lock, asking for it often.

        SQLite's own wait soon asks ten times a second only, and a program that commits one transaction after the other
        would nearly always be found at it; a change of the journal mode does not wait at all.
        """
        deadline = time.monotonic() + BUSY_SECONDS
        self._wait_for_locks(0)
        while True:
            try:
                return self._connection.execute(statement)
            except sqlite3.OperationalError as error:
                # The low byte is the primary code; the rest only refines it.
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(_ASK_AGAIN_SECONDS)

    def _wait_for_locks(self, seconds: float) -> None:
        """Set how long SQLite itself waits from now on; asked of it only when that changes."""
        if seconds != self._lock_seconds:
            self._connection.execute(f"PRAGMA busy_timeout = {int(1000 * seconds)}")
            self._lock_seconds = seconds

    def _set_synchronous(self, *, full: bool) -> None:
        if full != self._synchronous_full:
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if full else 'NORMAL'}")
            self._synchronous_full = full


def on_network_file_system(path: Path, mounts: Path = Path("/proc/mounts")) -> bool:
    """Tell whether ``path`` lies on a file system where SQLite's WAL does not work.

    Its shared memory is local to one machine, so that is every network file system.

    Only Linux says; elsewhere the answer is no, and SQLite's own refusal of WAL is respected.
    """
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
        place = str(path.resolve())
    except OSError:
        return False
    best, kind = "", ""
    for line in lines:
        fields = line.split()
        if len(fields) < 3:  # noqa: PLR2004  device, mount point, type
            continue
        point = fields[1].encode().decode("unicode_escape", errors="replace")
        inside = place == point or place.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, fields[2]
    return kind in _NETWORK_FILE_SYSTEMS or kind.startswith(_NETWORK_PREFIXES)
