"""The headless executor: programs run in Workers of a Deno process.

Owns: finding Deno, one process for all passes of the executor, and its replacement when it dies or has to be killed.
Never does: read what a Worker says; ``PassSession`` does.
"""

from __future__ import annotations

import asyncio
import shutil

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.deno_process import DenoProcess, DenoRun, Failure
from codemode_jupyter.sandbox.protocol import PassEnd, PassHandler, PassRequest
from codemode_jupyter.sandbox.session import PassSession

_ENDED_BY_PROGRAM = ("completed", "failed", "paused", "diverged")
INSTALL_HINT = "Run `pip install 'codemode-jupyter[headless]'`."


def find_deno() -> str | None:
    """Return the path of a Deno executable: the ``deno`` package's own, else the one on the path, else ``None``."""
    try:
        from deno import find_deno_bin  # type: ignore[import-untyped]  # noqa: PLC0415  an extra that may be missing

        return str(find_deno_bin())
    except (ImportError, FileNotFoundError):
        return shutil.which("deno")


class DenoExecutor:
    """Runs passes without a browser, in a Deno process that has no permission at all.

    The process starts with the first pass, serves all others of its event loop, and is replaced when it dies. A pass
    that does not end by itself is ended by killing the process when it is alone in it, else by ending its Worker; such
    a process takes no further passes.

    Parameters
    ----------
    binary : str or None, default None
        Path of the ``deno`` executable; ``None``: the one of the ``deno`` package, else the one on the path.

    Raises
    ------
    CodemodeError
        Code ``no_sandbox``: there is no Deno.
    """

    name = "deno"

    def __init__(self, binary: str | None = None) -> None:
        found = binary or find_deno()
        if found is None:
            raise CodemodeError("no_sandbox", "The headless sandbox, Deno, is not installed.", hint=INSTALL_HINT)
        self._binary = found
        self._processes: list[DenoProcess] = []
        self._is_closed = False

    @property
    def is_closed(self) -> bool:
        """Whether it was closed and takes no passes any more."""
        return self._is_closed

    async def run_pass(self, request: PassRequest, handler: PassHandler) -> PassEnd:
        """Run one pass to its end; cancelling kills it at once.

        Raises
        ------
        CodemodeError
            Code ``no_sandbox``: Deno cannot be started, or the executor is closed.
        """
        process = self._process()
        session = PassSession(request, handler, lambda text: process.send(run_id, text))

        def fail(kind: Failure, reason: str) -> None:
            session.end(PassEnd(kind, error=reason))

        run_id = process.open(DenoRun(session.receive, fail))
        is_over = False
        try:
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

    def _process(self) -> DenoProcess:
        """Return a process that takes passes of the running loop, starting one if there is none."""
        if self._is_closed:
            raise CodemodeError("no_sandbox", "The headless sandbox was closed.")
        loop = asyncio.get_running_loop()
        for process in list(self._processes):
            if not process.is_usable:
                self._put_away(process)
            elif process.serves(loop):
                return process
        try:
            process = DenoProcess(self._binary)
        except OSError as error:
            raise CodemodeError(
                "no_sandbox", f"Deno cannot be started ({self._binary}): {error}.", hint=INSTALL_HINT
            ) from error
        self._processes.append(process)
        return process

    def _put_away(self, process: DenoProcess) -> None:
        """Kill a process that takes no more passes, once none is left in it."""
        if process.is_usable or process.run_count > 0:
            return
        process.free()
        if process in self._processes:
            self._processes.remove(process)
