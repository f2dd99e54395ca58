"""Foreign JSON schemas in one dialect, 2020-12, that a validator can take without harm.

Owns: reading older drafts as 2020-12 and leaving out what is no schema: a part that cannot be read asks for nothing.
Never does: resolve references, or change the schema that people and models see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

# JSON Schema 2020-12 (Core 10, Validation 6): which keywords hold a schema, a list of schemas, schemas by name.
_ONE = frozenset(
    [
        *("additionalProperties", "contains", "else", "if", "items", "not"),
        *("propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"),
    ]
)
_SEVERAL = frozenset(["allOf", "anyOf", "oneOf", "prefixItems"])
_NAMED = frozenset(["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"])
_LISTS = frozenset(["enum", "required"])
_MAPS = frozenset(["dependentRequired"])
_VALUES = frozenset(["const", "default", "enum", "example", "examples"])
_DEEPEST = 200
_NOTHING = object()


def as_2020_12(schema: object) -> dict[str, Any] | bool:
    """Return a schema of any draft as one of 2020-12; ``True`` for what is no schema.

    ``$schema`` is not read: what older drafts say in another way is recognised by its form (a list in ``items``, a
    truth value in ``exclusiveMinimum``, ``dependencies``, ``nullable`` of OpenAPI 3.0).
    """
    return _schema(schema, 0)


def _schema(schema: object, depth: int) -> dict[str, Any] | bool:
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return True
    made = {
        key: new
        for key, value in schema.items()
        if key != "$schema"
        and (new := _under(key, value, depth + 1)) is not _NOTHING  # it would choose another validator
    }
    for change in _OLDER:
        change(schema, made, depth)
    return made


def _under(key: str, value: object, depth: int) -> object:
    """Return what stands under a keyword, ``_NOTHING`` where it cannot be that."""
    if key in _ONE:
        return _schema(value, depth) if isinstance(value, Mapping | bool) else _NOTHING
    if key in _SEVERAL:
        fits = isinstance(value, list) and all(isinstance(one, Mapping | bool) for one in value)
        return [_not_false(_schema(one, depth)) for one in value] if isinstance(value, list) and fits else _NOTHING
    if key in _NAMED:
        if not isinstance(value, Mapping):
            return _NOTHING
        return {name: _not_false(_schema(one, depth)) for name, one in value.items() if isinstance(name, str)}
    if (key in _LISTS and not isinstance(value, list)) or (key in _MAPS and not isinstance(value, Mapping)):
        return _NOTHING
    return value if key in _VALUES else _other(value, depth)


def _not_false(schema: Any) -> Any:
    """Return a schema that is not simply ``false``: of such a one ``jsonschema`` forgets where the fault is."""
    return {"not": {}} if schema is False else schema


def _other(value: object, depth: int) -> object:
    """Return what is under an unknown keyword: a reference may point into it."""
    if isinstance(value, Mapping):
        return _schema(value, depth)
    if isinstance(value, list) and depth <= _DEEPEST:
        return [_other(one, depth + 1) for one in value]
    return value


def _tuples(schema: Mapping[str, Any], made: dict[str, Any], depth: int) -> None:
    """Read a list in ``items`` as ``prefixItems``, as it was called before 2020-12."""
    items = schema.get("items")
    if isinstance(items, list):
        made["prefixItems"] = [_schema(one, depth + 1) for one in items]
        if isinstance(rest := schema.get("additionalItems"), Mapping | bool):
            made["items"] = _schema(rest, depth + 1)


def _bounds(schema: Mapping[str, Any], made: dict[str, Any], depth: int) -> None:  # noqa: ARG001  as the others
    """Read an exclusive bound that is a truth value beside the bound: draft 4, and so OpenAPI 3.0."""
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(said := schema.get(exclusive), bool):
            del made[exclusive]
            if said and bound in made:
                made[exclusive] = made.pop(bound)


def _dependencies(schema: Mapping[str, Any], made: dict[str, Any], depth: int) -> None:
    """Read names and schemas that depend on a property, which shared one keyword before 2019-09."""
    said = schema.get("dependencies")
    if not isinstance(said, Mapping):
        return
    del made["dependencies"]
    for name, needs in said.items():
        if isinstance(needs, list):
            made.setdefault("dependentRequired", {})[name] = needs
        else:
            made.setdefault("dependentSchemas", {})[name] = _schema(needs, depth + 1)


def _nullable(schema: Mapping[str, Any], made: dict[str, Any], depth: int) -> None:  # noqa: ARG001  as the others
    """Read ``nullable``, with which OpenAPI 3.0 says that a value may also be null."""
    kind = schema.get("type")
    if schema.get("nullable") is True and isinstance(kind, str):
        made["type"] = [kind, "null"]
        if isinstance(values := made.get("enum"), list) and None not in values:
            made["enum"] = [*values, None]


def _identity(schema: Mapping[str, Any], made: dict[str, Any], depth: int) -> None:  # noqa: ARG001  as the others
    """Leave out an identity that is no text: it would end every resolution of references."""
    for key in ("$id", "$anchor", "$dynamicAnchor", "$ref", "$dynamicRef"):
        if key in schema and not isinstance(schema[key], str):
            del made[key]


_OLDER: tuple[Callable[[Mapping[str, Any], dict[str, Any], int], None], ...] = (
    _tuples,
    _bounds,
    _dependencies,
    _nullable,
    _identity,
)
