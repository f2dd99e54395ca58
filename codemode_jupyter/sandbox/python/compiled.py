"""The sandbox's own package in compiled form, where a tool that compiles for the sandbox's Python is at hand.

Owns: the call of pyodide-build's ``py-compile``, and the check that what it made is for that Python. Never does: need
it: the sources make the same set, in some tenths of a second more.

``py-compile`` compiles with the Python that runs it, so it is of use only where that has the sandbox's version; the
first bytes of a compiled file say so.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

_MAGIC = (3627).to_bytes(2, "little") + b"\r\n"
"""How files begin that CPython 3.14 has compiled (its ``Include/internal/pycore_magic_number.h``)."""

_SECONDS = 60.0


def compile_package(package: Path, folder: Path) -> Path:
    """Return the folder with the compiled files of a package, below ``folder``; else the package's own folder.

    Parameters
    ----------
    package : Path
        A folder of modules, without packages in it.
    folder : Path
        An empty folder to work in.

    Raises
    ------
    OSError
        A file cannot be read or written.
    """
    command = _py_compile()
    if command is None:
        return package
    archive = folder / "package.zip"
    with zipfile.ZipFile(archive, "w") as sources:
        for path in sorted(package.glob("*.py")):
            sources.write(path, f"{package.name}/{path.name}")
    try:
        subprocess.run(  # noqa: S603  the tool of the user's own environment, on files of ours
            [*command, "--silent", str(archive)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return package
    with zipfile.ZipFile(archive) as compiled:  # it has taken the place of the other
        files = {name: compiled.read(name) for name in compiled.namelist() if name.endswith(".pyc")}
        if not files or not all(data.startswith(_MAGIC) for data in files.values()):
            return package
        compiled.extractall(folder, files)
    return folder / package.name


def _py_compile() -> list[str] | None:
    """Return the command: of pyodide-build in this environment, else of the one on the path."""
    if find_spec("pyodide_build") and find_spec("pyodide_cli"):
        return [sys.executable, "-m", "pyodide_cli", "py-compile"]
    found = shutil.which("pyodide")
    return None if found is None else [found, "py-compile"]
