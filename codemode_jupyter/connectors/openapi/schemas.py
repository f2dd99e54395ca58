"""Schemas of an OpenAPI document as JSON Schema 2020-12.

Owns: what OpenAPI adds to or changes in JSON Schema, and the definitions that a schema needs to stand alone.
Never does: fail on a schema: what cannot be read is a schema that allows everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from codemode_jupyter.connectors.openapi.document import Document, Place
from codemode_jupyter.connectors.tool import JsonSchema

Direction = Literal["request", "response"]

_LARGEST = 20_000
"""Most parts of one schema; a larger one is a trap (such as lists of YAML aliases), and no type that anybody reads."""

_MAPS = ("properties", "patternProperties", "dependentSchemas")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SCHEMAS = (
    *("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"),
    *("unevaluatedItems", "unevaluatedProperties"),
)
_PLAIN = (
    *("title", "description", "default", "enum", "const", "type", "format", "deprecated", "readOnly", "writeOnly"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern"),
    *("minItems", "maxItems", "uniqueItems", "minContains", "maxContains", "minProperties", "maxProperties"),
    *("required", "dependentRequired", "contentEncoding", "contentMediaType"),
)
_TYPES = ("null", "boolean", "object", "array", "number", "string", "integer")
_NOT_FOR_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


class TooLargeError(Exception):
    """A schema with more parts than anybody reads."""


class Schemas:
    """Translates the schemas of one document, for requests or for responses.

    A property that is ``readOnly`` is not required in a request, one that is ``writeOnly`` not in a response (OpenAPI
    3.0.3, Schema Object, fixed fields).
    """

    def __init__(self, document: Document, direction: Direction) -> None:
        self._document = document
        self._hidden = "readOnly" if direction == "request" else "writeOnly"
        self._names: dict[str, str] = {}
        self._places: dict[str, Place] = {}
        self._made: dict[str, tuple[JsonSchema | bool, frozenset[str]]] = {}

    def translate(self, place: Place) -> tuple[Any, frozenset[str]]:
        """Return a schema in JSON Schema 2020-12, and the names of the definitions that it refers to."""
        translation = _Translation(self)
        try:
            schema = translation.write(place.value, place.base)
        except (RecursionError, TooLargeError):
            return {}, frozenset()
        return schema, frozenset(translation.uses)

    def definitions(self, uses: Iterable[str]) -> dict[str, Any]:
        """Return what ``$defs`` has to hold for the names used, and for those that these use."""
        found: dict[str, Any] = {}
        waiting = sorted(uses, reverse=True)
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            if name not in self._made:
                self._made[name] = self.translate(self._places[name])
            found[name], more = self._made[name]
            waiting.extend(sorted(more, reverse=True))
        return found

    def name_of(self, reference: str, base: str) -> str | None:
        """Return the name of the definition that a reference means, ``None`` where it means nothing."""
        place = self._document.lookup(reference, base)
        if place is None or not isinstance(place.value, Mapping | bool):
            return None
        if place.uri not in self._names:
            last = place.uri.rsplit("/", 1)[-1].rsplit("#", 1)[-1]
            wanted = _NOT_FOR_NAMES.sub("_", last.replace("~1", "_").replace("~0", "_")) or "Schema"
            name, number = wanted, 2
            while name in self._places:
                name, number = f"{wanted}_{number}", number + 1
            self._names[place.uri] = name
            self._places[name] = place
        return self._names[place.uri]

    def is_hidden(self, schema: object, base: str) -> bool:
        """Say whether a property does not belong in this direction."""
        if not isinstance(schema, Mapping):
            return False
        if schema.get(self._hidden) is True:
            return True
        found = self._document.resolve(Place(schema, base)) if "$ref" in schema else None
        return found is not None and isinstance(found.value, Mapping) and found.value.get(self._hidden) is True

    @property
    def is_3_0(self) -> bool:
        """Whether the document's schemas are those of OpenAPI 3.0 or Swagger 2.0, which are no JSON Schema."""
        return self._document.version != "3.1"


class _Translation:
    """Translates one schema, without following its references."""

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas
        self._parts = 0
        self.uses: set[str] = set()

    def write(self, schema: object, base: str) -> Any:
        self._parts += 1
        if self._parts > _LARGEST:
            raise TooLargeError
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, Mapping):
            return {}
        made = self._parts_of(schema, base)
        self._correct(made, schema, base)
        if isinstance(reference := schema.get("$ref"), str):
            made = self._referring(made, reference, base)
        return _or_null(made) if schema.get("nullable") is True else made

    def _parts_of(self, schema: Mapping[str, Any], base: str) -> JsonSchema:
        made = {key: schema[key] for key in _PLAIN if key in schema}
        for key in _MAPS:
            if isinstance(values := schema.get(key), Mapping):
                made[key] = {str(name): self.write(value, base) for name, value in values.items()}
        for key in _LISTS:
            if isinstance(values := schema.get(key), list) and values:
                made[key] = [self.write(value, base) for value in values]
        for key in _SCHEMAS:
            if isinstance(schema.get(key), Mapping | bool):
                made[key] = self.write(schema[key], base)
        return made

    def _referring(self, made: JsonSchema, reference: str, base: str) -> JsonSchema:
        if self._schemas.is_3_0:  # what stands beside a reference means nothing there, but people write descriptions
            made = {key: value for key, value in made.items() if key in ("description", "deprecated")}
        name = self._schemas.name_of(reference, base)
        if name is None:
            return made
        self.uses.add(name)
        return {"$ref": f"#/$defs/{name}", **made}

    def _correct(self, made: JsonSchema, schema: Mapping[str, Any], base: str) -> None:
        """Mend what is not JSON Schema 2020-12, so that a fault costs its keyword only."""
        if made.get("type") == "file":  # Swagger 2.0, of forms and responses
            made |= {"type": "string", "format": "binary"}
        if "type" in made and not _is_type(made["type"]):
            del made["type"]
        for limit in ("Minimum", "Maximum"):
            exclusive = made.get(f"exclusive{limit}")
            if isinstance(exclusive, bool):
                del made[f"exclusive{limit}"]
                if exclusive and limit.lower() in made:
                    made[f"exclusive{limit}"] = made.pop(limit.lower())
        if "required" in made:
            required, properties = made.pop("required"), schema.get("properties")
            fields = properties if isinstance(properties, Mapping) else {}
            if isinstance(required, list):
                made["required"] = [
                    name
                    for name in required
                    if isinstance(name, str) and not self._schemas.is_hidden(fields.get(name), base)
                ]
        if "enum" in made and not isinstance(made["enum"], list):
            del made["enum"]


def _is_type(kind: object) -> bool:
    kinds = kind if isinstance(kind, list) and kind else [kind]
    return all(isinstance(one, str) and one in _TYPES for one in kinds)


def _or_null(schema: JsonSchema) -> JsonSchema:
    """Return a schema that allows null as well (``nullable`` of OpenAPI 3.0)."""
    kind = schema.get("type")
    if isinstance(kind, str) and "const" not in schema and not any(key in schema for key in (*_LISTS, "$ref", "not")):
        widened = {**schema, "type": [kind, "null"]}
        if isinstance(values := schema.get("enum"), list) and None not in values:
            widened["enum"] = [*values, None]
        return widened
    notes: JsonSchema = {key: schema[key] for key in ("description", "deprecated", "default") if key in schema}
    return {"anyOf": [{key: value for key, value in schema.items() if key not in notes}, {"type": "null"}], **notes}
