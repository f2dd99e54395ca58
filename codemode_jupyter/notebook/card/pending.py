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
from codemode_jupyter.notebook.card.question import Faults, question_layout, question_words
from codemode_jupyter.notebook.card.visible import visible, visible_nodes
from codemode_jupyter.runtime.records import PendingCall

_DESCRIPTION = 1_000
_REASON = 500


def pending_layout(
    calls: Sequence[PendingCall], deciding: Mapping[int, str], faults: Faults | None = None, *, live: bool
) -> Element | None:
    """Return the boxes of the waiting calls, or ``None`` when there are none.

    ``deciding`` maps the ``seq`` of a call whose decision is under way to the action (``"approve"``); ``faults`` are
    those of the last answer. Without ``live`` there are no buttons: nobody would answer them.
    """
    if not calls:
        return None
    doubt = any(call.kind == "in_doubt" for call in calls)
    questions = any(call.question is not None for call in calls)
    return element(
        "div",
        [_box(call, deciding, (faults or {}).get(call.digest, ()), live=live, doubt=doubt) for call in calls],
        _together(calls, deciding) if live and not doubt and not questions and len(calls) > 1 else None,
        class_="cm-pending",
        data_key="pending",
    )


def _together(calls: Sequence[PendingCall], deciding: Mapping[int, str]) -> Element:
    label = f"Approve all {len(calls)}"
    button = decision_button("approve_all", label, f"{label} calls that wait", calls, deciding)
    return element("div", button, class_="cm-actions cm-together")


def _box(
    call: PendingCall, deciding: Mapping[int, str], faults: Sequence[tuple[str, str]], *, live: bool, doubt: bool
) -> Element:
    if call.question is not None:
        return _question(call, call.question, deciding, faults, live=live)
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


def _question(
    call: PendingCall,
    question: Question,
    deciding: Mapping[int, str],
    faults: Sequence[tuple[str, str]],
    *,
    live: bool,
) -> Element:
    name = f"{call.connector}.{call.method}"
    is_kept = call.kind == "interrupt"
    return element(
        "section",
        element("div", element("code", visible_nodes(name), class_="cm-name"), " asks you:", class_="cm-ask-head"),
        arguments_layout(call.payload) if is_kept and not isinstance(call.payload, str) else None,
        question_layout(call, question, faults, _answers(call, question, deciding))
        if live
        else question_words(question),
        class_="cm-ask",
        aria_label=f"{visible(name)} asks you",
        data_key=f"ask-{call.seq}-{call.digest}",
        data_state=call.kind,
    )


def _answers(call: PendingCall, question: Question, deciding: Mapping[int, str]) -> Sequence[Element]:
    """Return the buttons of a question: a kept one is answered, or the run rejected; a live one may be declined."""
    name = visible(f"{call.connector}.{call.method}")
    word = "I opened it" if question.url is not None else "Send" if question.fields else "Yes"
    accept = decision_button("accept", word, f"{word}, answer to {name}", [call], deciding)
    if call.kind == "interrupt":
        return [accept, _reject(call, name, deciding)]
    decline = decision_button("decline", "Decline", f"Decline the question of {name}", [call], deciding)
    return [accept, decline, decision_button("cancel", "Cancel", f"Cancel the question of {name}", [call], deciding)]


def _description(call: PendingCall) -> str:
    text = call.description.strip()
    return text if len(text) <= _DESCRIPTION else text[: _DESCRIPTION - 1] + "…"


def _actions(call: PendingCall, name: str, deciding: Mapping[int, str], doubt: bool) -> Element:  # noqa: FBT001  whether any call is in doubt
    if doubt:
        first = element("span", "It can be approved once the call in doubt is settled.", class_="cm-soft")
    else:
        first = decision_button("approve", "Approve", f"Approve {name}", [call], deciding)
    return element("div", first, " ", _reject(call, name, deciding), class_="cm-actions")


def _reject(call: PendingCall, name: str, deciding: Mapping[int, str]) -> Element:
    reject = decision_button("reject", "Reject", f"Reject {name}", [call], deciding)
    reason = field("Reason (optional)", "reason", _REASON)
    return drawer("Reject…", "reject", reason, reject, accessible=f"Reject {name}…")
