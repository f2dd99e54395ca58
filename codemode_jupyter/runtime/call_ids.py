"""The text that names what a person is asked: ``PendingCall.call_id``.

Owns: making and reading it. Never does: say whether it still waits.

``<execution>:<seq>`` is a call that waits for an approval, or is in doubt; it is the call's idempotency key as well.
``<execution>:<seq>:<number>`` is a question that its tool has asked with ``interrupt``, ``<execution>:<seq>:<letters>``
one that a running tool asks.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from codemode_jupyter.errors import CodemodeError

_CALL_ID = re.compile(
    r"(?P<execution>[A-Za-z0-9_.-]+):(?P<seq>\d{1,9})(:((?P<number>\d{1,9})|(?P<live>q[0-9a-f]{1,64})))?"
)


class CallId(NamedTuple):
    """A call of an execution; ``number`` of a question in its journal, or ``live``, the mark of one in flight."""

    execution_id: str
    seq: int
    number: int | None = None
    live: str | None = None

    def __str__(self) -> str:
        asked = self.number if self.live is None else self.live
        return f"{self.execution_id}:{self.seq}" if asked is None else f"{self.execution_id}:{self.seq}:{asked}"


def read_call_id(text: object) -> CallId:
    """Return what a call id names.

    Raises
    ------
    CodemodeError
        ``unknown_call``: it is none.
    """
    found = _CALL_ID.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise CodemodeError(
            "unknown_call", f"{text!r:.100} is no call id.", hint="Use `call_id` of one that `pending()` lists."
        )
    number = found["number"]
    return CallId(found["execution"], int(found["seq"]), None if number is None else int(number), found["live"])


def read_execution_id(text: object) -> str:
    """Return the execution of a call id, empty where it is none."""
    found = _CALL_ID.fullmatch(text) if isinstance(text, str) else None
    return "" if found is None else found["execution"]


def live_mark(digest: str) -> str:
    """Return what names a question in flight within its call."""
    return f"q{digest[:12]}"
