"""Processor time that processes used: on a machine that does much else it says more than a clock on the wall."""

import sys
import time


def processor_milliseconds(pids=()):
    """Return what this process and those with the given ids used since they began; ``None`` where only Linux tells."""
    if not sys.platform.startswith("linux"):
        return None
    # The clock of another process: its id inverted, with the kernel's bits for "of a process" and "as scheduled".
    others = sum(time.clock_gettime((~pid << 3) | 2) for pid in pids)
    return (time.process_time() + others) * 1000
