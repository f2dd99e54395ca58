"""A program in Python: which part of a text it is, and what can be said of it without running it.

Owns: fences and a common indentation. Never runs anything, and never changes the
program: the sandbox makes of it what can be awaited (``sandbox/python/guest/source.py``).
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass

from codemode_jupyter.program.fences import fenced_blocks
from codemode_jupyter.program.normalize import Program
from codemode_jupyter.program.positions import blank
from codemode_jupyter.program.python_syntax import check_python

_NAMES = ("python", "py", "python3", "ipython", "")
_INDENT = re.compile(r"^[ \t]*(?=[^\s#])", re.MULTILINE)
_BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class PythonProgram(Program):
    """A program whose lines were all indented by ``indent`` characters, after a mark of ``mark`` characters."""

    indent: int = 0
    mark: int = 0

    def written_column(self, line: int, column: int) -> int:
        """Return the column as it was written."""
        return column + self.indent + (self.mark if line == 1 else 0)


def prepare_python(code: str) -> PythonProgram:
    """Find the program in a text.

    Raises
    ------
    CodemodeError
        ``syntax_error`` with its place, where this Python can tell; else the sandbox does, before anything is called.
    """
    text = _isolated(code.removeprefix(_BYTE_ORDER_MARK))
    indent = _common_indent(text)
    if indent:
        text = "\n".join(line[indent:] if not line[:indent].strip() else line for line in text.split("\n"))
    check_python(code, text, indent)
    return PythonProgram(text, 0, indent=indent, mark=len(_BYTE_ORDER_MARK) if code.startswith(_BYTE_ORDER_MARK) else 0)


def _isolated(text: str) -> str:
    """Replace everything but the fenced program by blanks; without fences all is program."""
    blocks = [block for block in fenced_blocks(text) if block.language in _NAMES]
    if not blocks or _parses(text):
        return text
    named = [block for block in blocks if block.language] or blocks
    pieces, done = [], 0
    for block in named:
        pieces += [_without_text(text[done : block.start]), text[block.start : block.end]]
        done = block.end
    return "".join([*pieces, _without_text(text[done:])])


def _without_text(text: str) -> str:
    """Return as many lines without anything in them but, before a program on the same line, blanks."""
    *lines, last = text.split("\n")
    return "\n" * len(lines) + blank(last)


def _parses(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def _common_indent(text: str) -> int:
    """Return how far every line of code is indented, if the first one is."""
    if not text[: len(text) - len(text.lstrip())].rpartition("\n")[2]:
        return 0
    indents = [match[0] for match in _INDENT.finditer(text)]
    first = indents[0] if indents else ""
    return len(first) if all(indent.startswith(first) for indent in indents) else 0
