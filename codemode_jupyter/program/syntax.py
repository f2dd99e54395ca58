"""Saying where a text stops being a program.

Owns: finding the place of a parse error and its wording, and the refusal that carries it. Never changes a text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tree_sitter import LogType, Node, Tree

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.program.parsing import after_trivia, faulty, parse, tokens
from codemode_jupyter.program.positions import Position, line_excerpt, position_at

_PARSER_POSITION = re.compile(r"process version:\d+.* row:(\d+), col:(\d+)")
_LOGGED_BYTES = 200_000
_SLICE = 4096
_OFTEN_FORGOTTEN = (")", "]", "}", ",", ":", ";", "=")
_CLOSING = {"(": ")", "[": "]", "{": "}", "${": "}"}
_TOKEN = re.compile(r"[\w$]+|=>|\S")
_PYTHON = re.compile(
    r"^(?:def \w+\(.*\).*:|from [\w.]+ import |import \w+$|class \w+.*:$|(?:el)?if .*:$)", re.MULTILINE
)


class Fault(NamedTuple):
    """What is wrong, and the byte where it shows."""

    offset: int
    problem: str


class ProgramError(CodemodeError):
    """A program that is refused for what stands at one place of it.

    ``message`` is the bare sentence; as a text it has the place, the lines around it and the hint, too.
    ``data`` holds ``line``, ``column`` (from 1, in the text as written) and ``excerpt``.
    """

    def __init__(self, code: str, problem: str, position: Position, excerpt: str, *, hint: str | None = None) -> None:
        data = {"line": position.line, "column": position.column, "excerpt": excerpt}
        super().__init__(code, problem, hint=hint, data=data)
        self._text = f"Line {position.line}, column {position.column}: {problem}\n{excerpt}"

    def __str__(self) -> str:
        return self._text if self.hint is None else f"{self._text}\n{self.hint}"


def syntax_error(
    code: str, position: Position, problem: str, *, hint: str | None = None, error_code: str = "syntax_error"
) -> ProgramError:
    """Make the refusal of a program at a place in the text as it was written."""
    return ProgramError(error_code, problem, position, line_excerpt(code, *position), hint=hint)


def position_of(data: bytes, offset: int) -> Position:
    """Line and column of a byte offset."""
    text = data[:offset].decode()
    return position_at(text, len(text))


def first_fault(data: bytes, tree: Tree) -> Fault:
    """Where the parser had to give up, and in what words to say it. The tree must have an error."""
    node = next(node for node in faulty(tree.root_node) if node.is_error or node.is_missing)
    stopped = _stopped_at(data, tree, node)
    offset = after_trivia(data, stopped)
    if (literal := _unterminated_literal(data, node) or _unterminated_comment(data, stopped)) is not None:
        return literal
    forgotten = (node for node in faulty(tree.root_node) if node.is_missing and node.type in _OFTEN_FORGOTTEN)
    missing = next(forgotten, None)
    token = _TOKEN.match(data[offset : offset + 200].decode(errors="ignore"))
    if token is None:
        return _unclosed(tree.root_node) or Fault(offset, "The program ends too early.")
    problem = f"`{token[0]}` cannot stand here"
    if missing is not None and after_trivia(data, missing.start_byte) == offset:
        return Fault(offset, f"{problem}; `{missing.type}` is missing before it.")
    return Fault(offset, f"{problem}.")


def language_hint(code: str) -> str | None:
    """Return a hint for a text that is another language."""
    if _PYTHON.search(code):
        return "This looks like Python; the program must be JavaScript."
    return None


def _stopped_at(data: bytes, tree: Tree, first: Node) -> int:
    """Return the end of the last token that still fitted.

    An error node begins where the recovery put it, which may be lines earlier; the parser's log knows the
    token that no rule could take: the last one reported before the recovery begins. Logging is slow, so of
    a long text only the statement with the error is read again, and the rest is cut off once the place is known.
    """
    start = 0 if len(data) <= _LOGGED_BYTES else _start_of_faulty_statement(tree.root_node)
    if first.start_byte - start > _LOGGED_BYTES:
        return first.start_byte
    place: tuple[int, int] | None = None
    stopped: tuple[int, int] | None = None
    recovering = False

    def note(kind: LogType, message: str) -> None:
        nonlocal place, stopped, recovering
        if kind != LogType.PARSE or recovering:
            return
        if match := _PARSER_POSITION.match(message):
            place = (int(match[1]), int(match[2]))
        elif message.startswith("detect_error"):
            stopped = place
        elif message.startswith("recover"):
            recovering = True

    def read(offset: int, _: object) -> bytes:
        return b"" if recovering else data[start + offset : start + offset + _SLICE]

    parse(tree.language, data[start:], read=read, log=note)
    if stopped is None:
        return first.start_byte
    row, column = stopped
    lines = data[start:].split(b"\n", row)
    return start + sum(len(line) + 1 for line in lines[:row]) + column


def _start_of_faulty_statement(root: Node) -> int:
    """Return the start of the statement before the first one with an error; 0 if all is one error."""
    before = 0
    for child in root.children:
        if child.has_error or child.is_missing:
            return before
        before = child.start_byte
    return before


def _unterminated_literal(data: bytes, error: Node) -> Fault | None:
    """Find a text or template that is never closed and swallows what follows: it is the place to show."""
    names = {b"`": "template", b'"': "text", b"'": "text"}
    for node in [error, *error.children]:
        opening = data[node.start_byte : node.start_byte + 2]
        for mark, name in names.items():
            if opening.startswith(mark) and (node.is_error or node.type == mark.decode()):
                line_end = data.find(b"\n", node.start_byte) if name == "text" else len(data)
                rest = data[node.start_byte + 1 : line_end if line_end >= 0 else len(data)]
                if mark not in rest.replace(b"\\" + mark, b""):
                    return Fault(node.start_byte, f"This {name} is never closed.")
    return None


def _unterminated_comment(data: bytes, stopped: int) -> Fault | None:
    start = data.find(b"/*", max(0, stopped - 1), after_trivia(data, stopped) + 2)
    if start < 0 or data.find(b"*/", start + 2) >= 0:
        return None
    return Fault(start, "This comment is never closed.")


def _unclosed(root: Node) -> Fault | None:
    """Find the last bracket that was opened and never closed."""
    opened: list[Node] = []
    for node in tokens(root):
        if node.type in _CLOSING:
            opened.append(node)
        elif opened and node.type == _CLOSING[opened[-1].type]:
            opened.pop()
    if not opened:
        return None
    bracket = opened[-1]
    return Fault(bracket.start_byte, f"This `{bracket.type}` is never closed.")
