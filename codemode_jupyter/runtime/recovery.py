"""Executions whose kernel died: found, taken over, and asked about where nobody knows what happened.

Owns: the rule for a call whose outcome was not recorded, and writing what a person says about it. Never does: run
anything, or take over from an owner that lives.

The rule: steps, re-executed tools and idempotent tools run again (the latter under the same idempotency key). Any
other call is in doubt, and the execution waits until a person has answered.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Collection
from typing import Any

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime import failures, values
from codemode_jupyter.runtime.approvals import check_complete
from codemode_jupyter.runtime.call_ids import CallId
from codemode_jupyter.runtime.capabilities import Capabilities
from codemode_jupyter.runtime.lease import is_alive
from codemode_jupyter.runtime.records import ErrorDetail
from codemode_jupyter.runtime.store import Store
from codemode_jupyter.runtime.store.rows import IN_DOUBT, UNDECIDED, CallRow, ExecutionRow
from codemode_jupyter.sandbox.protocol import STEP_CONNECTOR


def stale(store: Store, owner: str, driven: Collection[str]) -> list[ExecutionRow]:
    """Return the executions that are recorded as running but that nobody drives, newest first.

    ``owner`` is who asks, ``driven`` what it drives: an own execution of which it could not write the end is stale too.
    """
    now = time.time()
    return [
        row
        for row in store.executions.with_status("running")
        if (row.id not in driven if row.owner == owner else not is_alive(row.owner, row.heartbeat, now))
    ]


def take_over(store: Store, capabilities: Capabilities, owner: str, row: ExecutionRow) -> ExecutionRow | None:
    """Take over one stale execution: ready to be driven, or paused when a call is in doubt.

    ``None``: somebody else was faster.

    Raises
    ------
    CodemodeError
        ``missing_connectors``, ``modules_changed``: it stays as it is, for a complete runtime.
    """
    check_complete(capabilities, row)
    now = time.time()
    with store.transaction() as connection:
        current = store.executions.get(row.id)
        if current is None or current.status != "running" or current.owner != row.owner:
            return None
        doubtful = [call for call in store.calls.with_state(row.id, "executing") if _in_doubt(capabilities, call)]
        for call in doubtful:
            store.calls.update(connection, row.id, call.seq, ("executing",), state="in_doubt")
        row.status = "paused" if doubtful else "running"
        row.owner = None if doubtful else owner
        changes = {"status": row.status, "owner": row.owner, "heartbeat": now, "updated_at": now}
        store.executions.update(connection, row.id, ("running",), **changes)
        if row.detachable:  # whoever was to be told is gone with the kernel
            store.executions.detach(connection, row.id, now, None)
            row.detached_at = row.detached_at or now
    return row


def respond(  # noqa: PLR0913, PLR0917  who says what, where
    store: Store,
    capabilities: Capabilities,
    owner: str,
    call: CallId,
    answer: object,
    result: Any,
    digest: str | None,
) -> ExecutionRow:
    """Write what a person says about a call in doubt; with a ``digest``, about exactly the call that was shown.

    The row is ``running`` and this owner's once nothing is in doubt any more.

    Raises
    ------
    CodemodeError
        ``invalid_answer``, ``unknown_execution``, ``stale_decision``, ``missing_connectors``, ``modules_changed``,
        ``not_storable``, ``too_large``: nothing was changed.
    """
    if answer not in ("run_again", "happened", "give_up"):
        raise CodemodeError(
            "invalid_answer", f"{answer!r:.100} is no answer.", hint="Use run_again, happened or give_up."
        )
    execution_id, seq = call.execution_id, call.seq
    outcome = values.encode(result) if answer == "happened" else None
    now = time.time()
    with store.transaction() as connection:
        row = store.executions.get(execution_id)
        if row is None:
            raise CodemodeError("unknown_execution", f'No execution "{execution_id}" to resume.')
        doubtful = store.calls.with_state(execution_id, "in_doubt")
        asked = next((call for call in doubtful if call.seq == seq), None)
        shown = asked is not None and (digest is None or _same(digest, asked.digest))
        if asked is None or not shown or row.status != "paused":
            raise CodemodeError(
                "stale_decision",
                f"Call {seq} of execution {execution_id} is not in doubt (any more).",
                hint="Look at what is pending now; nothing was changed.",
            )
        if answer != "give_up":
            check_complete(capabilities, row, [asked] if answer == "run_again" else [])
        if answer == "give_up":
            detail = ErrorDetail("given_up", f"Given up: it is not known whether {asked.name} (call {seq}) happened.")
            row.status, row.error = "error", failures.to_json(detail)
            store.calls.update_all(connection, execution_id, UNDECIDED, state="cancelled")
        else:
            changes = (
                {"state": "approved", "code": IN_DOUBT}
                if answer == "run_again"
                else {"state": "applied", "outcome": outcome, "ended_at": now}
            )
            store.calls.update(connection, execution_id, seq, ("in_doubt",), decided_at=now, **changes)
            if len(doubtful) == 1:
                row.status, row.owner = "running", owner
        changes = {"status": row.status, "owner": row.owner, "error": row.error, "heartbeat": now, "updated_at": now}
        store.executions.update(connection, execution_id, ("paused",), **changes)
    return row


def _same(given: str, digest: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), digest.encode())


def _in_doubt(capabilities: Capabilities, call: CallRow) -> bool:
    if call.connector == STEP_CONNECTOR or call.ephemeral:
        return False
    tool = capabilities.tools_of(call.connector).get(call.method)
    return tool is None or not tool.idempotent
