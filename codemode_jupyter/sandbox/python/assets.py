"""The files of the Python that runs in the sandbox: which they are, and where they lie.

Owns: the exact version of Pyodide, the digest that names one set of files, and the looking for them: an installation
brings them along (``shipped.py``), else the user's cache folder has them once they were made. Never does: make them
(``making.py``) or run them. Needs the standard library and platformdirs alone, since the wheel's build uses it too.

A set is the glue (Pyodide's own scripts as one function), the WebAssembly module, Python's standard library with time
zones, and a memory snapshot with the common modules and the sandbox's own package imported. A snapshot fits only the
very files it was made with, so a set is named by a digest of all that goes into it. It is used from the cache folder.
"""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import platformdirs

from codemode_jupyter.sandbox.python.shipped import find_shipped, unpack
from codemode_jupyter.sandbox.python.whole_folder import whole_folder

PYODIDE_VERSION = "314.0.7"

PYODIDE_FILES = {
    "pyodide.asm.mjs": "f7cdc8ece80678ceb712f8e65ebe6d3a83203a180c399865f49612a051693635",
    "pyodide.asm.wasm": "cc36e3cab04fdfc9a63ff13eb52eae2b911bf46c025cc7b281f394bd3de1d5e6",
    "pyodide.mjs": "6f1d60f7bf529beb300f0f47983c921d3982363640ba20af0e38efdddbc66109",
    "python_stdlib.zip": "fa1957e5777068fc4f7437f96d860ae2fbe9c19732ba06c84e004ec16dd7dd7a",
}
"""What is used of the npm package ``pyodide``, with each file's SHA-256."""

TZDATA_VERSION = "2026.6"
TZDATA_FILES = "dfed7a83519d9a36cd25eb111ec481be0ef815362d6a9cd9ea6d479888a5a80b"
"""The time zones: version of the package ``tzdata``, and SHA-256 over its files (``time_zones.py``)."""

FILES = ("glue.js", "pyodide.asm.wasm", "python_stdlib.zip", "lock.json", "snapshot.bin")
"""What a finished set holds."""

FORMAT = 2
"""Changes when ``making.py`` makes something else of the same files."""

_HERE = Path(__file__).parent
GUEST = _HERE / "guest"
SCRIPTS = _HERE.parent / "js" / "python"


@dataclass(frozen=True, slots=True)
class PythonAssets:
    """A finished set, and where its compressed form came with the installed package, if it did."""

    folder: Path
    shipped: Path | None = None

    @property
    def glue(self) -> str:
        """The script that defines ``makePyodide``."""
        return (self.folder / "glue.js").read_text(encoding="utf-8")


@cache
def assets_digest() -> str:
    """Return the name of the set that this version of the package needs."""
    digest = hashlib.sha256(repr((FORMAT, PYODIDE_VERSION, PYODIDE_FILES, TZDATA_FILES)).encode())
    for path in [SCRIPTS / "interpreter.js", SCRIPTS / "make_snapshot.js", *sorted(GUEST.glob("*.py"))]:
        digest.update(f"\0{path.name}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Return the folder of this user's cache in which sets and Pyodide's files are kept."""
    return platformdirs.user_cache_path("codemode-jupyter", appauthor=False)


def assets_folder() -> Path:
    """Return where the set lies, whether or not it is there."""
    return cache_folder() / f"python-{assets_digest()}"


def shipped_assets() -> Path | None:
    """Return the folder in which the installed package brought the set, compressed, or ``None``."""
    return find_shipped(assets_folder().name, FILES)


def find_assets() -> PythonAssets | None:
    """Return the set, or ``None`` where it came with no installation and was not made yet.

    Blocks, half a second the first time: what an installation brings is unpacked into the cache folder then.

    Raises
    ------
    OSError
        The cache folder cannot be written.
    """
    folder, shipped = assets_folder(), shipped_assets()
    if shipped is not None and not is_complete(folder):
        with contextlib.suppress(ValueError), whole_folder(folder, is_complete) as unpacked:
            unpack(shipped, FILES, unpacked)
    return PythonAssets(folder, shipped) if is_complete(folder) else None


def is_complete(folder: Path) -> bool:
    """Tell whether a folder holds a whole set."""
    return all((folder / name).is_file() for name in FILES)
