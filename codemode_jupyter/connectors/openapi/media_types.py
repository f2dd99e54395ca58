"""Media types (RFC 6838): which kind of value each carries, and which is taken where there is a choice.

Owns: that classification. Never does: encode or decode.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from codemode_jupyter.connectors.openapi.operations import Media

Kind = Literal["json", "multipart", "form", "text", "binary", "any"]

_PREFERENCE: tuple[Kind, ...] = ("json", "multipart", "form", "any", "text", "binary")
_TEXTS = ("application/xml", "application/yaml", "application/x-yaml", "application/javascript", "application/graphql")


def essence(media_type: str) -> str:
    """Return a media type without its parameters, in lower case."""
    return media_type.partition(";")[0].strip().lower()


def kind_of(media_type: str) -> Kind:
    """Return what a media type carries."""
    name = essence(media_type)
    if name in ("*/*", ""):
        return "any"
    if name in ("application/json", "text/json") or name.endswith("+json"):
        return "json"
    if name == "multipart/form-data":
        return "multipart"
    if name == "application/x-www-form-urlencoded":
        return "form"
    return "text" if name.startswith("text/") or name.endswith("+xml") or name in _TEXTS else "binary"


def by_preference(media: Iterable[Media]) -> list[Media]:
    """Return media types best first: JSON, then forms, then text, then bytes; plain JSON before its relatives."""
    return sorted(
        media, key=lambda one: (_PREFERENCE.index(kind_of(one.type)), essence(one.type) != "application/json")
    )
