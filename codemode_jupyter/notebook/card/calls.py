"""The layout of an execution's calls: one line each, expandable, the earlier ones folded when there are many.

Owns: the line of a call and what it opens to, and the bounds. Never does: decisions (``pending.py`` lays out what
waits).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codemode_jupyter.notebook.card.element import Element, Node, element
from codemode_jupyter.notebook.card.result import left_out, preview_text
from codemode_jupyter.notebook.card.status import call_note, call_sign, call_tone, progress_note
from codemode_jupyter.notebook.card.value_text import count, in_words, pretty, preview
from codemode_jupyter.notebook.card.visible import visible_nodes
from codemode_jupyter.runtime.records import CallRecord, Progress
from codemode_jupyter.sandbox.protocol import STEP_CONNECTOR

UNFOLDED = 50
"""Up to this many calls stand in the card; of more, the newest ``NEWEST`` do and the rest is folded."""
NEWEST = 20
LISTED = 200
"""At most this many lines are in the fold."""
_NAME = 120
_ARGUMENTS = 160
_MESSAGE = 60
_DETAIL = 20_000
_DETAILS_TOGETHER = 300_000
_LEAST_DETAIL = 400


def calls_layout(
    calls: Sequence[CallRecord], replayed: frozenset[int], progress: Mapping[int, Progress] | None = None
) -> Element | None:
    """Return the list of calls, or ``None`` when there are none; ``progress`` is by ``seq``."""
    told = progress or {}
    if not calls:
        return None
    detail = max(_LEAST_DETAIL, min(_DETAIL, _DETAILS_TOGETHER // (2 * min(len(calls), LISTED + NEWEST))))
    if len(calls) <= UNFOLDED:
        earlier, newest = calls[:0], calls
    else:
        earlier, newest = calls[:-NEWEST], calls[-NEWEST:]
    return element(
        "div",
        _fold(earlier, replayed, detail) if earlier else None,
        [_call(call, call.seq in replayed, detail, told.get(call.seq)) for call in newest],
        class_="cm-calls",
        role="group",
        aria_label=count(len(calls), "call"),
    )


def call_name(call: CallRecord) -> str:
    """Return the name of a call as people know it: ``weather.daily``, ``step "roll"``."""
    name = f'step "{call.method}"' if call.connector == STEP_CONNECTOR else f"{call.connector}.{call.method}"
    return name if len(name) <= _NAME else name[: _NAME - 1] + "…"


def _fold(calls: Sequence[CallRecord], replayed: frozenset[int], detail: int) -> Element:
    failed = sum(call.state == "failed" for call in calls)
    hidden = len(calls) - LISTED
    return element(
        "details",
        element(
            "summary",
            f"{count(len(calls), 'earlier call')}",
            f" · {failed:,} failed" if failed else None,
            class_="cm-soft",
        ),
        left_out(f"{count(hidden, 'call')} before these not shown") if hidden > 0 else None,
        [_call(call, call.seq in replayed, detail) for call in calls[-LISTED:]],
        class_="cm-fold",
        data_key="earlier",
    )


def _call(call: CallRecord, replayed: bool, detail: int, told: Progress | None = None) -> Element:  # noqa: FBT001  one of two states of a line
    running = told if call.state == "executing" else None
    note = call_note(call, replayed=replayed) if running is None else progress_note(running)
    name = visible_nodes(call_name(call))
    summary = element(
        "summary",
        element("span", call_sign(call), class_="cm-sign", aria_label=call.state),
        " ",
        element("code", name, class_="cm-name"),
        " ",
        element("code", visible_nodes(_arguments(call)), class_="cm-args cm-soft"),
        " ",
        element(
            "code", _came_to(call) if running is None else visible_nodes(running.message[:_MESSAGE]), class_="cm-came"
        ),
        " ",
        element("span", note, class_="cm-note cm-soft"),
        class_="cm-line",
    )
    body = element(
        "div",
        _detail("Arguments", call.args, detail),
        _detail("Result", call.result, detail) if call.has_result else None,
        _failure(call, detail),
        class_="cm-more",
    )
    return element(
        "details",
        summary,
        body,
        class_=f"cm-call cm-{call_tone(call)}",
        data_key=f"call-{call.seq}",
        data_state=call.state,
    )


def _arguments(call: CallRecord) -> str:
    return "" if call.args in ({}, [], None) else preview(call.args, _ARGUMENTS)


def _came_to(call: CallRecord) -> tuple[Node, ...]:
    if call.state == "failed" and call.error is not None:
        return visible_nodes(preview_text(call.error.message, _MESSAGE))
    if call.has_result and call.state in ("applied", "reverted"):
        return visible_nodes(in_words(call.result))
    return ()


def _failure(call: CallRecord, limit: int) -> Element | None:
    if call.error is None:
        return None
    text = f"{call.error.name}: {call.error.message}"
    return element(
        "div",
        element("span", "Error", class_="cm-label"),
        " ",
        element("pre", visible_nodes(text[:limit]), class_="cm-text"),
        left_out(f"{len(text) - limit:,} characters not shown") if len(text) > limit else None,
    )


def _detail(label: str, value: object, limit: int) -> Element:
    written = pretty(value, limit)
    return element(
        "div",
        element("span", label, class_="cm-label"),
        " ",
        element("pre", visible_nodes(written.text), class_="cm-text"),
        None if written.complete else left_out(f"Only the first {limit:,} characters are shown"),
    )
