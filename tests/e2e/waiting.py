"""Waiting for a condition, and saying which one did not come."""

import time

_PAUSE = 0.02


def until(condition, what, *, timeout=30.0):
    """Call ``condition`` until it is truthy and return that; fail after ``timeout`` seconds with ``what``."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"waited {timeout:g} s in vain until {what}"
        time.sleep(_PAUSE)
