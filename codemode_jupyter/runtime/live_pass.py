"""One pass as the kernel sees it: every live call is checked against the log, recorded, and answered.

Owns: the ``PassHandler`` of one pass. Never does: trust the sandbox with a decision, or outlive the pass: what
arrives after its end is ignored.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
import time
from collections.abc import Callable, Sequence

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime import values
from codemode_jupyter.runtime.admission import admit, readable
from codemode_jupyter.runtime.call_tasks import CallTasks, Ended
from codemode_jupyter.runtime.capabilities import Capabilities
from codemode_jupyter.runtime.decisions import check_new, check_recorded, divergence
from codemode_jupyter.runtime.log import ExecutionLog
from codemode_jupyter.runtime.records import ConsoleRecord
from codemode_jupyter.runtime.store.rows import CallRow
from codemode_jupyter.runtime.tool_run import CallOutcome, failed
from codemode_jupyter.runtime.value_writer import message_of
from codemode_jupyter.sandbox.protocol import (
    CODEMODE_NAMESPACE,
    STEP_CONNECTOR,
    CallBatch,
    CallRequest,
    ConsoleLine,
    Event,
    PassEnd,
    PassLink,
    Reply,
    StepResult,
)

_WITHOUT_EFFECT = (STEP_CONNECTOR, CODEMODE_NAMESPACE)
"""Connectors whose calls change nothing: they run in the sandbox, or read our own records."""

_AT_ONCE = 0.15
"""Seconds in which a pass normally gets its sandbox: nobody needs to hear that it waits."""

_log = logging.getLogger(__name__)


class LivePass:
    """The kernel's side of one pass.

    ``aborted`` is set to the error that makes the pass pointless: a divergence, or a store that fails. ``started_at``
    is when the sandbox got the program, by the monotonic clock; ``None`` while the pass waits for its turn.
    """

    def __init__(
        self,
        log: ExecutionLog,
        tasks: CallTasks,
        capabilities: Capabilities,
        console: list[ConsoleRecord],
        notify: Callable[[], None],
    ) -> None:
        self._log = log
        self._tasks = tasks
        self._capabilities = capabilities
        self._console = console
        self._notify = notify
        self._link: PassLink | None = None
        self._asked: set[int] = set()
        self._events_told = 0
        self._recorded_events = len(log.events)
        self._over = False
        self.started_at: float | None = None
        self.preparation = ""
        """What it waits for, where that is not its turn."""
        self._made_at = time.monotonic()
        self.recorded = len(log.calls)
        self.aborted: asyncio.Future[CodemodeError] = asyncio.get_running_loop().create_future()

    @property
    def waits_for_turn(self) -> bool:
        """Whether the sandbox has not got the program, and that not only just now."""
        return self.started_at is None and time.monotonic() - self._made_at > _AT_ONCE

    def preparing(self, what: str) -> None:
        """Note what is done before the sandbox gets the program."""
        self.preparation = what
        self._notify()

    def started(self, link: PassLink) -> None:
        """Keep the way back into the sandbox."""
        self._link = link
        self.started_at = time.monotonic()
        self._notify()

    def calls(self, batch: CallBatch) -> None:
        """Check, record, run and answer the calls of one batch; nothing of it is applied when one of them diverges."""
        if self._over:
            return
        try:
            self._handle(batch)
        except CodemodeError as error:
            self.abort(error)
        except Exception as error:  # noqa: BLE001  a program must not wait for ever for an answer that cannot come
            _log.exception("A call of execution %s failed inside codemode-jupyter.", self._log.execution_id)
            fault = f"{type(error).__name__}: {message_of(error)}"
            self.abort(CodemodeError("internal_error", fault, hint="This is a fault of codemode-jupyter."))
        self._notify()

    def step_result(self, result: StepResult) -> None:
        """Record what a step's function came to; only the holder of the token that was handed out can say."""
        row = self._log.find(result.seq)
        if self._over or row is None or row.connector != STEP_CONNECTOR or row.state != "executing":
            return
        if row.token is None or not hmac.compare_digest(row.token.encode(), result.token.encode("utf-8", "replace")):
            return
        outcome = _step_outcome(row, result)
        try:
            self._log.record_outcomes([(row, outcome)], late=False)
        except CodemodeError as error:
            self.abort(error)
            return
        self._send([_reply(row, outcome)])
        self._notify()

    def console(self, lines: Sequence[ConsoleLine]) -> None:
        """Keep what the program printed."""
        if not self._over:
            self._console.extend(ConsoleRecord(level, readable(text)) for level, text in lines)
            self._notify()

    def outcomes(self, ended: Ended) -> None:
        """Answer calls whose outcomes are in the store."""
        self._send([_reply(row, outcome) for row, outcome in ended if row.seq in self._asked])

    def waits(self, row: CallRow) -> None:
        """Tell the program that a call waits for a person now: it will not settle in this pass."""
        if row.seq in self._asked:
            self._send([Reply(row.seq, "pending")])

    def abort(self, error: CodemodeError) -> None:
        """Give the pass up."""
        self._over = True
        if not self.aborted.done():
            self.aborted.set_result(error)

    def ended(self, end: PassEnd) -> None:
        """Record what the pass told last."""
        self._log.record_events(self._new_events(end))
        self.console(end.console)

    def close(self) -> None:
        """Ignore all that arrives from now on."""
        self._over = True
        self._link = None
        self.aborted.cancel()

    def _handle(self, batch: CallBatch) -> None:
        new: list[CallRow] = []
        rows = [self._row_of(request, new) for request in batch.calls]
        fresh = {row.seq for row in new}
        started = [row for row in rows if row.seq not in fresh and self._starts(row)]
        for row in started:
            if row.connector == STEP_CONNECTOR:
                row.token = secrets.token_hex(16)
        events = self._new_events(batch)
        if new or started or events:
            running = [*(row for row in new if row.state == "executing"), *started]
            durable = any(row.connector not in _WITHOUT_EFFECT for row in running)
            self._log.record_batch(new, started, events, durable=durable)
        replies = []
        for row in rows:
            if row.state == "executing" and row.connector != STEP_CONNECTOR:
                if row.seq not in self._tasks:
                    self._tasks.start(row, self._capabilities.find(row.connector, row.method))
            else:
                replies.append(_recorded_reply(row))
        self._send(replies)

    def _new_events(self, told: CallBatch | PassEnd) -> list[Event]:
        """Return the events that are not recorded yet; a replayed one that is told must be the recorded one."""
        if told.replayed > max(0, self._recorded_events - self._events_told):
            raise CodemodeError("protocol", "The sandbox says that more events were repeated than were recorded.")
        self._events_told += told.replayed
        new = []
        for event in told.events:
            if self._events_told >= self._recorded_events:
                new.append(event)
            elif event[:2] != self._log.events[self._events_told][:2]:
                kind, id_, _ = self._log.events[self._events_told]
                raise divergence(len(self._log.calls), f"{kind} {id_} should have happened, not {event[0]} {event[1]}.")
            self._events_told += 1
        return new

    def _row_of(self, request: CallRequest, new: list[CallRow]) -> CallRow:
        if request.seq in self._asked:
            raise CodemodeError("protocol", f"The sandbox asked for call {request.seq} twice in one pass.")
        self._asked.add(request.seq)
        row = self._log.find(request.seq)
        if row is None:
            check_new(request, len(self._log.calls) + len(new), self.recorded)
            row = admit(self._capabilities, self._log.execution_id, request)
            new.append(row)
        else:
            check_recorded(row, request)
        return row

    def _starts(self, row: CallRow) -> bool:
        """Tell whether a recorded call runs (again) in this pass."""
        if row.state in ("approved", "answered") or (row.ephemeral and row.state in ("applied", "failed")):
            self._capabilities.find(row.connector, row.method)
            return True
        if row.state == "executing" and row.seq not in self._tasks:
            return row.connector == STEP_CONNECTOR or self._runs_again(row)
        return False

    def _runs_again(self, row: CallRow) -> bool:
        if row.ephemeral or self._capabilities.find(row.connector, row.method).idempotent:
            return True
        raise CodemodeError(
            "in_doubt",
            f"It is not known whether {row.name} (call {row.seq}) happened: its outcome was not recorded.",
            hint="Recover the execution and say what to do with that call.",
        )

    def _send(self, replies: Sequence[Reply]) -> None:
        if self._link is not None and replies and not self._over:
            self._link.reply(replies)


def _recorded_reply(row: CallRow) -> Reply:
    if row.state == "executing":
        return Reply(row.seq, "run", token=row.token)
    if row.state in ("pending", "waiting"):
        return Reply(row.seq, "pending")
    if row.state in ("applied", "failed") and row.outcome is not None:
        return _reply(row, CallOutcome(row.state, row.outcome))
    raise CodemodeError("protocol", f"Call {row.seq} is {row.state} and cannot be asked for.")


def _reply(row: CallRow, outcome: CallOutcome) -> Reply:
    if outcome.state == "applied":
        return Reply(row.seq, "applied", value=outcome.text)
    return Reply(row.seq, "failed", error=outcome.text)


def _step_outcome(row: CallRow, result: StepResult) -> CallOutcome:
    text = result.value if result.error is None else result.error
    if text is None:
        return failed(CodemodeError("protocol", "The sandbox sent a step without a value."))
    try:
        values.check_size(text, f"The result of codemode.step({row.method!r})")
        values.canonical(text)
    except CodemodeError as refusal:
        return failed(refusal)
    return CallOutcome("applied" if result.error is None else "failed", text)
