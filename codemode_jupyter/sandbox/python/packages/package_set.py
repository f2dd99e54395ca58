"""The packages of one runtime: what the user named, and what came of it.

Owns: resolving when a program first needs them, one at a time, and handing out their files. Never does: block the event
loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from codemode_jupyter.sandbox.protocol import PackageFile
from codemode_jupyter.sandbox.python.packages.archive import Archive
from codemode_jupyter.sandbox.python.packages.package import Package

if TYPE_CHECKING:
    from codemode_jupyter.sandbox.python.packages.distribution import Distribution
    from codemode_jupyter.sandbox.python.packages.resolution import Resolver
    from codemode_jupyter.sandbox.python.packages.wanted import Wanted

_T = TypeVar("_T")


class PackageSet:
    """Packages that a runtime's Python programs may import.

    Parameters
    ----------
    packages : iterable of str or path
        Requirements in the form of PEP 508, folders of projects, wheels.
    distribution : str, path or None
        A Pyodide distribution for what no index has.

    Raises
    ------
    CodemodeError
        ``invalid_package``, ``package_not_found``, ``invalid_distribution``. Nothing is fetched yet.
    """

    def __init__(self, packages: Iterable[object] = (), distribution: object = None) -> None:
        self._wanted: tuple[Wanted, ...] = ()
        self._distribution: Distribution | None = None
        if distribution is not None:
            # Not above: what it imports takes longer than the rest of a runtime, and most runtimes have no packages.
            from codemode_jupyter.sandbox.python.packages.distribution import Distribution  # noqa: PLC0415

            self._distribution = Distribution(distribution)
        if packages != ():
            from codemode_jupyter.sandbox.python.packages.wanted import read_wanted  # noqa: PLC0415  as above

            self._wanted = read_wanted(packages)
        self._archive = Archive()
        self._lock = asyncio.Lock()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what the user named, in that order; without versions and paths."""
        return tuple(one.name for one in self._wanted)

    async def resolved(self, *, update: bool = False) -> tuple[Package, ...]:
        """Return the packages with all that they depend on, by name; some seconds the first time.

        Raises
        ------
        CodemodeError
            One of them cannot be had; says why and what to do.
        """
        if not self._wanted:
            return ()
        return await self._working(lambda resolver: resolver.resolve(update=update))

    async def files(self, packages: Sequence[Package]) -> tuple[PackageFile, ...]:
        """Return the files of packages, the very same bytes that were recorded.

        Raises
        ------
        CodemodeError
            ``package_gone``, and what fetching them again may raise.
        """
        if not packages:
            return ()
        return await self._working(
            lambda resolver: tuple(
                PackageFile(one.name, one.sha256, str(resolver.fetch(one)), one.place) for one in packages
            )
        )

    async def _working(self, work: Callable[[Resolver], _T]) -> _T:
        from codemode_jupyter.sandbox.python.packages.commands import Commands  # noqa: PLC0415  as above
        from codemode_jupyter.sandbox.python.packages.resolution import Resolver  # noqa: PLC0415  as above

        async with self._lock:
            commands = Commands()
            resolver = Resolver(self._wanted, self._distribution, self._archive, commands)
            running: Awaitable[_T] = asyncio.to_thread(work, resolver)
            try:
                return await running
            except asyncio.CancelledError:
                commands.stop()
                raise
