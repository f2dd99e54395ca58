"""One Deno process and the pipe to it.

Owns: the process, its launch flags, the secret that marks its lines, and the two threads that read and write the pipe.
Never does: know what a text means. Threads, not the loop's own pipes, so that a process belongs to no event loop and
needs none to be put away.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import queue
import secrets
import shutil
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeAlias

from codemode_jupyter.sandbox.worker_source import worker_source

Failure: TypeAlias = Literal["lost", "memory", "too_large", "protocol"]

HEAP_MEGABYTES = 512
"""Limit of one sandbox's memory, given to V8; over it the process dies."""

MAX_LINE_BYTES = 64 * 2**20
"""Longest line of the process; the host's own cap on a text is lower."""

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
    f"--v8-flags=--max-old-space-size={HEAP_MEGABYTES}",
)
_ERROR_TEXT_BYTES = 4_000


class DenoRun:
    """One Worker in the process, as the executor sees it: where its texts go."""

    def __init__(self, receive: Callable[[str], None], fail: Callable[[Failure, str], None]) -> None:
        self.loop = asyncio.get_running_loop()
        self.receive = receive
        self.fail = fail


class DenoProcess:
    """A running Deno process with the sandbox's host in it.

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
            [binary, *_FLAGS, str(_FOLDER / "host.js")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=_environment(folder),
            start_new_session=True,
        )
        self._secret = secrets.token_hex(16)
        self._runs: dict[str, DenoRun] = {}
        self._lock = threading.Lock()
        self._orders: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._error_text = b""
        self._is_dead = False
        self.is_retired = False
        self._threads = [
            threading.Thread(target=target, name=f"codemode-deno-{target.__name__.strip('_')}", daemon=True)
            for target in (self._read, self._write, self._read_errors)
        ]
        for thread in self._threads:
            thread.start()
        self._order("init", self._secret, worker_source())

    @property
    def is_usable(self) -> bool:
        """Whether it takes further runs."""
        return not self._is_dead and not self.is_retired

    @property
    def run_count(self) -> int:
        """How many Workers are open."""
        return len(self._runs)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def open(self, run: DenoRun) -> str:
        """Give a run a Worker of its own and return its id; ``fail`` is called if the process is dead already."""
        run_id = secrets.token_hex(8)
        with self._lock:
            if not self._is_dead:
                self._runs[run_id] = run
                self._order("open", run_id)
                return run_id
        run.loop.call_soon(run.fail, "lost", "The sandbox's process has ended.")
        return run_id

    def send(self, run_id: str, text: str) -> None:
        """Send a text to a run's Worker."""
        self._order("send", run_id, text)

    def close(self, run_id: str) -> None:
        """Free a run's Worker."""
        with self._lock:
            if self._runs.pop(run_id, None) is None:
                return
        self._order("close", run_id)

    def kill(self) -> None:
        """Kill the process; every run in it fails as lost."""
        self._process.kill()

    def wait(self) -> None:
        """Return when the process is gone and everything of it is freed. Blocks."""
        for thread in self._threads:
            thread.join()

    def _order(self, *parts: str) -> None:
        self._orders.put(json.dumps(parts))

    def _write(self) -> None:
        pipe = self._process.stdin
        if pipe is None:
            return
        with pipe:
            while (order := self._orders.get()) is not None:
                try:
                    pipe.write(order.encode() + b"\n")
                    if self._orders.empty():
                        pipe.flush()
                except OSError:
                    break

    def _read(self) -> None:
        pipe = self._process.stdout
        if pipe is None:
            return
        secret = self._secret.encode()
        with pipe:
            while line := pipe.readline(MAX_LINE_BYTES):
                if not line.startswith(secret):
                    continue  # not the host: something of the engine's own
                kind, run_id, text = json.loads(line[len(secret) :])
                self._deliver(kind, run_id, text)
        self._bury()

    def _read_errors(self) -> None:
        pipe = self._process.stderr
        if pipe is None:
            return
        with pipe:
            while line := pipe.readline(_ERROR_TEXT_BYTES):
                self._error_text = (self._error_text + line)[-_ERROR_TEXT_BYTES:]

    def _deliver(self, kind: str, run_id: str, text: str) -> None:
        with self._lock:
            run = self._runs.get(run_id)
        if run is None:
            return
        if kind == "text":
            _call_on(run.loop, run.receive, text)
        else:
            _call_on(run.loop, run.fail, kind, text)

    def _bury(self) -> None:
        """Tell every run that the process is gone: its pipe has ended."""
        self._process.kill()
        self._process.wait()
        self._threads[2].join()
        with self._lock:
            self._is_dead = True
            runs, self._runs = self._runs, {}
        self._orders.put(None)
        kind, reason = self._why(len(runs))
        for run in runs.values():
            _call_on(run.loop, run.fail, kind, reason)
        self._remove_folder()

    def _why(self, run_count: int) -> tuple[Failure, str]:
        if b"out of memory" in self._error_text.lower() and run_count == 1:
            return "memory", f"The program used more than {HEAP_MEGABYTES} MB of memory."
        last = self._error_text.decode("utf-8", "replace").strip().splitlines()
        return "lost", "The sandbox's process ended" + (f": {last[-1][:300]}" if last else ".")


def _call_on(loop: asyncio.AbstractEventLoop, call: Callable[..., None], *arguments: str) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits for this run any more
        loop.call_soon_threadsafe(call, *arguments)


def _environment(folder: str) -> dict[str, str]:
    """Nothing of the kernel's environment, which may hold secrets, but what the system needs to start a process."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH") if name in os.environ}
    return kept | {"DENO_DIR": folder, "DENO_NO_UPDATE_CHECK": "1", "NO_COLOR": "1", "TZ": os.environ.get("TZ", "")}
