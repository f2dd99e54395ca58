"""Parsing, and saying where a text stops being a program.

Owns: the two grammars, walking a tree without recursion, and every ``syntax_error`` of the room.
Never changes a text. The grammars accept more than an engine does; ``early_errors`` narrows that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import tree_sitter_javascript
import tree_sitter_typescript
from tree_sitter import Language, LogType, Node, Parser, Tree

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.program.positions import Position, line_excerpt, position_at

_JAVASCRIPT = Language(tree_sitter_javascript.language())
_TYPESCRIPT = Language(tree_sitter_typescript.language_typescript())

TRIVIA = re.compile(rb"(?:\s|\xc2\xa0|\xef\xbb\xbf|\xe2\x80[\xa8\xa9]|//[^\n\r]*|/\*.*?\*/)+", re.DOTALL)
"""Blanks and comments between two tokens."""

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


def parse_javascript(data: bytes) -> Tree:
    """Parse UTF-8 text as JavaScript; the tree may hold errors."""
    return Parser(_JAVASCRIPT).parse(data)


def parse_typescript(data: bytes) -> Tree:
    """Parse UTF-8 text as TypeScript (without JSX); the tree may hold errors."""
    return Parser(_TYPESCRIPT).parse(data)


def descendants(root: Node) -> Iterator[Node]:
    """Every node below and including ``root``, parents before children, in the order of the text."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def named_children(node: Node) -> list[Node]:
    """List the named children that are not comments."""
    return [child for child in node.named_children if child.type not in ("comment", "html_comment")]


def text_of(node: Node) -> str:
    """Return the text a node stands for."""
    return (node.text or b"").decode()


def find_child(node: Node, *types: str) -> Node | None:
    """Find the first child of one of the given types, keywords and punctuation included."""
    return next((child for child in node.children if child.type in types), None)


def after_trivia(data: bytes, offset: int) -> int:
    """Return the offset of the next token."""
    match = TRIVIA.match(data, offset)
    return match.end() if match else offset


def syntax_error(
    code: str, position: Position, problem: str, *, hint: str | None = None, error_code: str = "syntax_error"
) -> CodemodeError:
    """Make the refusal of a program at a place, with the lines around it.

    ``data`` holds ``line``, ``column`` (from 1, in the text as written) and ``excerpt``.
    """
    excerpt = line_excerpt(code, *position)
    return CodemodeError(
        error_code,
        f"Line {position.line}, column {position.column}: {problem}\n{excerpt}" + ("\n" if hint else ""),
        hint=hint,
        data={"line": position.line, "column": position.column, "excerpt": excerpt},
    )


def position_of(data: bytes, offset: int) -> Position:
    """Line and column of a byte offset."""
    text = data[:offset].decode()
    return position_at(text, len(text))


def first_fault(data: bytes, tree: Tree) -> Fault:
    """Where the parser had to give up, and in what words to say it. The tree must have an error."""
    node = next(node for node in _faulty(tree.root_node) if node.is_error or node.is_missing)
    stopped = _stopped_at(data, tree, node)
    offset = after_trivia(data, stopped)
    if (literal := _unterminated_literal(data, node) or _unterminated_comment(data, stopped)) is not None:
        return literal
    forgotten = (node for node in _faulty(tree.root_node) if node.is_missing and node.type in _OFTEN_FORGOTTEN)
    missing = next(forgotten, None)
    token = _TOKEN.match(data[offset : offset + 200].decode(errors="ignore"))
    if token is None:
        return _unclosed(tree.root_node) or Fault(offset, "the program ends too early.")
    problem = f"`{token[0]}` cannot stand here"
    if missing is not None and after_trivia(data, missing.start_byte) == offset:
        return Fault(offset, f"{problem}; `{missing.type}` is missing before it.")
    return Fault(offset, f"{problem}.")


def language_hint(code: str) -> str | None:
    """Return a hint for a text that is another language."""
    if _PYTHON.search(code):
        return "This looks like Python; the program must be JavaScript."
    return None


def _faulty(root: Node) -> Iterator[Node]:
    """Yield the nodes on the way to errors, and the errors."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.has_error or node.is_missing:
            yield node
            stack.extend(reversed(node.children))


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

    Parser(tree.language, logger=note).parse(read)
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
                    return Fault(node.start_byte, f"this {name} is never closed.")
    return None


def _unterminated_comment(data: bytes, stopped: int) -> Fault | None:
    start = data.find(b"/*", max(0, stopped - 1), after_trivia(data, stopped) + 2)
    if start < 0 or data.find(b"*/", start + 2) >= 0:
        return None
    return Fault(start, "this comment is never closed.")


def _unclosed(root: Node) -> Fault | None:
    """Find the last bracket that was opened and never closed."""
    opened: list[Node] = []
    for node in _tokens(root):
        if node.type in _CLOSING:
            opened.append(node)
        elif opened and node.type == _CLOSING[opened[-1].type]:
            opened.pop()
    if not opened:
        return None
    bracket = opened[-1]
    return Fault(bracket.start_byte, f"this `{bracket.type}` is never closed.")


def _tokens(root: Node) -> Iterable[Node]:
    return (node for node in descendants(root) if node.child_count == 0 and not node.is_missing)
