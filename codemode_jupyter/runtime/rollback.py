"""Undoing an execution: every applied call that can be reverted is, newest first.

Owns: the order, the record of each undoing before it begins and after it ended, and the report. Never does: undo
twice; a call whose undoing began in a process that died is reported as doubtful.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from codemode_jupyter.connectors.functions.native_values import native
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime import values
from codemode_jupyter.runtime.admission import arguments_of
from codemode_jupyter.runtime.capabilities import Capabilities
from codemode_jupyter.runtime.lease import is_alive
from codemode_jupyter.runtime.records import ExecutionStatus
from codemode_jupyter.runtime.store import Store
from codemode_jupyter.runtime.store.executions import FINISHED
from codemode_jupyter.runtime.store.rows import IN_DOUBT, INTERRUPTED, UNDECIDED, CallRow
from codemode_jupyter.runtime.tool_run import RAN_ANYWAY
from codemode_jupyter.runtime.user_code import ends_the_task
from codemode_jupyter.runtime.value_writer import message_of
from codemode_jupyter.sandbox.protocol import CODEMODE_NAMESPACE, STEP_CONNECTOR


@dataclass(frozen=True, slots=True)
class RollbackEntry:
    """One call of a rollback: what it is, and why it was not undone (``message``, empty when it was)."""

    seq: int
    connector: str
    method: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class RollbackReport:
    """What a rollback came to.

    ``status`` is the execution's status afterwards. ``failed``: their revert raised. ``doubtful``: it is not known
    whether they happened, or whether they were undone. ``skipped``: their connector or its revert is not there.
    """

    execution_id: str
    status: ExecutionStatus | Literal["unknown"]
    reverted: tuple[RollbackEntry, ...] = ()
    failed: tuple[RollbackEntry, ...] = ()
    doubtful: tuple[RollbackEntry, ...] = ()
    skipped: tuple[RollbackEntry, ...] = ()

    def __str__(self) -> str:
        parts = [f"Rollback reverted {len(self.reverted)} action{'s' * (len(self.reverted) != 1)}"]
        for word, entries in (("failed", self.failed), ("in doubt", self.doubtful), ("skipped", self.skipped)):
            if entries:
                listed = "; ".join(f"{entry.connector}.{entry.method}: {entry.message}" for entry in entries)
                parts.append(f"{len(entries)} {word} ({listed})")
        return ", ".join(parts) + "."


@dataclass(slots=True)
class _Tally:
    reverted: list[RollbackEntry] = field(default_factory=list)
    failed: list[RollbackEntry] = field(default_factory=list)
    doubtful: list[RollbackEntry] = field(default_factory=list)
    skipped: list[RollbackEntry] = field(default_factory=list)


async def roll_back(
    store: Store, capabilities: Capabilities, execution_id: str, notify: Callable[[], None]
) -> RollbackReport:
    """Undo what an execution did, as far as it can be undone.

    Raises
    ------
    CodemodeError
        ``still_running``: the execution has not paused or ended yet.
    """
    row = store.executions.get(execution_id)
    if row is None:
        return RollbackReport(execution_id, "unknown")
    if row.status == "running":
        lives = is_alive(row.owner, row.heartbeat, time.time())
        raise CodemodeError(
            "still_running",
            f"Execution {execution_id} is still running."
            if lives
            else f"Execution {execution_id} is recorded as running, but the kernel that ran it is gone.",
            hint="Wait for it, or stop it, then roll back." if lives else "`recover()` takes it up; then roll back.",
        )
    tally = _Tally()
    candidates = _candidates(store.calls.of(execution_id), capabilities, tally)
    if not candidates:
        return _report(execution_id, row.status, tally)
    # From here to the end the execution is "partly rolled back": also when this process dies in between.
    with store.transaction() as connection:
        if not store.executions.update(
            connection, execution_id, ("paused", *FINISHED), status="partly_rolled_back", updated_at=time.time()
        ):
            raise CodemodeError("still_running", f"Execution {execution_id} was started by somebody else.")
        store.calls.update_all(connection, execution_id, UNDECIDED, state="cancelled")
    for call in candidates:
        await _revert(store, capabilities, execution_id, call, tally)
        notify()
    with store.transaction() as connection:
        # Another rollback of this execution may have had, or still have, some of the calls.
        left = any(call.state == "reverting" or _is_revertible(call) for call in store.calls.of(execution_id))
        status: ExecutionStatus = "partly_rolled_back" if left or tally.doubtful else "rolled_back"
        store.executions.update(
            connection, execution_id, ("partly_rolled_back", "rolled_back"), status=status, updated_at=time.time()
        )
    return _report(execution_id, status, tally)


def _candidates(calls: list[CallRow], capabilities: Capabilities, tally: _Tally) -> list[CallRow]:
    """Return the calls to undo, newest first; note those that cannot be."""
    candidates = []
    for call in reversed(calls):
        if call.connector in (STEP_CONNECTOR, CODEMODE_NAMESPACE):
            continue
        if call.state in ("executing", "in_doubt"):
            tally.doubtful.append(_entry(call, "it is not known whether it happened"))
        elif call.state == "failed" and call.can_revert and call.code in RAN_ANYWAY:
            tally.doubtful.append(_entry(call, f"it failed ({call.code}), but may have had its effect"))
        elif call.state in ("approved", "cancelled") and call.code == IN_DOUBT:
            tally.doubtful.append(_entry(call, "it was to run again and did not; whether it had happened is not known"))
        elif call.code == INTERRUPTED and call.state in (*UNDECIDED, "rejected", "cancelled"):
            tally.doubtful.append(
                _entry(call, "it had begun and waited for an answer; what it did before is not undone")
            )
        elif call.state == "reverting":
            tally.doubtful.append(_entry(call, "its undoing began, but it is not known whether it ended"))
        elif _is_revertible(call):
            tool = capabilities.tools_of(call.connector).get(call.method)
            if tool is None or tool.revert is None:
                tally.skipped.append(_entry(call, "this runtime has no revert for it"))
            else:
                candidates.append(call)
    return candidates


def _is_revertible(call: CallRow) -> bool:
    return call.state == "applied" and call.can_revert


async def _revert(store: Store, capabilities: Capabilities, execution_id: str, call: CallRow, tally: _Tally) -> None:
    with store.transaction() as connection:
        if not store.calls.update(connection, execution_id, call.seq, ("applied",), state="reverting"):
            return  # another rollback has it
    try:
        revert = capabilities.find(call.connector, call.method).revert
        await _call(revert, native(arguments_of(call)), None if call.outcome is None else values.decode(call.outcome))
    except BaseException as error:  # one failing revert must not stop the others
        if ends_the_task(error):
            raise
        tally.failed.append(_entry(call, message_of(error) or type(error).__name__))
        state = "applied"
    else:
        tally.reverted.append(_entry(call))
        state = "reverted"
    with store.transaction(durable=False) as connection:
        store.calls.update(connection, execution_id, call.seq, ("reverting",), state=state)


async def _call(revert: Any, arguments: dict[str, Any], result: Any) -> None:
    """Call a revert function: a coroutine function on the loop, any other in a thread."""
    if inspect.iscoroutinefunction(revert):
        await revert(arguments, result)
        return
    answer = await asyncio.to_thread(_in_thread, revert, arguments, result)
    if inspect.isawaitable(answer):
        await answer


def _in_thread(revert: Any, arguments: dict[str, Any], result: Any) -> Any:
    try:
        return revert(arguments, result)
    except (StopIteration, SystemExit, KeyboardInterrupt) as error:
        # A future cannot carry the first, and the others must not end the kernel.
        raise RuntimeError(f"its revert raised {error!r}") from error


def _entry(call: CallRow, message: str = "") -> RollbackEntry:
    return RollbackEntry(call.seq, call.connector, call.method, message)


def _report(execution_id: str, status: ExecutionStatus, tally: _Tally) -> RollbackReport:
    return RollbackReport(
        execution_id, status, tuple(tally.reverted), tuple(tally.failed), tuple(tally.doubtful), tuple(tally.skipped)
    )
