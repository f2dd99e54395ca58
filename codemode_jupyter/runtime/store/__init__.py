"""The store: executions, calls, events and snippets in one SQLite file.

Owns: the file, its schema, transactions and conditional updates. Never does: decide what a call may do.
Nothing here is known outside the runtime room.
"""

from __future__ import annotations

from codemode_jupyter.runtime.store.store import Store

__all__ = ["Store"]
