"""How an outcome shows that is the value of a plain cell: as its card.

Owns: the formatter of ``Outcome``. Never does: anything where a card of that execution stands in the same cell already.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.notebook.card.element import Element
from codemode_jupyter.notebook.card.layout import CardState, card_layout, unrecorded_layout
from codemode_jupyter.notebook.card.outputs import CellOutputs, Output, static_bundle
from codemode_jupyter.notebook.card.shown import shown_executions
from codemode_jupyter.notebook.card.text import to_text
from codemode_jupyter.notebook.card.view import RunView
from codemode_jupyter.runtime.records import ConsoleRecord, ExecutionRecord, ExecutionStatus, Outcome
from codemode_jupyter.runtime.runtime import Runtime

_STATUSES: dict[str, ExecutionStatus] = {
    "completed": "completed",
    "error": "error",
    "running": "running",
    "ended": "running",  # how it ended is told elsewhere
}
"""Statuses of outcomes as those of executions; all others wait."""


def register_formatters(ip: Any) -> None:
    """Have outcomes shown as cards in the shell ``ip``."""
    formatter = ip.display_formatter.ipython_display_formatter
    formatter.for_type(Outcome, OutcomeFormatter(ip))


def unregister_formatters(ip: Any) -> None:
    """Have outcomes shown as any other object again."""
    ip.display_formatter.ipython_display_formatter.pop(Outcome, None)


def outcome_layout(outcome: Outcome) -> Element:
    """Return the static card of an outcome, made of nothing but what the outcome holds."""
    if not outcome.execution_id and outcome.error is not None:
        return unrecorded_layout(outcome.error)
    record = ExecutionRecord(
        id=outcome.execution_id,
        code="",
        language="",
        status=_STATUSES.get(outcome.status, "paused"),
        connectors=(),
        created_at=0.0,
        updated_at=0.0,
        passes=1,
        calls=outcome.calls,
        result=outcome.result,
        has_result=outcome.status == "completed",
        error=outcome.error,
        logs=tuple(_console_record(text) for text in outcome.logs),
    )
    return card_layout(CardState(record, outcome.pending))


def _console_record(text: str) -> ConsoleRecord:
    for level in ("warn", "error"):
        if text.startswith(f"[{level}] "):
            return ConsoleRecord(level, text.removeprefix(f"[{level}] "))
    return ConsoleRecord("log", text)


class OutcomeFormatter:
    """Shows outcomes in the shell ``ip``; one that waits gets the buttons of the runtime that holds it."""

    def __init__(self, ip: Any) -> None:
        self._ip = ip
        self._tasks: set[asyncio.Task[None]] = set()

    def __call__(self, outcome: Outcome) -> None:
        """Show an outcome in the current cell, unless its card stands there already."""
        if outcome.execution_id in shown_executions:
            return
        cell, tree = CellOutputs(), outcome_layout(outcome)
        if cell.place == "terminal":
            print(to_text(tree))  # noqa: T201  a terminal's output
        elif cell.place == "page" and outcome.status in ("paused", "waiting", "running") and _loop_runs():
            cell.show(tree)
            shown_executions.add(outcome.execution_id, cell.number)
            task = asyncio.get_running_loop().create_task(self._make_live(outcome, cell))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            Output(static_bundle(tree))

    async def _make_live(self, outcome: Outcome, cell: CellOutputs) -> None:
        runtime = await holder(_runtimes(self._ip.user_ns), outcome.execution_id)
        if runtime is not None:
            RunView(runtime, cell).attach(outcome.execution_id)


async def holder(runtimes: Iterable[Runtime], execution_id: str) -> Runtime | None:
    """Return the runtime that holds an execution, of several one that has its connectors; ``None``: none does."""
    holders: list[Runtime] = []
    for runtime in runtimes:
        if not runtime.path.exists():  # asking would make the file
            continue
        try:
            execution = await runtime.execution(execution_id)
        except CodemodeError:  # it has no such execution, or its file cannot be read
            continue
        if {connector.name for connector in runtime.connectors}.issuperset(execution.connectors):
            return runtime
        holders.append(runtime)
    return holders[0] if holders else None


def _runtimes(namespace: dict[str, Any]) -> Sequence[Runtime]:
    """Return the runtimes that the user holds."""
    return list({id(value): value for value in namespace.values() if isinstance(value, Runtime)}.values())


def _loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
