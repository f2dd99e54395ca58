"""The files of packages on this machine, each under the digest of its content.

Owns: a folder of the user's cache, with the files and the sets that were resolved. Never does: fetch. What lies there
is believed only after its digest was computed again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.python.packages.folder import files_folder, packages_folder
from codemode_jupyter.sandbox.python.packages.package import Package, packages_text, read_packages


class Archive:
    """The files and sets of this user's cache."""

    def __init__(self) -> None:
        self._checked: dict[str, tuple[int, int]] = {}
        """Size and time of change of files whose digest was found right, by digest."""

    def find(self, package: Package) -> Path | None:
        """Return the path of a package's file; ``None``: it is not there, or not what it should be."""
        path = self._path(package.sha256, package.filename)
        try:
            status = path.stat()
            state = (status.st_size, status.st_mtime_ns)
            if self._checked.get(package.sha256) != state:
                if sha256_of(path) != package.sha256:
                    return None
                self._checked[package.sha256] = state
        except OSError:
            return None
        return path

    def put(self, file: Path) -> str:
        """Keep a copy of a file under its name; return its digest.

        Raises
        ------
        CodemodeError
            ``package_cache_unwritable``
        """
        digest = sha256_of(file)
        target = self._path(digest, file.name)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with _replacing(target) as temporary:
                shutil.copyfile(file, temporary)
        except OSError as error:
            raise _unwritable(error) from error
        self._checked.pop(digest, None)
        return digest

    def read(self, kind: str, key: str) -> tuple[Package, ...] | None:
        """Return what was resolved for a key, if all its files are there still."""
        try:
            packages = read_packages(self._list(kind, key).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, CodemodeError):
            return None
        return packages if all(self.find(package) is not None for package in packages) else None

    def write(self, kind: str, key: str, packages: Sequence[Package]) -> None:
        """Remember what was resolved for a key.

        Raises
        ------
        CodemodeError
            ``package_cache_unwritable``
        """
        target = self._list(kind, key)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with _replacing(target) as temporary:
                temporary.write_text(packages_text(packages), encoding="utf-8")
        except OSError as error:
            raise _unwritable(error) from error

    @staticmethod
    def _path(digest: str, filename: str) -> Path:
        return files_folder() / digest / filename

    @staticmethod
    def _list(kind: str, key: str) -> Path:
        return packages_folder() / kind / f"{key}.json"


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def key_of(*parts: object) -> str:
    """Return a key for what ``parts``, which are JSON values, describe."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@contextlib.contextmanager
def _replacing(target: Path) -> Iterator[Path]:
    """Give a new file beside the target that takes its place in one step, whatever other processes do."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".new-")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _unwritable(error: OSError) -> CodemodeError:
    return CodemodeError(
        "package_cache_unwritable",
        f"Packages cannot be kept in your cache folder: {error.strerror or error}.",
        hint="Make room or give yourself the right to write there; XDG_CACHE_HOME names another folder.",
    )
