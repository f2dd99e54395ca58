"""One package as it was resolved: what is recorded with an execution, so that every pass of it has the same bytes.

Owns: the record and its reading from what was stored. Never does: files or fetching.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias, get_args

from codemode_jupyter.errors import CodemodeError

Origin: TypeAlias = Literal["index", "project", "file", "distribution"]
"""Where its bytes came from: a package index, a local project, a wheel on disk, a Pyodide distribution."""

Place: TypeAlias = Literal["site", "dynlib"]
"""Where it is unpacked: beside other packages, or beside shared libraries that packages load."""

PACKAGE_CODES = frozenset(
    {
        "distribution_unreachable",
        "invalid_distribution",
        "invalid_package",
        "invalid_record",
        "package_build_failed",
        "package_cache_unwritable",
        "package_conflict",
        "package_failed",
        "package_gone",
        "package_hash_mismatch",
        "package_index_unreachable",
        "package_needs_build",
        "package_no_wheel",
        "package_not_found",
        "package_other_platform",
        "pip_missing",
    }
)
"""Codes of errors that say why packages cannot be had."""

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,200}[a-z0-9])?")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+!_-]{0,100}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_FILENAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+!-]{0,250}")


@dataclass(frozen=True, slots=True)
class Package:
    """A resolved package.

    Attributes
    ----------
    name : str
        Its normalised name.
    version : str
    sha256 : str
        Of its file, 64 hex digits.
    filename : str
        Name of its file: of a wheel, or of a distribution's shared library.
    origin : {"index", "project", "file", "distribution"}
    place : {"site", "dynlib"}
    """

    name: str
    version: str
    sha256: str
    filename: str
    origin: Origin = "index"
    place: Place = "site"

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def packages_text(packages: Iterable[Package]) -> str:
    """Return packages as the JSON text that is stored."""
    return json.dumps([asdict(package) for package in packages])


def read_packages(text: str) -> tuple[Package, ...]:
    """Return what was stored.

    Raises
    ------
    CodemodeError
        ``invalid_record``: it is not what ``packages_text`` writes. What is fetched or read depends on it.
    """
    try:
        return tuple(_read(entry) for entry in json.loads(text))
    except (ValueError, TypeError, KeyError) as error:
        raise CodemodeError("invalid_record", f"The recorded packages cannot be read: {error!r:.200}.") from None


def is_filename(text: str) -> bool:
    """Tell whether a text can be the name of a package's file, and leads to no other folder."""
    return _FILENAME.fullmatch(text) is not None


def is_sha256(text: object) -> bool:
    """Tell whether a text is a SHA-256 in hexadecimal digits."""
    return isinstance(text, str) and _SHA256.fullmatch(text) is not None


def _read(entry: Any) -> Package:
    package = Package(**entry)
    if (
        not _NAME.fullmatch(package.name)
        or not _VERSION.fullmatch(package.version)
        or not is_sha256(package.sha256)
        or not is_filename(package.filename)
        or package.origin not in get_args(Origin)
        or package.place not in get_args(Place)
    ):
        raise ValueError(entry)
    return package
