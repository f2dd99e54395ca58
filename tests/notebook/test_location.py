"""The database of a notebook is beside it and named after it; what is only a hint is not believed."""

from pathlib import Path

import pytest

from codemode_jupyter.notebook.location import database_path


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    elsewhere = tmp_path / "working directory"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    path = tmp_path / "My first notebook.v2.ipynb"
    path.write_text("{}")
    return path


def test_it_is_beside_the_notebook_that_jupyter_names(notebook):
    assert database_path({}, {"JPY_SESSION_NAME": str(notebook)}) == notebook.with_name(
        "My first notebook.v2.codemode.sqlite3"
    )


def test_it_is_beside_the_notebook_that_vs_code_names(notebook):
    variables = {"__vsc_ipynb_file__": str(notebook)}
    assert database_path(variables, {"JPY_SESSION_NAME": "/made/up-jvsc-1.ipynb"}).parent == notebook.parent


@pytest.mark.parametrize(
    "hint",
    ["", "0f3e2b1c-aaaa-bbbb-cccc-123456789abc", "/no/such/notebook.ipynb", "console-1", "notebook.ipynb", "/", "\0"],
)
def test_a_hint_that_names_no_notebook_is_not_followed(notebook, hint):
    assert database_path({}, {"JPY_SESSION_NAME": hint}) == Path.cwd() / "codemode.sqlite3"


def test_a_folder_that_is_called_like_a_notebook_is_none(notebook):
    folder = notebook.with_name("folder.ipynb")
    folder.mkdir()
    assert database_path({"__vsc_ipynb_file__": str(folder)}, {}) == Path.cwd() / "codemode.sqlite3"


def test_without_a_hint_it_is_in_the_working_directory(notebook):
    assert database_path({"__vsc_ipynb_file__": 3}, {}) == Path.cwd() / "codemode.sqlite3"
