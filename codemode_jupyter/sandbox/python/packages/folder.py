"""Where the files of packages lie on this machine. Imports nothing heavy: each start of a sandbox needs it."""

from __future__ import annotations

from pathlib import Path

from codemode_jupyter.sandbox.python.assets import cache_folder


def packages_folder() -> Path:
    """Return the folder of all that is kept of packages."""
    return cache_folder() / "packages"


def files_folder() -> Path:
    """Return the folder of the packages' files: all that a sandbox's host may read of packages."""
    return packages_folder() / "files"
