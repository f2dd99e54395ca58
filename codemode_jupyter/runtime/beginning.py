"""A new execution: what is fixed for all its passes before the first one.

Owns: which programs are accepted, and the row of an execution that begins. Never does: store it or run it.
"""

from __future__ import annotations

import json
import re
import secrets
import time
import uuid

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.program import LANGUAGES, ModuleSet, prepare
from codemode_jupyter.runtime import failures
from codemode_jupyter.runtime.options import check_seconds
from codemode_jupyter.runtime.store.rows import ExecutionRow

MAX_CODE = 1_000_000
"""Longest program, in characters."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def new_execution(  # noqa: PLR0913, PLR0917  what is fixed for all passes
    code: str,
    language: str,
    timeout: float,
    connectors: tuple[str, ...],
    owner: str,
    modules: ModuleSet | None = None,
) -> ExecutionRow:
    """Return the row of a new execution: running, or failed when the program does not parse.

    Raises
    ------
    CodemodeError
        ``invalid_code``, ``too_large``, ``unknown_language``, ``invalid_option``: nothing is to be recorded.
    """
    _check(code, language)
    check_seconds("timeout", timeout)
    now = time.time()
    row = ExecutionRow(
        id=f"exec_{int(now * 1000):015d}_{uuid.uuid4()}",
        code=code,
        source="",
        line_offset=0,
        language=language,
        status="running",
        connectors=connectors,
        clock=float(int(now * 1000)),
        seed=secrets.token_hex(16),
        timeout=float(timeout),
        created_at=now,
        updated_at=now,
        modules=json.dumps({} if modules is None else modules.digests),
    )
    try:
        program = prepare(code, language, modules)
    except CodemodeError as fault:
        row.status, row.error = "error", failures.to_json(failures.detail_of(fault))
    else:
        row.source, row.line_offset = program.source, program.line_offset
        row.owner, row.heartbeat = owner, now
    return row


def _check(code: str, language: str) -> None:
    if not isinstance(code, str):
        raise CodemodeError("invalid_code", f"A program is a text, not {type(code).__name__}.")
    if len(code) > MAX_CODE:
        raise CodemodeError(
            "too_large",
            f"The program is too large to record durably: {len(code):,} characters, the limit is {MAX_CODE:,}.",
            hint="Pass data through a tool, not in the program's text.",
        )
    if half := _SURROGATE.search(code):
        before = code[: half.start()]
        line, column = before.count("\n") + 1, half.start() - (before.rfind("\n") + 1) + 1
        raise CodemodeError(
            "invalid_code",
            f"The program holds half a character (a lone surrogate) at line {line}, column {column}.",
            hint=f"Write it as an escape in a text: \\u{ord(half.group()):04x}.",
            data={"line": line, "column": column},
        )
    if language not in LANGUAGES:
        raise CodemodeError(
            "unknown_language",
            f"Programs in {language!r} cannot be run.",
            hint=f"Use one of: {', '.join(LANGUAGES)}.",
        )
