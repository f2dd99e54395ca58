"""What the set-up tells a person: one short line per step, one clear sentence when it fails.

Owns: printing, running a command, giving up. Never does: deciding what to install.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
_TAIL_LINES = 15


def say(text: str) -> None:
    """Print one step."""
    print(f"codemode-jupyter: {text}", flush=True)


def give_up(sentence: str) -> NoReturn:
    """End the set-up with a sentence that names the fix."""
    sys.stdout.flush()
    print(f"codemode-jupyter: {sentence}", file=sys.stderr, flush=True)
    raise SystemExit(1)


def run(command: Sequence[str | Path], *, failure: str, env: Mapping[str, str] | None = None) -> str:
    """Run a command quietly in the project's folder and return what it printed.

    When it fails, the end of its output is shown, then ``failure``, and the set-up ends.
    """
    ok, output = attempt(command, env=env)
    if not ok:
        show_end(command, output)
        give_up(failure)
    return output


def show_end(command: Sequence[str | Path], output: str) -> None:
    """Print a command and the last lines of what it said."""
    lines = output.strip().splitlines()[-_TAIL_LINES:]
    print(f"$ {shlex.join(map(str, command))}", *lines, sep="\n  ", file=sys.stderr)


def attempt(command: Sequence[str | Path], *, env: Mapping[str, str] | None = None) -> tuple[bool, str]:
    """Run a command quietly; return whether it succeeded and what it printed."""
    try:
        done = subprocess.run(
            [str(part) for part in command],
            cwd=ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        return False, str(error)
    return done.returncode == 0, done.stdout
