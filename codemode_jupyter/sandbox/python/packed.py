"""The files of the sandbox's Python as they travel to a page: compressed, each named by what it holds.

Owns: the compressed forms (``NAME.gz``, RFC 1952), their sizes and SHA-256. Never does: make what is compressed
(``making.py``), say where a server has it (``shipped.py``), or send it.

They come with the installed package (``shipped.py``), or lie beside the files where the set has them or can take them;
else they are kept in memory.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from codemode_jupyter.sandbox.python.assets import PythonAssets
from codemode_jupyter.sandbox.python.shipped import served_path

PACKED_NAMES = ("glue.js", "pyodide.asm.wasm", "python_stdlib.zip", "snapshot.bin")
"""The files that travel compressed, in the order in which a page takes them."""

LEVEL = 6
"""Of ``gzip``: higher ones take seconds and save less than a hundredth."""


@dataclass(frozen=True, slots=True)
class PackedFile:
    """One compressed file: ``size`` in bytes, ``sha256`` in hexadecimal, ``path`` below the labextensions' address."""

    name: str
    size: int
    sha256: str
    path: str
    data: bytes = field(repr=False)


@cache
def packed_files(assets: PythonAssets) -> tuple[PackedFile, ...]:
    """Return the compressed files of a set; blocks, up to two seconds the first time.

    Raises
    ------
    OSError
        A file of the set cannot be read.
    """
    return tuple(_packed(assets, name) for name in PACKED_NAMES)


def compressed(assets: PythonAssets, name: str) -> bytes:
    """Return the compressed form of one file of a set; blocks.

    Raises
    ------
    OSError
        The file cannot be read.
    """
    if assets.shipped is not None:
        with contextlib.suppress(OSError):
            return (assets.shipped / f"{name}.gz").read_bytes()
    path = assets.folder / f"{name}.gz"
    try:
        return path.read_bytes()
    except OSError:
        data = gzip.compress((assets.folder / name).read_bytes(), LEVEL, mtime=0)
        with contextlib.suppress(OSError):
            _write(path, data)
        return data


def _packed(assets: PythonAssets, name: str) -> PackedFile:
    data = compressed(assets, name)
    served = served_path(assets.folder.name, name)
    return PackedFile(name, len(data), hashlib.sha256(data).hexdigest(), served, data)


def _write(path: Path, data: bytes) -> None:
    """Write a file that is there whole or not at all."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix="packing-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).replace(path)
    finally:
        Path(temporary).unlink(missing_ok=True)
