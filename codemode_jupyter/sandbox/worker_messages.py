"""What a Worker may say, checked word by word.

Owns: turning one text of a Worker into a typed message, or refusing it. Never does: judge what a message means for the
pass; that is the session's work. A program shares its Worker with the runtime, so any text at all may arrive here.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from codemode_jupyter.sandbox.protocol import (
    CallBatch,
    CallRequest,
    ConsoleLine,
    Event,
    PassEnd,
    PassEndKind,
    StepResult,
)

MAX_VALUE_BYTES = 1_000_000
"""Longest text of arguments or of a step's value, in UTF-8 bytes: the limit of a stored value."""

MAX_RESULT_BYTES = 8_000_000
"""Longest text of a final result, in UTF-8 bytes. The runtime keeps less, but hands on what a program returned."""

MAX_PARTS = 500_000
"""Most parts of one text, values not counted: reading a text of nothing but parts would hold up the kernel for long."""

MAX_NAME_LENGTH = 1_000
"""Longest name of a connector, method or step, in characters."""

MAX_CONSOLE_LINE = 100_000
"""Longest console line, in characters."""

MAX_NUMBER = 2**31
"""Bound of call and timer ids, of lines and of columns."""

MAX_CLOCK = 8.64e15
"""Latest time of an ECMAScript Date, in ms since the epoch."""

_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
"""A string of JSON. One without an end goes to the text's end, so that each character is looked at once."""

_LEVELS = {"log", "info", "debug", "warn", "error"}
_END_KINDS: dict[str, PassEndKind] = {
    "completed": "completed",
    "failed": "failed",
    "paused": "paused",
    "diverged": "diverged",
    "needs_python": "needs_python",
    "too_large": "too_large",
}


class MalformedMessageError(Exception):
    """A text that the sandbox runtime would not send. The message says what is wrong, for a log."""


@dataclass(frozen=True, slots=True)
class ConsoleMessage:
    """What the program printed."""

    lines: tuple[ConsoleLine, ...]


WorkerMessage: TypeAlias = CallBatch | StepResult | ConsoleMessage | PassEnd


def parse_worker_message(text: str) -> WorkerMessage:
    """Return the message that a Worker's text holds.

    Raises
    ------
    MalformedMessageError
        The text is not JSON, not a known message, has too many parts, or one of the wrong type or too long.
    """
    if text.count(",") > MAX_PARTS and _STRING.sub("", text).count(",") > MAX_PARTS:
        _refuse("too many parts")
    message = _mapping(_load(text))
    match message.get("type"):
        case "calls":
            calls = tuple(_call(item) for item in _list(message.get("calls")))
            return CallBatch(calls, _events(message.get("events")), _number(message.get("replayed", 0)))
        case "step":
            return _step(message)
        case "console":
            return ConsoleMessage(_console(message.get("lines")))
        case "done":
            return _end(message)
        case kind:
            return _refuse(f"unknown type {str(kind)[:100]!r}")


def _call(item: object) -> CallRequest:
    call = _mapping(item)
    return CallRequest(
        seq=_number(call.get("seq")),
        connector=_name(call.get("connector")),
        method=_name(call.get("method")),
        arguments=_value_text(call.get("arguments"), MAX_VALUE_BYTES),
    )


def _step(message: dict[str, Any]) -> StepResult:
    seq, token = _number(message.get("seq")), _name(message.get("token"))
    if ("value" in message) == ("error" in message):
        _refuse("a step has either a value or an error")
    if "value" in message:
        return StepResult(seq, token, value=_value_text(message["value"], MAX_VALUE_BYTES))
    return StepResult(seq, token, error=_value_text(message["error"], MAX_VALUE_BYTES))


def _end(message: dict[str, Any]) -> PassEnd:
    kind = _END_KINDS.get(message.get("status", "")) if isinstance(message.get("status"), str) else None
    if kind is None:
        _refuse("unknown status of the end")
    value = _value_text(message.get("value"), MAX_RESULT_BYTES) if kind == "completed" else None
    error = _value_text(message.get("error"), MAX_RESULT_BYTES) if kind in ("failed", "diverged", "too_large") else None
    return PassEnd(
        kind,
        value=value,
        error=error,
        line=_optional_number(message.get("line")),
        column=_optional_number(message.get("column")),
        issued=_number(message.get("issued")),
        replayed=_number(message.get("replayed", 0)),
        events=_events(message.get("events")),
        console=_console(message.get("lines")),
    )


def _events(items: object) -> tuple[Event, ...]:
    events: list[Event] = []
    for item in _list(items):
        match item:
            case ["call" | "timer" as kind, int(number), int() | float() as clock] if 0 <= clock <= MAX_CLOCK:
                events.append((kind, _number(number), clock))
            case _:
                _refuse("malformed event")
    return tuple(events)


def _console(items: object) -> tuple[ConsoleLine, ...]:
    lines: list[ConsoleLine] = []
    for item in _list(items):
        match item:
            case [str(level), str(text)] if level in _LEVELS and len(text) <= MAX_CONSOLE_LINE:
                lines.append((level, text))  # type: ignore[arg-type]  # one of the levels, checked above
            case _:
                _refuse("malformed console line")
    return tuple(lines)


def _value_text(text: object, limit: int) -> str:
    """Return a value's text, which is JSON of a bearable size and depth; what it means is read elsewhere."""
    if not isinstance(text, str):
        _refuse("a value is missing")
    if len(text) > limit or (len(text) * 3 > limit and len(text.encode("utf-8", "surrogatepass")) > limit):
        _refuse("a value is too long")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        _refuse("a value's text holds half a character")
    _load(text)
    return text


def _load(text: str) -> object:
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        _refuse("not JSON")


def _refuse_constant(_: str) -> NoReturn:
    raise ValueError


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
"""Made once: ``json.loads`` with an option makes one for each text, which costs more than reading a short one."""


def _mapping(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        _refuse("not an object")
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        _refuse("not a list")
    return value


def _name(value: object) -> str:
    if not isinstance(value, str) or len(value) > MAX_NAME_LENGTH:
        _refuse("malformed name")
    return value


def _number(value: object) -> int:
    if type(value) is not int or not 0 <= value < MAX_NUMBER:
        _refuse("malformed number")
    return value


def _optional_number(value: object) -> int | None:
    return None if value is None else _number(value)


def _refuse(why: str) -> NoReturn:
    raise MalformedMessageError(why)
