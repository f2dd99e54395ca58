"""Texts of strangers inside comments of generated declarations.

Owns: making a description safe and readable there. Never does: shorten it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_LINE_BREAK = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Control characters, and those that hide text or change the direction in which it is read.
_HIDDEN = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def comment_lines(text: object) -> list[str]:
    """Return the lines of a text, none of which can end a comment; blank lines at both ends are dropped."""
    return [_safe(line) for line in text_lines(text)]


def text_lines(text: object) -> list[str]:
    """Return the lines of a text without hidden characters; blank lines at both ends are dropped."""
    if not isinstance(text, str):
        return []
    lines = [_HIDDEN.sub("", line).rstrip() for line in _LINE_BREAK.split(text)]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    return lines


def comment(lines: Sequence[str], indent: str) -> list[str]:
    """Return lines as one TypeScript documentation comment, on one line where they are one."""
    safe = [_safe(part) for line in lines for part in _LINE_BREAK.split(line)]
    if not safe:
        return []
    if len(safe) == 1:
        return [f"{indent}/** {safe[0]} */"]
    return [f"{indent}/**", *(f"{indent} * {line}".rstrip() for line in safe), f"{indent} */"]


def python_comment(notes: Sequence[str], indent: str) -> list[str]:
    """Return texts as comments, in the form of attribute documentation, which no tool takes for an instruction."""
    return [f"{indent}#: {line}".rstrip() for note in notes for line in text_lines(note)]


def _safe(line: str) -> str:
    return _HIDDEN.sub("", line).replace("*/", "*\\/")
