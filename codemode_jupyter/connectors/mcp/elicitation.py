"""A server's wish to ask the person, as a question of the card.

Owns: reading the flat schema that elicitation allows (MCP 2025-11-25, "Elicitation"), and the answer's wire form.
Never does: ask; the call's channel does. An address is passed on as text; nothing opens it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import mcp_types as types

from codemode_jupyter.connectors.questions import Answer, Kind, Question, QuestionField
from codemode_jupyter.connectors.redaction import Redactor

MOST_FIELDS = 50
"""Most fields of one form."""

_MOST_OPTIONS = 200
_MESSAGE = 4_000
_TEXT = 500
_KINDS: dict[str, Kind] = {"string": "text", "number": "number", "integer": "integer", "boolean": "boolean"}


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
    required = schema.get("required")
    needed = {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()
    fields = tuple(_field(str(name), one, name in needed) for name, one in properties.items())
    return Question(message, fields, source=source)


def result_of(answer: Answer) -> types.ElicitResult:
    """Return the wire form of an answer."""
    content = dict(answer.content) if answer.action == "accept" else None
    return types.ElicitResult(action=answer.action, content=content or ({} if answer.action == "accept" else None))


def _field(name: str, schema: object, required: bool) -> QuestionField:  # noqa: FBT001  one of two kinds of field
    if not isinstance(schema, Mapping):
        raise ValueError(f"the field {name[:80]} has no schema")  # noqa: TRY004  every fault of a form is one error
    several = schema.get("type") == "array"
    chosen = schema.get("items") if several else schema
    options = _options(chosen) if isinstance(chosen, Mapping) else ()
    kind = ("choices" if several else "choice") if options else _KINDS.get(str(schema.get("type")))
    if kind is None or (several and not options):
        raise ValueError(f"the field {name[:80]} is no text, number, yes-or-no or choice")
    low, high = {"text": ("minLength", "maxLength"), "choices": ("minItems", "maxItems")}.get(
        kind, ("minimum", "maximum")
    )
    return QuestionField(
        name=name,
        kind=kind,
        title=_words(schema.get("title")),
        description=_words(schema.get("description")),
        required=required,
        default=schema.get("default"),
        options=options,
        minimum=_number(schema.get(low)),
        maximum=_number(schema.get(high)),
        format=_words(schema.get("format")),
    )


def _options(schema: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return values and titles: ``enum`` with ``enumNames``, or ``oneOf`` and ``anyOf`` of ``const`` and ``title``."""
    titled = schema.get("oneOf") or schema.get("anyOf")
    if isinstance(titled, list):
        pairs: Iterable[tuple[Any, Any]] = (
            (one.get("const"), one.get("title")) for one in titled if isinstance(one, Mapping)
        )
    elif isinstance(values := schema.get("enum"), list):
        names = schema.get("enumNames")
        known = names if isinstance(names, list) and len(names) == len(values) else values
        pairs = zip(values, known, strict=True)
    else:
        return ()
    read = [(value, _words(title) or value) for value, title in pairs if isinstance(value, str)]
    return tuple(read[:_MOST_OPTIONS])


def _words(value: object) -> str:
    return value[:_TEXT] if isinstance(value, str) else ""


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
