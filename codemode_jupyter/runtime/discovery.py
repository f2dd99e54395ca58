"""Search and describe over what a runtime has now: its connectors, and the snippets of its store.

Owns: handing both to the catalogue, and a miss as a readable answer. Never does: rank or describe; the catalogue does.
"""

from __future__ import annotations

from typing import Any

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.capabilities import Capabilities
from codemode_jupyter.runtime.store import Store


def search(store: Store, capabilities: Capabilities, query: str) -> dict[str, Any]:
    """Return ``{"results", "total", "truncated"}``, best first; see ``Catalogue.search``."""
    return capabilities.catalogue.search(query, store.snippets.all())


def describe(store: Store, capabilities: Capabilities, target: str) -> dict[str, Any]:
    """Return ``{"path", "kind", "description", "types"}``; for a miss ``types`` says so and names what is near."""
    try:
        return capabilities.catalogue.describe(target, store.snippets.all()).wire()
    except CodemodeError as miss:
        # A program that looks around should not fail for it.
        return {"path": target, "kind": "method", "description": "", "types": str(miss)}
