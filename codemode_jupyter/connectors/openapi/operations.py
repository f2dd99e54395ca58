"""The operations of an OpenAPI document, each with everything that is said about it in one place.

Owns: path items, and merging what stands at the path, the operation and the document.
Never does: names or schemas; nor fail: what is malformed is left out, and an operation is never.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from codemode_jupyter.connectors.openapi import swagger2
from codemode_jupyter.connectors.openapi.document import Document, Place

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
"""The fixed fields of a Path Item Object (OpenAPI 3.0.3)."""

In = Literal["path", "query", "header", "cookie"]

_STYLES: dict[str, tuple[str, ...]] = {  # the default first (OpenAPI 3.0.3, style values)
    "path": ("simple", "label", "matrix"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject", "tabDelimited"),
    "header": ("simple",),
    "cookie": ("form",),
}
_NOT_PARAMETERS = ("accept", "content-type", "authorization")  # "shall be ignored" (OpenAPI 3.0.3, Parameter Object)
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_QUERY_PLACEHOLDER = re.compile(r"\{[?&][^{}]*\}")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an operation. ``media_type`` is set where its value is a document of that type."""

    name: str
    place: In
    schema: Place
    required: bool = False
    style: str = "simple"
    explode: bool = False
    allow_reserved: bool = False
    media_type: str | None = None
    description: str = ""
    deprecated: bool = False


@dataclass(frozen=True, slots=True)
class Media:
    """One media type of a body, with how its fields are encoded."""

    type: str
    schema: Place
    encoding: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a request."""

    media: tuple[Media, ...]
    required: bool
    description: str = ""


@dataclass(frozen=True, slots=True)
class Response:
    """A response that is described; no ``media``: it has no body."""

    status: str
    media: tuple[Media, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation.

    ``servers`` and ``security`` are what holds for it, after all levels; ``None`` where the document is silent.
    """

    method: str
    path: str
    id: str
    summary: str
    description: str
    deprecated: bool
    parameters: tuple[Parameter, ...]
    body: Body | None
    responses: tuple[Response, ...]
    servers: tuple[Mapping[str, Any], ...]
    security: tuple[Mapping[str, Any], ...] | None

    @property
    def line(self) -> str:
        """The method and the path."""
        return f"{self.method} {self.path}"


def operations(document: Document) -> Iterator[Operation]:
    """Yield the operations in the order of the document."""
    paths = document.root.get("paths")
    for path, given in paths.items() if isinstance(paths, Mapping) else ():
        item = document.resolve(Place(given, document.base))
        if item is None or not isinstance(item.value, Mapping) or str(path).startswith("x-"):
            continue
        beside = given if "$ref" in given else {}  # OpenAPI 3.1 lets a path item add to what it refers to
        for method, operation in {**beside, **item.value}.items():
            if method in METHODS and isinstance(operation, Mapping):
                yield _Reader(document, f"/{str(path).removeprefix('/')}", item, operation).read(method)


def unreadable_paths(document: Document) -> list[str]:
    """Return the paths that stand behind a reference which leads nowhere, so that nobody knows their operations."""
    paths = _mapping(document.root.get("paths"))
    return [str(path) for path, given in paths.items() if document.resolve(Place(given, document.base)) is None]


def security_schemes(document: Document) -> dict[str, Mapping[str, Any]]:
    """Return the security schemes of a document by name, in the words of OpenAPI 3."""
    root = document.root
    components = root.get("components")
    old = document.version == "2.0"
    given = root.get("securityDefinitions") if old else _mapping(components).get("securitySchemes")
    found: dict[str, Mapping[str, Any]] = {}
    for name, value in _mapping(given).items():
        place = document.resolve(Place(value, document.base))
        if place is not None and isinstance(place.value, Mapping):
            found[str(name)] = swagger2.security_scheme(place.value) if old else place.value
    return found


class _Reader:
    """Reads one operation."""

    def __init__(self, document: Document, path: str, item: Place, operation: Mapping[str, Any]) -> None:
        self._document = document
        self._is_old = document.version == "2.0"
        self._path = _QUERY_PLACEHOLDER.sub("", path)
        self._item = item
        self._operation = operation

    def read(self, method: str) -> Operation:
        operation, given = self._operation, self._given_parameters()
        return Operation(
            method=method.upper(),
            path=self._path,
            id=_text(operation.get("operationId")),
            summary=_text(operation.get("summary") or self._item.value.get("summary")),
            description=_text(operation.get("description") or self._item.value.get("description")),
            deprecated=operation.get("deprecated") is True,
            parameters=self._parameters(given),
            body=self._body(given),
            responses=tuple(self._responses()),
            servers=self._servers(),
            security=self._security(),
        )

    def _given_parameters(self) -> list[Place]:
        """Return the parameters of the path and the operation; the operation's own win (OpenAPI 3.0.3, Path Item)."""
        found: dict[tuple[object, object], Place] = {}
        for holder in (self._item.value, self._operation):
            for given in _list(holder.get("parameters")):
                place = self._document.resolve(Place(given, self._item.base))
                if place is not None and isinstance(place.value, Mapping):
                    where, name = place.value.get("in"), place.value.get("name")
                    if where == "body":  # there can be only one
                        name = ""
                    if isinstance(where, str) and isinstance(name, str):
                        found[where, name] = place
        return list(found.values())

    def _parameters(self, given: list[Place]) -> tuple[Parameter, ...]:
        found = [self._parameter(place) for place in given]
        placeholders = list(dict.fromkeys(_PLACEHOLDER.findall(self._path)))
        described = [
            one for one in found if one is not None and (one.place != "path" or one.name in placeholders)
        ]  # a path parameter without its placeholder has nowhere to go
        named = {one.name for one in described if one.place == "path"}
        missing = [
            Parameter(name, "path", Place({"type": "string"}, ""), required=True)
            for name in placeholders
            if name not in named
        ]
        order = {name: index for index, name in enumerate(placeholders)}
        return tuple(sorted([*missing, *described], key=lambda one: _position(one, order)))

    def _parameter(self, place: Place) -> Parameter | None:
        given = swagger2.parameter(place.value) if self._is_old else place.value
        where, name = given.get("in"), given.get("name")
        if where not in _STYLES or not name or (where == "header" and name.lower() in _NOT_PARAMETERS):
            return None
        style = given.get("style")
        style = style if style in _STYLES[where] else _STYLES[where][0]
        explode = given.get("explode")
        media, content = next(iter(_mapping(given.get("content")).items()), (None, {}))
        schema = _mapping(content).get("schema", {}) if media is not None else given.get("schema", {})
        return Parameter(
            name=name,
            place=where,
            schema=Place(schema, place.base),
            required=where == "path" or given.get("required") is True,
            style=style,
            explode=explode if isinstance(explode, bool) else style in ("form", "deepObject"),
            allow_reserved=given.get("allowReserved") is True,
            media_type=None if media is None else str(media),
            description=_text(given.get("description")),
            deprecated=given.get("deprecated") is True,
        )

    def _body(self, given: list[Place]) -> Body | None:
        if self._is_old:
            values = [place.value for place in given]
            base = next((place.base for place in given if place.value.get("in") == "body"), self._item.base)
            place: Place | None = Place(swagger2.request_body(values, self._media_types("consumes")), base)
        else:
            place = self._document.resolve(Place(self._operation.get("requestBody"), self._item.base))
        if place is None or not isinstance(place.value, Mapping):
            return None
        media = self._media(place)
        return (
            Body(media, place.value.get("required") is True, _text(place.value.get("description"))) if media else None
        )

    def _responses(self) -> Iterator[Response]:
        for status, given in _mapping(self._operation.get("responses")).items():
            place = self._document.resolve(Place(given, self._item.base))
            if place is None or not isinstance(place.value, Mapping):
                continue
            if self._is_old:
                place = Place(swagger2.response(place.value, self._media_types("produces")), place.base)
            yield Response(str(status).upper(), self._media(place))

    def _media(self, holder: Place) -> tuple[Media, ...]:
        found = []
        for name, given in _mapping(holder.value.get("content")).items():
            place = self._document.resolve(Place(given, holder.base))
            if place is not None and isinstance(place.value, Mapping):
                encoding = {
                    str(field): value
                    for field, value in _mapping(place.value.get("encoding")).items()
                    if isinstance(value, Mapping)
                }
                found.append(Media(str(name), Place(place.value.get("schema"), place.base), encoding))
        return tuple(found)

    def _media_types(self, key: str) -> list[str]:
        given = self._operation.get(key, self._document.root.get(key))
        return [one for one in _list(given) if isinstance(one, str)]

    def _servers(self) -> tuple[Mapping[str, Any], ...]:
        if self._is_old:
            return tuple(swagger2.servers(self._document.root))
        for holder in (self._operation, self._item.value, self._document.root):
            if found := [one for one in _list(holder.get("servers")) if isinstance(one, Mapping)]:
                return tuple(found)
        return ({"url": "/"},)  # OpenAPI 3.0.3, OpenAPI Object, servers

    def _security(self) -> tuple[Mapping[str, Any], ...] | None:
        given = self._operation.get("security", self._document.root.get("security"))
        if given is None:
            return None
        return tuple(one for one in _list(given) if isinstance(one, Mapping))


def _position(parameter: Parameter, order: Mapping[str, int]) -> tuple[bool, int]:
    """Return where a parameter comes: those of the path in its order, then the required ones, then the others."""
    if parameter.place == "path":
        return (False, order[parameter.name])
    return (not parameter.required, len(order))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
