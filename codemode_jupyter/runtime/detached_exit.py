"""What the hook for detached executions hears: how one ended.

Owns: the record, its form for a model, and reading it from the store. Never does: deliver it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

from codemode_jupyter.program import truncate_response, truncate_result
from codemode_jupyter.runtime import failures
from codemode_jupyter.runtime.outcome import logs_of, readable_value
from codemode_jupyter.runtime.plain import plain
from codemode_jupyter.runtime.records import ErrorDetail
from codemode_jupyter.runtime.store.rows import ExitRow

CONSOLE_BYTES = 16 * 1024
"""Most console text that an exit has, in UTF-8 bytes: the last lines."""


@dataclass(frozen=True, slots=True)
class DetachedExit:
    """How a detached execution ended.

    ``id`` is the exit's own: one that comes a second time (the hook raised, or the kernel died before it returned) has
    the same, and another execution never has it. ``status`` is ``completed`` (``result``), ``error`` or ``rejected``
    (``error``). ``metadata`` is what ``execute`` was given, ``console`` the last 16 KiB of the console. Times are
    seconds since the epoch.
    """

    id: str
    execution_id: str
    status: Literal["completed", "error", "rejected"]
    result: Any = None
    error: ErrorDetail | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    console: str = ""
    created_at: float = 0.0
    detached_at: float = 0.0
    ended_at: float = 0.0

    def to_wire(self) -> dict[str, Any]:
        """Return the JSON form that a model reads, cut as that of an ``Outcome`` is."""
        wire: dict[str, Any] = {"status": self.status, "executionId": self.execution_id, "exitId": self.id}
        if self.status == "completed":
            wire["result"] = truncate_result(plain(self.result))
        elif self.error is not None:
            wire["error"], wire["code"] = truncate_response(self.error.told()), self.error.code
        if self.console:
            wire["logs"] = truncate_result(self.console.split("\n"))
        return wire


ExitHook: TypeAlias = Callable[[DetachedExit], Any]
"""Hears how a detached execution ended; plain, or async. The exit is delivered when it has returned."""


_ROLLED_BACK = ErrorDetail("rolled_back", "The run was rolled back while it waited for a person, and ended with that.")


def read_exit(row: ExitRow) -> DetachedExit:
    """Return a stored exit; that of a waiting run which was rolled back is a rejection that says so."""
    is_rolled_back = row.status in ("rolled_back", "partly_rolled_back")
    return DetachedExit(
        id=row.id,
        execution_id=row.execution,
        status="rejected" if is_rolled_back else cast("Literal['completed', 'error', 'rejected']", row.status),
        result=readable_value(row.result) if row.result_note is None else row.result_note,
        error=_ROLLED_BACK if is_rolled_back else failures.from_json(row.error),
        metadata=json.loads(row.metadata) if row.metadata else {},
        console=console_end((str(line) for line in logs_of(row.logs)), CONSOLE_BYTES),
        created_at=row.created_at,
        detached_at=row.detached_at,
        ended_at=row.ended_at,
    )


def console_end(lines: Iterable[str], limit: int) -> str:
    """Return the last ``limit`` UTF-8 bytes of console lines: whole lines, but for a last one that is longer."""
    text = "\n".join(lines).encode("utf-8", "replace")
    if len(text) <= limit:
        return text.decode()
    begin = len(text) - limit
    line = text.find(b"\n", begin - 1)
    return text[begin if line < 0 else line + 1 :].decode("utf-8", "ignore")
