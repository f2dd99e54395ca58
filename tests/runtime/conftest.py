"""Every test of the runtime that takes ``world`` runs in each mode of ``MODES``.

Results must not differ between them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from codemode_jupyter.runtime.runtime import Runtime
from codemode_jupyter.runtime.store.database import Database
from tests.runtime.fake_sandbox import FakeExecutor
from tests.runtime.shelf import Shelf

MODES = ("normal", "after each outcome", "after each batch", "reopened")


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commit without waiting for the disk: that only matters for a power cut, which no test makes."""

    def off(self: Database, *, full: bool) -> None:
        self._connection.execute("PRAGMA synchronous = OFF")

    monkeypatch.setattr(Database, "_set_synchronous", off)


class World:
    """A runtime on a fake sandbox over one file, and the connector it calls."""

    def __init__(self, mode: str, path: Path) -> None:
        self.mode = mode
        self.path = path
        self.shelf = Shelf()
        self.sandbox = FakeExecutor("never" if mode in ("normal", "reopened") else mode)  # type: ignore[arg-type]
        self._runtime: Runtime | None = None
        self._made: list[Runtime] = []
        self.options: dict[str, Any] = {}

    @property
    def runtime(self) -> Runtime:
        """The runtime; in mode ``reopened`` a new one on the same file at each look."""
        if self._runtime is None or self.mode == "reopened":
            self._runtime = self.another()
        return self._runtime

    def another(self, **options: Any) -> Runtime:
        """A further runtime on the same file."""
        settings = {"connectors": [self.shelf], "executor": self.sandbox, "path": self.path, **self.options, **options}
        self._made.append(runtime := Runtime(**settings))
        return runtime

    async def execute(self, program: Any, **options: Any) -> Any:
        return await self.runtime.execute(self.sandbox.program(program), **options)

    async def close(self) -> None:
        for runtime in self._made:
            await runtime.close()


@pytest.fixture(params=MODES)
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    """One world in each mode."""
    made = World(request.param, tmp_path / "store.sqlite3")
    yield made
    await made.close()
