"""The layout of a question that a tool asks: a small form, or an address to visit.

Owns: the fields by their kinds with what is wrong in them, the words about an address, and reading the form's message
back.
Never does: checking an answer (the runtime does), or opening an address: it is text, its host plainly visible.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from codemode_jupyter.connectors.faults import path_of
from codemode_jupyter.connectors.questions import Question, QuestionField, option_text
from codemode_jupyter.notebook.card.element import Child, Element, element
from codemode_jupyter.notebook.card.visible import visible, visible_nodes
from codemode_jupyter.runtime.records import PendingCall

ANSWER_LENGTH = 10_000
"""Longest text that can be typed into one line, in characters."""

Faults: TypeAlias = Mapping[str, Sequence[tuple[str, str]]]
"""What did not fit in the last answer, path and message, by the digest of its question."""

_LONG_ANSWER = 100_000
_MESSAGE = 10_000

_FIELD = "answer-"
_KINDS = {
    "number": "a number",
    "integer": "a whole number",
    "choices": "several, with commas between",
    "json": "as JSON: text in quotation marks, lists in [ ], objects in { }",
}
_PLAIN_ADDRESS = re.compile(r"https?://(?P<host>[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?([/?#][!-\[\]-~]*)?")
"""No user before the host, no backslash, nothing that browsers read in another way than we do."""


def question_words(question: Question) -> Element:
    """Return the question's message, and the address that it asks to visit."""
    return element(
        "div",
        element("div", visible_nodes(question.message[:_MESSAGE]), class_="cm-message cm-question-words")
        if question.message
        else None,
        _address(question.url) if question.url is not None else None,
    )


def question_layout(
    call: PendingCall, question: Question, faults: Sequence[tuple[str, str]], buttons: Sequence[Element]
) -> Element:
    """Return the question with its form; each of the ``faults``, path and message, stands at its field."""
    return element(
        "div",
        question_words(question),
        element(
            "div",
            element(
                "div",
                [_labelled(number, one, question, faults) for number, one in enumerate(question.fields)],
                class_="cm-form cm-fields",
            ),
            element("div", [[button, " "] for button in buttons], class_="cm-actions cm-answers"),
            data_form="answer",
        ),
        _who_reads(question, kept=call.kind == "interrupt") if question.fields else None,
    )


def answer_content(question: Question, fields: Mapping[str, str]) -> dict[str, str]:
    """Return what was typed, by the names of the question's fields."""
    typed = {one.name: fields.get(f"{_FIELD}{number}", "") for number, one in enumerate(question.fields)}
    return {name: text for name, text in typed.items() if text != ""}


def _labelled(number: int, asked: QuestionField, question: Question, faults: Sequence[tuple[str, str]]) -> Element:
    title = asked.title or asked.name
    wrong = [message for path, message in faults if question.is_single or _is_of(path, asked.name)]
    remark = " · ".join(part for part in (asked.description, _bounds(asked)) if part)
    return element(
        "label",
        element("span", visible_nodes(title), "" if asked.required else " (optional)", class_="cm-label"),
        " ",
        _control(number, asked, long=asked.kind == "json" or _is_free_text(question, asked), wrong=bool(wrong)),
        element("span", visible_nodes("; ".join(wrong)), class_="cm-fault cm-size") if wrong else None,
        element("span", visible_nodes(remark), class_="cm-soft cm-size") if remark else None,
        data_key=f"{_FIELD}{number}",
    )


def _control(number: int, asked: QuestionField, *, long: bool, wrong: bool) -> Element:
    name, default = f"{_FIELD}{number}", _default(asked)
    invalid = "true" if wrong else None
    if long:
        return element("textarea", default, data_field=name, maxlength=_LONG_ANSWER, aria_invalid=invalid)
    if asked.kind not in ("boolean", "choice"):
        return element(
            "input",
            type="date" if asked.format == "date" else "text",
            data_field=name,
            maxlength=ANSWER_LENGTH,
            autocomplete="off",
            value=default or None,
            aria_invalid=invalid,
        )
    options = [("true", "Yes"), ("false", "No")]
    if asked.kind == "choice":
        options = [(option_text(value), title) for value, title in asked.options]
    offered = [] if asked.required and default else [("", "")]
    return element(
        "select",
        [
            element("option", visible(title), value=value, selected=value == default)
            for value, title in (*offered, *options)
        ],
        data_field=name,
        aria_invalid=invalid,
    )


def _is_free_text(question: Question, asked: QuestionField) -> bool:
    return question.is_single and asked.kind == "text" and not asked.format


def _is_of(path: str, name: str) -> bool:
    """Tell whether a fault is one of a field: of its value, or of something in it."""
    return any(path == one or path.startswith((f"{one}.", f"{one}[")) for one in (name, path_of([name])))


def _default(asked: QuestionField) -> str:
    value = asked.default
    if value is None:
        return ""
    if asked.kind == "choices" and isinstance(value, list):
        return ", ".join(option_text(one) for one in value)
    return option_text(value) if asked.kind != "text" or isinstance(value, str) else ""


def _bounds(asked: QuestionField) -> str:
    parts = [_KINDS.get(asked.kind) or ("" if asked.format == "date" else asked.format)]
    if asked.kind == "choices":
        parts.append(", ".join(option_text(value) for value, _ in asked.options[:20]))
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


def _who_reads(question: Question, *, kept: bool) -> Element:
    source = element("code", visible_nodes(question.source))
    words: Child = ["Your answer goes to the server behind ", source, "."]
    if kept:
        words = ["Your answer goes to ", source, " and is kept in the log of this run: no place for passwords."]
    return element("div", words, class_="cm-soft cm-size")
