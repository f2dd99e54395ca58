"""Who drives a running execution: a lease that tells a dead owner from a live one.

Owns: the owner's text and the judgement whether that owner lives. Never does: read or write the store.

On the owner's own machine its process is looked at (id and start time, so that a reused id deceives nobody). From
another machine only the heartbeat tells.
"""

from __future__ import annotations

import json
import os
import socket
import uuid
from pathlib import Path

HEARTBEAT_SECONDS = 5.0
"""How often a driver renews its lease."""

EXPIRY_SECONDS = 60.0
"""Age of the last heartbeat at which an owner on another machine counts as dead."""


def new_owner() -> str:
    """Return the text that names this process, and this runtime within it."""
    pid = os.getpid()
    return json.dumps({"host": socket.gethostname(), "pid": pid, "start": _start_time(pid), "id": uuid.uuid4().hex})


def is_alive(owner: str | None, heartbeat: float | None, now: float) -> bool:
    """Tell whether the owner of a lease still lives, as far as can be seen from here.

    Times are seconds since the epoch.
    """
    if owner is None:
        return False
    try:
        fields = json.loads(owner)
        host, pid, start = fields["host"], int(fields["pid"]), fields["start"]
    except (ValueError, TypeError, KeyError):
        return False
    if host == socket.gethostname():
        return _process_exists(pid) and (start is None or start == _start_time(pid))
    return heartbeat is not None and now - heartbeat < EXPIRY_SECONDS


def _process_exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _start_time(pid: int) -> str | None:
    """Return when a process started, in the system's own ticks; ``None`` where the system does not say.

    A process that has ended and was not yet collected by its parent has no start time any more: it drives nothing.
    """
    try:
        # The command, in parentheses, may hold blanks. Field 3 is the state, field 22 the start time (proc(5)).
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return "ended" if fields[0] in "ZX" else fields[19]
    except (OSError, IndexError):
        return None
