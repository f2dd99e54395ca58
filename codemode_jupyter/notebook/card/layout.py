"""The run card as a whole: head, calls, what waits, console, result or error.

Owns: the order and the words of the card. Never does: HTML, reading a runtime, deciding. The same tree goes to the
static output and to the live widget; only the live one has buttons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from codemode_jupyter.notebook.card.calls import calls_layout
from codemode_jupyter.notebook.card.element import Child, Element, element
from codemode_jupyter.notebook.card.pending import pending_layout
from codemode_jupyter.notebook.card.question import Faults
from codemode_jupyter.notebook.card.result import left_out, value_layout
from codemode_jupyter.notebook.card.status import (
    Status,
    calls_in_words,
    duration,
    execution_status,
    is_final,
    replayed_calls,
)
from codemode_jupyter.notebook.card.value_text import count
from codemode_jupyter.notebook.card.visible import visible_nodes
from codemode_jupyter.notebook.ids import short_id
from codemode_jupyter.runtime.records import ConsoleRecord, ErrorDetail, ExecutionRecord, PendingCall

_CONSOLE_LINES = 200
_CONSOLE_LINE = 2_000
_CONSOLE_OPEN = 20
_MESSAGE = 4_000
_PROGRAM = 20_000
_EXCERPT_WIDTH = 120

ROOT_CLASSES = "codemode-card mathjax_ignore tex2jax_ignore"


@dataclass(frozen=True, slots=True)
class CardState:
    """What a card shows: the execution, the calls that wait, and what the card itself has to say.

    ``notices`` are sentences for the reader (a refused click, a fault of the card). ``deciding`` and ``faults`` as in
    ``pending_layout``. ``stale``: it is recorded as running, but its kernel is gone. ``program``: the source is part of
    the card; not needed where it stands above it in the cell.
    """

    record: ExecutionRecord
    pending: Sequence[PendingCall] = ()
    live: bool = False
    stale: bool = False
    deciding: Mapping[int, str] = field(default_factory=dict)
    notices: Sequence[str] = ()
    program: bool = True
    faults: Faults = field(default_factory=dict)


def card_layout(state: CardState) -> Element:
    """Return the card of an execution."""
    state = _with_doubts(state)
    record = state.record
    asked = record.status == "running" and bool(state.pending)
    status = execution_status(record, stale=state.stale) if not asked else Status("Waiting for your answer", "waiting")
    replayed = replayed_calls(record)
    parts: list[Child] = [
        _calls_without_boxes(state, replayed),
        pending_layout(state.pending, state.deciding, state.faults, live=state.live) if not is_final(record) else None,
        _how_to_go_on(state),
        notices_layout(state.notices),
        _console(record.logs, failed=record.status == "error"),
        _error(record.error, record.code) if record.error is not None else None,
        _result(record),
        _program(record) if state.program else None,
        _packages(record),
        _disconnected(record) if state.live else None,
    ]
    took = duration(record.running_time) if record.running_time and record.status != "running" else ""
    meta = [took, f"exec {short_id(record.id)}"]
    head = [
        element("span", calls_in_words(record.calls, replayed), class_="cm-tag") if record.calls else None,
        " ",
        element("span", " · ".join(part for part in meta if part), class_="cm-meta", title=record.id),
        _stop_button(record) if state.live and record.status == "running" and not state.stale else None,
    ]
    return _frame(status, head, parts, f"Run {short_id(record.id)}")


def bare_layout(status: Status, text: str = "") -> Element:
    """Return a card that has only a status and perhaps a sentence: nothing was recorded (yet)."""
    body = element("div", visible_nodes(text), class_="cm-part") if text else None
    return _frame(status, [], [body], "Run")


def unrecorded_layout(error: ErrorDetail, code: str = "") -> Element:
    """Return the card of a program that was refused before anything was recorded."""
    status = Status("Not run", "bad")
    return _frame(status, [], [_error(error, code)], "Run")


def notices_layout(notices: Sequence[str]) -> Element:
    """Return the place for what the card itself has to say; there even when empty, so that changes are announced."""
    return element(
        "div",
        [element("div", visible_nodes(notice), class_="cm-notice") for notice in notices],
        class_="cm-notices",
        role="status",
        aria_live="polite",
        data_key="notices",
    )


def _frame(status: Status, head: Sequence[Child], parts: Sequence[Child], label: str) -> Element:
    return element(
        "section",
        element(
            "header",
            element("span", class_="cm-dot", aria_hidden="true"),
            " ",
            element(
                "strong",
                status.words,
                class_="cm-status",
                role="status",
                aria_live="polite",
                tabindex=-1,
                data_key="status",
            ),
            " ",
            head,
            class_="cm-head",
            data_key="head",
        ),
        parts,
        class_=f"{ROOT_CLASSES} cm-{status.tone}",
        aria_label=f"{label}: {status.words}",
        data_state=status.tone,
    )


def _stop_button(record: ExecutionRecord) -> Element:
    return element(
        "button",
        "Stop",
        type="button",
        class_="cm-button cm-stop",
        aria_label=f"Stop run {short_id(record.id)}",
        data_action="stop",
        data_busy="stopping…",
        data_execution=record.id,
        data_key="stop",
    )


def _with_doubts(state: CardState) -> CardState:
    """Return the state with what still executes as in doubt, where nobody runs it any more: its outcome is lost."""
    record = state.record
    if not (state.stale or is_final(record)) or all(call.state != "executing" for call in record.calls):
        return state
    calls = tuple(replace(call, state="in_doubt") if call.state == "executing" else call for call in record.calls)
    return replace(state, record=replace(record, calls=calls))


def _calls_without_boxes(state: CardState, replayed: frozenset[int]) -> Element | None:
    """Return the calls; one that has a box of its own is not listed twice."""
    boxed = {call.seq for call in state.pending} if state.record.status == "paused" else set()
    shown = [call for call in state.record.calls if call.seq not in boxed]
    return calls_layout(shown, replayed, state.record.progress)


def _how_to_go_on(state: CardState) -> Element | None:
    """Return how a run goes on that waits without buttons, or that nobody drives."""
    record = state.record
    if state.stale:
        words: Child = [
            "The kernel ended while this run was under way. ",
            element("code", "%codemode recover"),
            " takes it up again; calls that are recorded are not run a second time.",
        ]
    elif state.live or is_final(record):
        return None
    elif record.status == "running":
        show = element("code", f"%codemode show {short_id(record.id)}")
        words = ["It was under way when this was written; ", show, " shows what came of it."]
    else:
        asked = [call for call in state.pending if call.kind in ("in_doubt", "interrupt")]
        words = [
            "To decide: ",
            element("code", f"%codemode show {short_id(record.id)}"),
            " brings the buttons, ",
            _answer(asked[0]) if asked else _approve(record.id),
        ]
    return element("div", words, class_="cm-part cm-soft cm-go-on")


def _approve(execution_id: str) -> Child:
    return [element("code", f'await runtime.approve("{execution_id}")'), " approves."]


def _answer(call: PendingCall) -> Child:
    if call.kind == "interrupt":
        return [element("code", f'await runtime.respond("{call.call_id}", …)'), " answers."]
    code = element("code", f'await runtime.respond("{call.call_id}", "run_again")')
    return [code, ' answers; the other answers are "happened", with result=…, and "give_up".']


def _disconnected(record: ExecutionRecord) -> Element:
    """Return what the style sheet shows in place of the buttons once the kernel behind them is gone."""
    return element(
        "div",
        "The kernel that showed this card is gone. Load the extension again; ",
        element("code", f"%codemode show {short_id(record.id)}"),
        " brings the card back.",
        class_="cm-part cm-soft cm-disconnected",
    )


def _console(lines: Sequence[ConsoleRecord], *, failed: bool) -> Element | None:
    if not lines:
        return None
    hidden = len(lines) - _CONSOLE_LINES
    return element(
        "details",
        element("summary", "Console ", element("span", f"({len(lines):,})", class_="cm-soft")),
        left_out(f"{count(hidden, 'earlier line')} not shown") if hidden > 0 else None,
        [_console_line(line) for line in lines[-_CONSOLE_LINES:]],
        class_="cm-part cm-console",
        open=failed or len(lines) <= _CONSOLE_OPEN,
        data_key="console",
    )


def _console_line(line: ConsoleRecord) -> Element:
    level = line.level if line.level in ("info", "debug", "warn", "error") else "log"
    more = f" … {count(len(line.text) - _CONSOLE_LINE, 'more character')}" if len(line.text) > _CONSOLE_LINE else None
    return element(
        "div",
        element("span", level if level != "log" else "", class_="cm-level"),
        " ",
        element("span", "from ", visible_nodes(line.source[:80]), class_="cm-source cm-level") if line.source else None,
        " " if line.source else None,
        element("pre", visible_nodes(line.text[:_CONSOLE_LINE]), more, class_="cm-text"),
        class_=f"cm-console-line cm-{level}",
    )


def _error(error: ErrorDetail, code: str) -> Element:
    where = f"line {error.line}" + (f", column {error.column}" if error.column else "") if error.line else None
    excerpt = (_excerpt(code, error.line, error.column) if error.line else None) or error.excerpt
    message = error.message.removeprefix(f"{error.name}: ")
    return element(
        "div",
        element(
            "div",
            element("strong", visible_nodes(error.name), class_="cm-error-name") if error.name != "Error" else None,
            " ",
            element("span", visible_nodes(message[:_MESSAGE]), class_="cm-message"),
            " ",
            element("span", f"({where})", class_="cm-soft") if where else None,
        ),
        left_out(f"{len(message) - _MESSAGE:,} characters not shown") if len(message) > _MESSAGE else None,
        element("pre", _marked_excerpt(excerpt), class_="cm-text cm-excerpt") if excerpt else None,
        element("div", visible_nodes(error.hint), class_="cm-soft") if error.hint else None,
        class_="cm-part cm-error",
        data_key="error",
    )


def _excerpt(code: str, line: int | None, column: int | None) -> str | None:
    lines = code.split("\n")
    if line is None or not 1 <= line <= len(lines):
        return None
    width = len(str(line))
    start = max(0, (column or 1) - 1 - _EXCERPT_WIDTH * 2 // 3)
    shown = [
        f"{number:>{width}} │ {lines[number - 1].rstrip()[start : start + _EXCERPT_WIDTH]}"
        for number in range(max(1, line - 1), line + 1)
    ]
    if column is not None:
        before = lines[line - 1][start : column - 1]
        pad = "".join("\t" if character == "\t" else " " for character in before)
        shown.append(f"{'':>{width}} │ {pad}^")
    return "\n".join(shown)


def _marked_excerpt(excerpt: str) -> Child:
    """Return the excerpt's nodes, the caret of its last line marked."""
    body, caret, rest = excerpt.rpartition("^")
    if not caret or rest.strip():
        return visible_nodes(excerpt)
    return [*visible_nodes(body), element("span", "^", class_="cm-caret")]


def _result(record: ExecutionRecord) -> Element | None:
    if record.status not in ("completed", "rolled_back", "partly_rolled_back"):
        return None
    if not record.has_result:
        if record.status != "completed":
            return None
        shown = element("div", element("span", "It returned nothing (undefined).", class_="cm-soft"))
    elif record.result is None:
        nothing = "None" if record.language == "python" else "null or undefined"
        shown = element("div", element("span", f"It returned nothing ({nothing}).", class_="cm-soft"))
    else:
        shown = value_layout(record.result)
    return element("div", shown, class_="cm-part cm-result", role="group", aria_label="Result", data_key="result")


def _program(record: ExecutionRecord) -> Element | None:
    if not record.code:
        return None
    lines = record.code.count("\n") + 1
    hidden = len(record.code) - _PROGRAM
    return element(
        "details",
        element(
            "summary", "Program ", element("span", f"({count(lines, 'line')}, {record.language})", class_="cm-soft")
        ),
        element("pre", visible_nodes(record.code[:_PROGRAM]), class_="cm-text cm-program"),
        left_out(f"{count(hidden, 'character')} not shown") if hidden > 0 else None,
        class_="cm-part cm-fold-part",
        data_key="program",
    )


def _packages(record: ExecutionRecord) -> Element | None:
    if not record.packages:
        return None
    names = ", ".join(str(package) for package in record.packages)
    return element("div", "Packages: ", visible_nodes(names[:_MESSAGE]), class_="cm-part cm-soft", data_key="packages")
