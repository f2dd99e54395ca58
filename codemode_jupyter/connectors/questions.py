"""Questions that a tool asks a person: a small form, or an address to visit.

Owns: the question, its fields, the answer, and reading what a person typed. Never does: show or keep a question; the
runtime lists it, the notebook shows it.

The form is flat: each field is one text, number, yes-or-no or choice (MCP 2025-11-25, "Elicitation", allows the same);
what is none of these is typed as JSON.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from codemode_jupyter.errors import CodemodeError

Kind: TypeAlias = Literal["text", "number", "integer", "boolean", "choice", "choices", "json"]
Action: TypeAlias = Literal["accept", "decline", "cancel"]

_WORDS = {"true": True, "yes": True, "false": False, "no": False}
_INTEGER = re.compile(r"[+-]?\d{1,300}")
_FORMATS = {
    "email": re.compile(r"[^@\s]+@[^@\s]+"),
    "uri": re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+"),
    "date": re.compile(r"\d{4}-\d{2}-\d{2}"),
    "date-time": re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}\S*"),
}


@dataclass(frozen=True, slots=True)
class QuestionField:
    """One field of a form.

    Attributes
    ----------
    name : str
        Key in the answer.
    options : tuple of (value, title)
        What can be chosen, for ``choice`` and ``choices``.
    minimum, maximum : float or None
        Bounds of a number, of the length of a text in characters, or of how many are chosen.
    format : str
        ``email``, ``uri``, ``date`` or ``date-time`` for a text; empty: any.
    """

    name: str
    kind: Kind = "text"
    title: str = ""
    description: str = ""
    required: bool = False
    default: Any = None
    options: tuple[tuple[Any, str], ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    format: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What a person is asked while a tool waits.

    ``url`` is an address that the person is asked to visit; nothing ever opens it by itself. ``source`` says who asks.
    """

    message: str
    fields: tuple[QuestionField, ...] = ()
    url: str | None = None
    source: str = ""
    is_single: bool = False
    """The answer is the value of the only field, not an object."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person answered; ``content`` has the fields of an accepted form."""

    action: Action
    content: Mapping[str, Any] = field(default_factory=dict)


def check_answer(question: Question, content: object) -> dict[str, Any]:
    """Return the answer to a form, each value of the kind that its field has; texts are read as a person types them.

    Raises
    ------
    CodemodeError
        ``invalid_answer``, with every fault and its field.
    """
    given = {} if content is None else content
    if not isinstance(given, Mapping):
        raise CodemodeError("invalid_answer", "The answer is not an object.", hint="Give one value for each field.")
    faults: list[dict[str, str]] = []
    read: dict[str, Any] = {}
    for asked in question.fields:
        value = given.get(asked.name)
        if value is None or value == "":
            if asked.required:
                faults.append({"path": asked.name, "message": "is needed"})
            continue
        try:
            read[asked.name] = _value(asked, value)
        except ValueError as fault:
            faults.append({"path": asked.name, "message": str(fault)})
    known = {asked.name for asked in question.fields}
    faults += [{"path": str(name), "message": "is not asked for"} for name in given if name not in known]
    if faults:
        raise refuse_answer(faults)
    return read


def answer_in_flight(answer: object) -> tuple[Action, object]:
    """Return an answer to the question of a running tool: a word, or the fields of an accepted form.

    Raises
    ------
    CodemodeError
        ``invalid_answer``
    """
    match answer:
        case "accept" | "decline" | "cancel":
            return answer, None
        case Mapping():
            return "accept", answer
    hint = 'Use the form\'s fields by name, "decline" or "cancel".'
    raise CodemodeError("invalid_answer", f"{answer!r:.100} is no answer to this question.", hint=hint)


def read_form(question: Question, texts: Mapping[str, str]) -> Any:
    """Return the answer that a person has typed into a question's form.

    Raises
    ------
    CodemodeError
        ``invalid_answer``, with every fault and its field.
    """
    content = check_answer(question, texts)
    return content.get(question.fields[0].name) if question.is_single else content


def refuse_answer(faults: Sequence[Mapping[str, str]]) -> CodemodeError:
    """Return the refusal of an answer; each fault has a ``path`` and a ``message``."""
    listed = "; ".join(f"{fault['path']} {fault['message']}".strip() for fault in faults[:10])
    return CodemodeError("invalid_answer", f"The answer does not fit: {listed}.", data={"faults": list(faults)})


def _value(asked: QuestionField, value: object) -> Any:
    match asked.kind:
        case "boolean":
            return _boolean(value)
        case "number" | "integer":
            return _bounded(asked, _number(asked.kind, value), "be")
        case "choice":
            return _chosen(asked, value)
        case "choices":
            listed = value if isinstance(value, list | tuple) else [part.strip() for part in str(value).split(",")]
            chosen = [_chosen(asked, one) for one in listed if one != ""]
            _bounded(asked, len(chosen), "have")
            return chosen
        case "json":
            return _json(value)
        case _:
            return _text(asked, value)


def _json(value: object) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise ValueError("must be JSON: text in quotation marks, lists in [ ], objects in { }") from None


def _text(asked: QuestionField, value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be text")  # noqa: TRY004  every fault of an answer is one kind of error
    _bounded(asked, len(value), "have")
    if not has_format(asked.format, value):
        raise ValueError(f"must be {'an' if asked.format == 'email' else 'a'} {asked.format}")
    return value


def has_format(name: str, text: str) -> bool:
    """Tell whether a text has a format; one that is not known has any text."""
    pattern = _FORMATS.get(name)
    if pattern is not None and not pattern.fullmatch(text):
        return False
    try:
        return name != "date" or dt.date.fromisoformat(text) is not None
    except ValueError:
        return False


def _boolean(value: object) -> bool:
    word = _WORDS.get(str(value).strip().lower())
    if word is None:
        raise ValueError("must be yes or no")
    return word


def _number(kind: str, value: object) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("must be a number")  # noqa: TRY004  every fault of an answer is one kind of error
    text = str(value).strip()
    if _INTEGER.fullmatch(text):
        return int(text)
    try:
        number = float(text)
    except ValueError:
        raise ValueError("must be a number") from None
    if not math.isfinite(number) or (kind == "integer" and not number.is_integer()):
        raise ValueError("must be a whole number" if kind == "integer" else "must be a number")
    return int(number) if kind == "integer" else number


def _chosen(asked: QuestionField, value: object) -> Any:
    for option, title in asked.options:
        if value in (option_text(option), title) or (value == option and type(value) is type(option)):
            return option
    raise ValueError(f"must be one of {', '.join(option_text(option) for option, _ in asked.options[:20])}")


def option_text(value: object) -> str:
    """Return what stands for an option's value in a form."""
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _bounded(asked: QuestionField, size: float, verb: str) -> Any:
    unit = {"text": " characters", "choices": " choices"}.get(asked.kind, "")
    if asked.minimum is not None and size < asked.minimum:
        raise ValueError(f"must {verb} at least {asked.minimum:g}{unit}")
    if asked.maximum is not None and size > asked.maximum:
        raise ValueError(f"must {verb} at most {asked.maximum:g}{unit}")
    return size
