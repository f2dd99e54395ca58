"""One OpenAPI document and what its references mean.

Owns: the version, following ``$ref`` (RFC 3986 and RFC 6901), and the rule of what may be read for one.
Never does: read anything but the document itself, unless it was asked to.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from codemode_jupyter.connectors.openapi.extra import needed
from codemode_jupyter.connectors.openapi.loading import Loaded, is_address, load, load_file
from codemode_jupyter.errors import CodemodeError

Version = Literal["2.0", "3.0", "3.1"]

_LONGEST_CHAIN = 50


class Place(NamedTuple):
    """Something in a document: its value, the URI that references in it start from, and its own URI."""

    value: Any
    base: str
    uri: str = ""


class Document:
    """An OpenAPI document.

    Parameters
    ----------
    loaded : Loaded
        What was read.
    follow : bool
        Whether references to other documents are followed: to files in the document's own folder and below it, or to
        addresses of the document's own origin.

    Raises
    ------
    CodemodeError
        ``invalid_document``: no OpenAPI 3.x and no Swagger 2.0.
    """

    def __init__(self, loaded: Loaded, *, follow: bool = False) -> None:
        self.root: Mapping[str, Any] = check_document(loaded.content)
        self.base = loaded.base
        self.version: Version = _version(self.root)
        self._follow = follow
        referencing = needed("referencing")
        self._unresolvable = needed("referencing.exceptions").Unresolvable
        self._opaque = referencing.Resource.opaque
        registry = referencing.Registry(retrieve=self._retrieve)
        self._resolver = registry.with_resource(self.base, self._opaque(self.root)).resolver(self.base)
        self._found: dict[str, Place | None] = {}

    def resolve(self, place: Place) -> Place | None:
        """Return what is at a place after following references, ``None`` where one leads nowhere or in a circle."""
        for _ in range(_LONGEST_CHAIN):
            if not isinstance(place.value, Mapping) or not isinstance(reference := place.value.get("$ref"), str):
                return place
            found = self.lookup(reference, place.base)
            if found is None:
                return None
            place = found
        return None

    def lookup(self, reference: str, base: str) -> Place | None:
        """Return what one reference means, ``None`` where that cannot be read."""
        try:
            uri = urljoin(base, reference)
            urldefrag(uri)
        except ValueError:
            return None
        if uri not in self._found:
            self._found[uri] = self._looked_up(uri)
        return self._found[uri]

    def _looked_up(self, uri: str) -> Place | None:
        address, pointer = urldefrag(uri)
        if pointer and not pointer.startswith("/"):
            return None  # an anchor: not a part of OpenAPI
        try:
            value = self._resolver.lookup(uri).contents
        except (self._unresolvable, LookupError, ValueError, TypeError, AttributeError):
            return None
        return Place(value, address, uri)

    def _retrieve(self, uri: str) -> Any:
        """Return another document, if it may be read."""
        if self._follow and is_address(self.base) and is_address(uri) and _origin(uri) == _origin(self.base):
            return self._read(uri)
        if self._follow and self.base.startswith("file:") and uri.startswith("file:"):
            path = Path(unquote(urlsplit(uri).path)).resolve()
            if path.is_relative_to(Path(unquote(urlsplit(self.base).path)).parent):
                return self._read(path)
        raise LookupError(uri)

    def _read(self, source: str | Path) -> Any:
        try:
            loaded = load(source) if isinstance(source, str) else load_file(source)
        except CodemodeError as refusal:
            raise LookupError(str(source)) from refusal
        if isinstance(source, str) and _origin(loaded.base) != _origin(self.base):
            raise LookupError(source)  # it was redirected elsewhere
        return self._opaque(loaded.content)


def check_document(content: object) -> Mapping[str, Any]:
    """Return what was read if it is an OpenAPI document, or refuse it."""
    if not isinstance(content, Mapping):
        raise CodemodeError(
            "invalid_document",
            f"The OpenAPI document is {type(content).__name__}, not an object.",
            hint="Give the document as a dict, the path of its file, or its address.",
        )
    _version(content)
    return content


def _version(root: Mapping[str, Any]) -> Version:
    openapi, swagger = str(root.get("openapi", "")), str(root.get("swagger", ""))
    if swagger == "2.0":
        return "2.0"
    if openapi.startswith("3."):
        return "3.0" if openapi.startswith("3.0") else "3.1"
    raise CodemodeError(
        "invalid_document",
        f"The document says openapi: {openapi[:50]!r} and swagger: {swagger[:50]!r}.",
        hint='OpenAPI 3.0 and 3.1 (`openapi: "3.…"`) and Swagger 2.0 (`swagger: "2.0"`) can be read.',
    )


def _origin(address: str) -> tuple[str, str]:
    parts = urlsplit(address)
    return parts.scheme.lower(), parts.netloc.lower()
