"""Saved programs: kept by name, prepared when a program asks for one.

Owns: saving from an execution, listing, and the source that ``codemode.run`` evaluates. Never does: run them.
"""

from __future__ import annotations

import difflib
import time
from typing import Any

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.program import prepare
from codemode_jupyter.runtime.approvals import missing_connectors
from codemode_jupyter.runtime.capabilities import Capabilities
from codemode_jupyter.runtime.options import check_text
from codemode_jupyter.runtime.records import Snippet
from codemode_jupyter.runtime.store import Store
from codemode_jupyter.runtime.store.rows import SnippetRow

MAX_NAME = 200
"""Longest snippet name, in characters."""


def save(store: Store, name: str, execution_id: str, description: str) -> Snippet:
    """Save the program of an execution under a name, in place of an older snippet of that name.

    Raises
    ------
    CodemodeError
        ``invalid_name``, ``invalid_option``; ``unknown_execution``.
    """
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise CodemodeError(
            "invalid_name",
            f"{str(name)[:50]!r} cannot be the name of a snippet.",
            hint=f"Use 1 to {MAX_NAME} printable characters.",
        )
    check_text("description", description)
    execution = store.executions.get(execution_id)
    if execution is None:
        raise CodemodeError("unknown_execution", f'No execution "{execution_id}" to save from.')
    row = SnippetRow(name, description, execution.code, execution.language, execution.connectors, time.time())
    with store.transaction() as connection:
        store.snippets.put(connection, row)
    return _snippet(row)


def all_snippets(store: Store) -> list[Snippet]:
    """Return all snippets by name."""
    return [_snippet(row) for row in store.snippets.all()]


def delete(store: Store, name: str) -> bool:
    """Delete a snippet; tell whether it existed."""
    with store.transaction() as connection:
        return store.snippets.delete(connection, name)


def source_of(store: Store, capabilities: Capabilities, name: str) -> dict[str, object]:
    """Return what the sandbox needs to run a snippet: ``source``, ``line_offset``, ``name``; ``language`` if Python.

    Raises
    ------
    CodemodeError
        ``unknown_snippet`` with the nearest names, ``missing_connectors``.
    """
    row = store.snippets.get(name)
    if row is None:
        near = difflib.get_close_matches(name, [other.name for other in store.snippets.all()], n=3)
        hint = f"Did you mean {' or '.join(repr(other) for other in near)}?" if near else None
        raise CodemodeError("unknown_snippet", f'Snippet "{name}" not found.', hint=hint)
    if missing := capabilities.missing(row.connectors):
        raise missing_connectors(f'Snippet "{name}"', missing)
    program = prepare(row.code, row.language, capabilities.modules)
    source: dict[str, object] = {"source": program.source, "line_offset": program.line_offset, "name": row.name}
    # Not for JavaScript: what was recorded stays what it was.
    return source if row.language == "javascript" else {**source, "language": row.language}


def is_python(source: Any) -> bool:
    """Tell whether what ``source_of`` returned is a program in Python."""
    return isinstance(source, dict) and source.get("language") == "python"


def _snippet(row: SnippetRow) -> Snippet:
    return Snippet(row.name, row.description, row.code, row.language, row.connectors, row.saved_at)
