"""Is a live call the one that was recorded? The comparison behind every replay.

Owns: comparing a call with the log, and the words for a divergence. Never does: read the store or run anything.
"""

from __future__ import annotations

import hashlib

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime import values
from codemode_jupyter.runtime.store.rows import CallRow
from codemode_jupyter.sandbox.protocol import STEP_CONNECTOR, CallRequest

_HINT = (
    "A program must make the same calls in every pass. Wrap what may change between passes in codemode.step(name, fn), "
    "or run the program anew."
)


def divergence(seq: int, what: str) -> CodemodeError:
    """Return the error of a pass that did not follow the recorded run."""
    return CodemodeError(
        "replay_divergence", f"Codemode replay divergence at step {seq}: {what}", hint=_HINT, data={"seq": seq}
    )


def kept_arguments(arguments: str) -> str:
    """Return the arguments as the log keeps them: a text over the limit is kept as its SHA-256 only."""
    if values.byte_size(arguments) <= values.MAX_BYTES:
        return arguments
    digest = hashlib.sha256(arguments.encode("utf-8", "surrogatepass")).hexdigest()
    return f'"[arguments too large to record, SHA-256 {digest}]"'


def check_recorded(row: CallRow, request: CallRequest) -> None:
    """Check that a live call is the recorded one: connector, method, and arguments compared as values.

    Raises
    ------
    CodemodeError
        ``replay_divergence``
    """
    got = f"{request.connector}.{request.method}"
    if (row.connector, row.method) != (request.connector, request.method):
        raise divergence(row.seq, f"expected {row.name}, got {got}.")
    if request.connector != STEP_CONNECTOR and not _equal(row.arguments, kept_arguments(request.arguments)):
        raise divergence(row.seq, f"{got} was called with different arguments than in the recorded run.")


def check_new(request: CallRequest, expected: int, recorded: int) -> None:
    """Check that a new call stands at the end of the log.

    ``expected`` is the next number of the log, ``recorded`` how many calls it had when the pass began.

    Raises
    ------
    CodemodeError
        ``replay_divergence`` or ``protocol``
    """
    if request.seq > expected:
        if expected < recorded:
            raise divergence(expected, "a recorded call was skipped.")
        raise CodemodeError("protocol", f"The sandbox numbered a call {request.seq} where {expected} was next.")


def _equal(recorded: str, live: str) -> bool:
    return recorded == live or values.canonical(recorded) == values.canonical(live)
