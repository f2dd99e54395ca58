"""The checks that a reviewer would ask for, each run as a developer runs it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TSC = ROOT / "node_modules" / "typescript" / "bin" / "tsc"


def check(*command):
    done = subprocess.run([str(part) for part in command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def python(*arguments):
    check(sys.executable, "-m", *arguments)


def test_ruff_finds_nothing():
    python("ruff", "check", "--no-cache")


def test_the_code_is_formatted():
    python("ruff", "format", "--check")


def test_the_types_hold():
    python("mypy")


def test_no_room_imports_from_a_room_above_it():
    # The console script; the package has no module to run.
    check(sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()")


@pytest.mark.parametrize("project", ["tsconfig.json", "tsconfig.worker.json"])
def test_the_types_of_the_javascript_hold(project):
    node = shutil.which("node")
    assert node, "there is no node on the path: `make test` installs one"
    assert TSC.exists(), "TypeScript is not installed: `make test` or `npm ci` installs it"
    check(node, TSC, "--noEmit", "-p", project)
