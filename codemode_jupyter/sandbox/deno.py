"""The headless executor: programs run in Workers of a Deno process.

Owns: one process for all passes of the executor, and its replacement when it dies or has to be killed.
Never does: read what a Worker says; ``PassSession`` does.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Coroutine
from typing import Any

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.deno_binary import find_deno
from codemode_jupyter.sandbox.deno_process import DenoProcess, DenoRun, Failure
from codemode_jupyter.sandbox.pool import MAX_PASSES, Pool
from codemode_jupyter.sandbox.protocol import PassEnd, PassHandler, PassRequest
from codemode_jupyter.sandbox.python.making import ensure_assets
from codemode_jupyter.sandbox.session import PassSession

__all__ = ["INSTALL_HINT", "DenoExecutor", "find_deno"]

_ENDED_BY_PROGRAM = ("completed", "failed", "paused", "diverged", "needs_python")
LOADING_SECONDS = 60.0
"""For how long Python is waited for before the time of the program runs."""

INSTALL_HINT = "Run `pip install 'codemode-jupyter[headless]'`."


async def _either(one: Coroutine[Any, Any, Any], other: Coroutine[Any, Any, Any], seconds: float) -> None:
    """Return when one of the two has ended, or the time is over."""
    tasks = {asyncio.ensure_future(one), asyncio.ensure_future(other)}
    try:
        await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


class DenoExecutor:
    """Runs passes without a browser, in a Deno process that may read the files of Python and packages and nothing else.

    The process starts with the first pass, serves all others of its event loop, and is replaced when it dies. A pass
    that does not end by itself is ended by killing the process when it is alone in it, else by ending its Worker; such
    a process takes no further passes. When a process dies with several passes in it, nobody knows which one brought it
    down: each of them runs in a process of its own next time.

    Parameters
    ----------
    binary : str or None, default None
        Path of the ``deno`` executable; ``None``: the one of the ``deno`` package, else the one on the path.
    max_passes : int, default 8
        How many passes run at once; the others wait for their turn, without running time.

    Raises
    ------
    CodemodeError
        Code ``no_sandbox``: there is no Deno. Code ``invalid_option``: ``max_passes`` is no number above 0.
    """

    name = "deno"

    def __init__(self, binary: str | None = None, *, max_passes: int = MAX_PASSES) -> None:
        self._pool = Pool(max_passes)
        found = binary or find_deno()
        if found is None:
            raise CodemodeError("no_sandbox", "The headless sandbox, Deno, is not installed.", hint=INSTALL_HINT)
        self._binary = found
        self._processes: list[DenoProcess] = []
        self._suspects: set[str] = set()
        """Executions whose process died while several passes ran in it."""
        self._is_closed = False

    @property
    def is_closed(self) -> bool:
        """Whether it was closed and takes no passes any more."""
        return self._is_closed

    async def run_pass(self, request: PassRequest, handler: PassHandler) -> PassEnd:
        """Run one pass to its end once it has its turn; cancelling kills it at once.

        Raises
        ------
        CodemodeError
            Code ``no_sandbox``: Deno cannot be started, or the executor is closed. Code ``python_not_available``: the
            program is in Python, whose files cannot be had.
        """
        async with self._pool.place():
            end = await self._run_now(request, handler)
        if end.kind != "lost":
            self._suspects.discard(request.execution_id)
        return end

    async def _run_now(self, request: PassRequest, handler: PassHandler) -> PassEnd:
        python = await asyncio.to_thread(ensure_assets, self._binary) if request.needs_python else None
        process = self._process(alone=request.execution_id in self._suspects)
        session = PassSession(request, handler, lambda text: process.send(run_id, text))

        def fail(kind: Failure, reason: str) -> None:
            if kind == "lost" and not process.is_retired and not self._is_closed:
                self._suspects.add(request.execution_id)
            session.end(PassEnd(kind, error=reason))

        # Tools run for whoever started this pass, not the one that started the process.
        context = contextvars.copy_context()
        run = DenoRun(lambda text: context.run(session.receive, text), fail)
        run_id = process.open(run, python, request.packages)
        is_over = False
        try:
            if python is not None:
                await _either(run.loaded.wait(), session.wait(), LOADING_SECONDS)
            session.start()
            end = await session.wait()
            is_over = end.kind in _ENDED_BY_PROGRAM
        finally:
            session.end(PassEnd("lost", error="The pass was cancelled."))
            process.close(run_id)
            if not is_over:
                process.is_retired = True
            self._put_away(process)
        return end

    async def close(self) -> None:
        """Kill the processes and wait until they are gone."""
        self._is_closed = True
        processes, self._processes = self._processes, []
        for process in processes:
            process.free()
        for process in processes:
            await asyncio.to_thread(process.wait)

    def _process(self, *, alone: bool) -> DenoProcess:
        """Return a process that takes passes of the running loop, starting one if there is none.

        One that is to be ``alone`` gets a new one, which nobody else is given.
        """
        if self._is_closed:
            raise CodemodeError("no_sandbox", "The headless sandbox was closed.")
        loop = asyncio.get_running_loop()
        for process in list(self._processes):
            if not process.is_usable:
                self._put_away(process)
            elif not alone and process.serves(loop):
                return process
        try:
            process = DenoProcess(self._binary)
        except OSError as error:
            raise CodemodeError(
                "no_sandbox", f"Deno cannot be started ({self._binary}): {error}.", hint=INSTALL_HINT
            ) from error
        process.is_retired = alone
        self._processes.append(process)
        return process

    def _put_away(self, process: DenoProcess) -> None:
        """Kill a process that takes no more passes, once none is left in it."""
        if process.is_usable or process.run_count > 0:
            return
        process.free()
        if process in self._processes:
            self._processes.remove(process)
