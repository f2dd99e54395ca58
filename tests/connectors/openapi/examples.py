"""Arguments that fit a tool's schema, made of the schema alone."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import Phase, find, settings, strategies

FORMATS = {
    "date": "2024-02-29",
    "date-time": "2024-02-29T12:00:00Z",
    "uuid": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
    "uri": "https://example.org/x",
    "url": "https://example.org/x",
    "email": "a@example.org",
    "ipv4": "192.0.2.1",
}
DEPTH = 6


def arguments_of(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a value for every argument."""
    definitions = schema.get("$defs", {})
    return {name: example(one, definitions) for name, one in schema["properties"].items()}


def example(schema: Any, definitions: dict[str, Any], depth: int = 0) -> Any:  # noqa: C901, PLR0911  one line a keyword
    """Return the plainest value that fits a schema: of objects what is required, and a little more."""
    if not isinstance(schema, dict):
        return "x"
    if "$ref" in schema:
        return example(resolved(schema, definitions), definitions, depth)
    if depth > 30:
        return None
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    if "default" in schema and schema["default"] is not None:
        return schema["default"]
    if "allOf" in schema:
        parts = [example(one, definitions, depth) for one in schema["allOf"]]
        rest = [example(without(schema, "allOf"), definitions, depth)] if "properties" in schema else []
        objects = [one for one in (*parts, *rest) if isinstance(one, dict)]
        return {key: value for one in objects for key, value in one.items()} if objects else parts[0]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            first = next((one for one in schema[key] if one.get("type") != "null"), schema[key][0])
            first = resolved(first, definitions)
            merged = {**without(schema, key), **first, "required": both(schema, first)}
            if "properties" in schema:
                merged["properties"] = {**schema["properties"], **first.get("properties", {})}
            return example(merged, definitions, depth)
    kind = schema.get("type") or ("object" if "properties" in schema else "array" if "items" in schema else "string")
    kind = kind[0] if isinstance(kind, list) else kind
    return {"object": an_object, "array": a_list, "string": a_text}.get(kind, a_number)(schema, definitions, depth)


def without(schema: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name != key}


def resolved(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    return {**definitions[schema["$ref"].rsplit("/", 1)[-1]], **without(schema, "$ref")} if "$ref" in schema else schema


def both(*schemas: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(name for one in schemas for name in one.get("required", [])))


def an_object(schema: dict[str, Any], definitions: dict[str, Any], depth: int) -> dict[str, Any]:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    few = [name for name, one in properties.items() if depth < 2 and isinstance(one, dict) and "pattern" not in one][:3]
    names = dict.fromkeys([*required, *few] if schema.get("maxProperties") is None else required)
    return {
        name: example(properties.get(name, {}), definitions, depth + 1)
        for name in names
        if name in required or depth < DEPTH
    }


def a_list(schema: dict[str, Any], definitions: dict[str, Any], depth: int) -> list[Any]:
    if schema.get("maxItems") == 0 or (depth >= DEPTH and not schema.get("minItems")):
        return []
    return [example(schema.get("items", {}), definitions, depth + 1)] * max(1, schema.get("minItems", 1))


def a_text(schema: dict[str, Any], definitions: dict[str, Any], depth: int) -> Any:
    if schema.get("format") == "binary":
        return b"\x00\x01\xff"
    text = FORMATS.get(schema.get("format", ""), "a/b c?d&e=é")
    if (pattern := schema.get("pattern")) is not None:
        return matching(pattern)
    longest = schema.get("maxLength", len(text))
    return text[:longest].ljust(schema.get("minLength", 0), "x")


@cache
def matching(pattern: str) -> str:
    """Return a text that a pattern matches, the first that comes to mind."""
    letters = strategies.characters(codec="ascii", categories=["L", "N"], include_characters="-_./: @")
    once = settings(phases=[Phase.generate], max_examples=50, database=None, deadline=None, derandomize=True)
    return find(strategies.from_regex(pattern, fullmatch=True, alphabet=letters), bool, settings=once)


def a_number(schema: dict[str, Any], definitions: dict[str, Any], depth: int) -> Any:
    if schema.get("type") in ("boolean", ["boolean", "null"]):
        return True
    if schema.get("type") == "null":
        return None
    least = schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1)
    return min(least, schema["maximum"]) if "maximum" in schema else least
