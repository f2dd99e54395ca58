"""Answers to questions that tools ask with ``interrupt``: checked against the schema, given once.

Owns: writing an answer in one step with the state of its call and execution. Never does: run anything, or read a form.
"""

from __future__ import annotations

import hmac
import json
import time
from typing import Any, NamedTuple

from codemode_jupyter.connectors.question_form import check_value
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime import values
from codemode_jupyter.runtime.approvals import check_complete
from codemode_jupyter.runtime.call_ids import CallId
from codemode_jupyter.runtime.capabilities import Capabilities
from codemode_jupyter.runtime.store import Store
from codemode_jupyter.runtime.store.rows import ExecutionRow, JournalRow

ANSWERED_ALREADY = "This question had this very answer already: nothing was changed, and nothing runs twice."


class Given(NamedTuple):
    """What became of an answer.

    ``to_drive``: the execution, where it is the answerer's to drive now. ``again``: the question had this very answer
    already, and nothing was changed.
    """

    to_drive: ExecutionRow | None = None
    again: bool = False


def is_checked(store: Store, call: CallId) -> bool:
    """Tell whether the answer to a question is checked against a schema."""
    return any(one.number == call.number and one.schema for one in store.journal.of_call(call.execution_id, call.seq))


def give_answer(  # noqa: PLR0913, PLR0917  who answers what, where
    store: Store, capabilities: Capabilities, owner: str, call: CallId, answer: Any, digest: str | None
) -> Given:
    """Write an answer down; with a ``digest``, to exactly the question that was shown.

    The call's tool runs again in the next pass: at once where the execution was paused, else when its present pass has
    ended.

    Raises
    ------
    CodemodeError
        ``invalid_answer``, ``unknown_execution``, ``unknown_call``, ``stale_decision``, ``already_answered``,
        ``missing_connectors``, ``missing_tools``, ``modules_changed``, ``not_storable``, ``too_large``: nothing was
        changed.
    """
    asked = _asked(store, call)
    if digest is not None and not hmac.compare_digest(digest.encode("utf-8", "replace"), asked.digest.encode()):
        raise stale(call)
    if asked.state == "waiting":
        check_value(None if asked.schema is None else json.loads(asked.schema), answer)
    outcome = values.encode(answer)
    now = time.time()
    with store.transaction() as connection:
        row = store.executions.get(call.execution_id)
        asked = _asked(store, call)
        if row is None:
            raise _unknown(call)
        if asked.state == "answered":
            if asked.outcome is not None and values.canonical(asked.outcome) == values.canonical(outcome):
                return Given(again=True)
            raise CodemodeError(
                "already_answered",
                f"Question {call} has another answer already; the first one counts.",
                hint="Look at what is pending now; nothing was changed.",
            )
        going_on = store.calls.with_state(call.execution_id, "waiting", "answered", "executing")
        if row.status not in ("paused", "running") or all(one.seq != call.seq for one in going_on):
            raise stale(call)
        check_complete(capabilities, row, [one for one in going_on if one.seq == call.seq])
        store.journal.answer(connection, call.execution_id, asked, outcome, now)
        changes = {"state": "answered", "decided_at": now}
        store.calls.update(connection, call.execution_id, call.seq, ("waiting",), **changes)
        if row.status == "running" or store.calls.with_state(call.execution_id, "in_doubt"):
            store.executions.update(connection, row.id, (row.status,), updated_at=now)
            return Given()
        row.status, row.owner = "running", owner
        changes = {"status": row.status, "owner": owner, "heartbeat": now, "updated_at": now}
        store.executions.update(connection, row.id, ("paused",), **changes)
    return Given(row)


def stale(call: CallId) -> CodemodeError:
    """Return the refusal of an answer to what is not asked any more, or was asked otherwise."""
    return CodemodeError(
        "stale_decision",
        f"Nothing with the id {call} waits for this answer (any more).",
        hint="Look at what is pending now; nothing was changed.",
    )


def _asked(store: Store, call: CallId) -> JournalRow:
    journal = store.journal.of_call(call.execution_id, call.seq)
    found = next((one for one in journal if one.number == call.number and one.kind == "question"), None)
    if found is None:
        raise _unknown(call)
    return found


def _unknown(call: CallId) -> CodemodeError:
    return CodemodeError("unknown_call", f"There is no question {call}.", hint="`pending()` lists what is asked.")
