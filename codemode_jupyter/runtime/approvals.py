"""A person's decisions about waiting calls: what was shown is what is decided, and the first decision wins.

Owns: checking a decision against the store and writing it in one step. Never does: run anything.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Iterable, Sequence

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime import failures
from codemode_jupyter.runtime.capabilities import Capabilities
from codemode_jupyter.runtime.digest import combine
from codemode_jupyter.runtime.lease import is_alive
from codemode_jupyter.runtime.records import CallState, ErrorDetail
from codemode_jupyter.runtime.store import Store
from codemode_jupyter.runtime.store.rows import UNDECIDED, CallRow, ExecutionRow


def approve(  # noqa: PLR0913, PLR0917  who decides what, where
    store: Store,
    capabilities: Capabilities,
    owner: str,
    execution_id: str,
    seq: int | Sequence[int] | None,
    digest: str | None,
) -> ExecutionRow:
    """Approve waiting calls and make the execution this owner's to drive; all of it or nothing.

    Raises
    ------
    CodemodeError
        ``unknown_execution``, ``not_paused``, ``stale_decision``, ``missing_connectors``, ``missing_tools``,
        ``modules_changed``, ``in_doubt``: nothing was changed.
    """
    now = time.time()
    with store.transaction() as connection:
        row = store.executions.get(execution_id)
        if row is None:
            raise CodemodeError("unknown_execution", f'No execution "{execution_id}" to resume.')
        if row.status != "paused":
            raise not_paused(row)
        if doubtful := store.calls.with_state(execution_id, "in_doubt"):
            raise CodemodeError(
                "in_doubt",
                f"It is not known whether {doubtful[0].name} (call {doubtful[0].seq}) happened; settle that first.",
                hint='Answer with `respond(call_id, "run_again" | "happened" | "give_up")`.',
            )
        chosen = _chosen(store, execution_id, seq, digest)
        check_complete(capabilities, row, chosen)
        store.executions.update(
            connection, execution_id, ("paused",), status="running", owner=owner, heartbeat=now, updated_at=now
        )
        for call in chosen:
            store.calls.update(connection, execution_id, call.seq, ("pending",), state="approved", decided_at=now)
    row.status, row.owner = "running", owner
    return row


def reject(
    store: Store, execution_id: str, seq: int | Sequence[int] | None, digest: str | None, reason: str | None
) -> bool:
    """Reject calls that wait for an approval or an answer, which ends the execution as ``rejected``.

    ``False`` when there is nothing (any more) to reject.
    """
    now = time.time()
    with store.transaction() as connection:
        row = store.executions.get(execution_id)
        if row is None or row.status != "paused":
            return False
        try:
            chosen = _chosen(store, execution_id, seq, digest, with_questions=True)
        except CodemodeError:
            return False
        names = ", ".join(call.name for call in chosen)
        because = f": {reason}" if reason else "."
        detail = ErrorDetail("rejected", f"Action {names} rejected by user{because}")
        store.executions.update(
            connection, execution_id, ("paused",), status="rejected", error=failures.to_json(detail), updated_at=now
        )
        for call in chosen:
            store.calls.update(connection, execution_id, call.seq, (call.state,), state="rejected", decided_at=now)
        store.calls.update_all(connection, execution_id, UNDECIDED, state="cancelled")
    return True


def not_paused(row: ExecutionRow) -> CodemodeError:
    """Return the refusal to decide about an execution that does not wait."""
    stale = row.status == "running" and not is_alive(row.owner, row.heartbeat, time.time())
    return CodemodeError(
        "not_paused",
        f'Execution "{row.id}" is not paused (status: {row.status}); only a paused run can be approved.',
        hint="The kernel that ran it is gone: `recover()` takes it up again." if stale else None,
    )


def waiting(store: Store, execution_id: str) -> list[int]:
    """Return the ``seq`` of the calls of an execution that wait for an approval now."""
    return [call.seq for call in store.calls.with_state(execution_id, "pending")]


def check_complete(capabilities: Capabilities, row: ExecutionRow, to_run: Iterable[CallRow] = ()) -> None:
    """Refuse to go on with an execution that needs what this runtime does not have.

    ``to_run``: the calls whose tools are to run now.

    Raises
    ------
    CodemodeError
        ``missing_connectors``, ``missing_tools``, ``modules_changed``
    """
    if missing := capabilities.missing(row.connectors):
        raise missing_connectors(f"Execution {row.id}", missing)
    if gone := [call.name for call in to_run if call.method not in capabilities.tools_of(call.connector)]:
        raise CodemodeError(
            "missing_tools",
            f"Execution {row.id} requires {', '.join(gone)}, which this runtime does not have.",
            hint="Make the runtime with these tools, then try again.",
            data={"tools": gone},
        )
    if changed := capabilities.changed_modules(row.modules):
        listed = ", ".join(f'"{name}"' for name in changed)
        raise CodemodeError(
            "modules_changed",
            f"Execution {row.id} began with other modules: {listed} changed since then or is missing here.",
            hint="Make the runtime with the modules as they were, or run the program anew.",
            data={"modules": changed},
        )


def missing_connectors(what: str, missing: Sequence[str]) -> CodemodeError:
    """Return the refusal of something that needs connectors which this runtime does not have."""
    listed = ", ".join(f'"{name}"' for name in missing)
    return CodemodeError(
        "missing_connectors",
        f"{what} requires connector(s) {listed} that are not configured on this runtime.",
        hint="Make the runtime with these connectors, then try again.",
        data={"connectors": list(missing)},
    )


def _chosen(
    store: Store,
    execution_id: str,
    seq: int | Sequence[int] | None,
    digest: str | None,
    *,
    with_questions: bool = False,
) -> list[CallRow]:
    """Return the waiting calls that a decision is about, or refuse it as stale."""
    _check_decision(seq, digest)
    states: tuple[CallState, ...] = ("pending", "waiting") if with_questions else ("pending",)
    waiting = {call.seq: call for call in store.calls.with_state(execution_id, *states)}
    if seq is None:
        wanted = sorted(waiting)
    elif isinstance(seq, int):
        wanted = [seq]
    else:
        wanted = sorted(set(seq))
    stale = [number for number in wanted if number not in waiting]
    if stale or not wanted:
        which = f"Call {stale[0]} of execution {execution_id}" if stale else f"No call of execution {execution_id}"
        verb = "is not waiting for a decision (any more)" if stale else "waits for an approval"
        raise CodemodeError(
            "stale_decision", f"{which} {verb}.", hint="Look at what is pending now; nothing was changed."
        )
    chosen = [waiting[number] for number in wanted]
    if digest is not None and not _is_shown(store, execution_id, chosen, digest):
        raise CodemodeError(
            "stale_decision",
            f"The decision was made for other calls or arguments than those that execution {execution_id} waits with.",
            hint="Look at what is pending now; nothing was changed.",
        )
    return chosen


def _is_shown(store: Store, execution_id: str, chosen: Sequence[CallRow], digest: str) -> bool:
    """Tell whether a digest is that of what these calls wait with: of all, or of one question of a single call."""
    questions = store.journal.open_questions(execution_id)
    shown = [[one.digest for one in questions if one.call == call.seq and call.state == "waiting"] for call in chosen]
    parts = [digests or [call.digest] for call, digests in zip(chosen, shown, strict=True)]
    good = [combine(one for part in parts for one in part), *(parts[0] if len(parts) == 1 else ())]
    given = digest.encode("utf-8", "replace")
    return any(hmac.compare_digest(given, one.encode()) for one in good)


def _check_decision(seq: int | Sequence[int] | None, digest: str | None) -> None:
    """Refuse a decision that is not made of whole numbers and a text: 1.0 or "1" is no number that was shown."""
    numbers = seq if isinstance(seq, Iterable) else () if seq is None else (seq,)
    if isinstance(seq, str) or any(isinstance(one, bool) or not isinstance(one, int) for one in numbers):
        hint = "Use the number of a waiting call, or a list of them."
        raise CodemodeError("invalid_option", f"`seq` is {seq!r:.100}.", hint=hint)
    if digest is not None and not isinstance(digest, str):
        raise CodemodeError("invalid_option", f"`digest` is {digest!r:.100}.", hint="Use the digest of a pending call.")
