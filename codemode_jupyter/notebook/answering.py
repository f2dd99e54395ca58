"""``%codemode respond``: an answer typed into a cell, to what a tool asks.

Owns: the answer on the line, finding the question that an id means, and reading the answer as its form would.
Never does: check an answer against its schema; the runtime does.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence

from codemode_jupyter.connectors.questions import Question, read_form
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.records import PendingCall

_ANSWERING = re.compile(r"(\s*(?:(?:-r|--runtime)[\s=]+\S+\s+)*respond\s+\S+)\s+(\S.*)", re.DOTALL)


def split_answer(line: str) -> tuple[str, str | None]:
    """Return the line of a command without the answer that ends it, and the answer as it was typed.

    JSON and apostrophes stand in it as they are; quotation marks around the whole of it, as for a shell, are taken off.
    """
    if (found := _ANSWERING.fullmatch(line)) is None:
        return line, None
    answer = found[2].rstrip()
    if answer[0] in "'\"":
        try:
            words = shlex.split(answer)
        except ValueError:
            words = []
        answer = words[0] if len(words) == 1 else answer
    return found[1], answer


def question_meant(text: str, pending: Sequence[PendingCall]) -> PendingCall:
    """Return the one question whose ``call_id``, or the end of it, or of its execution's id, is ``text``.

    Raises
    ------
    CodemodeError
        ``not_pending``: none is meant, or more than one.
    """
    asked = [call for call in pending if call.question is not None]
    meant = [call for call in asked if call.call_id.endswith(text) or call.execution_id.endswith(text)]
    if len(meant) == 1:
        return meant[0]
    ids = ", ".join(_short(call) for call in (meant or asked)[:10])
    raise CodemodeError(
        "not_pending",
        f"{text!r:.100} means {'more than one question' if meant else 'no question that waits'}.",
        hint=f"These wait: {ids}." if ids else "`%codemode pending` lists what waits.",
    )


def typed_answer(question: Question, text: str) -> object:
    """Return the answer that a person typed: the text of the only field, or an object as JSON.

    Raises
    ------
    CodemodeError
        ``invalid_answer``
    """
    if question.is_single:
        return read_form(question, {question.fields[0].name: text})
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        names = ", ".join(json.dumps(field.name) for field in question.fields[:20])
        raise CodemodeError(
            "invalid_answer", "The answer is not JSON.", hint=f"Type an object in {{ }} with: {names}."
        ) from None


def _short(call: PendingCall) -> str:
    return f"{call.execution_id[-8:]}{call.call_id.removeprefix(call.execution_id)}"
