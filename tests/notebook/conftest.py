"""Fixtures: a real IPython shell with the extension, in this process and without a kernel."""

import asyncio

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from codemode_jupyter.notebook.extension import load_ipython_extension, unload_ipython_extension
from codemode_jupyter.runtime.runtime import Runtime
from tests.runtime.fake_sandbox import FakeExecutor
from tests.runtime.shelf import Shelf


@pytest.fixture
def bare_shell(tmp_path, monkeypatch):
    """A real IPython shell, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    config = Config()
    config.HistoryManager.enabled = False
    InteractiveShell.clear_instance()
    yield InteractiveShell.instance(config=config)
    InteractiveShell.clear_instance()


@pytest.fixture
def shell(bare_shell):
    """The shell with the extension loaded."""
    load_ipython_extension(bare_shell)
    yield bare_shell
    unload_ipython_extension(bare_shell)


class Bench:
    """A shell whose ``runtime`` runs programs written as coroutine functions, with the shelf as its connector."""

    def __init__(self, shell, folder):
        self.shell = shell
        self.folder = folder
        self.sandbox = FakeExecutor()
        self.shelf = Shelf()
        self.variables = shell.user_ns
        self.variables["runtime"] = self.another("default")

    def another(self, name):
        return Runtime([self.shelf], executor=self.sandbox, name=name, path=self.folder / "log.sqlite3")

    def cell(self, program, options=""):
        """Return the cell that runs ``program``."""
        return f"%%codemode {options}\n{self.sandbox.program(program)}\n"

    def run(self, cell):
        """Run a cell that must succeed; return its value."""
        result = self.shell.run_cell(cell, store_history=True)
        result.raise_error()
        return result.result

    def decide_soon(self, operation):
        """Have the next execution that waits decided about by a task in the background, as by a button."""

        def changed(execution_id):
            tasks.append(asyncio.ensure_future(decide(execution_id)))

        async def decide(execution_id):
            if await runtime.pending(execution_id):
                await getattr(runtime, operation)(execution_id)

        tasks = []
        runtime = self.variables["runtime"]
        runtime.subscribe(changed)

    def fails(self, cell):
        """Run a cell that must fail; return what it raised."""
        result = self.shell.run_cell(cell, store_history=True)
        assert not result.success
        return result.error_in_exec


@pytest.fixture
def bench(shell, tmp_path):
    """A shell with a runtime on a fake sandbox."""
    return Bench(shell, tmp_path)
