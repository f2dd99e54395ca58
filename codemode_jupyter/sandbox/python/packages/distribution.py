"""A Pyodide distribution: a folder or an address with compiled packages and a ``pyodide-lock.json`` that lists them.

Owns: reading the list, and the files that it names, each checked against the SHA-256 that stands there. Never does: let
the sandbox reach it: the network is the kernel's. The list's form is that of Pyodide's ``pyodide-lock``.
"""

from __future__ import annotations

import html
import json
import os
import shutil
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from functools import cached_property
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any

from packaging.utils import canonicalize_name

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.python.packages.archive import sha256_of
from codemode_jupyter.sandbox.python.packages.package import Package, Place, is_filename, is_sha256
from codemode_jupyter.sandbox.python.packages.target import ABI_VERSION, PYTHON, fits

LOCK_NAME = "pyodide-lock.json"
MAX_LOCK_BYTES = 20_000_000
_SECONDS = 60.0
_LOCAL = ("127.0.0.1", "localhost", "::1")
_HINT = f"Name the folder, or the https address, that holds its {LOCK_NAME}."


@dataclass(frozen=True, slots=True)
class Listed:
    """One file of a distribution. ``address`` is absolute."""

    name: str
    version: str
    filename: str
    address: str
    sha256: str
    place: Place
    depends: tuple[str, ...]
    is_wheel: bool

    def package(self) -> Package:
        """Return the record of it."""
        return Package(self.name, self.version, self.sha256, self.filename, "distribution", self.place)


class Distribution:
    """A distribution that the user named.

    Parameters
    ----------
    location : str or path
        A folder, or an address that begins with ``https://`` (``http://`` on this machine alone).

    Raises
    ------
    CodemodeError
        ``invalid_distribution``
    """

    def __init__(self, location: object) -> None:
        if not isinstance(location, str | os.PathLike) or not os.fspath(location):
            raise CodemodeError("invalid_distribution", f"`pyodide_distribution` is {location!r:.100}.", hint=_HINT)
        text = os.fspath(location)
        if "://" in str(text):
            self.base = _checked_address(str(text).removesuffix(LOCK_NAME).rstrip("/") + "/")
        else:
            folder = Path(text).expanduser().absolute()
            folder = folder.parent if folder.name == LOCK_NAME else folder
            if not (folder / LOCK_NAME).is_file():
                raise CodemodeError("invalid_distribution", f"There is no {LOCK_NAME} in {str(folder)!r}.", hint=_HINT)
            self.base = folder.as_uri() + "/"

    @property
    def key(self) -> str:
        """What tells this distribution from others: its address, or the digest of a folder's list."""
        if self.base.startswith("file:"):
            return sha256_of(_path_of(self.base + LOCK_NAME))
        return self.base

    @cached_property
    def files(self) -> dict[str, Listed]:
        """The listed files by package name.

        Raises
        ------
        CodemodeError
            ``invalid_distribution``, ``distribution_unreachable``
        """
        try:
            with _open(self.base + LOCK_NAME) as stream:
                text = stream.read(MAX_LOCK_BYTES + 1)
            lock = json.loads(text[:MAX_LOCK_BYTES])  # one that is larger ends in its middle
            _check_fit(lock["info"])
            listed = [self._listed(entry) for entry in lock["packages"].values()]
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise _invalid(f"its {LOCK_NAME} cannot be read: {error!r:.200}") from None
        return {entry.name: entry for entry in listed}

    def write_links(self, page: Path) -> None:
        """Write a page with a link to each wheel that fits, with its digest, for pip to choose from."""
        links = [
            f'<a href="{html.escape(entry.address)}#sha256={entry.sha256}">{html.escape(entry.filename)}</a>'
            for entry in self.files.values()
            if entry.is_wheel and fits(entry.filename)
        ]
        page.write_text("<!DOCTYPE html><html><body>\n" + "<br>\n".join(links) + "\n</body></html>\n", encoding="utf-8")

    def libraries_of(self, packages: list[Package]) -> list[Listed]:
        """Return the shared libraries that packages of this distribution load, which no wheel says it needs."""
        found: dict[str, Listed] = {}
        waiting = [package.name for package in packages if self.has(package)]
        while waiting:
            for name in self.files[waiting.pop()].depends:
                entry = self.files.get(name)
                if entry is not None and not entry.is_wheel and name not in found:
                    found[name] = entry
                    waiting.append(name)
        return [found[name] for name in sorted(found)]

    def has(self, package: Package) -> bool:
        """Tell whether it lists the very file."""
        entry = self.files.get(package.name)
        return entry is not None and entry.sha256 == package.sha256

    def fetch(self, entry: Listed, target: Path) -> Path:
        """Put a file into a folder, checked against its digest.

        Raises
        ------
        CodemodeError
            ``distribution_unreachable``, ``package_hash_mismatch``
        """
        path = target / entry.filename
        with _open(entry.address) as stream, path.open("wb") as file:
            try:
                shutil.copyfileobj(stream, file)
            except (OSError, HTTPException) as error:
                raise _unreachable(entry.filename, error) from error
        if sha256_of(path) != entry.sha256:
            raise CodemodeError(
                "package_hash_mismatch",
                f"{entry.filename} of the Pyodide distribution is not what its {LOCK_NAME} says (its SHA-256 differs).",
                hint="It may be damaged, or was changed. Nothing of it is used.",
            )
        return path

    def _listed(self, entry: dict[str, Any]) -> Listed:
        address = urllib.parse.urljoin(self.base, entry["file_name"])
        if not address.startswith(self.base):  # elsewhere, never on this machine's disk
            address = _checked_address(address)
        filename = urllib.parse.unquote(address.rpartition("/")[2])
        if not is_filename(filename) or not is_sha256(entry["sha256"]):
            raise ValueError(entry)
        return Listed(
            str(canonicalize_name(entry["name"])),
            str(entry["version"]),
            filename,
            address,
            entry["sha256"],
            "dynlib" if entry.get("install_dir") == "dynlib" else "site",
            tuple(str(canonicalize_name(name)) for name in entry.get("depends", ())),
            filename.endswith(".whl") and entry.get("package_type", "package") == "package",
        )


def _check_fit(info: dict[str, Any]) -> None:
    python = tuple(int(part) for part in str(info["python"]).split(".")[:2])
    if info.get("abi_version") != ABI_VERSION or python != PYTHON:
        raise _invalid(
            f"it is for Python {info['python']} and ABI {info.get('abi_version')}, "
            f"not for Python {PYTHON[0]}.{PYTHON[1]} and ABI {ABI_VERSION} as the sandbox has them"
        )


def _checked_address(address: str) -> str:
    parts = urllib.parse.urlsplit(address)
    if parts.username is not None or parts.password is not None:
        raise _invalid("its address holds a name or a password")
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOCAL):
        raise _invalid("its address is not one of https")
    return address


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to https alone: what the list says is believed because of how it came."""

    def redirect_request(self, *args: Any) -> Any:
        """Return the request that a redirect asks for; its address is the last argument."""
        _checked_address(args[-1])
        return super().redirect_request(*args)


def _open(address: str) -> IO[bytes]:
    try:
        if address.startswith("file:"):
            return _path_of(address).open("rb")
        opener = urllib.request.build_opener(_SafeRedirects)
        return opener.open(address, timeout=_SECONDS)  # type: ignore[no-any-return]  # https, checked above
    except (OSError, HTTPException, urllib.error.URLError) as error:
        raise _unreachable(address.rpartition("/")[2], error) from error


def _path_of(address: str) -> Path:
    return Path(urllib.request.url2pathname(urllib.parse.urlsplit(address).path))


def _invalid(why: str) -> CodemodeError:
    return CodemodeError("invalid_distribution", f"The Pyodide distribution cannot be used: {why}.", hint=_HINT)


def _unreachable(what: str, error: Exception) -> CodemodeError:
    reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or type(error).__name__
    return CodemodeError(
        "distribution_unreachable",
        f"{what} of the Pyodide distribution cannot be had: {reason!s:.200}.",
        hint="The kernel reads it, the first time only.",
    )
