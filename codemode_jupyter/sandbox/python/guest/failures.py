"""What a program raised, in words and with its place in what the author wrote.

Owns: the tagged error that ends a program. Frames of anything but the program and its snippets are left out.
"""

from __future__ import annotations

import json
import traceback
from types import TracebackType
from typing import Any

from .connectors import ToolError
from .values import NotStorableError, encode

PROGRAM_FILE = "program.py"
_MAX_TEXT = 100_000


def is_own_file(name: str) -> bool:
    """Tell whether a file is the program or a snippet of its."""
    return name == PROGRAM_FILE or (name.startswith("snippet-") and name.endswith(".py"))


def failure(error: BaseException) -> str:
    """Return ``{"error", "line"?, "column"?}`` as JSON: the fields of the message that ends a pass."""
    fields: dict[str, Any] = {"name": type(error).__name__, "message": message_of(error)}
    data = _data(error)
    if isinstance(error, ToolError):
        fields["name"] = error.name
    if data is not None:
        fields["data"] = data
    places = own_places(error.__traceback__)
    if isinstance(error, SyntaxError) and error.filename is not None and is_own_file(error.filename):
        fields["message"] = error.msg
        places = [(error.filename, error.lineno or 1, error.offset or 1)]
    if places:
        fields["stack"] = "\n".join(f"at {file}:{line}:{column}" for file, line, column in reversed(places))
    ended: dict[str, Any] = {"error": json.dumps({"$type": "error", "value": fields})}
    for file, line, column in reversed(places):
        if file == PROGRAM_FILE:
            ended |= {"line": line, "column": column}
            break
    return json.dumps(ended)


def message_of(error: BaseException) -> str:
    """Return an error's message; never raises."""
    try:
        if isinstance(error, BaseExceptionGroup):
            reasons = "; ".join(f"{type(one).__name__}: {message_of(one)}" for one in error.exceptions[:5])
            return f"{error.message} ({reasons})"[:_MAX_TEXT]
        if isinstance(error, SystemExit):
            return f"the program called sys.exit({error.code!r})"
        text = str(error)
        cause = error.__cause__
        if cause is not None:
            text += f" (cause: {type(cause).__name__}: {message_of(cause)[:300]})"
        return (text or "no message")[:_MAX_TEXT]
    except Exception:  # noqa: BLE001  the program's own class may do anything
        return "an error whose message cannot be read"


def described(error: BaseException) -> str:
    """Return an error with the program's own lines of its traceback, for the console."""
    lines = [f'  File "{file}", line {line}' for file, line, _ in own_places(error.__traceback__)]
    head = ["Traceback (most recent call last):", *lines] if lines else []
    return "\n".join([*head, f"{type(error).__name__}: {message_of(error)}"])


def own_places(trace: TracebackType | None) -> list[tuple[str, int, int]]:
    """Return file, line and column (both from 1) of the frames that lie in the program, outermost first."""
    places = []
    for frame, line in traceback.walk_tb(trace):
        code = frame.f_code
        if is_own_file(code.co_filename):
            places.append((code.co_filename, line, _column(frame, line, trace)))
    return places[-20:]


def _column(frame: Any, line: int, trace: TracebackType | None) -> int:
    while trace is not None and trace.tb_frame is not frame:
        trace = trace.tb_next
    if trace is None or trace.tb_lasti < 0:
        return 1
    for index, position in enumerate(frame.f_code.co_positions()):
        if index == trace.tb_lasti // 2:
            return 1 if position[0] != line or position[2] is None else position[2] + 1
    return 1


def _data(error: BaseException) -> Any:
    code = error.code if isinstance(error, NotStorableError | ToolError) else None
    data = error.data if isinstance(error, ToolError) else None
    if isinstance(data, dict):
        try:
            return json.loads(encode(data, "The error"))
        except (NotStorableError, ValueError):
            return None
    return None if not isinstance(code, str) else {"code": code}
