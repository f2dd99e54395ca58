"""What a program raised, in words and with its place in what the author wrote.

Owns: the tagged error that ends a program. Frames of anything but the program and its snippets are left out.
"""

from __future__ import annotations

import json
import traceback
from typing import Any

from .connectors import ToolError
from .tracebacks import PROGRAM_FILE, is_own_file, own_places, told
from .values import NotStorableError, encode

_MAX_TEXT = 100_000
_ADVISED = (NameError, UnboundLocalError, AttributeError, ImportError, ModuleNotFoundError)


def failure(error: BaseException) -> str:
    """Return ``{"error", "line"?, "column"?}`` as JSON: the fields of the message that ends a pass."""
    fields: dict[str, Any] = {"name": type(error).__name__, "message": message_of(error)}
    data = _data(error)
    if isinstance(error, ToolError):
        fields["name"] = error.name
    places = own_places(error)
    if isinstance(error, SyntaxError) and error.filename is not None and is_own_file(error.filename):
        fields["message"] = f"{error.msg[:1].upper()}{error.msg[1:]}" + ("" if error.msg.endswith("?") else ".")
        data = {"code": "syntax_error"}
        places = [(error.filename, error.lineno or 1, error.offset or 1)]
    if data is not None:
        fields["data"] = data
    if places:
        fields["stack"] = "\n".join(f"at {file}:{line}:{column}" for file, line, column in reversed(places))
    ended: dict[str, Any] = {"error": json.dumps({"$type": "error", "value": fields})}
    for file, line, column in reversed(places):
        if file == PROGRAM_FILE:
            ended |= {"line": line, "column": column}
            break
    return json.dumps(ended)


def story(error: BaseException) -> str | None:
    """Return the traceback where it says more than an error's message and the place where it was raised."""
    if isinstance(error, SyntaxError | SystemExit):
        return None
    behind = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if behind is None and not isinstance(error, BaseExceptionGroup) and len(own_places(error)) < 2:  # noqa: PLR2004
        return None
    try:
        return told(error)[-_MAX_TEXT:]
    except Exception:  # noqa: BLE001  the program's own class may do anything
        return None


def message_of(error: BaseException) -> str:
    """Return an error's message; never raises."""
    try:
        if isinstance(error, BaseExceptionGroup):
            reasons = "; ".join(f"{type(one).__name__}: {message_of(one)}" for one in error.exceptions[:5])
            return f"{error.message} ({reasons})"[:_MAX_TEXT]
        if isinstance(error, SystemExit):
            code = "" if error.code is None else repr(error.code)
            return f"The program called exit({code}), which ends it without a result. Use `return` to end it with one."
        text = _advised(error) if type(error) in _ADVISED else str(error)
        notes = getattr(error, "__notes__", None)
        if isinstance(notes, list):
            text = "\n".join([text, *(note for note in notes if isinstance(note, str))])
        cause = error.__cause__
        if cause is not None:
            text += f" (cause: {type(cause).__name__}: {message_of(cause)[:300]})"
        return (text or "no message")[:_MAX_TEXT]
    except Exception:  # noqa: BLE001  the program's own class may do anything
        return "an error whose message cannot be read"


def _advised(error: BaseException) -> str:
    """Return a message with the advice that Python shows in a traceback, such as which name was meant."""
    only = traceback.TracebackException.from_exception(error, lookup_lines=False).format_exception_only()
    return next(iter(only)).partition(": ")[2].rstrip("\n") or str(error)


def _data(error: BaseException) -> Any:
    code = error.code if isinstance(error, NotStorableError | ToolError) else None
    data = error.data if isinstance(error, ToolError) else None
    if isinstance(data, dict):
        try:
            return json.loads(encode(data, "The error"))
        except (NotStorableError, ValueError):
            return None
    return None if not isinstance(code, str) else {"code": code}
