"""A limit on the memory of a process of ours.

Owns: watching what the process really uses and killing it over its limit, and the system's own limit behind that.
Never does: know what the process is for.

V8's own limits are about its heap; what typed arrays hold lies outside. So the process is looked at from a thread,
which a busy event loop does not hold up. Where a whole kernel stands still, Linux itself ends the growth
(``RLIMIT_DATA``, see getrlimit(2)); that limit counts what is merely reserved as well, some 200 MB for each Worker, and
must be wide.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import psutil  # type: ignore[import-untyped]

DATA_MEGABYTES = 8_192
"""What the system lets a process reserve for writing, in MB, where the system can be asked for that."""

_INTERVAL = 0.05
"""Seconds between two looks: a program fills some 50 to 100 MB in that time."""


class MemoryLimit:
    """Watches a process while it is told to, and kills it when it uses too much.

    Parameters
    ----------
    process : subprocess.Popen
        A child of ours.
    megabytes : int
        How much it may use, in MB (2**20 bytes, resident).
    """

    def __init__(self, process: subprocess.Popen[bytes], megabytes: int) -> None:
        self._process = process
        self._limit = megabytes * 2**20
        self._is_needed = threading.Event()
        self._is_over = False
        self.was_exceeded = False
        limit_data(process.pid, DATA_MEGABYTES)
        threading.Thread(target=self._watch, name="codemode-deno-memory", daemon=True).start()

    def watch(self, *, is_needed: bool) -> None:
        """Look at the process from now on, or not."""
        if is_needed:
            self._is_needed.set()
        else:
            self._is_needed.clear()

    def close(self) -> None:
        """End the watch: the process is gone."""
        self._is_over = True
        self._is_needed.set()

    def _watch(self) -> None:
        try:
            seen = psutil.Process(self._process.pid)
            while self._is_needed.wait() and not self._is_over:
                if seen.memory_info().rss > self._limit:
                    self.was_exceeded = True
                    self._process.kill()
                    return
                time.sleep(_INTERVAL)
        except psutil.Error:
            return  # it has ended


def limit_data(pid: int, megabytes: int) -> None:
    """Have the system limit what a process may reserve for writing; does nothing where only a process itself can."""
    if sys.platform != "linux":
        return
    import resource  # noqa: PLC0415  only where it exists

    _, highest = resource.prlimit(pid, resource.RLIMIT_DATA)
    limit = megabytes * 2**20 if highest == resource.RLIM_INFINITY else min(megabytes * 2**20, highest)
    resource.prlimit(pid, resource.RLIMIT_DATA, (limit, limit))
