"""Why an execution failed, in one form.

Owns: turning refusals and what a program threw into an ``ErrorDetail``, and keeping that as JSON.
Never does: decide that something failed.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Sequence

from codemode_jupyter.connectors.names import did_you_mean
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.program import ModuleSet, line_excerpt, prepare
from codemode_jupyter.program.python_syntax import other_language_hint
from codemode_jupyter.runtime import values
from codemode_jupyter.runtime.records import ErrorDetail
from codemode_jupyter.runtime.store.rows import CallRow
from codemode_jupyter.sandbox.protocol import FETCH_CONNECTOR, PassEnd

_NOT_DEFINED = re.compile(r"(\w+)'? is not defined")
_NO_MODULE = re.compile(r"No module named '(\w+)'")

_NO_MEMORY = re.compile(r"[Aa]rray buffer allocation failed|[Oo]ut of memory|allocation size overflow")
"""What engines throw for an array that they cannot hold; for anything else they end the sandbox."""

MAX_TEXT = 100_000
"""Longest error message kept, in characters."""

_DIVERGENCE = "Codemode replay divergence"

_IMPORTABLE = (
    "A program imports the standard library, and what its runtime has: `Runtime(packages=[…])` or, for a text, "
    '`Runtime(modules={"name.py": …})`.'
)
_NOT_AWAITED = "Something was not awaited: a call of a tool or of an async function is written `await …`."
_SYNTAX_ERRORS = ("SyntaxError", "IndentationError", "TabError")

SANDBOX_CODES = frozenset(
    {
        "unsettled",
        "not_storable",
        "too_large",
        "call_in_step",
        "too_many_calls",
        "not_a_function",
        "invalid_arguments",
        "import_not_available",
        "interpreter_failed",
    }
)
"""Codes that the sandbox itself gives to failures. A program can claim them too, which tells a reader no more than its
own message would; codes with a meaning for the runtime are not among them."""

_ENDS: dict[str, tuple[str, str, str | None]] = {
    "timeout": (
        "timeout",
        "Execution timed out.",
        "Time spent waiting for tools does not count; give the run a longer `timeout`, or make the program do less.",
    ),
    "memory": ("out_of_memory", "The program used more memory than the sandbox has.", "Work on the data in parts."),
    "lost": (
        "sandbox_lost",
        "The sandbox was lost again and again during the run.",
        "Reload the page, then run the program anew.",
    ),
    "too_large": (
        "too_large",
        "The program sent more than the sandbox lets out.",
        "Return a summary, or hand large data to a tool that stores it.",
    ),
    "protocol": ("protocol", "The sandbox broke the protocol, so the run was ended.", None),
    "diverged": (
        "replay_divergence",
        f"{_DIVERGENCE}: the program did not repeat the recorded run.",
        "Wrap what may change between passes in codemode.step(name, fn), or run the program anew.",
    ),
}


def detail_of(error: BaseException) -> ErrorDetail:
    """Return a refusal as a detail; other exceptions get the code ``internal_error``."""
    if not isinstance(error, CodemodeError):
        return ErrorDetail(
            "internal_error", f"{type(error).__name__}: {error}", hint="This is a fault of codemode-jupyter."
        )
    data = error.data or {}
    return ErrorDetail(
        error.code,
        error.message,
        line=data.get("line"),
        column=data.get("column"),
        excerpt=data.get("excerpt"),
        hint=error.hint,
        faults=data.get("faults", ()) if error.code == "invalid_answer" else (),
    )


def ended_detail(end: PassEnd) -> ErrorDetail:
    """Return why a pass ended that the program did not end itself."""
    code, message, hint = _ENDS[end.kind]
    if end.error is None:
        return ErrorDetail(code, message, hint=hint)
    if end.kind == "diverged":
        told = _thrown(end.error)[1]
        return ErrorDetail(code, told if told.startswith(_DIVERGENCE) else f"{_DIVERGENCE}: {told}", hint=hint)
    if end.kind == "too_large":
        return ErrorDetail(code, _thrown(end.error)[1], hint=hint)
    return ErrorDetail(code, end.error, hint=hint)


def program_detail(  # noqa: PLR0913, PLR0917  what a place in a program depends on
    end: PassEnd,
    code: str,
    calls: Sequence[CallRow],
    globals_: Iterable[str],
    modules: ModuleSet | None = None,
    language: str = "javascript",
) -> ErrorDetail:
    """Return what the program threw.

    An error of a refused or failed call that the program let through keeps the code of that call.
    """
    name, message, hint = _thrown(end.error)
    cause = _code_of_failed_call(name, message, calls) or _sandbox_code(end.error)
    if cause is None and name in ("RangeError", "InternalError") and _NO_MEMORY.search(message):
        cause, hint = "out_of_memory", hint or _ENDS["memory"][2]
    if cause is None and name == "MemoryError":
        cause, hint = "out_of_memory", _ENDS["memory"][2]
    if cause is None and name in ("ReferenceError", "NameError"):
        hint = _hint_for_missing_name(message, tuple(globals_), language) or hint
    if cause is None and name == "ModuleNotFoundError":
        hint = _hint_for_missing_module(message, globals_)
    if cause is None and language == "python" and name in ("TypeError", "AttributeError") and "coroutine" in message:
        hint = _NOT_AWAITED
    if cause is None and language == "python" and name in _SYNTAX_ERRORS and not calls:
        cause, hint = "syntax_error", other_language_hint(code, message)
    column = _written_column(code, end, modules, language)
    excerpt = line_excerpt(code, end.line, column or 1) if end.line is not None else None
    shown = message if name == "Error" or cause is not None else f"{name}: {message}"
    return ErrorDetail(cause or "program_error", shown[:MAX_TEXT], name, end.line, column, excerpt, hint)


def to_json(detail: ErrorDetail) -> str:
    """Return the stored form of a detail."""
    return json.dumps(dataclasses.asdict(detail))


def from_json(text: str | None) -> ErrorDetail | None:
    """Return a stored detail, or one that says that it cannot be read."""
    if text is None:
        return None
    try:
        return ErrorDetail(**json.loads(text))
    except (ValueError, TypeError):
        return ErrorDetail("unreadable_value", "The stored error cannot be read.")


def call_detail(row: CallRow) -> ErrorDetail | None:
    """Return why a call failed, or ``None``."""
    if row.state != "failed" or row.outcome is None:
        return None
    name, message, _ = _thrown(row.outcome)
    return ErrorDetail(row.code or "tool_error", message, name)


def _hint_for_missing_module(message: str, globals_: Iterable[str]) -> str:
    """Say what can be imported, or that it is there without an import."""
    match = _NO_MODULE.search(message)
    if match is not None and match[1] in globals_:
        return f"{match[1]} is a global of every program: leave the import out."
    return _IMPORTABLE


def _hint_for_missing_name(message: str, globals_: Sequence[str], language: str) -> str | None:
    """Say which global was meant, or which there are where the sandbox did not say it."""
    match = _NOT_DEFINED.search(message)
    if match is None:
        return None
    beside = "Beside Python's own, the" if language == "python" else "The only"
    is_told = "globals" in message or "Did you" in message  # the sandbox, or Python's own advice
    known = None if is_told else f"{beside} globals available in the sandbox are: {', '.join(globals_)}."
    return did_you_mean(match[1], globals_) or known


def _written_column(code: str, end: PassEnd, modules: ModuleSet | None, language: str) -> int | None:
    """Return the column as the author wrote it; preparing a program may have put text before it."""
    if end.line is None or end.column is None:
        return end.column
    return prepare(code, language, modules).written_column(end.line, end.column)


def _sandbox_code(text: str | None) -> str | None:
    """Return the code that the sandbox gave to a failure, if it is one it may give."""
    if text is None or not _is_error(text):
        return None
    value = values.decode(text)
    data = value.get("data") if isinstance(value, dict) else None
    code = data.get("code") if isinstance(data, dict) else None
    return code if isinstance(code, str) and code in SANDBOX_CODES else None


def _thrown(text: str | None) -> tuple[str, str, str | None]:
    """Return name, message and hint of a thrown value, whatever it was."""
    if text is None:
        return "Error", "The program failed without saying why.", None
    try:
        value = values.decode(text)
    except CodemodeError:
        return "Error", text, None
    if _is_error(text) and isinstance(value, dict):
        name = value.get("name")
        name = name if isinstance(name, str) and name else "Error"
        message = value.get("message")
        return name, message if isinstance(message, str) and message else "an error without a message", None
    shown = value if isinstance(value, str) else text
    return "Error", shown, "What the program threw is not an Error; `throw new Error(message)` tells more."


def _is_error(text: str) -> bool:
    try:
        tree = json.loads(text)
    except ValueError:
        return False
    return isinstance(tree, dict) and tree.get("$type") == "error"


def _code_of_failed_call(name: str, message: str, calls: Sequence[CallRow]) -> str | None:
    """Return the code of the newest failed call whose error this is.

    The program itself is not asked: it could claim any.
    """
    for row in reversed(calls):
        if row.state == "failed" and row.code is not None and row.outcome is not None:
            other_name, other_message, _ = _thrown(row.outcome)
            # What fetch rejects with is always a TypeError.
            told = (other_name, "Error", "TypeError") if row.connector == FETCH_CONNECTOR else (other_name, "Error")
            if message == other_message and name in told:
                return row.code
    return None
