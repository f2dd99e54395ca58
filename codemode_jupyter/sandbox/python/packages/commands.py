"""Programs that the kernel runs to have packages: pip, and pyodide-build.

Owns: running one at a time, ending it when nobody waits any more, and what of its words may be shown. Never does: know
what they are run for. Addresses in their output are cut down to the host, so that no credential of an index is shown.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codemode_jupyter.errors import CodemodeError

_ADDRESS = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?:[^\s/@'\"<>]*@)?(?P<host>[^\s/'\"<>)]*)[^\s'\"<>)]*", re.IGNORECASE
)
_CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Done:
    """What a program came to; ``text`` is all that it printed, ready to be shown."""

    code: int
    text: str

    def last_lines(self, count: int, prefix: str = "") -> str:
        """Return the last lines that begin with ``prefix``, without it; of all lines where none does."""
        lines = [line.strip() for line in self.text.splitlines() if line.strip()]
        chosen = [line.removeprefix(prefix).strip() for line in lines if line.startswith(prefix)] or lines
        return " ".join(chosen[-count:])[:600]


class Commands:
    """Runs programs from a thread until another one says ``stop``."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: subprocess.Popen[bytes] | None = None
        self._is_stopped = False

    def run(self, arguments: Sequence[str], folder: Path, seconds: float, **environment: str) -> Done:
        """Run the kernel's own Python with arguments, in a folder.

        Raises
        ------
        CodemodeError
            ``package_failed``: it took longer than ``seconds``, it cannot be started, or nobody waits for it any more.
        """
        command = [sys.executable, "-P", *arguments]
        with self._lock:
            if self._is_stopped:
                raise CodemodeError("package_failed", "Fetching packages was stopped.")
            try:
                process = subprocess.Popen(  # noqa: S603  our own interpreter, with arguments that were checked
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    cwd=folder,
                    env={**os.environ, "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8", **environment},
                    start_new_session=True,
                )
            except OSError as error:
                raise CodemodeError("package_failed", f"{sys.executable} cannot be started: {error}.") from error
            self._running = process
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise CodemodeError("package_failed", f"Fetching packages took longer than {seconds:g} s.") from None
        finally:
            _kill(process)
            self._running = None
        return Done(process.returncode, shown(output.decode("utf-8", "replace")))

    def stop(self) -> None:
        """End what runs, and run nothing more."""
        with self._lock:
            self._is_stopped = True
            process = self._running
        if process is not None:
            _kill(process)


def shown(text: str) -> str:
    """Return a text without control characters, and with addresses cut down to their host."""
    return _ADDRESS.sub(r"\g<scheme>://\g<host>/…", _CONTROL.sub("", text))


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a program and what it has started (a build does)."""
    if process.poll() is None:
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()
