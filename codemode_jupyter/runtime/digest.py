"""Digests that bind a decision to what was shown.

Owns: what the digest of a call, and of several, is made of. Never does: decide.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence

from codemode_jupyter.runtime import values
from codemode_jupyter.runtime.records import PendingCall


def call_digest(execution_id: str, seq: int, connector: str, method: str, arguments: str) -> str:
    """Return the SHA-256 (hex) over everything that a person is asked to approve; ``arguments`` is tagged text."""
    return _sha256([execution_id, seq, connector, method, values.canonical(arguments)])


def question_digest(call: str, number: int, payload: str, schema: str | None) -> str:
    """Return the SHA-256 (hex) over everything that a person is asked; ``call`` is the digest of the asking call."""
    return _sha256([call, number, values.canonical(payload), schema or ""])


def combined_digest(calls: Iterable[PendingCall]) -> str:
    """Return the digest for deciding several calls in one step; for a single call it is that call's own digest."""
    return combine(call.digest for call in calls)


def combine(digests: Iterable[str]) -> str:
    """Return one digest for digests given in ``seq`` order."""
    parts = list(digests)
    return parts[0] if len(parts) == 1 else _sha256(parts)


def _sha256(parts: Sequence[str | int]) -> str:
    return hashlib.sha256(json.dumps(list(parts)).encode()).hexdigest()
