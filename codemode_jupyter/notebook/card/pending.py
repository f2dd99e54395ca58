"""The layout of the calls that wait for a person: what each would do, and the buttons.

Owns: the box of a waiting call, and what can be decided about it now. Never does: the decision itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codemode_jupyter.connectors.questions import Question
from codemode_jupyter.notebook.card.arguments import arguments_layout
from codemode_jupyter.notebook.card.decision import decision_button
from codemode_jupyter.notebook.card.doubt import answers_layout, doubt_layout
from codemode_jupyter.notebook.card.drawer import drawer, field
from codemode_jupyter.notebook.card.element import Element, element
from codemode_jupyter.notebook.card.question import question_layout
from codemode_jupyter.notebook.card.visible import visible, visible_nodes
from codemode_jupyter.runtime.records import PendingCall

_DESCRIPTION = 1_000
_REASON = 500


def pending_layout(calls: Sequence[PendingCall], deciding: Mapping[int, str], *, live: bool) -> Element | None:
    """Return the boxes of the waiting calls, or ``None`` when there are none.

    ``deciding`` maps the ``seq`` of a call whose decision is under way to the action (``"approve"``). Without
    ``live`` there are no buttons: nobody would answer them.
    """
    if not calls:
        return None
    doubt = any(call.kind == "in_doubt" for call in calls)
    questions = any(call.kind == "question" for call in calls)
    return element(
        "div",
        [_box(call, deciding, live=live, doubt=doubt) for call in calls],
        _together(calls, deciding) if live and not doubt and not questions and len(calls) > 1 else None,
        class_="cm-pending",
        data_key="pending",
    )


def _together(calls: Sequence[PendingCall], deciding: Mapping[int, str]) -> Element:
    label = f"Approve all {len(calls)}"
    button = decision_button("approve_all", label, f"{label} calls that wait", calls, deciding)
    return element("div", button, class_="cm-actions cm-together")


def _box(call: PendingCall, deciding: Mapping[int, str], *, live: bool, doubt: bool) -> Element:
    if call.question is not None:
        return _question(call, call.question, deciding, live=live)
    name = f"{call.connector}.{call.method}"
    shown_name = visible(name)
    in_doubt = call.kind == "in_doubt"
    actions = None
    if live:
        actions = (
            answers_layout(call, shown_name, deciding) if in_doubt else _actions(call, shown_name, deciding, doubt)
        )
    return element(
        "section",
        element(
            "div",
            element("code", visible_nodes(name), class_="cm-name"),
            " ",
            element("span", visible_nodes(_description(call)), class_="cm-soft") if call.description else None,
            class_="cm-ask-head",
        ),
        doubt_layout() if in_doubt else None,
        arguments_layout(call.args),
        actions,
        class_="cm-ask",
        aria_label=f"{shown_name} {'may have happened' if in_doubt else 'waits for your decision'}",
        data_key=f"ask-{call.seq}-{call.digest}",
        data_state=call.kind,
    )


def _question(call: PendingCall, question: Question, deciding: Mapping[int, str], *, live: bool) -> Element:
    name = f"{call.connector}.{call.method}"
    return element(
        "section",
        element("div", element("code", visible_nodes(name), class_="cm-name"), " asks you:", class_="cm-ask-head"),
        question_layout(call, question, deciding, live=live),
        class_="cm-ask",
        aria_label=f"{visible(name)} asks you",
        data_key=f"ask-{call.seq}-{call.digest}",
        data_state=call.kind,
    )


def _description(call: PendingCall) -> str:
    text = call.description.strip()
    return text if len(text) <= _DESCRIPTION else text[: _DESCRIPTION - 1] + "…"


def _actions(call: PendingCall, name: str, deciding: Mapping[int, str], doubt: bool) -> Element:  # noqa: FBT001  whether any call is in doubt
    if doubt:
        first = element("span", "It can be approved once the call in doubt is settled.", class_="cm-soft")
    else:
        first = decision_button("approve", "Approve", f"Approve {name}", [call], deciding)
    reject = decision_button("reject", "Reject", f"Reject {name}", [call], deciding)
    reason = field("Reason (optional)", "reason", _REASON)
    return element(
        "div",
        first,
        " ",
        drawer("Reject…", "reject", reason, reject, accessible=f"Reject {name}…"),
        class_="cm-actions",
    )
