"""What an execution and a call have come to, in words.

Owns: the words, the signs beside them, and how times and durations are written. Never does: elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from codemode_jupyter.notebook.card.value_text import count
from codemode_jupyter.runtime.records import CallRecord, ExecutionRecord, Progress

Tone: TypeAlias = Literal["running", "waiting", "ok", "bad", "quiet"]
"""Which colour goes with a state; never the only thing that tells it."""


@dataclass(frozen=True, slots=True)
class Status:
    """A state in words, with its tone."""

    words: str
    tone: Tone


_STATUSES = {
    "running": Status("Running", "running"),
    "paused": Status("Waiting for you", "waiting"),
    "completed": Status("Completed", "ok"),
    "error": Status("Failed", "bad"),
    "rejected": Status("Rejected", "quiet"),
    "rolled_back": Status("Rolled back", "quiet"),
    "partly_rolled_back": Status("Partly rolled back", "bad"),
}
_ENDS = {
    "stopped": Status("Stopped", "quiet"),
    "timeout": Status("Timed out", "bad"),
    "syntax_error": Status("Not run", "bad"),
    "expired": Status("Expired", "quiet"),
}
_SIGNS = {
    "executing": "◌",
    "applied": "✓",
    "failed": "✗",
    "pending": "?",
    "approved": "◌",
    "waiting": "?",
    "answered": "◌",
    "rejected": "⊘",
    "in_doubt": "?",
    "reverting": "↶",
    "reverted": "↶",
    "cancelled": "-",
}
_WORDS = {
    "executing": "running",
    "failed": "failed",
    "pending": "waiting for you",
    "approved": "approved",
    "waiting": "asks you",
    "answered": "answered",
    "rejected": "rejected",
    "in_doubt": "may have happened",
    "reverting": "undoing it, outcome unknown",
    "reverted": "undone",
    "cancelled": "cancelled",
}
_TONES: dict[str, Tone] = {
    "applied": "ok",
    "failed": "bad",
    "pending": "waiting",
    "in_doubt": "waiting",
    "waiting": "waiting",
    "answered": "running",
    "executing": "running",
    "approved": "running",
}


def execution_status(record: ExecutionRecord, *, stale: bool = False) -> Status:
    """Return what the execution has come to; ``stale``: it is recorded as running, but its kernel is gone."""
    if stale:
        return Status("Cut off", "bad")
    if record.status == "error" and record.error is not None and record.error.code in _ENDS:
        return _ENDS[record.error.code]
    if record.preparation:
        return Status(record.preparation, "running")
    if record.waits_for_turn:
        return Status("Waiting for its turn", "quiet")
    return _STATUSES[record.status]


def is_final(record: ExecutionRecord) -> bool:
    """Tell whether no pass of it runs and none will without a new order."""
    return record.status not in ("running", "paused")


def call_sign(call: CallRecord) -> str:
    """Return the one-character sign of a call's state."""
    return _SIGNS[call.state]


def call_tone(call: CallRecord) -> Tone:
    """Return the tone of a call's state."""
    return _TONES.get(call.state, "quiet")


def call_note(call: CallRecord, *, replayed: bool) -> str:
    """Return a call's state, or how long it took when there is nothing else to say."""
    approved = call.requires_approval and call.decided_at is not None
    if call.state == "applied":
        if approved:
            return f"approved by you {clock(call.decided_at)}"
        return "replayed" if replayed else duration(call.duration)
    words = _WORDS[call.state]
    if call.state == "rejected" and call.decided_at is not None:
        return f"{words} by you {clock(call.decided_at)}"
    return f"{words}, arrived late" if call.late else words


def progress_note(progress: Progress) -> str:
    """Return how far a running call is: ``3 of 10``, or how much was done where the end is not known."""
    return f"{progress.done:g} of {progress.total:g}" if progress.total is not None else f"{progress.done:g} so far"


def replayed_calls(record: ExecutionRecord) -> frozenset[int]:
    """Return the ``seq`` of the calls that the newest pass was served from the log.

    That pass began with the last decision; what had started before it was not run again.
    """
    decisions = [call.decided_at for call in record.calls if call.decided_at is not None]
    if record.passes < 2 or not decisions:  # noqa: PLR2004  the first pass replays nothing
        return frozenset()
    last = max(decisions)
    return frozenset(
        call.seq
        for call in record.calls
        if not call.ephemeral
        and call.state in ("applied", "failed")
        and call.started_at is not None
        and call.started_at < last
        and not (call.decided_at is not None and call.decided_at == last)
    )


def calls_in_words(calls: Sequence[CallRecord], replayed: frozenset[int]) -> str:
    """Return the number of calls, and how many of them wait, are in doubt, failed or were replayed."""
    parts = [count(len(calls), "call")]
    if waiting := sum(call.state in ("pending", "waiting") for call in calls):
        parts.append(f"{waiting:,} waiting")
    if doubtful := sum(call.state == "in_doubt" for call in calls):
        parts.append(f"{doubtful:,} in doubt")
    if failed := sum(call.state == "failed" for call in calls):
        parts.append(f"{failed:,} failed")
    if replayed:
        parts.append(f"{len(replayed):,} replayed")
    return " · ".join(parts)


def clock(seconds: float | None) -> str:
    """Return the local time of day of a moment given in seconds since the epoch."""
    return "" if seconds is None else datetime.fromtimestamp(seconds).astimezone().strftime("%H:%M")


def duration(seconds: float | None) -> str:
    """Return a duration given in seconds: ``41 ms``, ``1.2 s``, ``2 min 5 s``."""
    if seconds is None:
        return ""
    if seconds < 0.9995:  # noqa: PLR2004  what rounds to 1,000 ms is a second
        return "<1 ms" if 0 < seconds < 0.0005 else f"{seconds * 1000:.0f} ms"  # noqa: PLR2004  what rounds to 0 ms
    if seconds < 60:  # noqa: PLR2004  seconds of a minute
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes:,} min {rest} s"
