"""A form for a JSON Schema, and the check of an answer against it.

Owns: which kind of field a schema asks for, and the faults of an answer. Never does: show a form, or ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from codemode_jupyter.connectors.questions import Kind, Question, QuestionField, has_format, option_text, refuse_answer
from codemode_jupyter.connectors.schemas.references import References
from codemode_jupyter.connectors.schemas.validation import SchemaValidator

MOST_FIELDS = 50
"""Most fields of one form; a schema with more is answered as JSON."""

_MOST_OPTIONS = 200
"""Of more, one is typed: nobody finds it in a list."""

_MOST_REFERENCES = 20
_TEXT = 500
_KINDS: dict[str, Kind] = {"string": "text", "number": "number", "integer": "integer", "boolean": "boolean"}
_BOUNDS = {"text": ("minLength", "maxLength"), "choices": ("minItems", "maxItems")}


def form_of(message: str, schema: Mapping[str, Any] | None, source: str) -> Question:
    """Return the form in which a person gives a value of a JSON Schema; without one, in which they type a text.

    An object with simple properties has a field for each; a simple value is the only field; anything else is typed as
    JSON.
    """
    if schema is None:
        only = QuestionField("", title="Your answer", required=True)
        return Question(message, (only,), source=source, is_single=True)
    references = References(schema)
    plain = _plain(schema, references)
    properties = plain.get("properties")
    if isinstance(properties, Mapping) and 0 < len(properties) <= MOST_FIELDS:
        needed = required_names(plain)
        fields = tuple(
            _field_or_json(str(name), _plain(one, references), name in needed) for name, one in properties.items()
        )
        return Question(message, fields, source=source)
    only = _field_or_json("", {"title": "Your answer", **plain}, needed=True)
    return Question(message, (only,), source=source, is_single=True)


def check_value(schema: Mapping[str, Any] | None, value: object) -> None:
    """Check an answer against its schema, and the formats of its fields; without a schema it is a text.

    Raises
    ------
    CodemodeError
        ``invalid_answer``; ``data["faults"]`` lists every fault with its path.
    """
    if schema is None:
        if not isinstance(value, str):
            raise refuse_answer([{"path": "", "message": f"must be text, not {type(value).__name__}"}])
        return
    faults = SchemaValidator("answer", schema).faults(value)
    form = form_of("", schema, "")
    given = {form.fields[0].name: value} if form.is_single else value
    for field in form.fields:
        text = given.get(field.name) if isinstance(given, Mapping) else None
        if isinstance(text, str) and not has_format(field.format, text):
            faults.append({"path": field.name, "message": f"must be a {field.format}"})
    if faults:
        raise refuse_answer(faults)


def field_of(name: str, schema: Mapping[str, Any], *, needed: bool) -> QuestionField | None:
    """Return the field for a simple value; ``None`` where the schema asks for another kind."""
    several = schema.get("type") == "array"
    chosen = schema.get("items") if several else schema
    options = _options(chosen) if isinstance(chosen, Mapping) else ()
    kind = ("choices" if several else "choice") if options else _KINDS.get(str(schema.get("type")))
    if kind is None or (several and not options):
        return None
    low, high = _BOUNDS.get(kind, ("minimum", "maximum"))
    return QuestionField(
        name=name,
        kind=kind,
        title=_words(schema.get("title")),
        description=_words(schema.get("description")),
        required=needed,
        default=schema.get("default"),
        options=options,
        minimum=_number(schema.get(low)),
        maximum=_number(schema.get(high)),
        format=_words(schema.get("format")),
    )


def required_names(schema: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the properties that an object must have."""
    required = schema.get("required")
    return frozenset(name for name in required if isinstance(name, str)) if isinstance(required, list) else frozenset()


def _field_or_json(name: str, schema: Mapping[str, Any], needed: bool) -> QuestionField:  # noqa: FBT001  one of two kinds of field
    title, description = _words(schema.get("title")), _words(schema.get("description"))
    return field_of(name, schema, needed=needed) or QuestionField(name, "json", title, description, needed)


def _plain(schema: object, references: References) -> Mapping[str, Any]:
    """Return a schema without what stands around it: a reference, the alternative ``null``, a wrapper of one part."""
    found = schema if isinstance(schema, Mapping) else {}
    for _ in range(_MOST_REFERENCES):
        around = {key: value for key, value in found.items() if key in ("title", "description", "default")}
        inner: object = None
        if isinstance(pointer := found.get("$ref"), str):
            inner = references.resolve(pointer)
        else:
            for key in ("allOf", "anyOf", "oneOf"):
                parts = found.get(key)
                others = [one for one in parts if one != {"type": "null"}] if isinstance(parts, list) else []
                if len(others) == 1 and "type" not in found:
                    inner = others[0]
        kinds = found.get("type")
        if isinstance(kinds, list) and len(known := [kind for kind in kinds if kind != "null"]) == 1:
            inner = {**found, "type": known[0]}
        if not isinstance(inner, Mapping):
            break
        found = {**inner, **around}
    return found


def _options(schema: Mapping[str, Any]) -> tuple[tuple[Any, str], ...]:
    """Return values and titles: ``enum`` with ``enumNames``, or ``oneOf`` and ``anyOf`` of ``const`` and ``title``."""
    titled = schema.get("oneOf") or schema.get("anyOf")
    if isinstance(titled, list):
        if not all(isinstance(one, Mapping) and "const" in one for one in titled):
            return ()
        pairs: Iterable[tuple[Any, Any]] = ((one["const"], one.get("title")) for one in titled)
    elif isinstance(values := schema.get("enum"), list):
        names = schema.get("enumNames")
        known = names if isinstance(names, list) and len(names) == len(values) else [None] * len(values)
        pairs = zip(values, known, strict=True)
    elif "const" in schema:
        pairs = [(schema["const"], None)]
    else:
        return ()
    read = tuple((value, _words(title) or option_text(value)) for value, title in pairs)
    return read if len(read) <= _MOST_OPTIONS else ()


def _words(value: object) -> str:
    return value[:_TEXT] if isinstance(value, str) else ""


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
