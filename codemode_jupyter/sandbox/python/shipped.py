"""The files of the sandbox's Python as an installation of this package brings them, made when its wheel was built.

Owns: where they lie, and their unpacking. Never does: make them (``making.py``), or compress them (``packed.py``).

They lie once, compressed, each as ``NAME.gz`` (RFC 1952), where Jupyter servers find what they serve:

    share/jupyter/labextensions/codemode-jupyter/static/python-<digest>/NAME.gz

so that a page fetches them by the very address ``<labextensions>/codemode-jupyter/static/python-<digest>/NAME.gz``, and
keeps them for good: the digest names what they were made of. The kernel finds the same files by the list of what was
installed, and unpacks them into the user's cache folder the first time. A wheel that was built where they could not be
made is without them, and so is a package that is used without being installed.
"""

from __future__ import annotations

import gzip
import importlib.metadata
import shutil
import zlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from codemode_jupyter.sandbox.frame import LABEXTENSION

DISTRIBUTION = "codemode-jupyter"


def served_path(digest: str, name: str) -> str:
    """Return where a compressed file is, below the address and below the folder of Jupyter's labextensions."""
    return f"{LABEXTENSION}/static/{digest}/{name}.gz"


@cache
def find_shipped(digest: str, names: tuple[str, ...]) -> Path | None:
    """Return the folder in which this installation has the compressed form of all these files, or ``None``."""
    try:
        files = importlib.metadata.files(DISTRIBUTION) or ()
    except importlib.metadata.PackageNotFoundError:
        return None
    wanted = f"labextensions/{served_path(digest, names[0])}"
    for file in files:
        if file.as_posix().endswith(wanted):
            folder = Path(str(file.locate())).resolve().parent
            return folder if all((folder / f"{name}.gz").is_file() for name in names) else None
    return None


def unpack(shipped: Path, names: Iterable[str], folder: Path) -> None:
    """Write the files into a folder; blocks, half a second.

    Raises
    ------
    ValueError
        A compressed file is damaged.
    OSError
        A file cannot be read or written.
    """
    for name in names:
        try:
            with gzip.open(shipped / f"{name}.gz") as source, (folder / name).open("wb") as target:
                shutil.copyfileobj(source, target, 2**20)
                is_empty = target.tell() == 0  # which a file of no bytes unpacks to, without a word
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"{name}.gz is damaged: {error}") from error
        if is_empty:
            raise ValueError(f"{name}.gz is empty")
