"""What a schema says besides its type: the lines of a comment.

Owns: description, default, format, bounds and deprecation as text. Never does: make the text safe in a language.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

_NOTED = (
    *("default", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "pattern", "contentEncoding", "contentMediaType"),
    *("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"),
)
_LONGEST_DESCRIPTION = 2000  # characters: a comment, not a manual
_LONGEST_VALUE = 200


def schema_notes(schema: object) -> tuple[str, ...]:
    """Return the lines of a comment on a schema: description, then default, format, bounds and deprecation."""
    if not isinstance(schema, Mapping):
        return ()
    described = schema.get("description")
    lines = [shortened(described, _LONGEST_DESCRIPTION)] if isinstance(described, str) and described.strip() else []
    for key in _NOTED:
        value = schema.get(key)
        if value is not None and value is not False and (key == "default" or isinstance(value, str | int | float)):
            lines.append(f"@{key} {value if isinstance(value, str) and key != 'default' else _json(value)}")
        elif value is False and key == "default":
            lines.append("@default false")
    if schema.get("readOnly") is True:
        lines.append("@readonly")
    if schema.get("deprecated") is True:
        lines.append("@deprecated")
    return tuple(lines)


def shortened(text: str, longest: int) -> str:
    """Return a text of no more characters than that, with a mark where it was cut."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _json(value: object) -> str:
    try:
        return shortened(json.dumps(value, ensure_ascii=False), _LONGEST_VALUE)
    except (TypeError, ValueError, RecursionError):
        return "…"
