"""Loading changes the shell once, costs little, and unloading takes everything back."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from codemode_jupyter.notebook.environment import NotebookEnvironment
from codemode_jupyter.notebook.extension import load_ipython_extension, unload_ipython_extension
from codemode_jupyter.runtime.environment import ProcessEnvironment, current_environment
from codemode_jupyter.sandbox.deno import find_deno
from tests.kernels import kernel6_python, write_kernel_spec
from tests.notebook.real_kernel import running_kernel

SUM = "%%codemode -o found\nconst n = 40;\nreturn n + 2;\n"
needs_deno = pytest.mark.skipif(find_deno() is None, reason="the headless sandbox is not installed")


def state(shell):
    return {
        "cleanup": list(shell.input_transformer_manager.cleanup_transforms),
        "post": list(shell.input_transformers_post),
        "cell": shell.find_cell_magic("codemode"),
        "line": shell.find_line_magic("codemode"),
        "formatters": dict(shell.display_formatter.ipython_display_formatter.type_printers),
        "deferred": dict(shell.display_formatter.ipython_display_formatter.deferred_printers),
        "callbacks": {name: list(functions) for name, functions in shell.events.callbacks.items()},
    }


def test_unloading_takes_everything_back(bare_shell):
    before = state(bare_shell)
    bare_shell.run_line_magic("load_ext", "codemode_jupyter")
    assert bare_shell.find_cell_magic("codemode")
    assert isinstance(current_environment(), NotebookEnvironment)
    bare_shell.run_line_magic("unload_ext", "codemode_jupyter")
    assert state(bare_shell) == before
    assert isinstance(current_environment(), ProcessEnvironment)


def test_unloading_after_use_takes_everything_back(bench, capsys):
    async def program(_):
        return 1

    cell = bench.cell(program)
    bench.run(cell)
    bench.run("_")
    unload_ipython_extension(bench.shell)
    assert bench.shell.find_cell_magic("codemode") is None
    assert not bench.shell.run_cell(cell).success
    assert "Outcome" not in str(bench.shell.display_formatter.ipython_display_formatter.type_printers)
    load_ipython_extension(bench.shell)
    assert bench.run(cell).status == "completed"


def test_loading_twice_is_loading_once(shell):
    before = state(shell)
    load_ipython_extension(shell)
    assert state(shell) == before


def test_reloading_works(bare_shell):
    bare_shell.run_line_magic("load_ext", "codemode_jupyter")
    bare_shell.run_line_magic("reload_ext", "codemode_jupyter")
    assert len([t for t in bare_shell.input_transformers_post if "codemode" in type(t).__module__]) == 1
    bare_shell.run_line_magic("unload_ext", "codemode_jupyter")


def test_unloading_what_is_not_loaded_does_nothing(bare_shell):
    before = state(bare_shell)
    unload_ipython_extension(bare_shell)
    assert state(bare_shell) == before


def test_loading_imports_nothing_that_is_needed_only_later():
    script = (
        "import sys\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "InteractiveShell.instance().run_line_magic('load_ext', 'codemode_jupyter')\n"
        "later = {'ipywidgets', 'anywidget', 'pydantic', 'tree_sitter', 'codemode_jupyter.runtime.runtime'}\n"
        "print(sorted(later & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_tells_the_options(shell, capsys):
    shell.run_cell("%%codemode?")
    shell.run_cell("%codemode?")
    printed = capsys.readouterr().out
    for word in ["--runtime", "--output", "--wait", "-l LANGUAGE", "%codemode help"]:
        assert word in printed


@needs_deno
def test_ipython_runs_a_cell_without_a_kernel(tmp_path):
    script = tmp_path / "cells.ipy"
    script.write_text("%load_ext codemode_jupyter\nget_ipython().run_cell('''" + SUM + "''')\nprint('FOUND', found)\n")
    command = [sys.executable, "-m", "IPython", "--no-banner", "--colors=nocolor", str(script)]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "IPYTHONDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "FOUND 42" in done.stdout, done.stdout + done.stderr
    assert "Completed" in done.stdout
    assert (tmp_path / "codemode.sqlite3").exists()


def python_of(which):
    if which == "newest":
        return sys.executable
    python = kernel6_python()
    if python is None:
        pytest.skip("`python tests/kernels.py` has not made the kernel with ipykernel 6")
    return python


@pytest.fixture(params=["newest", "ipykernel 6"])
def kernel(request, tmp_path):
    with running_kernel(tmp_path, python_of(request.param)) as running:
        yield running


@needs_deno
def test_a_kernel_without_a_page_uses_the_headless_sandbox(kernel):
    assert kernel.run("%load_ext codemode_jupyter", allow_stdin=False).status == "ok"
    ended = kernel.run(SUM, allow_stdin=False)
    assert ended.status == "ok", ended
    assert kernel.run("found", allow_stdin=False).result == "42"


@needs_deno
def test_a_page_that_does_not_come_is_waited_for_long_only_once(kernel):
    kernel.run("%load_ext codemode_jupyter\nfrom codemode_jupyter.notebook import environment\nimport time")
    kernel.run("environment.LONG_WAIT, environment.SHORT_WAIT = 2.0, 0.2; began = time.monotonic()")
    assert kernel.run(SUM).status == "ok"
    assert kernel.run("2.0 < time.monotonic() - began", allow_stdin=False).result == "True"
    kernel.run("began = time.monotonic()")
    assert kernel.run(SUM).status == "ok"
    assert kernel.run("time.monotonic() - began < 2.0", allow_stdin=False).result == "True"


def test_without_page_and_headless_sandbox_the_cell_says_what_to_do_within_seconds(kernel):
    kernel.run("%load_ext codemode_jupyter\nfrom codemode_jupyter.notebook import environment")
    kernel.run("environment.find_deno = lambda: None")
    ended = kernel.run(SUM, timeout=10, allow_stdin=False)
    assert ended.status == "error"
    [line] = ended.error["traceback"]
    assert "no_page" in line
    assert "pip install 'codemode-jupyter[headless]'" in line


def test_the_extension_may_be_loaded_by_the_configuration_before_the_kernel_runs(tmp_path):
    profile = tmp_path / "ipython" / "profile_default"
    profile.mkdir(parents=True)
    (profile / "ipython_config.py").write_text("get_config().InteractiveShellApp.extensions = ['codemode_jupyter']\n")
    environment = {**os.environ, "IPYTHONDIR": str(tmp_path / "ipython")}
    with running_kernel(tmp_path, python_of("ipykernel 6"), env=environment) as running:
        assert running.run("await __import__('asyncio').sleep(0)").status == "ok"
        installed = "get_ipython().kernel.shell_handlers['execute_request'].__module__"
        assert running.run(installed).result == "'codemode_jupyter.notebook.kernel_shim'"
        assert running.run("%codemode help").status == "ok"


def test_reloading_in_a_kernel_makes_a_new_page_channel_that_stays(kernel):
    kernel.run("%load_ext codemode_jupyter")
    kernel.run("import asyncio\nfrom codemode_jupyter.notebook import page\nold = page._widget\nold.comm is not None")
    assert kernel.run("old.comm is not None").result == "True"
    kernel.run("%reload_ext codemode_jupyter")
    kernel.run("await asyncio.sleep(0.1)")
    assert kernel.run("old.comm is None, page._widget is not old, page._widget.comm is not None").result == (
        "(True, True, True)"
    )
    kernel.run("%unload_ext codemode_jupyter")
    assert kernel.run("page._widget is None").result == "True"


def test_unloading_in_a_kernel_gives_it_back_its_stream(tmp_path):
    with running_kernel(tmp_path, python_of("ipykernel 6")) as running:
        running.run("%load_ext codemode_jupyter")
        assert running.run("%reload_ext codemode_jupyter").status == "ok"
        assert running.run("%unload_ext codemode_jupyter").status == "ok"
        handler = "get_ipython().kernel.shell_handlers['execute_request'].__module__"
        assert running.run(handler).result == "'ipykernel.ipkernel'"
        assert running.run("await __import__('asyncio').sleep(0); 6 * 7").result == "42"


@needs_deno
@pytest.mark.parametrize("which", ["newest", "ipykernel 6"])
def test_nbclient_runs_a_notebook_and_keeps_its_cards(tmp_path, which, monkeypatch):
    write_kernel_spec(tmp_path / "kernels", python_of(which), name="tested")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    cells = ["%load_ext codemode_jupyter", SUM, "found"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(
        notebook, kernel_name="tested", resources={"metadata": {"path": str(tmp_path)}}, timeout=60
    ).execute()
    card = "".join(str(output) for output in notebook.cells[1].outputs)
    assert "Completed" in card
    assert "text/html" in card
    assert notebook.cells[2].outputs[0]["data"]["text/plain"] == "42"
    assert "widgets" not in notebook.metadata
    assert (Path(tmp_path) / "codemode.sqlite3").exists()
