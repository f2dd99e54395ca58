"""A server's wish to ask the person, as a question of the card.

Owns: reading the flat schema that elicitation allows (MCP 2025-11-25, "Elicitation"), and the answer's wire form.
Never does: ask; the call's channel does. An address is passed on as text; nothing opens it.
"""

from __future__ import annotations

from collections.abc import Mapping

import mcp_types as types

from codemode_jupyter.connectors.question_form import MOST_FIELDS, field_of, required_names
from codemode_jupyter.connectors.questions import Answer, Question, QuestionField
from codemode_jupyter.connectors.redaction import Redactor

_MESSAGE = 4_000


def question_of(params: types.ElicitRequestParams, source: str, redaction: Redactor) -> Question:
    """Return the question.

    Raises
    ------
    ValueError
        It cannot be asked: too many fields, or one that is no text, number, yes-or-no or choice.
    """
    message = redaction.text(params.message)[:_MESSAGE]
    if isinstance(params, types.ElicitRequestURLParams):
        return Question(message, url=params.url[:_MESSAGE], source=source)
    schema = redaction.data(dict(params.requested_schema))
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or len(properties) > MOST_FIELDS:
        raise ValueError(f"a form has at most {MOST_FIELDS} fields")
    needed = required_names(schema)
    fields = tuple(_field(str(name), one, name in needed) for name, one in properties.items())
    return Question(message, fields, source=source)


def result_of(answer: Answer) -> types.ElicitResult:
    """Return the wire form of an answer."""
    content = dict(answer.content) if answer.action == "accept" else None
    return types.ElicitResult(action=answer.action, content=content or ({} if answer.action == "accept" else None))


def _field(name: str, schema: object, needed: bool) -> QuestionField:  # noqa: FBT001  one of two kinds of field
    field = field_of(name, schema, needed=needed) if isinstance(schema, Mapping) else None
    if field is None:
        raise ValueError(f"the field {name[:80]} is no text, number, yes-or-no or choice")
    return field
