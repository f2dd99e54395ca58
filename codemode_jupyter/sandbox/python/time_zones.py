"""Time zones for the sandbox's Python: the package ``tzdata`` in its standard library, where ``zoneinfo`` looks for it.

Owns: having that package in its exact version, checking it, and putting it into the library's archive. Never does: take
the time zones of the system, which differ from machine to machine, and so would a program's replay.

The package is taken from the environment where it has that version (the wheel's build asks for it), else pip fetches it
from the index that the user's configuration names.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.resources
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.python.assets import TZDATA_FILES, TZDATA_VERSION

_EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The time that every file in the archive has, so that the same files make the same archive."""

Files = Mapping[str, bytes]


def add_time_zones(library: Path, target: Path, run: Callable[[list[str], str], None]) -> None:
    """Write the archive of the standard library with the time zones in it.

    Parameters
    ----------
    library : Path
        The archive without them.
    target : Path
        Where to write.
    run : callable
        Runs a command; its second parameter says what has not happened when the command fails.

    Raises
    ------
    CodemodeError
        ``python_not_available``: ``tzdata`` cannot be had in its version, or is not what it should be.
    """
    files = _installed() or _fetched(run)
    shutil.copyfile(library, target)
    with zipfile.ZipFile(target, "a", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(f"tzdata/{name}", _EARLIEST), data, zipfile.ZIP_DEFLATED)


def _installed() -> Files | None:
    """Return the files of the package in this environment, if they are those."""
    try:
        if importlib.metadata.version("tzdata") != TZDATA_VERSION:
            return None
        files = _files_below(importlib.resources.files("tzdata"))
    except (ImportError, OSError):
        return None
    return files if _are_those(files) else None


def _fetched(run: Callable[[list[str], str], None]) -> Files:
    with tempfile.TemporaryDirectory() as folder:
        run(
            [
                *(sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"),
                *("--no-deps", "--only-binary=:all:", f"--dest={folder}", f"tzdata=={TZDATA_VERSION}"),
            ],
            f"tzdata {TZDATA_VERSION}, the time zones, cannot be fetched by pip (installing it by other means helps)",
        )
        wheel = next(Path(folder).glob("*.whl"))
        files = _files_below(zipfile.Path(wheel, "tzdata/"))
    if not _are_those(files):
        raise CodemodeError(
            "python_not_available",
            f"Python cannot be had for the sandbox: what the package index has as tzdata {TZDATA_VERSION} is not what "
            "it should be.",
        )
    return files


def _files_below(folder: Traversable | zipfile.Path, prefix: str = "") -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_file():
            files[prefix + entry.name] = entry.read_bytes()
        elif entry.name != "__pycache__":
            files |= _files_below(entry, f"{prefix}{entry.name}/")
    return files


def _are_those(files: Files) -> bool:
    digest = hashlib.sha256()
    for name, data in sorted(files.items()):
        digest.update(f"{name}\0{len(data)}\0".encode())
        digest.update(data)
    return digest.hexdigest() == TZDATA_FILES
