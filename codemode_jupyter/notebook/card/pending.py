"""The layout of a call that waits for a person: everything that will run, completely readable, and the buttons.

Owns: the box of a pending call. Never does: the decision itself. Arguments are never shortened here: what is long
scrolls, under a note that says how long it is. Each button carries the execution, the ``seq`` and the digest of what
is shown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TypeGuard

from codemode_jupyter.notebook.card.drawer import drawer, field
from codemode_jupyter.notebook.card.element import Element, element
from codemode_jupyter.notebook.card.value_text import count, key_text, pretty
from codemode_jupyter.notebook.card.visible import visible, visible_nodes
from codemode_jupyter.runtime.digest import combined_digest
from codemode_jupyter.runtime.records import PendingCall

_LONG = 400
_LONG_LINES = 6
_ROWS = 100
"""Up to this many arguments have a row each; more are one text, which is as complete."""
_DESCRIPTION = 1_000
_REASON = 500


def pending_layout(calls: Sequence[PendingCall], deciding: Mapping[int, str], *, live: bool) -> Element | None:
    """Return the boxes of the pending calls, or ``None`` when there are none.

    ``deciding`` maps the ``seq`` of a call whose decision is under way to what is being done (``"approving…"``).
    Without ``live`` there are no buttons: nobody would answer them.
    """
    if not calls:
        return None
    together = None
    approvable = [call for call in calls if call.kind == "approval"]
    if live and len(approvable) > 1:
        together = element(
            "div",
            _button(
                f"Approve all {len(approvable)}",
                f"Approve all {len(approvable)} calls that wait",
                "approve_all",
                busy=bool(deciding),
                execution=approvable[0].execution_id,
                digest=combined_digest(approvable),
            ),
            class_="cm-actions cm-together",
        )
    return element(
        "div", [_box(call, deciding, live=live) for call in calls], together, class_="cm-pending", data_key="pending"
    )


def _box(call: PendingCall, deciding: Mapping[int, str], *, live: bool) -> Element:
    name = f"{call.connector}.{call.method}"
    shown_name = visible(name)
    return element(
        "section",
        element(
            "div",
            element("code", visible_nodes(name), class_="cm-name"),
            " ",
            element("span", visible_nodes(_description(call)), class_="cm-soft") if call.description else None,
            class_="cm-ask-head",
        ),
        _in_doubt(call) if call.kind == "in_doubt" else None,
        _arguments(call.args),
        _actions(call, shown_name, deciding) if live and call.kind == "approval" else None,
        class_="cm-ask",
        aria_label=f"{shown_name} waits for your decision",
        data_key=f"ask-{call.seq}-{call.digest}",
    )


def _in_doubt(call: PendingCall) -> Element:
    return element(
        "div",
        "The kernel ended while this call ran, before its outcome was recorded: it may or may not have happened. "
        "Look what is true, then ",
        element("code", f'await runtime.respond("{call.execution_id}", {call.seq}, "run_again")'),
        ', or "happened" with ',
        element("code", "result=…"),
        ', or "give_up".',
        class_="cm-notice",
    )


def _description(call: PendingCall) -> str:
    text = call.description.strip()
    return text if len(text) <= _DESCRIPTION else text[: _DESCRIPTION - 1] + "…"


def _arguments(args: object) -> Element:
    if args in ({}, [], None):
        return element("div", "No arguments.", class_="cm-soft cm-no-args")
    if isinstance(args, Mapping) and len(args) <= _ROWS:
        rows = [(key if _plain(key) else key_text(key), value) for key, value in args.items()]
    else:
        rows = [("arguments", args)]
    return element(
        "div",
        [
            element("div", element("span", visible_nodes(name), class_="cm-soft"), " ", _argument(name, value))
            for name, value in rows
        ],
        class_="cm-ask-args",
    )


def _argument(name: str, value: object) -> Element:
    prose = isinstance(value, str) and _plain(value)
    text = value if isinstance(value, str) and prose else pretty(value).text
    lines = text.count("\n") + 1
    style = "cm-prose" if prose else "cm-code"
    if len(text) <= _LONG and lines <= _LONG_LINES:
        return element("pre", visible_nodes(text), class_=f"cm-text {style}")
    size = count(len(text), "character") + (f", {lines:,} lines" if lines > 1 else "")
    shown = element(
        "pre",
        visible_nodes(text),
        class_=f"cm-text cm-scroll {style}",
        tabindex=0,
        role="region",
        aria_label=f"{visible(name[:80])}, {size}",
    )
    return element("div", element("div", f"{size}: scroll to read all of it", class_="cm-soft cm-size"), shown)


def _plain(text: object) -> TypeGuard[str]:
    """Tell whether a text may stand without quotation marks and still be taken for nothing but a text."""
    if not isinstance(text, str) or not text or text != text.strip() or text[0] in "\"'[{":
        return False
    try:
        json.loads(text)
    except ValueError:
        return text not in ("undefined", "NaN", "None", "True", "False")
    return False


def _actions(call: PendingCall, name: str, deciding: Mapping[int, str]) -> Element:
    approve = _button(
        deciding.get(call.seq) or "Approve",
        f"Approve {name}",
        "approve",
        busy=bool(deciding),
        execution=call.execution_id,
        seq=call.seq,
        digest=call.digest,
    )
    reject = _button(
        "Reject",
        f"Reject {name}",
        "reject",
        busy=bool(deciding),
        execution=call.execution_id,
        seq=call.seq,
        digest=call.digest,
    )
    return element(
        "div",
        approve,
        " ",
        drawer(
            "Reject…", "reject", field("Reason (optional)", "reason", _REASON), reject, accessible=f"Reject {name}…"
        ),
        class_="cm-actions",
    )


def _button(  # noqa: PLR0913  what a decision is bound to
    label: str, accessible: str, action: str, *, busy: bool, execution: str, digest: str, seq: int | None = None
) -> Element:
    return element(
        "button",
        label,
        type="button",
        class_="cm-button" if action == "reject" else "cm-button cm-primary",
        aria_label=accessible,
        aria_disabled="true" if busy else None,
        data_action=action,
        data_busy="rejecting…" if action == "reject" else "approving…",
        data_execution=execution,
        data_seq=seq,
        data_digest=digest,
    )
