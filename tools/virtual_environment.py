"""The project's virtual environment in ``.venv``.

Owns: making it, installing the project with extras into it, and skipping both when nothing changed.
Never does: touching any other Python.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys

import debian
from console import ROOT, attempt, run, say

VENV = ROOT / ".venv"
BIN = VENV / "bin"
PYTHON = BIN / "python"

_UNREACHABLE = "pip could not install what is needed (its last lines are above). Is the package index reachable?"


def ensure(extras: str) -> None:
    """Make ``.venv`` hold the project, editable, with these extras (comma-separated)."""
    _make()
    install(
        f"the project with {extras}",
        "-e",
        f".[{extras}]",
        changes_with=f"{ROOT} {(ROOT / 'pyproject.toml').read_text()}",
    )


def install(label: str, *requirements: str, changes_with: str = "") -> None:
    """Install requirements unless the same was installed here before and ``changes_with`` is unchanged."""
    wanted = hashlib.sha256(repr((requirements, changes_with)).encode()).hexdigest()
    stamp = VENV / "installed" / wanted
    if stamp.exists():
        return
    say(f"installing {label} into .venv (the first time takes a minute or two)")
    run([PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements], failure=_UNREACHABLE)
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text(label)


def environment() -> dict[str, str]:
    """Return the process environment as in an activated ``.venv``."""
    env = {**os.environ, "VIRTUAL_ENV": str(VENV), "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"}
    env.pop("PYTHONHOME", None)
    return env


def _make() -> None:
    if attempt([PYTHON, "-c", "import sys, pip; sys.exit(sys.version_info < (3, 11))"])[0]:
        return
    if VENV.exists():
        say("the Python of .venv is gone, too old or incomplete: making it anew")
        shutil.rmtree(VENV)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    say(f"making a virtual environment in .venv with Python {version}")
    command = [sys.executable, "-m", "venv", str(VENV)]
    if attempt(command)[0]:
        return
    package = f"python{version}-venv"
    shutil.rmtree(VENV, ignore_errors=True)
    if debian.may_install() and debian.install(package) and attempt(command)[0]:
        return
    shutil.rmtree(VENV, ignore_errors=True)
    run(command, failure=f"this Python cannot make virtual environments. On Debian and Ubuntu: apt install {package}.")
