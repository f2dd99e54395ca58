"""``make demo`` and ``make test``: all the set-up, then the thing itself.

Owns: the order of the steps. Never does: a step's work; each has a module beside this one. Needs nothing installed.
"""

from __future__ import annotations

import os
import subprocess
import sys

import browser
import firefox
import javascript
import virtual_environment
from console import ROOT, give_up, say

NOTEBOOK = "quickstart.ipynb"


def demo(arguments: list[str]) -> int:
    """Install the project and open JupyterLab on the quickstart; return JupyterLab's exit code."""
    virtual_environment.ensure("demo,headless,mcp,openapi")
    say(f"starting JupyterLab on notebooks/{NOTEBOOK} (Ctrl+C twice ends it)")
    as_root = ["--allow-root"] if os.geteuid() == 0 else []
    # The address that a server without a browser prints leads to the notebook too.
    options = [f"--LabApp.default_url=/lab/tree/{NOTEBOOK}", *as_root]
    return _run([virtual_environment.PYTHON, "-m", "jupyterlab", *options, *arguments], folder="notebooks")


def test(arguments: list[str]) -> int:
    """Install what the tests need and run them; return pytest's exit code."""
    virtual_environment.ensure("test")
    javascript.ensure()
    browsers = {browser.VARIABLE: browser.ensure()}
    if second := firefox.ensure():
        browsers[firefox.VARIABLE] = second
    if _run([virtual_environment.PYTHON, "tests/kernels.py"]) != 0:
        give_up("the second kernel of the tests is missing (the lines above say why).")
    say("running the tests")
    pytest = [virtual_environment.PYTHON, "-m", "pytest"]
    if arguments:
        return _run([*pytest, *arguments], **browsers)
    # Side by side what can be; then, one by one, what measures time or memory and needs the machine to itself.
    together = _run([*pytest, "-m", "not alone", "--numprocesses=2", "--dist=loadfile"], **browsers)
    return _run([*pytest, "-m", "alone", "-s"], **browsers) or together


def _run(command: list[object], *, folder: str = ".", **extra: str) -> int:
    env = {**virtual_environment.environment(), **extra}
    try:
        return subprocess.run([str(part) for part in command], cwd=ROOT / folder, env=env, check=False).returncode
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        give_up(f"{command[0]} could not be started: {error.strerror}.")


if __name__ == "__main__":
    commands = {"demo": demo, "test": test}
    name, *rest = sys.argv[1:] or ["nothing"]
    if name not in commands:
        give_up("say make demo or make test.")
    raise SystemExit(commands[name](rest))
