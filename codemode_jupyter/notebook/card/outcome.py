"""How an outcome shows that is the value of a plain cell: as its card.

Owns: the formatter of ``Outcome``. Never does: anything where a card of that execution stands in the same cell already.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from codemode_jupyter.notebook.card.element import Element
from codemode_jupyter.notebook.card.layout import CardState, card_layout, unrecorded_layout
from codemode_jupyter.notebook.card.outputs import Output, current_place, static_bundle
from codemode_jupyter.notebook.card.shown import shown_executions
from codemode_jupyter.notebook.card.text import to_text
from codemode_jupyter.notebook.card.view import RunView
from codemode_jupyter.runtime.records import ConsoleRecord, ExecutionRecord, Outcome
from codemode_jupyter.runtime.runtime import Runtime


def register_formatters(ip: Any) -> None:
    """Have outcomes shown as cards in the shell ``ip``."""
    formatter = ip.display_formatter.ipython_display_formatter
    formatter.for_type(Outcome, lambda outcome: _display(outcome, ip.user_ns))


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
        status=outcome.status,
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


def _display(outcome: Outcome, namespace: dict[str, Any]) -> None:
    if outcome.execution_id in shown_executions:
        return
    place = current_place()
    if place == "terminal":
        print(to_text(outcome_layout(outcome)))  # noqa: T201  a terminal's output
        return
    runtimes = _runtimes(namespace)
    if place == "page" and outcome.status == "paused" and runtimes and _loop_runs():
        view = RunView(runtimes[0])
        view.show()
        view.attach(outcome.execution_id)
        return
    Output(static_bundle(outcome_layout(outcome)))


def _runtimes(namespace: dict[str, Any]) -> Sequence[Runtime]:
    """Return the runtimes that the user holds."""
    return list({id(value): value for value in namespace.values() if isinstance(value, Runtime)}.values())


def _loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
