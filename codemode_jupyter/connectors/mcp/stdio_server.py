"""A server that is a process of this machine, spoken to over its standard input and output.

Owns: starting and ending the process, one JSON-RPC message a line in both directions (MCP 2025-11-25, "Transports",
stdio), the bound of a message, and the last words on its standard error. Never does: know what a message means.

The SDK's own stdio transport joins what it has read so far with each further piece, which takes minutes for a line of
hundreds of megabytes; this one reads pieces, and drops a line that is too long.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage

from codemode_jupyter.connectors.mcp.secrets import argument_secrets, environment_secrets
from codemode_jupyter.connectors.mcp.transport import (
    MAX_MESSAGE_BYTES,
    Streams,
    checked_texts,
    no_answer,
    too_large,
)
from codemode_jupyter.connectors.redaction import Redactor
from codemode_jupyter.errors import CodemodeError

_PIECE = 65_536
_LAST_WORDS = 2_000
_GRACE_SECONDS = 2.0
_ID = re.compile(rb'"id"\s*:\s*(\d{1,15}|"(?:[^"\\]|\\.){1,100}")\s*[,}]')
_ENDS = 300
_log = logging.getLogger(__name__)


class StdioServer:
    """A command that is started for each connection.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments; no shell reads them.
    env : mapping or None
        Environment variables, added to the few that the SDK passes on (``PATH``, ``HOME`` and so on).
    cwd : path or None
        The working directory; ``None``: the kernel's.

    Raises
    ------
    CodemodeError
        ``invalid_option``: the command is no list of texts, or the environment holds something else.
    """

    def __init__(self, command: Sequence[str], env: Mapping[str, str] | None, cwd: str | Path | None) -> None:
        if isinstance(command, str) or not command or not all(isinstance(part, str) for part in command):
            raise CodemodeError(
                "invalid_option",
                "The command of an MCP server is a list of texts: the program, then its arguments.",
                hint='Write ["npx", "-y", "package"]; `shlex.split` makes a list of one text.',
            )
        self._command = list(command)
        self._env = checked_texts(env, "env")
        self._cwd = cwd
        self._stderr = bytearray()
        self.name = Path(self._command[0]).name
        self.redaction = Redactor([*environment_secrets(self._env), *argument_secrets(self._command[1:])])

    def last_words(self) -> str:
        """Return the end of what the process wrote to its standard error, without secrets."""
        return self.redaction.text(self._stderr.decode("utf-8", "replace")).strip()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Streams]:
        """Start the process and yield the two streams; leaving ends it and all it has started.

        Raises
        ------
        OSError
            It could not be started.
        """
        self._stderr.clear()
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**get_default_environment(), **self._env},
            cwd=self._cwd,
            start_new_session=sys.platform != "win32",
        )
        incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        tasks = [
            asyncio.create_task(self._read(process, incoming), name=f"{self.name}: stdout"),
            asyncio.create_task(_write(process, outgoing), name=f"{self.name}: stdin"),
            asyncio.create_task(self._listen(process), name=f"{self.name}: stderr"),
        ]
        try:
            yield read, write
        finally:
            for stream in (incoming, read, write, outgoing):
                stream.close()
            try:
                await _end(process)
            finally:
                for task in tasks:
                    task.cancel()

    async def _read(
        self, process: asyncio.subprocess.Process, incoming: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        assert process.stdout is not None  # noqa: S101  it was started with pipes
        line = _Line()
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError), incoming:
            while piece := await process.stdout.read(_PIECE):
                *ends, rest = piece.split(b"\n")
                for end in ends:
                    line.add(end)
                    if (message := line.take()) is not None:
                        await incoming.send(message)
                line.add(rest)
        # Nobody listens any more; a server that still writes must not wait for ever.
        while await process.stdout.read(_PIECE):
            pass

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None  # noqa: S101  it was started with pipes
        while piece := await process.stderr.read(_PIECE):
            self._stderr += piece
            del self._stderr[:-_LAST_WORDS]


class _Line:
    """One line while it is read; of one that is too long only its ends are kept."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0
        self._tail = b""

    def add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= MAX_MESSAGE_BYTES:
            self._pieces.append(piece)
        else:
            head = b"".join(self._pieces)[:_ENDS]
            self._tail = (self._tail + piece)[-_ENDS:]
            self._pieces = [head]

    def take(self) -> SessionMessage | None:
        """Return the message that the line is; ``None`` when it is none, which is said in the log."""
        text, size, tail = b"".join(self._pieces), self._size, self._tail
        self._start()
        if size > MAX_MESSAGE_BYTES:
            return _too_long(text, tail, size)
        if not text.strip():
            return None
        try:
            return SessionMessage(types.jsonrpc_message_adapter.validate_json(text, by_name=False))
        except ValueError:
            return _no_message(text)


def _no_message(text: bytes) -> SessionMessage | None:
    """Return an error in place of an answer that is none, so that whoever waits for it is told."""
    with contextlib.suppress(ValueError, RecursionError):
        said = json.loads(text)
        is_answer = isinstance(said, dict) and "method" not in said and ("result" in said or "error" in said)
        if is_answer and isinstance(said.get("id"), int | str):
            return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=said["id"], error=no_answer()))
    _log.info("A line of %d bytes from a server is no message; it is left out.", len(text))
    return None


def _too_long(head: bytes, tail: bytes, size: int) -> SessionMessage | None:
    """Return an error in place of an answer that is too long, where it can be seen to what it is the answer."""
    found = _ID.search(head) or next(iter(reversed(list(_ID.finditer(tail)))), None)
    if found is None:
        _log.warning("A message of %d bytes from a server is left out.", size)
        return None
    text = found[1].decode("utf-8", "replace")
    id_ = text[1:-1] if text.startswith('"') else int(text)
    return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=id_, error=too_large(size)))


async def _write(process: asyncio.subprocess.Process, outgoing: MemoryObjectReceiveStream[SessionMessage]) -> None:
    assert process.stdin is not None  # noqa: S101  it was started with pipes
    with contextlib.suppress(OSError, anyio.ClosedResourceError):
        async with outgoing:
            async for message in outgoing:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(text.encode("utf-8", "replace") + b"\n")
                await process.stdin.drain()


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a process as the protocol says: close its input, then ask, then make it."""
    try:
        if process.stdin is not None:
            process.stdin.close()
        for signal_ in (signal.SIGTERM, None):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_GRACE_SECONDS):
                    await process.wait()
            if process.returncode is None and signal_ is not None:
                _signal(process, signal_)
    finally:
        # Also what it has started: the group lives on when only its leader has ended.
        _signal(process, None)


def _signal(process: asyncio.subprocess.Process, signal_: signal.Signals | None) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform != "win32":
            os.killpg(process.pid, signal.SIGKILL if signal_ is None else signal_)
        elif process.returncode is None:
            process.kill()
