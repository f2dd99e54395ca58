"""One Deno process with the sandbox's host in it.

Owns: the process, its launch flags, the secret that marks its lines, and the Workers open in it.
Never does: know what a text means, or how bytes get through a pipe (``pipes.py``).

The lines are the host's (``js/deno/host.js``): three words parted by single blanks, the last of which goes to the end
of the line. Neither side looks into a text on its way.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from codemode_jupyter.sandbox.memory_limit import MemoryLimit
from codemode_jupyter.sandbox.pipes import open_pipes
from codemode_jupyter.sandbox.protocol import PackageFile
from codemode_jupyter.sandbox.python.assets import PythonAssets, assets_folder
from codemode_jupyter.sandbox.python.packages.folder import files_folder
from codemode_jupyter.sandbox.worker_source import python_worker_source, worker_source

Failure: TypeAlias = Literal["lost", "memory", "too_large", "protocol"]

HEAP_MEGABYTES = 512
"""Limit of one sandbox's heap, given to V8; over it the process dies."""

PROCESS_MEGABYTES = 2_048
"""Limit of the whole process: the heaps, and the typed arrays outside of them; over it the process is killed."""

_GIVES_UP = (signal.SIGABRT, signal.SIGTRAP, signal.SIGILL, signal.SIGSEGV) if sys.platform != "win32" else ()
"""How an engine ends that cannot go on: nearly always for want of memory, and not always with a word."""

_LAST_MOMENT = 0.1
"""Seconds that the system may take to say how a process ended whose output has ended: its memory is gone by then."""

_FOLDER = Path(__file__).parent / "js" / "deno"
_FLAGS = (
    "run",
    "--no-prompt",
    "--no-remote",
    "--no-npm",
    "--no-config",
    "--no-lock",
    "--no-code-cache",
    "--unstable-worker-options",
    f"--import-map={_FOLDER / 'import_map.json'}",
    f"--v8-flags=--max-old-space-size={HEAP_MEGABYTES},--disallow-code-generation-from-strings",
)


class DenoRun:
    """One Worker in the process, as the executor sees it: where its texts go.

    ``loaded`` is set once a Worker with Python in it has that.
    """

    def __init__(self, receive: Callable[[str], None], fail: Callable[[Failure, str], None]) -> None:
        self.receive = receive
        self.fail = fail
        self.loaded = asyncio.Event()


class DenoProcess:
    """A running Deno process with the sandbox's host in it.

    It belongs to the event loop that started it, which alone may use it, until that loop is closed and another one
    adopts it.

    Parameters
    ----------
    binary : str
        Path of the ``deno`` executable.

    Raises
    ------
    OSError
        The executable cannot be started.
    """

    def __init__(self, binary: str) -> None:
        folder = tempfile.mkdtemp(prefix="codemode-deno-")
        self._remove_folder = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._process = subprocess.Popen(  # noqa: S603  the user's own Deno, with arguments of ours alone
            [binary, *_FLAGS, *_permissions(), str(_FOLDER / "host.js")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=_environment(folder),
            start_new_session=True,
        )
        self._memory = MemoryLimit(self._process, PROCESS_MEGABYTES)
        secret = secrets.token_hex(16)
        self._mark = f"{secret} ".encode()
        self._runs: dict[str, DenoRun] = {}
        self._is_dead = False
        self._has_python = False
        self.is_retired = False
        self._loop = asyncio.get_running_loop()
        self._pipes = open_pipes(self._process, self._loop, self._take, self._bury)
        self._order("init", secret, json.dumps(worker_source()))

    @property
    def is_usable(self) -> bool:
        """Whether it takes further runs."""
        return not self._is_dead and not self.is_retired and self._process.poll() is None

    @property
    def run_count(self) -> int:
        """How many Workers are open."""
        return len(self._runs)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def serves(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Tell whether it belongs to this loop; an idle one whose loop is closed is adopted."""
        if self._loop is not loop and self._loop.is_closed() and not self._runs:
            self._loop = loop
            self._pipes.attach(loop)
        return self._loop is loop

    def open(self, run: DenoRun, python: PythonAssets | None = None, packages: Sequence[PackageFile] = ()) -> str:
        """Give a run a Worker of its own and return its id.

        One that has Python is made of the files of that, and gets the packages of its program.
        """
        run_id = secrets.token_hex(8)
        if python is not None and not self._has_python:
            self._has_python = True
            source = python_worker_source(python.glue)
            self._order("python", run_id, json.dumps({"source": source, "folder": str(python.folder)}))
        self._runs[run_id] = run
        self._memory.watch(is_needed=True)
        self._order("open", run_id, "javascript" if python is None else "python")
        if python is not None and packages:
            files = [{"name": one.name, "path": one.path, "place": one.place} for one in packages]
            self._order("packages", run_id, json.dumps(files))
        return run_id

    def send(self, run_id: str, text: str) -> None:
        """Send a text, which has no line breaks, to a run's Worker."""
        self._order("send", run_id, text)

    def close(self, run_id: str) -> None:
        """Free a run's Worker."""
        if self._runs.pop(run_id, None) is not None:
            self._order("close", run_id)
            self._memory.watch(is_needed=bool(self._runs))

    def kill(self) -> None:
        """Kill the process; every run in it fails as lost, soon."""
        self._process.kill()

    def wait(self) -> None:
        """Return when the process is gone. Blocks."""
        self._process.wait()

    def free(self) -> None:
        """Kill the process and free what is left of it, from any loop; every run in it fails as lost."""
        self._process.kill()
        if self._loop.is_closed() or self._loop is asyncio.get_running_loop():
            self._close()
        else:
            self._loop.call_soon_threadsafe(self._close)

    def _order(self, kind: str, run_id: str, text: str = "") -> None:
        self._pipes.write(f"{kind} {run_id} {text}\n".encode())

    def _take(self, line: bytes) -> None:
        if not line.startswith(self._mark):
            return  # not the host: something of the engine's own
        kind, run_id, text = line[len(self._mark) :].decode("utf-8", "replace").split(" ", 2)
        run = self._runs.get(run_id)
        if run is None:
            return
        if kind == "text":
            run.receive(text)
        elif kind == "loaded":
            run.loaded.set()
        elif kind in get_args(Failure):
            run.fail(kind, text)  # type: ignore[arg-type]  # one of the failures, checked above

    def _close(self) -> None:
        self._pipes.close()
        self._bury()

    def _bury(self) -> None:
        """Tell every run that the process is gone: its pipes have ended."""
        if self._is_dead:
            return
        self._is_dead = True
        self._memory.close()
        if self._runs:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_LAST_MOMENT)
        self._process.kill()
        # The system keeps its entry until it is waited for, which may take a moment.
        threading.Thread(target=self._forget, name="codemode-deno-end", daemon=True).start()
        runs, self._runs = self._runs, {}
        kind, reason = self._why(len(runs))
        for run in runs.values():
            run.fail(kind, reason)

    def _forget(self) -> None:
        self._process.wait()
        self._remove_folder()

    def _why(self, run_count: int) -> tuple[Failure, str]:
        error_text = self._pipes.error_text
        is_memory = self._memory.was_exceeded or b"out of memory" in error_text.lower() or self._gave_up()
        if is_memory and run_count == 1:
            return "memory", "The program used more memory than a sandbox has."
        last = error_text.decode("utf-8", "replace").strip().splitlines()
        return "lost", "The sandbox's process ended" + (f": {last[-1][:300]}" if last else ".")

    def _gave_up(self) -> bool:
        return self._process.returncode is not None and -self._process.returncode in _GIVES_UP


def _permissions() -> tuple[str, ...]:
    """Return what the host may do: read the assets and packages of Python programs. Its Workers may do nothing."""
    folders = (assets_folder(), files_folder())
    return ("--allow-read=" + ",".join(str(folder).replace(",", ",,") for folder in folders),)


def _environment(folder: str) -> dict[str, str]:
    """Nothing of the kernel's environment, which may hold secrets, but what the system needs to start a process."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH") if name in os.environ}
    return kept | {"DENO_DIR": folder, "DENO_NO_UPDATE_CHECK": "1", "NO_COLOR": "1", "TZ": os.environ.get("TZ", "")}
