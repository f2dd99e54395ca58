"""What the user named: requirements, local projects and wheels. Programs have no say in it.

Owns: telling them apart, and refusing what is none of them (options of pip, addresses). Never does: fetch or build.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.python.packages.commands import shown

_HINT = 'Write a name as pip takes it ("humanize", "humanize>=4"), or the path of a project or a wheel ("./mylib").'
_EXTRAS = re.compile(r"(?P<path>.+?)\s*(?P<extras>\[[A-Za-z0-9._,\s-]*\])")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")


@dataclass(frozen=True, slots=True)
class Wanted:
    """One entry: ``requirement`` in the form of PEP 508, or the ``path`` of a project's folder or of a wheel.

    ``extras`` are those of a path, in brackets, or empty.
    """

    requirement: str | None = None
    path: Path | None = None
    extras: str = ""

    @property
    def is_project(self) -> bool:
        """Whether it is a folder that a wheel is built of."""
        return self.path is not None and self.path.suffix != ".whl"

    @property
    def name(self) -> str:
        """What it is called, for people and models: never the path."""
        if self.path is None:
            return Requirement(str(self.requirement)).name
        if self.is_project:
            return _project_name(self.path)
        return self.path.name.split("-")[0]

    def __str__(self) -> str:
        return self.requirement or f"{self.path}{self.extras}"


def read_wanted(packages: Iterable[object]) -> tuple[Wanted, ...]:
    """Return what was named, with paths made absolute from the working directory.

    Raises
    ------
    CodemodeError
        ``invalid_package``: neither a requirement nor a path; ``package_not_found``: nothing to install is there.
    """
    if isinstance(packages, str | os.PathLike) or not isinstance(packages, Iterable):
        hint = 'Write packages=["humanize", "./mylib"].'
        raise CodemodeError("invalid_package", f"`packages` is {packages!r:.100}, not a list.", hint=hint)
    return tuple(_read(entry) for entry in packages)


def _read(entry: object) -> Wanted:
    if isinstance(entry, os.PathLike):
        return _path(os.fspath(entry))
    if not isinstance(entry, str) or not entry.strip() or not entry.isprintable():
        raise CodemodeError("invalid_package", f"{entry!r:.100} names no package.", hint=_HINT)
    text = entry.strip()
    if text.startswith("-"):
        hint = "Indexes and other options of pip are set in its own configuration. " + _HINT
        raise CodemodeError("invalid_package", f"{shown(text)!r:.100} is an option, not a package.", hint=hint)
    if _looks_like_a_path(text):
        return _path(text)
    try:
        requirement = Requirement(text)
    except InvalidRequirement as fault:
        reason = str(fault).splitlines()[0]
        raise CodemodeError(
            "invalid_package", f"{shown(text)!r:.100} names no package: {reason}.", hint=_HINT
        ) from None
    if requirement.url is not None:
        raise _address(requirement.name)
    return Wanted(str(requirement))


def _project_name(folder: Path) -> str:
    """Return the name that a project gives itself, else its folder's."""
    try:
        told = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"]
    except (OSError, ValueError, KeyError, TypeError):
        return folder.name
    return told if isinstance(told, str) else folder.name


def _looks_like_a_path(text: str) -> bool:
    if _SCHEME.search(text):
        before = text.split("://", maxsplit=1)[0]
        if "@" in before:
            return False  # a requirement with an address, which is refused as one
        raise _address(f"{before}://…")
    name = text.split(";", maxsplit=1)[0]
    return name.startswith((".", "~")) or "/" in name or os.sep in name or name.endswith(".whl")


def _address(what: str) -> CodemodeError:
    hint = "Download it yourself and give its path, or have it in the package index that pip is configured for."
    return CodemodeError("invalid_package", f"{what!r:.100} is to come from an address.", hint=hint)


def _path(text: str) -> Wanted:
    with_extras = _EXTRAS.fullmatch(text)
    extras = "" if with_extras is None or Path(text).exists() else with_extras["extras"].replace(" ", "")
    path = Path(text if not extras or with_extras is None else with_extras["path"]).expanduser().absolute()
    if path.suffix == ".whl" and path.is_file():
        return Wanted(path=path, extras=extras)
    if any((path / name).is_file() for name in _PROJECT_FILES):
        return Wanted(path=path, extras=extras)
    raise CodemodeError(
        "package_not_found",
        f"There is no Python project and no wheel at {str(path)!r}.",
        hint="A project's folder holds a pyproject.toml (or a setup.py). Paths begin at the working directory.",
    )
