"""From what the user named to packages with a version and a digest, and from those back to their bytes.

Owns: the order of the work, which happens in a thread. Never does: the work: pip resolves and fetches, ``projects.py``
builds, ``distribution.py`` has what no index has, ``archive.py`` keeps.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.python.packages.archive import Archive, key_of, sha256_of
from codemode_jupyter.sandbox.python.packages.commands import Commands
from codemode_jupyter.sandbox.python.packages.distribution import Distribution
from codemode_jupyter.sandbox.python.packages.package import Origin, Package
from codemode_jupyter.sandbox.python.packages.pip import Pip
from codemode_jupyter.sandbox.python.packages.projects import Builder, project_digest, wheel_package
from codemode_jupyter.sandbox.python.packages.target import PLATFORMS
from codemode_jupyter.sandbox.python.packages.wanted import Wanted

FORMAT = 1
"""Changes when the same names are to be resolved anew."""


@dataclass(frozen=True, slots=True)
class Resolver:
    """Resolves one list of what was named."""

    wanted: tuple[Wanted, ...]
    distribution: Distribution | None
    archive: Archive
    commands: Commands

    def resolve(self, *, update: bool = False) -> tuple[Package, ...]:
        """Return the packages, by name: as they were resolved before, unless ``update``.

        Raises
        ------
        CodemodeError
            A package cannot be had; says why and what to do.
        """
        key = self._key()
        known = None if update else self.archive.read("sets", key)
        if known is not None:
            return known
        with self._working() as folder:
            packages = self._resolved(folder)
        self.archive.write("sets", key, packages)
        return packages

    def fetch(self, package: Package) -> Path:
        """Return the path of the very file of a package, fetched or built again where it is not kept any more.

        Raises
        ------
        CodemodeError
            ``package_gone``: nothing with its digest can be had; ``package_index_unreachable`` …
        """
        path = self.archive.find(package)
        if path is not None:
            return path
        with self._working() as folder:
            found = self._found_again(package, folder)
            if found is not None and sha256_of(found) == package.sha256:
                self.archive.put(found)
        path = self.archive.find(package)
        if path is None:
            raise _gone(package)
        return path

    def _key(self) -> str:
        named = [
            [str(one), project_digest(one.path) if one.is_project else sha256_of(one.path)]
            if one.path is not None
            else [one.requirement]
            for one in self.wanted
        ]
        return key_of(FORMAT, PLATFORMS, named, self.distribution.key if self.distribution else None)

    @contextmanager
    def _working(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="codemode-packages-", ignore_cleanup_errors=True) as folder:
            yield Path(folder)

    def _resolved(self, folder: Path) -> tuple[Package, ...]:
        pip = Pip(self.commands, folder)
        origins: dict[str, Origin] = {}
        requirements = [self._requirement(one, pip, folder, origins) for one in self.wanted]
        links = self._links(folder)
        wheels = folder / "wheels"
        pip.download(requirements, wheels, links)
        packages = [wheel_package(wheel, self.archive, "index") for wheel in wheels.iterdir()]
        packages = [replace(one, origin=origins.get(one.sha256, "index")) for one in packages]
        if self.distribution is not None and links is not None:
            packages = [replace(one, origin="distribution") if self.distribution.has(one) else one for one in packages]
            for library in self.distribution.libraries_of(packages):
                self.archive.put(self.distribution.fetch(library, folder))
                packages.append(library.package())
        return tuple(sorted(packages, key=lambda package: package.name))

    def _requirement(self, wanted: Wanted, pip: Pip, folder: Path, origins: dict[str, Origin]) -> str:
        """Return what pip is told of an entry: a requirement, or the path of a wheel."""
        if wanted.path is None:
            return str(wanted.requirement)
        if wanted.is_project:
            package = Builder(pip, self.commands, self.archive, folder).wheel_of(wanted.path)
        else:
            package = wheel_package(wanted.path, self.archive, "file")
        origins[package.sha256] = package.origin
        path = self.archive.find(package)
        if path is None:
            raise _gone(package)
        return f"{path}{wanted.extras}"

    def _links(self, folder: Path) -> Path | None:
        if self.distribution is None:
            return None
        page = folder / "links.html"
        self.distribution.write_links(page)
        return page

    def _found_again(self, package: Package, folder: Path) -> Path | None:
        if package.origin == "distribution":
            if self.distribution is None or not self.distribution.has(package):
                return None
            return self.distribution.fetch(self.distribution.files[package.name], folder)
        if package.origin == "index":
            pip = Pip(self.commands, folder)
            return folder / package.filename if pip.download_again(package, folder) else None
        if package.origin == "file":
            same = [one.path for one in self.wanted if one.path is not None and one.path.name == package.filename]
            return next((path for path in same if not path.is_dir()), None)
        if package.origin == "project":
            return self._built_again(package, folder)
        return None

    def _built_again(self, package: Package, folder: Path) -> Path | None:
        """Build the named projects; the same files mostly make the same wheel."""
        for one in self.wanted:
            if one.is_project and one.path is not None:
                builder = Builder(Pip(self.commands, folder), self.commands, self.archive, folder)
                if builder.build(one.path).sha256 == package.sha256:
                    return self.archive.find(package)
        return None


def _gone(package: Package) -> CodemodeError:
    ways = {
        "index": "the package index has it no more",
        "project": "the project's folder makes another wheel now, or is not named in `packages` any more",
        "file": "the wheel is not at its path any more",
        "distribution": "no Pyodide distribution that is named in `pyodide_distribution` lists it",
    }
    return CodemodeError(
        "package_gone",
        f"The run began with {package} (SHA-256 {package.sha256[:16]}…), which is not kept on this machine any more, "
        f"and {ways[package.origin]}.",
        hint="It can only go on with the very same bytes. Name or restore the package as it was, or begin a new run.",
        data={"package": package.name, "version": package.version, "sha256": package.sha256},
    )
