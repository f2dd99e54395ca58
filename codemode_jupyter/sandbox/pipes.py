"""The pipes to a child process, as an event loop sees them: lines come in, bytes go out, nothing blocks.

Owns: reading its output by lines, writing to its input, and keeping the end of what it said on standard error.
Never does: know what a line means, or start and end the process.

The loop itself reads and writes (``add_reader``): a thread between pipe and loop costs as much as the round trip to the
process. Where loops cannot watch pipes, on Windows, threads do it (``thread_pipes.py``).
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from typing import IO, Protocol

MAX_LINE_BYTES = 64 * 2**20
"""Longest line that is waited for; the output counts as ended when one is longer."""

KEPT_ERROR_BYTES = 4_000
"""How much of the end of standard error is kept."""

_CHUNK_BYTES = 2**16
"""As much as a pipe holds."""


class Pipes(Protocol):
    """The pipes of one process; they serve one event loop at a time."""

    @property
    def error_text(self) -> bytes:
        """The end of what the process wrote to standard error; whole when the output has ended."""

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Serve this loop from now on; the one before was closed."""

    def write(self, data: bytes) -> None:
        """Write soon, in order. What a process that has ended does not take is dropped."""

    def close(self) -> None:
        """Close the pipes; to be called on the loop, or when it is closed."""


def open_pipes(
    process: subprocess.Popen[bytes],
    loop: asyncio.AbstractEventLoop,
    on_line: Callable[[bytes], None],
    on_end: Callable[[], None],
) -> Pipes:
    """Return the pipes of a process that was started with all three of them.

    Parameters
    ----------
    on_line : callable
        Called on the loop with each line of the output, without its end.
    on_end : callable
        Called on the loop once the output and standard error have ended.
    """
    if sys.platform == "win32":
        from codemode_jupyter.sandbox.thread_pipes import ThreadPipes  # noqa: PLC0415  needed there only

        return ThreadPipes(process, loop, on_line, on_end)
    return LoopPipes(process, loop, on_line, on_end)


class LoopPipes:
    """Pipes that the loop itself watches; see ``open_pipes``."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        loop: asyncio.AbstractEventLoop,
        on_line: Callable[[bytes], None],
        on_end: Callable[[], None],
    ) -> None:
        self._input, self._output, self._errors = files(process)
        for file in (self._input, self._output, self._errors):
            os.set_blocking(file.fileno(), False)
        self._on_line = on_line
        self._on_end = on_end
        self._unsent: deque[memoryview] = deque()
        self._begun: list[bytes] = []
        """Pieces of a line whose end has not come yet."""
        self._begun_bytes = 0
        self.error_text = b""
        self.attach(loop)

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Serve this loop from now on; the one before was closed."""
        self._loop = loop
        if not self._output.closed:
            loop.add_reader(self._output, self._read)
        if not self._errors.closed:
            loop.add_reader(self._errors, self._read_errors)
        if self._unsent:
            loop.add_writer(self._input, self._write_unsent)

    def write(self, data: bytes) -> None:
        """Write soon, in order. What a process that has ended does not take is dropped."""
        if self._input.closed:
            return
        if not self._unsent:
            written = self._write_some(memoryview(data))
            if written == len(data):
                return
            data = data[written:]
            self._loop.add_writer(self._input, self._write_unsent)
        self._unsent.append(memoryview(data))

    def close(self) -> None:
        """Close the pipes; to be called on the loop, or when it is closed."""
        self._end_input()
        self._end(self._output)
        self._end(self._errors)

    def _write_some(self, data: memoryview) -> int:
        """Write what the pipe takes now; return how much, which is all of it when nobody reads any more."""
        try:
            return os.write(self._input.fileno(), data)
        except BlockingIOError:
            return 0
        except OSError:
            return len(data)

    def _write_unsent(self) -> None:
        while self._unsent:
            written = self._write_some(self._unsent[0])
            if written < len(self._unsent[0]):
                self._unsent[0] = self._unsent[0][written:]
                return
            self._unsent.popleft()
        self._loop.remove_writer(self._input)

    def _read(self) -> None:
        chunk = _read_some(self._output)
        if chunk is None:
            return
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            self._begun.append(line)
            whole, self._begun, self._begun_bytes = b"".join(self._begun), [], 0
            try:
                self._on_line(whole)
            except Exception as error:  # noqa: BLE001  one bad line must not cost the others of its chunk
                self._loop.call_exception_handler(
                    {"message": "A line of a process could not be taken.", "exception": error}
                )
        if rest:
            self._begun.append(rest)
            self._begun_bytes += len(rest)
        if not chunk or self._begun_bytes > MAX_LINE_BYTES:
            self._end(self._output)
            self._tell_end()

    def _read_errors(self) -> None:
        chunk = _read_some(self._errors)
        if chunk is None:
            return
        self.error_text = (self.error_text + chunk)[-KEPT_ERROR_BYTES:]
        if not chunk:
            self._end(self._errors)
            self._tell_end()

    def _tell_end(self) -> None:
        if self._output.closed and self._errors.closed:
            self._end_input()
            self._on_end()

    def _end_input(self) -> None:
        if not self._input.closed:
            if self._unsent and not self._loop.is_closed():
                self._loop.remove_writer(self._input)
            self._unsent.clear()
            self._input.close()

    def _end(self, file: IO[bytes]) -> None:
        if not file.closed:
            if not self._loop.is_closed():
                self._loop.remove_reader(file)
            file.close()


def files(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    """Return standard input, output and error of a process that was started with pipes for them."""
    if process.stdin is None or process.stdout is None or process.stderr is None:
        raise ValueError("the process was started without pipes")
    return process.stdin, process.stdout, process.stderr


def _read_some(file: IO[bytes]) -> bytes | None:
    """Return what is there now; empty: the end; ``None``: nothing yet."""
    try:
        return os.read(file.fileno(), _CHUNK_BYTES)
    except BlockingIOError:
        return None
    except OSError:
        return b""
