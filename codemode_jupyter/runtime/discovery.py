"""Search and describe: how a program, or a person, finds out what there is.

Owns: a plain search by words over methods and snippets, and a short description of one of them. Never does: run
anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from codemode_jupyter.connectors.tool import Tool
from codemode_jupyter.runtime.capabilities import Capabilities
from codemode_jupyter.runtime.store import Store

MAX_RESULTS = 50
"""Most results of one search."""

_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def search(store: Store, capabilities: Capabilities, query: str) -> dict[str, Any]:
    """Return ``{"results", "total", "truncated"}``: the best matches first, ties by path."""
    wanted = _words(query)
    found = []
    for entry in _entries(store, capabilities):
        score = _score(wanted, entry)
        if score:
            found.append({**entry, "score": score})
    found.sort(key=lambda entry: (-entry["score"], entry["path"]))
    return {"results": found[:MAX_RESULTS], "total": len(found), "truncated": len(found) > MAX_RESULTS}


def describe(store: Store, capabilities: Capabilities, target: str) -> dict[str, Any]:
    """Return ``{"path", "kind", "description", "types"}`` of a connector, a method or a snippet.

    A method may be named with its connector or alone.
    """
    for connector in capabilities.connectors:
        if connector.name == target:
            tools = capabilities.tools_of(target).values()
            types = "\n".join(_signature(target, tool) for tool in tools)
            return {"path": target, "kind": "connector", "description": connector.instructions(), "types": types}
    for name in capabilities.names:
        for tool in capabilities.tools_of(name).values():
            if target in (f"{name}.{tool.name}", tool.name):
                return _described(name, tool)
    snippet = store.snippets.get(target)
    if snippet is not None:
        return {
            "path": target,
            "kind": "snippet",
            "description": snippet.description,
            "types": f"```ts\n{snippet.code}\n```",
        }
    return {"path": target, "kind": "method", "description": "", "types": f'"{target}" not found.'}


def _described(connector: str, tool: Tool) -> dict[str, Any]:
    described: dict[str, Any] = {
        "path": f"{connector}.{tool.name}",
        "kind": "method",
        "description": tool.description,
        "types": _signature(connector, tool),
    }
    if tool.requires_approval:
        described["requiresApproval"] = True
    return described


def _signature(connector: str, tool: Tool) -> str:
    note = f"/** {tool.description.replace('*/', '* /')} */\n" if tool.description else ""
    result = f"  // result: {json.dumps(tool.output_schema)}" if tool.output_schema else ""
    return f"{note}{connector}.{tool.name}(arguments: {json.dumps(tool.input_schema)}){result}"


def _entries(store: Store, capabilities: Capabilities) -> Iterator[dict[str, Any]]:
    for connector in capabilities.names:
        for tool in capabilities.tools_of(connector).values():
            entry: dict[str, Any] = {
                "path": f"{connector}.{tool.name}",
                "connector": connector,
                "method": tool.name,
                "description": tool.description,
                "kind": "method",
            }
            if tool.requires_approval:
                entry["requiresApproval"] = True
            yield entry
    for snippet in store.snippets.all():
        yield {
            "path": snippet.name,
            "connector": "",
            "method": snippet.name,
            "description": snippet.description,
            "kind": "snippet",
        }


def _score(wanted: list[str], entry: dict[str, Any]) -> int:
    path, description = _words(entry["path"]), _words(entry["description"])
    score = hits = 0
    for word in wanted:
        best = max(
            12 * max((_match(word, other) for other in path), default=0),
            5 * max((_match(word, other) for other in description), default=0),
        )
        score += best
        hits += best > 0
    needed = len(wanted) if len(wanted) <= 2 else 0.6 * len(wanted)  # noqa: PLR2004  short queries must match whole
    return score if wanted and hits >= needed else 0


def _match(word: str, other: str) -> int:
    if word == other:
        return 4
    if other.startswith(word) or word.startswith(other):
        return 2
    return 1 if word in other else 0


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(_CAMEL.sub(" ", text))]
