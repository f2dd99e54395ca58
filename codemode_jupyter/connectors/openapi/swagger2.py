"""Swagger 2.0 in the words of OpenAPI 3.

Owns: what the two versions say in different places. Never does: follow references; schemas are left where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_OF_A_SCHEMA = (
    *("type", "format", "items", "default", "enum", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"),
    *("maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "multipleOf"),
)
_STYLES: dict[str, tuple[str, bool]] = {
    "csv": ("form", False),
    "ssv": ("spaceDelimited", False),
    "tsv": ("tabDelimited", False),
    "pipes": ("pipeDelimited", False),
    "multi": ("form", True),
}
_FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")
_FLOWS = {"application": "clientCredentials", "accessCode": "authorizationCode"}


def parameter(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a path, query or header parameter as a Parameter Object of OpenAPI 3."""
    style, explode = _STYLES.get(str(given.get("collectionFormat", "csv")), ("form", False))
    if given.get("in") != "query":
        style = "simple"
    kept = {key: given[key] for key in ("name", "in", "required", "description", "deprecated") if key in given}
    return {**kept, "schema": _schema(given), "style": style, "explode": explode}


def request_body(parameters: Iterable[Mapping[str, Any]], consumes: Sequence[str]) -> dict[str, Any] | None:
    """Return the Request Body Object that ``body`` and ``formData`` parameters mean."""
    fields: list[Mapping[str, Any]] = []
    for given in parameters:
        if given.get("in") == "body":
            content = {media: {"schema": given.get("schema", {})} for media in consumes or ["application/json"]}
            kept = {key: given[key] for key in ("required", "description") if key in given}
            return {**kept, "content": content}
        if given.get("in") == "formData" and isinstance(given.get("name"), str):
            fields.append(given)
    if not fields:
        return None
    schema = {
        "type": "object",
        "properties": {one["name"]: _schema(one) for one in fields},
        "required": [one["name"] for one in fields if one.get("required") is True],
    }
    encoding = {
        one["name"]: dict(zip(("style", "explode"), _STYLES[one["collectionFormat"]], strict=True))
        for one in fields
        if str(one.get("collectionFormat")) in _STYLES
    }
    has_file = any(one.get("type") == "file" for one in fields)
    media = [one for one in consumes if one in _FORMS] or [_FORMS[0 if has_file else 1]]
    content = {one: {"schema": schema, "encoding": encoding} for one in media}
    return {"required": bool(schema["required"]), "content": content}


def response(given: Mapping[str, Any], produces: Sequence[str]) -> dict[str, Any]:
    """Return a Response Object of OpenAPI 3."""
    if "schema" not in given:
        return {}
    return {"content": {media: {"schema": given["schema"]} for media in produces or ["application/json"]}}


def servers(root: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the Server Objects that ``schemes``, ``host`` and ``basePath`` mean; https comes first."""
    base = str(root.get("basePath", "/"))
    host = root.get("host")
    if not isinstance(host, str):
        return [{"url": base}]
    schemes = root.get("schemes")
    named = [one for one in schemes if one in ("http", "https")] if isinstance(schemes, list) else []
    return [{"url": f"{scheme}://{host}{base}"} for scheme in sorted(named or ["https"], reverse=True)]


def security_scheme(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a Security Scheme Object of OpenAPI 3."""
    if given.get("type") == "basic":
        return {"type": "http", "scheme": "basic"}
    if given.get("type") == "oauth2":
        flow = str(given.get("flow"))
        return {"type": "oauth2", "flows": {_FLOWS.get(flow, flow): given}}
    return dict(given)


def _schema(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: given[key] for key in _OF_A_SCHEMA if key in given}
