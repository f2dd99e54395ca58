"""The package's public names are there, and importing it is light."""

from __future__ import annotations

import subprocess
import sys

import pytest

import codemode_jupyter


@pytest.mark.parametrize("name", codemode_jupyter.__all__)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    assert name in dir(codemode_jupyter)
    assert getattr(codemode_jupyter, name).__doc__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        codemode_jupyter.Nothing  # noqa: B018  reading it is the test


def test_importing_the_package_imports_none_of_its_rooms_or_dependencies() -> None:
    script = "import sys; before = set(sys.modules); import codemode_jupyter; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "codemode_jupyter" in loaded
    heavy = ("codemode_jupyter.", "pydantic", "IPython", "ipywidgets", "anywidget", "tree_sitter", "asyncio")
    assert [module for module in loaded if module.startswith(heavy)] == []
