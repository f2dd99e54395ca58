"""One execution is driven, pass after pass, until it pauses or ends.

Owns: starting passes, replaying after a lost one, and writing the end of each. Never does: decide about single calls.

A driver is made for an execution whose row says ``running`` and names this runtime as its owner; every change it
makes is conditional on that.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime import failures, snippet_library, values
from codemode_jupyter.runtime.call_tasks import CallTasks, Ended
from codemode_jupyter.runtime.capabilities import Capabilities
from codemode_jupyter.runtime.decisions import divergence
from codemode_jupyter.runtime.hooks import dispose, pass_ended
from codemode_jupyter.runtime.lease import HEARTBEAT_SECONDS
from codemode_jupyter.runtime.live_call import LiveCall
from codemode_jupyter.runtime.live_pass import LivePass
from codemode_jupyter.runtime.log import ExecutionLog, not_owner
from codemode_jupyter.runtime.outcome import logs_text
from codemode_jupyter.runtime.recorded_packages import RecordedPackages
from codemode_jupyter.runtime.records import ConsoleRecord, ErrorDetail, ExecutionStatus
from codemode_jupyter.runtime.store import Store
from codemode_jupyter.runtime.store.rows import UNDECIDED, CallRow, ExecutionRow
from codemode_jupyter.sandbox.protocol import (
    CODEMODE_NAMESPACE,
    STEP_CONNECTOR,
    Executor,
    ModuleText,
    PassEnd,
    PassRequest,
)

LOST_TRIES = 5
"""How often in a row a program may bring its sandbox down, with no new call or outcome, before the execution fails."""

SANDBOX_PATIENCE = 60.0
"""Seconds to wait for a sandbox to work again after a pass was lost. A page is waited for without a limit: a person
closes it, and opens it again tomorrow."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 5.0
"""Seconds between two looks for a sandbox."""

NO_SANDBOX = ("no_sandbox", "no_page")
"""Codes by which an executor, or the place that should have one, says that there is none."""

_STOP_SECONDS = 3.0
_LOCKED_WAITS = (0.5, 1.0, 2.0)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a driver needs of its runtime."""

    store: Store
    capabilities: Capabilities
    executor: Callable[[], Awaitable[Executor]]
    owner: str
    tool_timeout: float
    notify: Callable[[str], None]
    may_interrupt: bool = True


class ExecutionDriver:
    """Drives one execution.

    After ``drive`` returned, the store says what came of it; ``result`` is the final value as tagged text, also when
    it is too large to be stored.
    """

    def __init__(self, surroundings: Surroundings, row: ExecutionRow) -> None:
        self._around = surroundings
        self._row = row
        self._log = ExecutionLog(surroundings.store, row.id, surroundings.owner)
        self._tasks = CallTasks(
            self._log,
            surroundings.tool_timeout,
            self._recorded,
            self._store_failed,
            self._channel,
            self._waits,
            lambda: self._is_left,
            may_ask=surroundings.may_interrupt,
        )
        self._pass: LivePass | None = None
        self._packages = RecordedPackages(
            surroundings.store, row, surroundings.owner, surroundings.capabilities.packages
        )
        self._fetching = ""
        """Which packages are fetched now, in words."""
        self._store_failure: CodemodeError | None = None
        self._running_time = 0.0
        self._written_at: float | None = None
        self.console: list[ConsoleRecord] = []
        self.result: str | None = None
        self.never_started: CodemodeError | None = None
        self.is_stopped = False
        """Whether it is cancelled since somebody ends it."""
        self._task: asyncio.Task[None] | None = None

    @property
    def live(self) -> dict[int, LiveCall]:
        """The calls that run now, by ``seq``."""
        return self._tasks.live

    @property
    def waits_for_turn(self) -> bool:
        """Whether the present pass waits until the sandbox takes it."""
        return self._pass is not None and self._pass.waits_for_turn

    @property
    def preparation(self) -> str:
        """What the present pass waits for, in words, where that is not its turn."""
        if self._fetching:
            return self._fetching
        return self._pass.preparation if self._pass is not None and not self.has_begun else ""

    @property
    def has_begun(self) -> bool:
        """Whether the sandbox has the program of the present pass."""
        return self._pass is not None and self._pass.started_at is not None

    async def drive(self) -> None:
        """Run passes until the execution is paused or over.

        Cancelling this ends the execution as ``stopped``; but a detached one that nobody stops, as when its event loop
        ends, is left as it is, for ``recover``.
        """
        self._task = asyncio.current_task()
        beating = asyncio.create_task(self._beat(), name=f"lease of {self._row.id}")
        try:
            await self._around.capabilities.load()
            while await self._settle(await self._passes()):
                self._log.reload()
                self._tasks.program_ended = False
        except asyncio.CancelledError:
            if self._is_left:
                self._leave()
                raise
            await self._tasks.cancel()
            await self._fail(ErrorDetail("stopped", "The run was stopped.", hint="Nothing of the program goes on."))
            raise
        except CodemodeError as error:
            await self._tasks.cancel()
            if error is self.never_started and (self._row.passes > 0 or self._log.calls):
                self._pause_again()
            else:
                await self._fail(failures.detail_of(error))
        except Exception as error:  # noqa: BLE001  whatever it was, the execution must not stay "running"
            _log.exception("Execution %s failed inside codemode-jupyter.", self._row.id)
            await self._tasks.cancel()
            await self._fail(failures.detail_of(error))
        finally:
            beating.cancel()

    def calls_as_of(self, updated_at: float) -> Sequence[CallRow] | None:
        """Return the log that ended with the change of this time; ``None``: somebody else made that change."""
        return self._log.calls if updated_at == self._written_at else None

    async def _passes(self) -> PassEnd:
        """Run passes until one is not lost."""
        lost, was_lost = 0, False
        while True:
            before = self._progress()
            end = await self._one_pass(is_patient=was_lost)
            if end.kind == "needs_python":
                continue
            if end.kind != "lost":
                return end
            was_lost = True
            # A page that a person leaves, and one that goes while the program only waits for a tool, blame no program.
            is_blamed = not (end.is_left or self._tasks.are_under_way or self._progress() > before)
            lost = lost + 1 if is_blamed else 0
            if lost >= LOST_TRIES:
                return end
            _log.info("The pass of %s was lost; it starts again by replay.", self._row.id)

    async def _one_pass(self, *, is_patient: bool) -> PassEnd:
        self.console.clear()
        begin, pause = time.monotonic(), _FIRST_PAUSE
        while True:
            try:
                return await self._run_pass(await self._around.executor())
            except CodemodeError as error:
                if error.code not in NO_SANDBOX:
                    raise
                is_waited_for = error.code == "no_page" or time.monotonic() < begin + SANDBOX_PATIENCE
                if not (is_patient and is_waited_for):
                    self.never_started = error
                    raise
            await asyncio.sleep(pause)
            pause = min(1.5 * pause, _LONGEST_PAUSE)

    async def _run_pass(self, executor: Executor) -> PassEnd:
        self.never_started = None
        request = await self._with_packages(self._request())
        live = LivePass(self._log, self._tasks, self._around.capabilities, self.console, self._changed)
        self._pass = live
        running = asyncio.create_task(executor.run_pass(request, live), name=f"pass of {self._row.id}")
        try:
            either: set[asyncio.Future[Any]] = {running, live.aborted}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if live.aborted.done():
                raise live.aborted.result()
            end = running.result()
            self._row.passes += 1
            live.ended(end)
            if end.kind == "completed":
                self._check_all_repeated(end, live)
            if end.kind == "needs_python" and (request.needs_python or not self._has_python_snippets()):
                raise CodemodeError("protocol", "The sandbox asked for Python without need.")
            return end
        finally:
            live.close()
            self._pass = None
            if live.started_at is not None:  # waiting for a place in the sandbox is no running time
                self._running_time += time.monotonic() - live.started_at
            if not running.done():
                running.cancel()
                await asyncio.wait({running}, timeout=_STOP_SECONDS)
            elif not running.cancelled():
                running.exception()  # seen, also when the pass was aborted for another reason

    def _request(self) -> PassRequest:
        row, capabilities = self._row, self._around.capabilities
        return PassRequest(
            execution_id=row.id,
            source=row.source,
            line_offset=row.line_offset,
            namespaces=capabilities.namespaces(),
            clock=row.clock,
            seed=row.seed,
            timeout=row.timeout,
            language=row.language,
            calls=self._log.recorded(),
            events=list(self._log.events),
            fetch=capabilities.outbound is not None,
            modules=[ModuleText(module.name, module.source, module.line_offset) for module in capabilities.modules],
            has_python_snippets=self._has_python_snippets(),
        )

    async def _with_packages(self, request: PassRequest) -> PassRequest:
        """Add the packages that the execution has, or is to have from now on, where it needs Python."""
        if not request.needs_python:
            return request
        try:
            return replace(request, packages=await self._packages.files(self._fetches))
        except CodemodeError as error:
            self.never_started = error
            raise
        finally:
            self._fetching = ""

    def _fetches(self, what: str) -> None:
        self._fetching = what
        self._changed()

    def _has_python_snippets(self) -> bool:
        """Tell whether the recorded run goes through a snippet in Python."""
        return any(
            snippet_library.is_python(values.decode(row.outcome))
            for row in self._log.calls
            if row.connector == CODEMODE_NAMESPACE and row.method == "run" and row.outcome is not None
        )

    def _check_all_repeated(self, end: PassEnd, live: LivePass) -> None:
        """Refuse a pass that ended without repeating every recorded call."""
        if end.issued < live.recorded:
            raise divergence(end.issued, f"the program ended without repeating {self._log.calls[end.issued].name}.")
        for row in self._log.calls:
            if row.state == "approved":
                raise divergence(row.seq, f"the program ended without repeating {row.name}, which was approved.")

    async def _settle(self, end: PassEnd) -> bool:
        """Write what the last pass came to; tell whether an answer came meanwhile, so that another one is due."""
        if end.kind in ("completed", "failed", "paused"):
            self._tasks.program_ended = end.kind != "paused"
            await self._tasks.finish(self._around.tool_timeout)
        else:
            await self._tasks.cancel()
        if self._store_failure is not None:
            raise self._store_failure
        waiting = any(row.state in ("pending", "waiting", "answered") for row in self._log.calls)
        if end.kind in ("completed", "paused") and waiting:
            return not await self._write("paused")
        if end.kind == "completed":
            await self._complete(end.value or '{"$type": "undefined"}')
        elif end.kind == "failed":
            globals_ = (*self._around.capabilities.required, CODEMODE_NAMESPACE)
            await self._fail(
                failures.program_detail(
                    end,
                    self._row.code,
                    self._log.calls,
                    globals_,
                    self._around.capabilities.modules,
                    self._row.language,
                )
            )
        elif end.kind == "paused":
            raise CodemodeError("protocol", "The sandbox said that the program waits for a person, but no call does.")
        else:
            await self._fail(failures.ended_detail(end))
        return False

    async def _complete(self, value: str) -> None:
        self.result = value
        size = values.byte_size(value)
        if size <= values.MAX_BYTES:
            await self._write("completed", result=value)
        else:
            why = f"it has {size:,} bytes, the limit is {values.MAX_BYTES:,}"
            note = f"[codemode: result omitted from the audit trail: {why}]"
            await self._write("completed", result_note=note)

    async def _fail(self, detail: ErrorDetail) -> None:
        await self._write("error", error=failures.to_json(detail))

    async def _write(self, status: ExecutionStatus, **changes: Any) -> bool:
        """Write the end of the last pass, unless the execution is not ours any more; a locked store is tried again.

        ``False``: nothing was written, since a question was answered meanwhile and the program does not wait any more.
        """
        for wait in (*_LOCKED_WAITS, None):
            try:
                written = self._write_once(status, changes)
                break
            except _AnsweredMeanwhileError:
                return False
            except CodemodeError as error:
                if wait is None or error.code != "store_locked":
                    raise
                await asyncio.sleep(wait)
        if written:
            self._changed()
            await pass_ended(self._around.capabilities, self._row.id, status)
            if status != "paused":
                await dispose(self._around.capabilities, self._row.id, status)
        return True

    def _write_once(self, status: ExecutionStatus, changes: dict[str, Any]) -> bool:
        store, row, now = self._around.store, self._row, time.time()
        cancelled = [] if status == "paused" else [call for call in self._log.calls if _is_cancelled_at_end(call)]
        with store.transaction() as connection:
            if not store.executions.beat(connection, row.id, self._around.owner, now):
                return False
            if status == "paused" and store.calls.with_state(row.id, "answered"):
                raise _AnsweredMeanwhileError
            store.executions.update(
                connection,
                row.id,
                ("running",),
                status=status,
                logs=logs_text(self.console),
                passes=row.passes,
                running_time=row.running_time + self._running_time,
                updated_at=now,
                owner=None,
                heartbeat=None,
                **changes,
            )
            for call in cancelled:
                store.calls.update(connection, row.id, call.seq, (call.state,), state="cancelled", token=None)
        for call in cancelled:
            call.state, call.token = "cancelled", None
        self._written_at = now
        return True

    @property
    def _is_left(self) -> bool:
        """Whether this is cancelled and that ends nothing: the execution is detached, and nobody stops it."""
        if self.is_stopped or self._task is None or not self._task.cancelling():
            return False
        row = self._around.store.executions.get(self._row.id)
        return row is not None and row.detached_at is not None

    def _leave(self) -> None:
        """Leave the execution as a dead kernel leaves it, but say that nobody drives it."""
        store = self._around.store
        with store.transaction() as connection:
            store.executions.update(connection, self._row.id, ("running",), owner=None, updated_at=time.time())

    def _pause_again(self) -> None:
        """Undo a decision for which no pass could be started: the execution waits as before.

        Where nothing was decided it was being taken up again: it stays recorded as running, for the next ``recover``.
        """
        store = self._around.store
        answered = [row for row in self._log.calls if row.state == "answered"]
        decided = bool(answered) or any(row.state == "approved" for row in self._log.calls)
        with store.transaction() as connection:
            if store.executions.update(
                connection,
                self._row.id,
                ("running",),
                status="paused" if decided else "running",
                owner=None,
                heartbeat=None,
                updated_at=time.time(),
            ):
                store.calls.update_all(connection, self._row.id, ("approved",), state="pending", decided_at=None)
                for row in answered:
                    store.journal.take_back(connection, self._row.id, row.seq, row.decided_at)
                store.calls.update_all(connection, self._row.id, ("answered",), state="waiting", decided_at=None)
        self._changed()

    async def _beat(self) -> None:
        """Renew the lease; an execution that is not ours any more is given up."""
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            try:
                with self._around.store.transaction(durable=False) as connection:
                    ours = self._around.store.executions.beat(connection, self._row.id, self._around.owner, time.time())
            except CodemodeError:
                continue  # the next beat may succeed; other kernels look at the process as well
            if not ours and self._pass is not None:
                self._pass.abort(not_owner(self._row.id))

    def _channel(self) -> LiveCall:
        return LiveCall(self.console, self._changed)

    def _progress(self) -> int:
        """Return a number that grows with every recorded call and outcome."""
        return len(self._log.calls) + sum(row.state in ("applied", "failed") for row in self._log.calls)

    def _recorded(self, ended: Ended) -> None:
        if self._pass is not None:
            self._pass.outcomes(ended)
        self._changed()

    def _waits(self, row: CallRow) -> None:
        if self._pass is not None:
            self._pass.waits(row)
        self._changed()

    def _store_failed(self, error: CodemodeError) -> None:
        self._store_failure = error
        if self._pass is not None:
            self._pass.abort(error)

    def _changed(self) -> None:
        self._around.notify(self._row.id)


class _AnsweredMeanwhileError(Exception):
    """The execution cannot pause: a call of it is ready to go on."""


def _is_cancelled_at_end(call: CallRow) -> bool:
    """Tell whether the end of its execution is the end of a call that has none.

    A tool call that still executes stays so: its outcome is in doubt.
    """
    return call.state in UNDECIDED or (call.connector == STEP_CONNECTOR and call.state == "executing")
