"""What is forgotten, and when: pruning, expiry, deletion.

Owns: the rules by which executions leave the store or stop waiting. Never does: touch a run that is alive.
"""

from __future__ import annotations

import time

from codemode_jupyter.runtime import failures
from codemode_jupyter.runtime.lease import is_alive
from codemode_jupyter.runtime.records import ErrorDetail, ExecutionStatus
from codemode_jupyter.runtime.store import Store
from codemode_jupyter.runtime.store.rows import UNDECIDED

EXPIRE_SECONDS = 24 * 3600.0
"""Default age at which a paused execution expires, counted from its last change."""


def expire(store: Store, max_age: float) -> list[tuple[str, ExecutionStatus]]:
    """End paused executions, and running ones whose owner is dead, that have not changed for ``max_age`` seconds.

    Return ids and new statuses.
    """
    now = time.time()
    ended: list[tuple[str, ExecutionStatus]] = []
    expired = ErrorDetail("expired", "Expired awaiting approval.")
    lost = ErrorDetail("expired", "Expired while running: the kernel that ran it is gone.")
    with store.transaction() as connection:
        for row in store.executions.with_status("paused"):
            if now - row.updated_at < max_age:
                continue
            changes = {"status": "rejected", "error": failures.to_json(expired), "updated_at": now}
            if store.executions.update(connection, row.id, ("paused",), **changes):
                ended.append((row.id, "rejected"))
        for row in store.executions.with_status("running"):
            if now - row.updated_at < max_age or is_alive(row.owner, row.heartbeat, now):
                continue
            changes = {
                "status": "error",
                "error": failures.to_json(lost),
                "updated_at": now,
                "owner": None,
                "heartbeat": None,
            }
            if store.executions.update(connection, row.id, ("running",), **changes):
                ended.append((row.id, "error"))
        for execution_id, _ in ended:
            store.calls.update_all(connection, execution_id, UNDECIDED, state="cancelled")
    return ended


def prune(store: Store, keep: int) -> int:
    """Delete finished executions but the newest ``keep``; return how many."""
    with store.transaction(durable=False) as connection:
        return store.executions.prune(connection, keep)


def delete(store: Store, execution_id: str) -> ExecutionStatus | None:
    """Delete one execution with its log; return the status it had, or ``None`` when there was none."""
    with store.transaction() as connection:
        row = store.executions.get(execution_id)
        if row is None or not store.executions.delete(connection, execution_id):
            return None
        return row.status
