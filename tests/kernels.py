"""Make the second kernel of the tests: ipykernel 6 with the project, in ``.venv-kernel6``.

``python tests/kernels.py`` makes it, with the Python that runs this, and does nothing when it is there already. The
tests find it by ``kernel6_python()``.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv-kernel6"
REQUIREMENTS = ("ipykernel>=6.29,<7", "-e", ".[headless]")


def kernel6_python():
    """Return the Python that runs ipykernel 6, or ``None`` when it has not been made."""
    python = _python()
    return python if _stamp().exists() and python.exists() else None


def write_kernel_spec(folder, python, *, name="codemode-kernel6", display_name="Python 3 (ipykernel 6)"):
    """Write the specification of a kernel that ``python`` runs, in ``folder / name``; return that folder."""
    spec = {
        "argv": [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": display_name,
        "language": "python",
        "metadata": {"debugger": False},
    }
    place = Path(folder) / name
    place.mkdir(parents=True, exist_ok=True)
    (place / "kernel.json").write_text(json.dumps(spec))
    return place


def main():
    """Make the environment; return an exit code."""
    if kernel6_python() is not None:
        _say("the second kernel of the tests (ipykernel 6) is there")
        return 0
    _say("installing the second kernel of the tests (ipykernel 6) into .venv-kernel6 (the first time takes a minute)")
    shutil.rmtree(VENV, ignore_errors=True)
    made = _run([sys.executable, "-m", "venv", VENV])
    pip = [_python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if not made or not _run([*pip, *REQUIREMENTS]):
        _say("ipykernel 6 could not be installed (the lines above say why)")
        return 1
    _stamp().touch()
    return 0


def _python():
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _stamp():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = project["dependencies"], project["optional-dependencies"]["headless"]
    wanted = repr((REQUIREMENTS, str(ROOT), needed))
    return VENV / f"installed-{hashlib.sha256(wanted.encode()).hexdigest()[:16]}"


def _run(command):
    command = [str(part) for part in command]
    done = subprocess.run(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        _say(f"this failed: {' '.join(command)}\n{done.stdout}")
    return done.returncode == 0


def _say(text):
    print(f"codemode-jupyter: {text}", flush=True)  # noqa: T201  the output of a command


if __name__ == "__main__":
    raise SystemExit(main())
