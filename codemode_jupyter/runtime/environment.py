"""Where a runtime lives: the one seam between the runtime and the place that hosts it.

A runtime made without an executor or a path asks its environment for them. A plain process has ``ProcessEnvironment``;
the notebook room installs its own when the extension is loaded. The runtime therefore never imports Jupyter.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from weakref import WeakKeyDictionary

from codemode_jupyter.sandbox.deno import DenoExecutor
from codemode_jupyter.sandbox.protocol import Executor

if TYPE_CHECKING:
    from codemode_jupyter.runtime.detached_exit import ExitHook


class Environment(Protocol):
    """What a host offers to the runtimes made in it."""

    def database_path(self) -> Path:
        """Return the SQLite file for runtimes that were not given a path."""

    async def executor(self) -> Executor:
        """Return the executor of a runtime that was not given one.

        Raises
        ------
        CodemodeError
            Code ``no_sandbox``: none can be had here; the message names the fix.
        """

    def exit_hook(self) -> ExitHook | None:
        """Return who hears how detached executions ended where a runtime has no hook; ``None``: nobody."""


class ProcessEnvironment:
    """A plain Python process.

    The file is in the working directory, the sandbox is headless, one for each event loop.
    """

    def __init__(self) -> None:
        self._executors: WeakKeyDictionary[asyncio.AbstractEventLoop, DenoExecutor] = WeakKeyDictionary()

    def database_path(self) -> Path:
        """Return ``codemode.sqlite3`` in the working directory."""
        return Path.cwd() / "codemode.sqlite3"

    def exit_hook(self) -> None:
        """Return ``None``: a plain process has no inbox."""

    async def executor(self) -> Executor:
        """Return the headless executor of this event loop.

        Raises
        ------
        CodemodeError
            Code ``no_sandbox``: the headless sandbox is not installed.
        """
        loop = asyncio.get_running_loop()
        executor = self._executors.get(loop)
        if executor is None or executor.is_closed:  # nest-asyncio2 makes one loop serve many `asyncio.run`
            executor = self._executors[loop] = DenoExecutor()
        return executor


_current: Environment = ProcessEnvironment()


def current_environment() -> Environment:
    """Return the environment that new runtimes use."""
    return _current


def install_environment(environment: Environment | None) -> None:
    """Make ``environment`` the one that new runtimes use; ``None`` goes back to the plain process."""
    global _current  # noqa: PLW0603  one process has one host; this is the only place that says which
    _current = environment or ProcessEnvironment()
