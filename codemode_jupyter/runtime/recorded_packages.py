"""The packages of one execution: recorded when it first needs Python, and the very same in every pass after that.

Owns: what an execution's row says of packages. Never does: resolve or fetch; ``PackageSet`` does. Which packages those
are is the user's word alone: nothing that a program says comes here.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.log import not_owner
from codemode_jupyter.runtime.store import Store
from codemode_jupyter.runtime.store.rows import ExecutionRow
from codemode_jupyter.sandbox.protocol import PackageFile
from codemode_jupyter.sandbox.python.packages.package import Package, packages_text, read_packages
from codemode_jupyter.sandbox.python.packages.package_set import PackageSet


class RecordedPackages:
    """The packages of an execution that this process drives."""

    def __init__(self, store: Store, row: ExecutionRow, owner: str, packages: PackageSet) -> None:
        self._store = store
        self._row = row
        self._owner = owner
        self._packages = packages

    async def files(self, tell: Callable[[str], None]) -> tuple[PackageFile, ...]:
        """Return the files for a pass; ``tell`` hears what takes its time.

        Raises
        ------
        CodemodeError
            Packages cannot be had; says why and what to do.
        """
        if self._row.packages is None:
            if self._packages.names:
                tell(f"Fetching packages: {', '.join(self._packages.names)[:200]}")
            self._record(packages_text(await self._packages.resolved()))
        return await self._packages.files(read_packages(self._row.packages or "[]"))

    def _record(self, text: str) -> None:
        with self._store.transaction() as connection:
            if not self._store.executions.beat(connection, self._row.id, self._owner, time.time()):
                raise not_owner(self._row.id)
            self._store.executions.update(connection, self._row.id, ("running",), packages=text)
        self._row.packages = text


def packages_of(row: ExecutionRow) -> tuple[Package, ...]:
    """Return the recorded packages; none where they cannot be read, so that one bad row spoils no list."""
    try:
        return read_packages(row.packages or "[]")
    except CodemodeError:
        return ()
