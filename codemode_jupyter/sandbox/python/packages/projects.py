"""Wheels of local projects: built once for each state of their files.

Owns: which files make a project, building by pip, and by pyodide-build where the project has compiled code. Never does:
build anything but what the user named. A build runs the project's own code on the kernel's side, as pip always does.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from packaging.utils import parse_wheel_filename

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.python.packages.archive import Archive, sha256_of
from codemode_jupyter.sandbox.python.packages.commands import Commands, Done
from codemode_jupyter.sandbox.python.packages.package import Origin, Package
from codemode_jupyter.sandbox.python.packages.pip import DOWNLOAD_SECONDS, Pip
from codemode_jupyter.sandbox.python.packages.target import DESCRIBED, PYTHON, fits

_LEFT_BEHIND = ("__pycache__", "node_modules")
"""Folders of what tools leave behind. Hidden ones, virtual environments and ``*.egg-info`` are left out as well."""

_BUILT = ("build", "dist")
"""The same, at the top of a project."""


def project_digest(project: Path) -> str:
    """Return the SHA-256 of a project's files with their names.

    Raises
    ------
    CodemodeError
        ``package_not_found``: they cannot be read.
    """
    digest = hashlib.sha256()
    try:
        for path in _source_files(project):
            status = path.stat()
            digest.update(f"\0{path.relative_to(project).as_posix()}\0".encode("utf-8", "surrogateescape"))
            digest.update(_digest_of(path, status.st_size, status.st_mtime_ns).encode())
    except OSError as error:
        raise CodemodeError("package_not_found", f"The project at {str(project)!r} cannot be read: {error}.") from None
    return digest.hexdigest()


@lru_cache(maxsize=100_000)
def _digest_of(path: Path, size: int, changed: int) -> str:  # noqa: ARG001  another size or time, another content
    return sha256_of(path)


def _source_files(project: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(project):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in (_LEFT_BEHIND if Path(folder) != project else (*_LEFT_BEHIND, *_BUILT))
            and not name.endswith(".egg-info")
            and not (Path(folder) / name / "pyvenv.cfg").exists()
        )
        for name in sorted(files):
            if not name.endswith((".pyc", ".pyo")) and (path := Path(folder) / name).is_file():
                yield path


def wheel_package(wheel: Path, archive: Archive, origin: Origin) -> Package:
    """Keep a wheel and return its record.

    Raises
    ------
    CodemodeError
        ``package_other_platform``: the sandbox's Python cannot import it.
    """
    if not fits(wheel.name):
        raise CodemodeError(
            "package_other_platform",
            f"The wheel {wheel.name} is not for the sandbox's Python ({DESCRIBED}).",
            hint="A wheel of pure Python (py3-none-any) fits, and one that pyodide-build has built.",
        )
    name, version, _, _ = parse_wheel_filename(wheel.name)
    return Package(str(name), str(version), archive.put(wheel), wheel.name, origin)


class Builder:
    """Builds wheels of projects in a folder of its own."""

    def __init__(self, pip: Pip, commands: Commands, archive: Archive, folder: Path) -> None:
        self._pip = pip
        self._commands = commands
        self._archive = archive
        self._folder = folder

    def wheel_of(self, project: Path) -> Package:
        """Return the wheel of a project, built now or, of the same files, before.

        Raises
        ------
        CodemodeError
            ``package_build_failed``, ``package_index_unreachable``, ``package_needs_build``, ``package_not_found``
        """
        key = project_digest(project)
        known = self._archive.read("projects", key)
        if known is not None:
            return known[0]
        package = self.build(project)
        self._archive.write("projects", key, [package])
        return package

    def build(self, project: Path) -> Package:
        """Build a project's wheel, whatever was built before."""
        target = self._folder / "built"
        done = self._pip.build(project, target)
        wheel = _only_wheel(project, target, done)
        if not fits(wheel.name):
            wheel = self._compile(project, wheel)
        return wheel_package(wheel, self._archive, "project")

    def _compile(self, project: Path, native: Path) -> Path:
        if sys.version_info[:2] != PYTHON or find_spec("pyodide_build") is None:
            here = f"{sys.version_info[0]}.{sys.version_info[1]}"
            raise CodemodeError(
                "package_needs_build",
                f"The project at {str(project)!r} has compiled code (its wheel here is {native.name}), which has to be "
                f"compiled for the sandbox's Python by pyodide-build.",
                hint=f"That works in a kernel of CPython {PYTHON[0]}.{PYTHON[1]} (this one is {here}) with "
                "`pip install 'codemode-jupyter[build]'`; pyodide-build fetches Emscripten itself. Or build the wheel "
                "elsewhere with `pyodide build` and give its path.",
            )
        target = self._folder / "compiled"
        arguments = ["-m", "pyodide_cli", "build", str(project), f"--outdir={target}"]
        done = self._commands.run(arguments, self._folder, 3 * DOWNLOAD_SECONDS)
        return _only_wheel(project, target, done)


def _reason(done: Done) -> str:
    """Return the last words of the build itself, which pip puts between two marks."""
    _, _, output = done.text.rpartition("lines of output]")
    output, mark, _ = output.partition("[end of output]")
    return Done(done.code, output if mark else done.text).last_lines(2)


def _only_wheel(project: Path, folder: Path, done: Done) -> Path:
    wheels = sorted(folder.glob("*.whl")) if done.code == 0 else []
    if len(wheels) != 1:
        raise CodemodeError(
            "package_build_failed",
            f"No wheel can be built of the project at {str(project)!r}: {_reason(done)}",
            hint=f"`pip wheel --no-deps {project}` in a terminal shows the whole output.",
        )
    return wheels[0]
