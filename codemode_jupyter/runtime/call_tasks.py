"""The tool calls of one execution that are under way in the kernel, over all its passes.

Owns: starting them, recording how they ended, and waiting for or cancelling what is left. A pass that is lost leaves
its calls running; the next pass attaches to them. Never does: decide whether a call may run.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial

from codemode_jupyter.connectors.tool import Tool, ToolContext
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.admission import arguments_of
from codemode_jupyter.runtime.call_journal import CallJournal
from codemode_jupyter.runtime.live_call import LiveCall
from codemode_jupyter.runtime.log import ExecutionLog, not_owner
from codemode_jupyter.runtime.store.rows import CallRow
from codemode_jupyter.runtime.tool_run import CallOutcome, cancelled, failed, run_tool, stopped

CANCEL_SECONDS = 2.0
"""How long a cancelled tool may take to clean up before it is left to itself."""

_log = logging.getLogger(__name__)

Ended = Sequence[tuple[CallRow, CallOutcome]]


class CallTasks:
    """Tool calls under way.

    Parameters
    ----------
    on_recorded : callable
        Called with calls and their outcomes once these are in the store.
    on_store_failure : callable
        Called with the error when outcomes could not be recorded; their calls stay ``executing``, that is, in doubt.
    channel : callable
        Makes the channel by which a call tells and asks while it runs.
    on_waiting : callable
        Called with a call that is recorded as waiting for an answer; its tool is ended.
    is_left : callable
        Tells whether a call that is cancelled from outside is to stay recorded as under way.
    may_ask : bool, default True
        Whether tools may interrupt their call with a question.

    Outcomes recorded after ``program_ended`` was set are marked as late: the program never saw them.
    """

    def __init__(  # noqa: PLR0913, PLR0917  what happens to calls is told by what happened
        self,
        log: ExecutionLog,
        limit: float,
        on_recorded: Callable[[Ended], None],
        on_store_failure: Callable[[CodemodeError], None],
        channel: Callable[[], LiveCall],
        on_waiting: Callable[[CallRow], None],
        is_left: Callable[[], bool],
        *,
        may_ask: bool = True,
    ) -> None:
        self._log = log
        self._limit = limit
        self._on_recorded = on_recorded
        self._on_store_failure = on_store_failure
        self._channel = channel
        self._on_waiting = on_waiting
        self._is_left = is_left
        self._is_cancelling = False
        self._may_ask = may_ask
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        self.live: dict[int, LiveCall] = {}
        self._ended: list[tuple[CallRow, CallOutcome]] = []
        self.program_ended = False

    def __contains__(self, seq: int) -> bool:
        """Tell whether a call is under way."""
        return seq in self._tasks

    @property
    def are_under_way(self) -> bool:
        """Whether any call is under way."""
        return bool(self._tasks)

    def start(self, row: CallRow, tool: Tool) -> None:
        """Run a call that is recorded as executing."""
        live = self.live[row.seq] = self._channel()
        live.journal = CallJournal(row, self._log, partial(self._rests, row), may_ask=self._may_ask)
        context = ToolContext(self._log.execution_id, row.seq, f"{self._log.execution_id}:{row.seq}", live)
        running = self._run(row, tool, context, live, live.journal)
        task = self._tasks[row.seq] = asyncio.create_task(running, name=f"{row.name} #{row.seq}")
        task.add_done_callback(partial(self._notice_failure, row))

    async def finish(self, seconds: float) -> None:
        """Wait for all calls under way, at most ``seconds``; then cancel what is left."""
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=seconds)
        await self.cancel()

    async def cancel(self) -> None:
        """Cancel all calls under way and record that."""
        self._is_cancelling = True
        for task in self._tasks.values():
            task.cancel()
        if ending := {*self._tasks.values(), *self._leaving}:
            await asyncio.wait(ending, timeout=CANCEL_SECONDS)
        self._is_cancelling = False
        self._record()

    def _rests(self, row: CallRow, journal: CallJournal) -> None:
        """End a tool that can only wait, once its call is recorded as waiting; or that did not repeat itself."""
        if journal.fault is not None:
            self._tasks[row.seq].cancel()
            return
        try:
            self._log.suspend(row, journal.waiting)
        except CodemodeError as error:
            self._on_store_failure(error)
            return
        journal.is_suspended = True
        task = self._tasks.pop(row.seq)
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)
        task.cancel()
        self._on_waiting(row)

    async def _run(self, row: CallRow, tool: Tool, context: ToolContext, live: LiveCall, journal: CallJournal) -> None:
        try:
            outcome = await run_tool(tool, row.name, arguments_of(row), context, self._limit)
            if row.code is not None:  # it ran before
                journal.check_repeated()
        except asyncio.CancelledError:
            is_ended_here = self._is_cancelling or journal.is_suspended or journal.fault is not None
            if _is_being_cancelled() and not is_ended_here and self._is_left():
                return
            outcome = stopped(row.name, tool) if _is_being_cancelled() else cancelled(row.name)
        finally:
            live.close()
            journal.close()
            if self.live.get(row.seq) is live:
                del self.live[row.seq]
        if journal.is_suspended:
            return
        if journal.fault is not None:
            outcome = failed(journal.fault)
        self._ended.append((row, outcome))
        if len(self._ended) == 1:
            # Outcomes of one tick share a commit.
            asyncio.get_running_loop().call_soon(self._record)

    def _notice_failure(self, row: CallRow, task: asyncio.Task[None]) -> None:
        """Record what ended the task itself, such as a ``KeyboardInterrupt``: nobody else would hear of it."""
        error = None if task.cancelled() else task.exception()
        if error is not None and self._tasks.get(row.seq) is task:
            self._ended.append((row, failed(error)))
            self._record()

    def _record(self) -> None:
        ended, self._ended = self._ended, []
        if not ended:
            return
        for row, _ in ended:
            self._tasks.pop(row.seq, None)
        try:
            recorded = self._log.record_outcomes(ended, late=self.program_ended)
        except CodemodeError as error:
            _log.exception("The outcomes of %s could not be recorded.", ", ".join(row.name for row, _ in ended))
            self._on_store_failure(error)
            return
        if len(recorded) < len(ended):
            self._on_store_failure(not_owner(self._log.execution_id))
        kept = {row.seq for row in recorded}
        self._on_recorded([(row, outcome) for row, outcome in ended if row.seq in kept])


def _is_being_cancelled() -> bool:
    """Tell whether somebody cancels the present task; a tool can raise ``CancelledError`` by itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
