"""``make demo`` and ``make test`` when something they need is missing: one clear sentence each."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def checkout(tmp_path):
    """A copy of what the set-up reads."""
    for name in ("Makefile", "pyproject.toml", "README.md", "LICENSE", "package.json", "package-lock.json"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    return tmp_path


def make(folder, *arguments, **variables):
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "MAKE", "VIRTUAL_ENV"))}
    command = ["make", *arguments]
    return subprocess.run(command, cwd=folder, env=env | variables, capture_output=True, text=True, check=False)


def ask(folder, module, **variables):
    """Have the module of a browser make sure of it."""
    script = f"import {module}; {module}.ensure()"
    env = {name: value for name, value in os.environ.items() if not name.startswith("CODEMODE_")} | variables
    command = [sys.executable, "-c", script]
    return subprocess.run(command, cwd=folder / "tools", env=env, capture_output=True, text=True, check=False)


def test_without_a_python_it_says_what_to_install(checkout):
    done = make(checkout, "demo", "PYTHON=no-such-python")
    assert done.returncode != 0
    assert "no Python 3.11 or newer" in done.stderr
    assert "make demo PYTHON=" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_the_package_index_it_says_so_and_can_be_tried_again(checkout):
    unreachable = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0", "PIP_CONFIG_FILE": os.devnull}
    for _ in range(2):
        done = make(checkout, "demo", f"PYTHON={sys.executable}", **unreachable)
        assert done.returncode != 0
        assert "pip could not install what is needed" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("module", "variable"),
    [("browser", "CODEMODE_CHROMIUM"), ("firefox", "CODEMODE_FIREFOX")],
    ids=["Chromium", "Firefox"],
)
def test_a_browser_that_does_not_start_is_named(checkout, module, variable):
    done = ask(checkout, module, **{variable: "/no/such/browser"})
    assert done.returncode == 1
    assert f"{variable} is set to /no/such/browser, which does not start." in done.stderr


def test_without_a_firefox_the_set_up_goes_on_and_says_what_is_skipped(checkout, tmp_path):
    nothing = tmp_path / "empty"
    nothing.mkdir()
    done = ask(checkout, "firefox", PATH=str(nothing))
    assert done.returncode == 0
    assert "the tests in Firefox are skipped. Install firefox-esr" in done.stdout


def test_nothing_installed_below_the_checkout_is_taken_for_an_es_module():
    # JupyterLab starts scripts in .venv with node, which asks the package.json above them what they are.
    assert "type" not in json.loads((ROOT / "package.json").read_text())
