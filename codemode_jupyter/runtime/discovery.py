"""Search and describe over what a runtime has now: its connectors, and the snippets of its store.

Owns: handing both to the catalogue, and a miss as a readable answer. Never does: rank or describe; the catalogue does.
"""

from __future__ import annotations

import asyncio
from typing import Any

from codemode_jupyter.connectors.catalogue import Language
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.capabilities import Capabilities
from codemode_jupyter.runtime.store import Store


async def search(store: Store, capabilities: Capabilities, query: str, limit: int) -> dict[str, Any]:
    """Return ``{"results", "total", "truncated"}``, best first; see ``Catalogue.search``.

    The first search builds the index, which may take seconds for thousands of tools: it is done in a thread.
    """
    snippets = store.snippets.all()
    return await asyncio.to_thread(capabilities.catalogue.search, query, snippets, limit)


def describe(store: Store, capabilities: Capabilities, target: str, language: Language) -> dict[str, Any]:
    """Return ``{"path", "kind", "description", "types"}``; for a miss ``types`` says so and names what is near."""
    try:
        return capabilities.catalogue.describe(target, store.snippets.all(), language).wire()
    except CodemodeError as miss:
        if miss.code == "invalid_option":
            raise
        # A program that looks around should not fail for it.
        return {"path": target, "kind": "method", "description": "", "types": str(miss)}
