"""Responses: the schema of what a tool returns, and the value that a response becomes.

Owns: which of the described responses count, and reading a body by its type. Never does: check one against its schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from codemode_jupyter.connectors.openapi.bodies import BINARY
from codemode_jupyter.connectors.openapi.media_types import by_preference, essence, kind_of
from codemode_jupyter.connectors.openapi.operations import Media, Operation
from codemode_jupyter.connectors.openapi.schemas import Schemas
from codemode_jupyter.connectors.tool import JsonSchema
from codemode_jupyter.errors import CodemodeError

_SUCCESS = re.compile(r"2(\d\d|XX)")
_CHARSET = re.compile(r"charset=\"?([A-Za-z0-9_.:-]+)", re.IGNORECASE)
_NOT_SHOWN = ("set-cookie", "set-cookie2")

HEADERS_ONLY: JsonSchema = {
    "type": "object",
    "properties": {
        "status": {"type": "integer"},
        "headers": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["status", "headers"],
}
"""What a HEAD request returns: a response without a body."""


def accepted(operation: Operation) -> list[str]:
    """Return the media types of an operation's success, the preferred one first."""
    media = by_preference(one for response in _successes(operation) for one in response)
    return list(dict.fromkeys(essence(one.type) for one in media))


def output_schema(operation: Operation, schemas: Schemas) -> tuple[JsonSchema | None, frozenset[str]]:
    """Return the schema of what a call returns, ``None`` where the document does not say it."""
    if operation.method == "HEAD":
        return HEADERS_ONLY, frozenset()
    found: list[Any] = []
    uses: set[str] = set()
    for response in _successes(operation):
        if not response:
            found.append({"type": "null"})
        for media in by_preference(response):
            schema, more = _media_schema(media, schemas)
            found.append(schema)
            uses |= more
    distinct = [one for index, one in enumerate(found) if one not in found[:index]]
    if not distinct or any(one in ({}, True) for one in distinct):
        return None, frozenset()
    made = distinct[0] if len(distinct) == 1 else {"anyOf": distinct}
    return (made if isinstance(made, dict) else None), frozenset(uses)


def value_of(headers: Mapping[str, str], body: bytes) -> Any:
    """Return what a program gets of a body: data for JSON, text for text, bytes for anything else, null for none.

    Raises
    ------
    CodemodeError
        ``invalid_response``: JSON nested beyond reason.
    """
    if not body:
        return None
    media_type = headers.get("content-type", "")
    kind = kind_of(media_type)
    if kind == "json":
        try:
            return json.loads(body)
        except ValueError:
            return _text(body, media_type)
        except RecursionError:
            raise CodemodeError("invalid_response", "The service answered with JSON nested beyond reason.") from None
    if kind in ("text", "any", "form"):
        return _text(body, media_type)
    return body


def as_bytes(body: bytes | str) -> bytes:
    """Return a body's bytes."""
    return body.encode() if isinstance(body, str) else bytes(body)


def shown_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that a program may read: cookies are the service's and the kernel's business."""
    return {name.lower(): value for name, value in headers.items() if name.lower() not in _NOT_SHOWN}


def _successes(operation: Operation) -> list[tuple[Media, ...]]:
    described = [one.media for one in operation.responses if _SUCCESS.fullmatch(one.status)]
    return described or [one.media for one in operation.responses if one.status == "DEFAULT"]


def _media_schema(media: Media, schemas: Schemas) -> tuple[Any, frozenset[str]]:
    kind = kind_of(media.type)
    if kind == "json":
        return schemas.translate(media.schema)
    if kind == "any":
        return {}, frozenset()
    return ({"type": "string"} if kind in ("text", "form") else BINARY), frozenset()


def _text(body: bytes, media_type: str) -> str | bytes:
    """Return a body as text, or as it is where it is none."""
    named = _CHARSET.search(media_type)
    try:
        return body.decode(named[1] if named is not None else "utf-8")
    except (UnicodeDecodeError, LookupError):
        return body
