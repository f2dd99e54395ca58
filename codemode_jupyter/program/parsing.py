"""Reading text with the two grammars, safely: a parse has a time limit and a stack deep enough for its text.

Owns: the parsers and walking a tree without recursion. Never judges a tree; it may hold errors.

The parser's C code recurses once for each bracket of some deeply nested texts (about 100 bytes of stack for
``{a:``), and an exhausted stack would take the whole process along. A text with many brackets is therefore
read in a thread with a stack that no number of them exhausts.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator

import tree_sitter_javascript
import tree_sitter_typescript
from tree_sitter import Language, LogType, Node, Parser, Tree

from codemode_jupyter.errors import CodemodeError

JAVASCRIPT = Language(tree_sitter_javascript.language())
TYPESCRIPT = Language(tree_sitter_typescript.language_typescript())

TRIVIA = re.compile(rb"(?:\s|\xc2\xa0|\xef\xbb\xbf|\xe2\x80[\xa8\xa9]|//[^\n\r]*|/\*.*?\*/)+", re.DOTALL)
"""Blanks and comments between two tokens."""

PARSE_SECONDS = 10.0
"""Time limit of one parse; an ordinary text of 1 MB takes about half a second."""

_FUNCTIONS = frozenset(
    (
        "arrow_function",
        "function_declaration",
        "function_expression",
        "generator_function",
        "generator_function_declaration",
        "method_definition",
    )
)
_SLICE = 1024
_FEW_BRACKETS = 2_000
_STACK_PER_BRACKET = 1024
_STACK_AT_LEAST = 4 * 1024 * 1024
_STACK_AT_MOST = 512 * 1024 * 1024
_PAGES = 64 * 1024

Log = Callable[[LogType, str], None]
Read = Callable[[int, object], bytes]

_stack_size_lock = threading.Lock()


def parse_javascript(data: bytes) -> Tree:
    """Parse UTF-8 text as JavaScript.

    Raises
    ------
    CodemodeError
        ``program_too_complex`` when it takes longer than ``PARSE_SECONDS`` or needs more memory than there is.
    """
    return parse(JAVASCRIPT, data)


def parse_typescript(data: bytes) -> Tree:
    """Parse UTF-8 text as TypeScript (without JSX); raises like ``parse_javascript``."""
    return parse(TYPESCRIPT, data)


def parse(language: Language, data: bytes, *, read: Read | None = None, log: Log | None = None) -> Tree:
    """Parse a text; ``read`` may end it early, ``log`` hears what the parser does."""
    brackets = sum(data.count(bracket) for bracket in (b"(", b"[", b"{", b"<"))
    if brackets <= _FEW_BRACKETS:
        return _parse(language, data, read, log)
    stack = min(_STACK_AT_LEAST + brackets * _STACK_PER_BRACKET, _STACK_AT_MOST) // _PAGES * _PAGES
    results: list[Tree | CodemodeError] = []

    def work() -> None:
        try:
            results.append(_parse(language, data, read, log))
        except CodemodeError as error:
            results.append(error)

    _run_with_stack(work, stack)
    [result] = results
    if isinstance(result, CodemodeError):
        raise result
    return result


def _parse(language: Language, data: bytes, read: Read | None, log: Log | None) -> Tree:
    deadline = time.monotonic() + PARSE_SECONDS

    def slice_at(offset: int, _: object) -> bytes:
        return data[offset : offset + _SLICE]

    def is_late(_: int, __: bool) -> bool:  # noqa: FBT001 -- the parser's signature
        return time.monotonic() > deadline

    parser = Parser(language) if log is None else Parser(language, logger=log)
    try:
        return parser.parse(read or slice_at, encoding="utf8", progress_callback=is_late)
    except ValueError:
        raise CodemodeError(
            "program_too_complex",
            f"The program takes longer than {PARSE_SECONDS:g} seconds to read.",
            hint="Send data through a tool instead of writing it into the program.",
        ) from None


def _run_with_stack(work: Callable[[], None], size: int) -> None:
    """Run in a thread with a stack of ``size`` bytes; the size is the process's for as long as the thread starts."""
    with _stack_size_lock:
        before = threading.stack_size(size)
        try:
            thread = threading.Thread(target=work, name="codemode-parse")
            thread.start()
        except RuntimeError:
            raise CodemodeError(
                "program_too_complex", "The program has more brackets than there is memory to read them."
            ) from None
        finally:
            threading.stack_size(before)
    thread.join()


def descendants(root: Node) -> Iterator[Node]:
    """Yield ``root`` and every named node below it, parents before children, in the order of the text."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.named_children))


def outside_functions(root: Node) -> Iterator[Node]:
    """Yield ``root`` and every node below it that does not stand inside a function."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        if node.type not in _FUNCTIONS:
            stack.extend(reversed(node.children))


def tokens(root: Node) -> Iterator[Node]:
    """Yield the tokens that are in the text, in its order."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.child_count == 0 and not node.is_missing:
            yield node
        stack.extend(reversed(node.children))


def faulty(root: Node) -> Iterator[Node]:
    """Yield the nodes on the way to errors, and the errors."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.has_error or node.is_missing:
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
