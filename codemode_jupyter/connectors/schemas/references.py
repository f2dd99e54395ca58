"""References inside a document of JSON schemas.

Owns: resolving local references (RFC 6901 pointers) and saying which are recursive or shared.
Never does: fetch anything.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any
from urllib.parse import unquote

_ALIASING = ("anyOf", "oneOf", "allOf")
_PLAIN = frozenset(
    ["type", "format", "description", "title", "default", "deprecated", "example", "examples", "pattern"]
)
_MOST_COMPARED = 300  # references of one document; of more, each is taken for recursive and for different


class References:
    """The local references of one document."""

    def __init__(self, root: object) -> None:
        self._root = root
        self._inside: dict[str, frozenset[str]] = {}
        self._reachable: dict[str, frozenset[str]] = {}
        self._digests: dict[str, str] = {}

    def resolve(self, pointer: str) -> Any:
        """Return what a reference means, ``None`` where that is not in the document."""
        if pointer == "#":
            return self._root
        if not pointer.startswith("#/"):
            return None
        found: Any = self._root
        for part in pointer[2:].split("/"):
            key = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(found, Mapping) and key in found:
                found = found[key]
            elif isinstance(found, list) and key.isdecimal() and key.isascii() and int(key[:9]) < len(found):
                found = found[int(key[:9])]
            else:
                return None
        return found

    def deserves_name(self, pointer: str) -> bool:
        """Say whether a reference is a type of its own: recursive, or used more than once and no simple value."""
        if self.is_recursive(pointer):
            return True
        if self._uses.get(pointer, 0) < 2:  # noqa: PLR2004  more than once
            return False
        target = self.resolve(pointer)
        return isinstance(target, Mapping) and not _is_short(target)

    def is_recursive(self, pointer: str) -> bool:
        """Say whether a reference can be met inside what it means."""
        return self._is_vast or pointer in self.reachable(pointer)

    def reachable(self, pointer: str) -> frozenset[str]:
        """Return every reference that can be met inside what a reference means."""
        if pointer not in self._reachable:
            found: set[str] = set()
            waiting = [pointer]
            while waiting:
                for other in self._directly_in(waiting.pop()):
                    if other not in found:
                        found.add(other)
                        waiting.append(other)
            self._reachable[pointer] = frozenset(found)
        return self._reachable[pointer]

    def meaning(self, pointer: str) -> str:
        """Return a text that is equal for references that mean the same, in whatever document."""
        if self._is_vast:
            return f"{id(self._root)} {pointer}"
        parts = sorted(f"{other} {self._digest(other)}" for other in {pointer, *self.reachable(pointer)})
        return hashlib.sha256("\n".join([pointer, *parts]).encode("utf-8", "surrogatepass")).hexdigest()

    @staticmethod
    def name_of(pointer: str) -> str:
        """Return the last part of a reference, or a word for the whole document."""
        last = unquote(pointer.rsplit("/", 1)[-1]).replace("~1", "/").replace("~0", "~")
        return "Self" if last in ("", "#") else last

    def _directly_in(self, pointer: str) -> frozenset[str]:
        if pointer not in self._inside:
            self._inside[pointer] = frozenset(references_in(self.resolve(pointer)))
        return self._inside[pointer]

    def _digest(self, pointer: str) -> str:
        if pointer not in self._digests:
            try:
                text = json.dumps(self.resolve(pointer), sort_keys=True, default=repr)
            except (RecursionError, TypeError, ValueError):
                text = f"{id(self._root)} {pointer}"
            self._digests[pointer] = hashlib.sha256(text.encode()).hexdigest()
        return self._digests[pointer]

    @property
    def _is_vast(self) -> bool:
        return len(self._uses) > _MOST_COMPARED

    @cached_property
    def _uses(self) -> dict[str, int]:
        uses: dict[str, int] = {}
        for pointer in references_in(self._root):
            uses[pointer] = uses.get(pointer, 0) + 1
        return uses


def references_in(schema: object) -> Iterator[str]:
    """Yield the references inside a schema, without recursion."""
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            if isinstance(pointer := one.get("$ref"), str):
                yield pointer
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)


def points_into_aliases(references: References, pointer: str, aliases: frozenset[str]) -> bool:
    """Say whether a reference means one of the aliases without an object or list between, which would be a circle."""
    seen: set[str] = set()
    waiting: list[object] = [references.resolve(pointer)]
    while waiting:
        one = waiting.pop()
        if not isinstance(one, Mapping):
            continue
        for key in _ALIASING:
            waiting.extend(branches if isinstance(branches := one.get(key), list) else [])
        other = one.get("$ref")
        if isinstance(other, str) and other not in seen:
            if other in aliases:
                return True
            seen.add(other)
            waiting.append(references.resolve(other))
    return False


def _is_short(schema: Mapping[str, Any]) -> bool:
    """Say whether a schema is written as shortly as a name for it."""
    return (
        isinstance(schema.get("type"), str) and schema["type"] not in ("object", "array") and _PLAIN.issuperset(schema)
    )
