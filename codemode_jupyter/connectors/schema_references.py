"""References inside a document of JSON schemas.

Owns: resolving local references (RFC 6901 pointers) and saying which are recursive or shared.
Never does: fetch anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any
from urllib.parse import unquote

_ALIASING = ("anyOf", "oneOf", "allOf")


class References:
    """The local references of one document."""

    def __init__(self, root: object) -> None:
        self._root = root
        self._meanings: dict[str, str] = {}

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
            elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
                found = found[int(key)]
            else:
                return None
        return found

    def deserves_name(self, pointer: str) -> bool:
        """Say whether a reference is a type of its own: recursive, or an object that is used more than once."""
        target = self.resolve(pointer)
        if pointer in self.reachable(pointer):
            return True
        return self._uses.get(pointer, 0) > 1 and isinstance(target, Mapping) and bool(target.get("properties"))

    def reachable(self, pointer: str) -> set[str]:
        """Return every reference that can be met inside what a reference means."""
        found: set[str] = set()
        waiting = [pointer]
        while waiting:
            for other in references_in(self.resolve(waiting.pop())):
                if other not in found:
                    found.add(other)
                    waiting.append(other)
        return found

    def meaning(self, pointer: str) -> str:
        """Return a text that is equal for references that mean the same, in whatever document."""
        if pointer not in self._meanings:
            parts = {other: self.resolve(other) for other in sorted({pointer, *self.reachable(pointer)})}
            self._meanings[pointer] = json.dumps([pointer, parts], sort_keys=True, default=repr)
        return self._meanings[pointer]

    @staticmethod
    def name_of(pointer: str) -> str:
        """Return the last part of a reference, or a word for the whole document."""
        last = unquote(pointer.rsplit("/", 1)[-1]).replace("~1", "/").replace("~0", "~")
        return "Self" if last in ("", "#") else last

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
