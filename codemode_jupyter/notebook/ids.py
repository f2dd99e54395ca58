"""Names of executions that a person can read and type.

Owns: the short form of an execution's id and finding the execution that somebody means. Never does: reading the log.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from codemode_jupyter.errors import CodemodeError

_SHORT_LENGTH = 8
_PREFIX = "exec_"


def short_id(execution_id: str) -> str:
    """Return the last characters of an id: enough to tell the executions of a notebook apart."""
    return execution_id[-_SHORT_LENGTH:]


def find_execution(text: str, ids: Sequence[str]) -> str:
    """Return the one of ``ids`` that ``text`` means: the whole id, or the beginning or the end of exactly one.

    ``exec_`` in front may be left out.

    Raises
    ------
    CodemodeError
        ``unknown_execution`` (names what comes near) or ``ambiguous_execution`` (names what it could be).
    """
    if text in ids:
        return text
    wanted = text.removeprefix(_PREFIX)
    found = [
        known for known in ids if wanted and (known.removeprefix(_PREFIX).startswith(wanted) or known.endswith(wanted))
    ]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(short_id(known) for known in found[:5])
        raise CodemodeError("ambiguous_execution", f"{text!r} may be any of {names}.", hint="Write more of the id.")
    near = get_close_matches(wanted, [short_id(known) for known in ids], n=3, cutoff=0.5)
    hint = f"Did you mean {' or '.join(near)}?" if near else "`%codemode history` lists what there is."
    raise CodemodeError("unknown_execution", f"There is no execution {text!r}.", hint=hint)
