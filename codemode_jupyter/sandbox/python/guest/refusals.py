"""What a program cannot do here, said in a sentence instead of an error of the system's.

Owns: the words, and where they stand. It guards nothing: what is refused here would fail anyway, since the sandbox has
no threads, processes, sockets or terminal.
"""

from __future__ import annotations

import asyncio
import builtins
import io
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn

NO_THREADS = "A program has no threads: call the function itself, or use asyncio."
NO_PROCESSES = "A program starts no other programs: have a tool do it."
NO_NETWORK = "A program has no network: have a tool do it."
NO_TERMINAL = "nobody is asked while a program runs. Have a tool ask, or give the program what it needs."
RUNS_ALREADY = "The event loop of a program runs already: write `await …` instead."
_NO_EXIT = "A program ends by `return`, or by an error."

_OF_PROCESSES = ("fork", "forkpty", "execv", "execve", "posix_spawn", "posix_spawnp", "system", "popen", "kill")


class _NoTerminal(io.TextIOBase):
    """Standard input."""

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> NoReturn:  # noqa: ARG002
        _refuse("sys.stdin", NO_TERMINAL)

    def readline(self, size: int = -1, /) -> NoReturn:  # noqa: ARG002
        _refuse("sys.stdin", NO_TERMINAL)


class _NoModule:
    """Finds modules that the sandbox cannot have, to say why."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:  # noqa: ARG004  as importlib calls it
        if name in ("_multiprocessing", "_posixshmem"):
            raise ModuleNotFoundError(NO_PROCESSES, name=name)


def install_refusals() -> None:
    """Say of all that a sandbox cannot have what to do instead."""
    builtins.input = _refusing("input()", NO_TERMINAL)
    sys.breakpointhook = _refusing("breakpoint()", NO_TERMINAL)
    sys.stdin = _NoTerminal()
    # The clock stands still while a program computes: it would never end.
    time.sleep = _refuse_sleep  # type: ignore[assignment]  # takes numbers
    threading.Thread.start = _refusing("threading", NO_THREADS)  # type: ignore[method-assign]
    threading.Condition.wait = _refuse_wait  # type: ignore[method-assign, assignment]
    subprocess.Popen.__init__ = _refusing("subprocess", NO_PROCESSES)  # type: ignore[method-assign]
    for name in _OF_PROCESSES:
        if hasattr(os, name):
            setattr(os, name, _refusing(f"os.{name}()", NO_PROCESSES))
    os._exit = _refusing("os._exit()", _NO_EXIT)
    os.abort = _refusing("os.abort()", _NO_EXIT)
    for name in ("connect", "connect_ex", "bind", "listen", "sendto"):
        setattr(socket.socket, name, _no_network)
    socket.getaddrinfo = socket.gethostbyname = _no_network
    asyncio.new_event_loop = asyncio.events.new_event_loop = _refusing("asyncio.new_event_loop()", RUNS_ALREADY)
    asyncio.run = asyncio.runners.run = _refuse_run
    sys.meta_path.insert(0, _NoModule)


def _refuse(what: str, why: str) -> NoReturn:
    if why is NO_PROCESSES:  # as an operating system says it, which libraries expect
        raise OSError(f"{what}: {why}")
    raise RuntimeError(f"{what} is not available in a program: {why}" if why is NO_TERMINAL else f"{what}: {why}")


def _refusing(what: str, why: str) -> Callable[..., NoReturn]:
    def refuse(*_: object, **__: object) -> NoReturn:
        _refuse(what, why)

    return refuse


def _no_network(*_: object, **__: object) -> NoReturn:
    raise OSError(NO_NETWORK)


def _refuse_sleep(seconds: float) -> None:
    if seconds > 0:
        raise RuntimeError("time.sleep() is not available in a program: write `await asyncio.sleep(seconds)`.")


def _refuse_wait(_: threading.Condition, timeout: float | None = None) -> bool:
    """Refuse to wait for another thread, such as in ``queue.Queue().get()``: none could ever end it."""
    if timeout is None or timeout > 0:
        _refuse("threading", NO_THREADS)
    return False


def _refuse_run(main: Any, **_: object) -> NoReturn:
    if asyncio.iscoroutine(main):
        main.close()  # nobody will await it, and this says why
    _refuse("asyncio.run()", RUNS_ALREADY)
