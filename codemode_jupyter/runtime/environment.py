"""Where a runtime lives: the one seam between the runtime and the place that hosts it.

A runtime made without an executor or a path asks its environment for them. A plain process has ``ProcessEnvironment``;
the notebook room installs its own when the extension is loaded. The runtime therefore never imports Jupyter.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.protocol import Executor


class Environment(Protocol):
    """What a host offers to the runtimes made in it."""

    def database_path(self) -> Path:
        """Return the SQLite file for runtimes that were not given a path."""

    async def executor(self) -> Executor:
        """Return the executor for a runtime that was not given one.

        Raises
        ------
        CodemodeError
            Code ``no_sandbox``: none can be had here; the message names the fix.
        """


class ProcessEnvironment:
    """A plain Python process: the file is in the working directory, the sandbox is headless."""

    def database_path(self) -> Path:
        """Return ``codemode.sqlite3`` in the working directory."""
        return Path.cwd() / "codemode.sqlite3"

    async def executor(self) -> Executor:
        """Return a headless executor.

        Raises
        ------
        CodemodeError
            Code ``no_sandbox``: the headless sandbox is not installed.
        """
        raise CodemodeError(
            "no_sandbox",
            "There is no page to run the program in, and the headless sandbox is not installed.",
            hint="Run `pip install 'codemode-jupyter[headless]'`, "
            "or open the notebook in JupyterLab and `%load_ext codemode_jupyter`.",
        )


_current: Environment = ProcessEnvironment()


def current_environment() -> Environment:
    """Return the environment that new runtimes use."""
    return _current


def install_environment(environment: Environment | None) -> None:
    """Make ``environment`` the one that new runtimes use; ``None`` goes back to the plain process."""
    global _current  # noqa: PLW0603  one process has one host; this is the only place that says which
    _current = environment or ProcessEnvironment()
