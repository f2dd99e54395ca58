"""An OpenAPI document from a mapping, a file or an address.

Owns: reading JSON and YAML, and the limit of a document's size. Never does: read what the document refers to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from codemode_jupyter.connectors.openapi.extra import needed
from codemode_jupyter.errors import CodemodeError

Source: TypeAlias = Mapping[str, Any] | str | Path
"""A document itself, the path of its file, or its address (a text that begins with ``http://`` or ``https://``)."""

MAX_DOCUMENT = 64_000_000
"""Largest document in bytes."""

_SECONDS = 30.0
_ADDRESS = re.compile(r"https?://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was read, and the URI that relative references in it start from; empty where there is none."""

    content: object
    base: str


def is_address(source: object) -> bool:
    """Say whether a source is an address of the web."""
    return isinstance(source, str) and _ADDRESS.match(source) is not None


def load(source: Source) -> Loaded:
    """Read a document; blocks while it does.

    Raises
    ------
    CodemodeError
        ``document_not_found``, ``invalid_document``, ``too_large``; ``missing_extra``.
    """
    if isinstance(source, Mapping):
        return Loaded(source, "")
    if is_address(source):
        return _from_address(str(source))
    return load_file(Path(source))


def load_file(path: Path) -> Loaded:
    """Read a document's file."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_DOCUMENT + 1)
    except OSError as error:
        raise CodemodeError(
            "document_not_found",
            f"The OpenAPI document {str(path)!r} cannot be read: {error.strerror or error}.",
            hint="Give the path of its file, its address, or the document itself as a dict.",
        ) from None
    return Loaded(_parsed(data, str(path)), path.resolve().as_uri())


def _from_address(address: str) -> Loaded:
    httpx = needed("httpx")
    data = b""
    try:
        with httpx.stream("GET", address, timeout=_SECONDS, follow_redirects=True) as response:
            response.raise_for_status()
            for piece in response.iter_bytes():
                data += piece
                if len(data) > MAX_DOCUMENT:
                    break
            base = str(response.url)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise CodemodeError(
            "document_not_found",
            f"The OpenAPI document {address} cannot be fetched: {error}.",
            hint="If it needs a login, fetch it in Python and pass it as a dict.",
        ) from None
    return Loaded(_parsed(data, address), base)


def _parsed(data: bytes, where: str) -> object:
    if len(data) > MAX_DOCUMENT:
        raise CodemodeError("too_large", f"The OpenAPI document {where} is larger than {MAX_DOCUMENT:,} bytes.")
    try:
        return json.loads(data)
    except RecursionError:
        why = "it is nested too deeply"
    except ValueError as not_json:
        if data.lstrip().startswith((b"{", b"[")):
            why = f"it is not JSON ({not_json})"
        else:
            return _yaml(data, where)
    raise _invalid(where, why)


def _yaml(data: bytes, where: str) -> object:
    yaml = needed("yaml")
    try:
        return yaml.load(data, _loader(yaml))
    except (yaml.YAMLError, ValueError, RecursionError, UnicodeError) as error:
        raise _invalid(where, f"it is neither JSON nor YAML ({str(error)[:300]})") from None


def _loader(yaml: Any) -> Any:
    """Return a safe loader with the scalars of JSON only (YAML 1.2, 10.2), in which every key is a text.

    YAML 1.1 would read the country ``no`` as false and a version such as ``2020-01-01`` as a date.
    """
    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc]  # chosen at run time
        yaml_implicit_resolvers: dict[str, list[Any]] = {}  # noqa: RUF012  the shape of the library

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[str, Any]:  # noqa: FBT001, FBT002  the library's
            self.flatten_mapping(node)
            return {
                str(key.value) if isinstance(key, yaml.ScalarNode) else repr(self.construct_object(key, deep=True)): (
                    self.construct_object(value, deep=deep)
                )
                for key, value in node.value
            }

    for tag, pattern, first in (
        ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
        ("null", r"null|Null|NULL|~|", ["n", "N", "~", ""]),
        ("int", r"[-+]?[0-9]+", "-+0123456789"),
        ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
        ("merge", "<<", "<"),
    ):
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"(?:{pattern})\\Z"), list(first))
    Loader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(loader.construct_scalar(node)))
    return Loader


def _invalid(where: str, why: str) -> CodemodeError:
    return CodemodeError("invalid_document", f"{where} is no OpenAPI document: {why}.")
