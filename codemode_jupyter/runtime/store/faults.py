"""SQLite's errors in words a person can act on.

Owns: the translation of every failure of the file into a ``CodemodeError`` that names the file and the fix.
Never does: retry.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from codemode_jupyter.errors import CodemodeError

_FAULTS: dict[int, tuple[str, str, str]] = {
    sqlite3.SQLITE_BUSY: (
        "store_locked",
        "The store {path} is locked by another program.",
        "Nothing was changed; close the other program, or try again in a moment.",
    ),
    sqlite3.SQLITE_LOCKED: (
        "store_locked",
        "The store {path} is locked by another connection.",
        "Nothing was changed; try again in a moment.",
    ),
    sqlite3.SQLITE_READONLY: (
        "store_read_only",
        "The store {path} cannot be written.",
        "Make the file and its folder writable, or give the runtime another `path`.",
    ),
    sqlite3.SQLITE_NOTADB: (
        "not_a_store",
        "{path} is not a codemode store.",
        "Move that file away, or give the runtime another `path`.",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "store_damaged",
        "The store {path} is damaged.",
        "Restore it from a copy, or move it away so that a new one is made.",
    ),
    sqlite3.SQLITE_FULL: ("store_full", "The disk of the store {path} is full.", "Free some space and try again."),
    sqlite3.SQLITE_CANTOPEN: (
        "store_unavailable",
        "The store {path} cannot be opened.",
        "Check that its folder exists and may be written, or give the runtime another `path`.",
    ),
}


def newer_schema(path: Path, found: int, known: int) -> CodemodeError:
    """Return the refusal of a store that a later version made."""
    return CodemodeError(
        "newer_schema",
        f"The store {path} was made by a newer codemode-jupyter (schema {found}; this one knows {known}).",
        hint="Upgrade codemode-jupyter, or give the runtime another `path`. The file was left as it is.",
        data={"found": found, "known": known},
    )


def not_a_store(path: Path) -> CodemodeError:
    """Return the refusal of a file that belongs to something else."""
    return _fault(path, sqlite3.SQLITE_NOTADB)


def read_only(path: Path) -> CodemodeError:
    """Return the refusal to change a store that may only be read."""
    return _fault(path, sqlite3.SQLITE_READONLY)


def unavailable(path: Path) -> CodemodeError:
    """Return the refusal of a file that cannot be opened or made."""
    return _fault(path, sqlite3.SQLITE_CANTOPEN)


@contextmanager
def named_faults(path: Path) -> Iterator[None]:
    """Turn what SQLite raises inside the block into a ``CodemodeError`` about ``path``."""
    try:
        yield
    except sqlite3.Error as error:
        # The low byte is the primary code; the rest only refines it.
        code = getattr(error, "sqlite_errorcode", None)
        if code is not None and code & 0xFF in _FAULTS:
            raise _fault(path, code & 0xFF) from error
        raise CodemodeError(
            "store_failed",
            f"The store {path} failed: {error}.",
            hint="Check the disk and the file's rights; nothing of this step was kept.",
        ) from error


def _fault(path: Path, primary: int) -> CodemodeError:
    code, message, hint = _FAULTS[primary]
    return CodemodeError(code, message.format(path=path), hint=hint)
