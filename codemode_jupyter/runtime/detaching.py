"""Letting an execution go: what is allowed, and what whoever began it is told in place of an outcome.

Owns: the options, the reply and its note. Never does: drive an execution or deliver its end.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.detached_exit import console_end
from codemode_jupyter.runtime.options import check_age
from codemode_jupyter.runtime.outcome import execution_record
from codemode_jupyter.runtime.records import ConsoleRecord, Outcome, PendingCall
from codemode_jupyter.runtime.store.rows import ExecutionRow

Detach: TypeAlias = Literal[True] | float
"""When to let go: ``True`` when the run waits for a person; a number: after so many seconds at the latest."""

NOTE = (
    "This run goes on in the background. Do NOT run the program again. Say what it waits for, or that it is still "
    "running, and go on; how it ended will be told later, with this executionId."
)
"""What a model is told with a reply."""

_REPLY_BYTES = 4_096
"""Most console text in a reply: the last lines."""


def check_detach(value: object) -> Detach | None:
    """Return the option ``detach``; ``None`` and ``False`` are the same.

    Raises
    ------
    CodemodeError
        ``invalid_option``
    """
    if value is None or value is False:
        return None
    if value is True:
        return True
    check_age("detach", value)
    assert isinstance(value, int | float)  # noqa: S101  it was checked
    return float(value)


def metadata_text(metadata: Mapping[str, Any] | None) -> str | None:
    """Return the stored form of the option ``metadata``.

    Raises
    ------
    CodemodeError
        ``invalid_option``: it is no mapping of texts to JSON values.
    """
    if metadata is None:
        return None
    hint = "Use a dict of texts, numbers, lists and dicts: what JSON can hold."
    if not isinstance(metadata, Mapping) or not all(isinstance(key, str) for key in metadata):
        raise CodemodeError("invalid_option", f"`metadata` is {metadata!r:.100}.", hint=hint)
    try:
        return json.dumps(dict(metadata), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise CodemodeError("invalid_option", f"`metadata` has no JSON form: {error}.", hint=hint) from None


def no_exit_hook() -> CodemodeError:
    """Return the refusal to detach where nobody would hear of the end."""
    return CodemodeError(
        "no_exit_hook",
        "Nothing was detached: this runtime has nobody who would hear how the run ended.",
        hint="Make it with `Runtime(on_detached_exit=function)`, or in a notebook after `%load_ext codemode_jupyter`, "
        "which has an inbox.",
    )


def reply(
    row: ExecutionRow,
    waiting: Sequence[PendingCall],
    note: str,
    console: Sequence[ConsoleRecord] | None = None,
) -> Outcome:
    """Return what is told of a detached execution: that it waits, runs or has ended; never what it came to.

    ``waiting`` is what a person is asked, ``console`` replaces the stored lines.
    """
    record = execution_record(row, (), console)
    lines = console_end((str(line) for line in record.logs if not line.source), _REPLY_BYTES)
    logs = tuple(lines.split("\n")) if lines else ()
    if row.status == "paused" or waiting:
        return Outcome("waiting", row.id, pending=tuple(waiting), logs=logs, note=note)
    return Outcome("running" if row.status == "running" else "ended", row.id, logs=logs, note=note)
