"""The layout of a question that a running tool asks: a small form, or an address to visit.

Owns: the fields by their kinds, the words about an address, and reading the form's message back.
Never does: checking an answer (the runtime does), or opening an address: it is text, its host plainly visible.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from codemode_jupyter.connectors.questions import Question, QuestionField
from codemode_jupyter.notebook.card.decision import decision_button
from codemode_jupyter.notebook.card.element import Child, Element, element
from codemode_jupyter.notebook.card.visible import visible, visible_nodes
from codemode_jupyter.runtime.records import PendingCall

ANSWER_LENGTH = 10_000
"""Longest text that can be typed into one field, in characters."""

_FIELD = "answer-"
_KINDS = {"number": "a number", "integer": "a whole number", "choices": "several, with commas between"}
_PLAIN_ADDRESS = re.compile(r"https?://(?P<host>[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?([/?#][!-\[\]-~]*)?")
"""No user before the host, no backslash, nothing that browsers read in another way than we do."""


def question_layout(call: PendingCall, question: Question, deciding: Mapping[int, str], *, live: bool) -> Element:
    """Return the question's message and, where it is ``live``, the form with its buttons."""
    name = visible(f"{call.connector}.{call.method}")
    accept = "I opened it" if question.url is not None else "Send" if question.fields else "Yes"
    buttons: list[Child] = [
        decision_button("accept", accept, f"{accept}, answer to {name}", [call], deciding),
        " ",
        decision_button("decline", "Decline", f"Decline the question of {name}", [call], deciding),
        " ",
        decision_button("cancel", "Cancel", f"Cancel the question of {name}", [call], deciding),
    ]
    return element(
        "div",
        element("div", visible_nodes(question.message), class_="cm-message cm-question-words"),
        _address(question.url) if question.url is not None else None,
        element(
            "div",
            element("div", map(_labelled, range(len(question.fields)), question.fields), class_="cm-form cm-fields"),
            element("div", buttons, class_="cm-actions cm-answers"),
            data_form="answer",
        )
        if live
        else None,
        _who_reads(question) if live and question.fields else None,
    )


def answer_content(question: Question, fields: Mapping[str, str]) -> dict[str, str]:
    """Return what was typed, by the names of the question's fields."""
    typed = {one.name: fields.get(f"{_FIELD}{number}", "") for number, one in enumerate(question.fields)}
    return {name: text for name, text in typed.items() if text != ""}


def _labelled(number: int, asked: QuestionField) -> Element:
    title = asked.title or asked.name
    remark = " · ".join(part for part in (asked.description, _bounds(asked)) if part)
    return element(
        "label",
        element("span", visible_nodes(title), "" if asked.required else " (optional)", class_="cm-label"),
        " ",
        _control(number, asked),
        element("span", visible_nodes(remark), class_="cm-soft cm-size") if remark else None,
        data_key=f"{_FIELD}{number}",
    )


def _control(number: int, asked: QuestionField) -> Element:
    name, default = f"{_FIELD}{number}", _default(asked)
    if asked.kind not in ("boolean", "choice"):
        return element(
            "input", type="text", data_field=name, maxlength=ANSWER_LENGTH, autocomplete="off", value=default or None
        )
    options = (("true", "Yes"), ("false", "No")) if asked.kind == "boolean" else asked.options
    offered = [] if asked.required and default else [("", "")]
    return element(
        "select",
        [
            element("option", visible(title), value=value, selected=value == default)
            for value, title in (*offered, *options)
        ],
        data_field=name,
    )


def _default(asked: QuestionField) -> str:
    value = asked.default
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ", ".join(str(one) for one in value)
    return str(value) if isinstance(value, str | int | float) else ""


def _bounds(asked: QuestionField) -> str:
    parts = [_KINDS.get(asked.kind) or asked.format]
    if asked.kind == "choices":
        parts.append(", ".join(value for value, _ in asked.options[:20]))
    unit = {"text": " characters", "choices": " of them"}.get(asked.kind, "")
    if asked.minimum is not None:
        parts.append(f"at least {asked.minimum:g}{unit}")
    if asked.maximum is not None:
        parts.append(f"at most {asked.maximum:g}{unit}")
    return ", ".join(part for part in parts if part)


def _address(url: str) -> Element:
    plain = _PLAIN_ADDRESS.fullmatch(url)
    where: Child = element("strong", "What it asks you to visit is no plain web address. Better do not open it:")
    if plain is not None:
        host = element("strong", visible_nodes(plain["host"]))
        where = ["It asks you to visit ", host, ". Open the address yourself if you trust it:"]
    return element(
        "div", element("div", where), element("pre", visible_nodes(url), class_="cm-text cm-scroll"), class_="cm-visit"
    )


def _who_reads(question: Question) -> Element:
    return element(
        "div", "Your answer goes to the server behind ", element("code", visible_nodes(question.source)), ".",
        class_="cm-soft cm-size",
    )  # fmt: skip
