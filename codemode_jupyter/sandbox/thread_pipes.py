"""The pipes to a child process, read and written by threads: for loops that cannot watch pipes.

Owns: three threads. Never does: anything that ``pipes.py`` does not describe.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import subprocess
import threading
from collections.abc import Callable

from codemode_jupyter.sandbox.pipes import KEPT_ERROR_BYTES, MAX_LINE_BYTES, files


class ThreadPipes:
    """Pipes that threads watch; see ``pipes.open_pipes``."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        loop: asyncio.AbstractEventLoop,
        on_line: Callable[[bytes], None],
        on_end: Callable[[], None],
    ) -> None:
        self._input, self._output, self._errors = files(process)
        self._loop = loop
        self._on_line = on_line
        self._on_end = on_end
        self._orders: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.error_text = b""
        self._error_reader = threading.Thread(target=self._read_errors, name="codemode-deno-errors", daemon=True)
        self._error_reader.start()
        for target in (self._read, self._write):
            threading.Thread(target=target, name=f"codemode-deno-{target.__name__.strip('_')}", daemon=True).start()

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Serve this loop from now on; the one before was closed."""
        self._loop = loop

    def write(self, data: bytes) -> None:
        """Write soon, in order. What a process that has ended does not take is dropped."""
        self._orders.put(data)

    def close(self) -> None:
        """Close the pipes: each thread closes its own when the process has ended."""
        self._orders.put(None)

    def _write(self) -> None:
        with contextlib.suppress(OSError), self._input as pipe:
            while (data := self._orders.get()) is not None:
                pipe.write(data)
                if self._orders.empty():
                    pipe.flush()

    def _read(self) -> None:
        with self._output as pipe:
            while (line := pipe.readline(MAX_LINE_BYTES)).endswith(b"\n"):
                self._call_on_loop(self._on_line, line[:-1])
        self._error_reader.join()
        self._orders.put(None)
        self._call_on_loop(self._on_end)

    def _read_errors(self) -> None:
        with self._errors as pipe:
            while line := pipe.readline(KEPT_ERROR_BYTES):
                self.error_text = (self.error_text + line)[-KEPT_ERROR_BYTES:]

    def _call_on_loop(self, call: Callable[..., None], *arguments: bytes) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits for this run any more
            self._loop.call_soon_threadsafe(call, *arguments)
