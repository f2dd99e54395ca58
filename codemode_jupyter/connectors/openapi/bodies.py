"""Bodies of requests: the schema of what a program passes, and the bytes it becomes.

Owns: JSON, forms, multipart, text and bytes. Never does: check a body against its schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from codemode_jupyter.connectors.openapi.document import Document, Place
from codemode_jupyter.connectors.openapi.extra import needed
from codemode_jupyter.connectors.openapi.media_types import kind_of
from codemode_jupyter.connectors.openapi.operations import Media, Parameter
from codemode_jupyter.connectors.openapi.schemas import Schemas
from codemode_jupyter.connectors.openapi.serialization import json_text, query_pairs, text_of

BINARY = {"type": "string", "format": "binary"}
"""The schema of bytes; a text is taken for its UTF-8."""

_STYLED = ("style", "explode", "allowReserved")
_MEDIA_TYPE = re.compile(r"[!#$&^_.+A-Za-z0-9-]+/[!#$&^_.+A-Za-z0-9-]+(;\s*[!#$&^_.+A-Za-z0-9-]+=[ -~]+)*")


def body_schema(media: Media, schemas: Schemas, document: Document) -> tuple[Any, frozenset[str]]:
    """Return the schema of a body, and the names of the definitions that it refers to."""
    kind = kind_of(media.type)
    if kind in ("json", "any"):
        return schemas.translate(media.schema)
    if kind in ("multipart", "form"):
        place = document.resolve(media.schema) or Place({}, "")
        schema, uses = schemas.translate(place)
        if not isinstance(schema, dict):
            return {"type": "object"}, frozenset()
        if kind == "multipart" and isinstance(fields := schema.get("properties"), dict):
            content_types = {name: str(value.get("contentType", "")) for name, value in media.encoding.items()}
            files = {name: _field_schema(value, content_types.get(name, "")) for name, value in fields.items()}
            schema = {**schema, "properties": files}
        return ({"type": "object", **schema}, uses) if "$ref" not in schema else (schema, uses)
    schema, uses = schemas.translate(media.schema)
    if kind == "text":
        is_text = isinstance(schema, dict) and schema.get("type") == "string"
        return (schema, uses) if is_text else ({"type": "string"}, frozenset())
    notes = {key: schema[key] for key in ("description",) if isinstance(schema, dict) and key in schema}
    return {**BINARY, **notes}, frozenset()


def encode_body(media_type: str, media: Media, value: object) -> tuple[bytes, str]:
    """Return a body's bytes and its ``Content-Type``.

    Parameters
    ----------
    media_type : str
        What is sent: the type of ``media``, or one that its pattern (``image/*``) allows.
    media : Media
        What is described.
    value : object
        What the program passed.

    Raises
    ------
    TypeError, ValueError
        The value has no form in this media type; the message says why.
    """
    kind = kind_of(media_type)
    if kind == "any":
        is_bytes, is_text = isinstance(value, bytes), isinstance(value, str)
        media_type = "application/octet-stream" if is_bytes else "text/plain" if is_text else "application/json"
        kind = kind_of(media_type)
    if not _MEDIA_TYPE.fullmatch(media_type):
        raise ValueError(f"{media_type[:100]!r} is not a media type")
    if kind == "json":
        return json_text(value).encode(), media_type
    if kind == "form":
        return "&".join(_form_pairs(media, _fields(value))).encode(), media_type
    if kind == "multipart":
        return _multipart(media, _fields(value))
    return _raw(value), media_type


def _field_schema(schema: Any, content_type: str) -> Any:
    """Return the schema of a part: of a file it is the bytes, or these with a name and a type."""
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "array" and isinstance(schema.get("items"), dict):
        return {**schema, "items": _field_schema(schema["items"], content_type)}
    # OpenAPI 3.1 says with a media type, or with no type at all, that a part is bytes.
    says_media = "contentMediaType" in schema and "contentEncoding" not in schema
    says_nothing = not any(key in schema for key in ("type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"))
    untyped = says_nothing and content_type != "" and kind_of(content_type.partition(",")[0]) == "binary"
    if schema.get("format") != "binary" and not says_media and not untyped:
        return schema
    notes = {key: schema[key] for key in ("description", "deprecated") if key in schema}
    named = {
        "type": "object",
        "properties": {"content": BINARY, "filename": {"type": "string"}, "contentType": {"type": "string"}},
        "required": ["content"],
        "additionalProperties": False,
    }
    return {"anyOf": [BINARY, named], **notes}


def _fields(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError("a form is an object")
    return {str(key): item for key, item in value.items() if item is not None}


def _raw(value: object) -> bytes:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    if isinstance(value, str):
        return value.encode()
    raise TypeError("it is neither a text nor bytes")


def _form_pairs(media: Media, fields: Mapping[str, Any]) -> Iterator[str]:
    """Yield the pairs of a form (OpenAPI 3.0.4, Encoding Object): an object is JSON unless a style says otherwise."""
    for name, value in fields.items():
        encoding = media.encoding.get(name, {})
        styled = any(key in encoding for key in _STYLED)
        style = str(encoding.get("style", "form"))
        known = style in ("form", "spaceDelimited", "pipeDelimited", "deepObject", "tabDelimited")
        explode = encoding.get("explode")
        yield from query_pairs(
            Parameter(
                name,
                "query",
                Place({}, ""),
                style=style if known else "form",
                explode=explode if isinstance(explode, bool) else style in ("form", "deepObject"),
                allow_reserved=encoding.get("allowReserved") is True,
                media_type="application/json" if isinstance(value, dict) and not styled else None,
            ),
            value,
        )


def _multipart(media: Media, fields: Mapping[str, Any]) -> tuple[bytes, str]:
    parts: list[tuple[str, tuple[str | None, bytes, str | None]]] = []
    for name, value in fields.items():
        content_type = str(media.encoding.get(name, {}).get("contentType", "")).partition(",")[0].strip()
        if not _MEDIA_TYPE.fullmatch(content_type) or "*" in content_type:
            content_type = ""
        parts.extend(
            (name, _part(name, item, content_type)) for item in (value if isinstance(value, list) else [value])
        )
    httpx = needed("httpx")
    # Without a part httpx makes no multipart body.
    request = httpx.Request("POST", "http://localhost/", files=parts or [("", (None, b"", None))])
    return request.read(), request.headers["content-type"]


def _part(name: str, value: Any, content_type: str) -> tuple[str | None, bytes, str | None]:
    """Return the file name, the bytes and the type of a part (RFC 7578, 4.2 and 4.4)."""
    if isinstance(value, bytes | bytearray | memoryview):
        return name, bytes(value), content_type or "application/octet-stream"
    if isinstance(value, Mapping):
        content = value.get("content")
        if isinstance(content, bytes) or (
            isinstance(content, str) and value.keys() <= {"content", "filename", "contentType"}
        ):
            kind = str(value.get("contentType") or content_type or "application/octet-stream")
            if not _MEDIA_TYPE.fullmatch(kind):
                raise ValueError(f"{kind[:100]!r} is not a media type")
            return str(value.get("filename") or name), _raw(content), kind
        return None, json_text(value).encode(), content_type or "application/json"
    return None, text_of(value).encode(), content_type or None
