"""Where something stands in a program's text, and how that place is shown to a person.

Lines end as ECMAScript says (LF, CR, CR LF, U+2028, U+2029) and columns count UTF-16 code units from 1, as
the engines and editors do, so a position from V8 and one from the parser mean the same place.
Never parses anything.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

LINE_BREAK = re.compile(r"\r\n|[\n\r\u2028\u2029]")
_NOT_A_LINE_BREAK = re.compile(r"[^\n\r\u2028\u2029]")
_EXCERPT_WIDTH = 120
_INVISIBLE_CATEGORIES = ("Cc", "Cf", "Cs", "Zl", "Zp")


class Position(NamedTuple):
    """A place in a text: line and column, both from 1; the column in UTF-16 code units."""

    line: int
    column: int


def utf16_length(text: str) -> int:
    """Count the UTF-16 code units of a text."""
    return len(text) if text.isascii() else len(text) + sum(character > "\uffff" for character in text)


def position_at(text: str, index: int) -> Position:
    """Line and column of the character at ``index`` (in code points, from 0)."""
    line, line_start = 1, 0
    for match in LINE_BREAK.finditer(text, 0, index):
        if match.end() <= index:
            line, line_start = line + 1, match.end()
    return Position(line, utf16_length(text[line_start:index]) + 1)


def blank(text: str) -> str:
    """Replace every character but the line breaks by as many spaces as it has UTF-16 code units."""
    return _NOT_A_LINE_BREAK.sub(lambda match: "  " if match[0] > "\uffff" else " ", text)


def line_excerpt(code: str, line: int, column: int) -> str:
    """Show the line before a place, its line, and a caret below the place, with line numbers at the left.

    Parameters
    ----------
    code : str
        The program as it was written.
    line, column : int
        The place, from 1; the column in UTF-16 code units. A column past the end points behind the line.

    Returns
    -------
    str
        Two or three lines of plain text; ``""`` when the program has no such line. Long lines are cut around
        the place; control, formatting and other invisible characters are shown as a replacement character,
        so that a program cannot disguise the place.
    """
    lines = LINE_BREAK.split(code)
    if not 1 <= line <= len(lines):
        return ""
    index = _index_of_column(lines[line - 1], column)
    start = max(0, index - _EXCERPT_WIDTH // 2)
    gutter = len(str(line))
    shown = []
    if line > 1:
        shown.append(f"{line - 1:>{gutter}} | {_window(lines[line - 2], start)}".rstrip())
    shown.append(f"{line:>{gutter}} | {_window(lines[line - 1], start)}".rstrip())
    before = ("…" if start else "") + _visible(lines[line - 1][start:index])
    shown.append(f"{'':>{gutter}} | {_padding(before)}^")
    return "\n".join(shown)


def _index_of_column(line: str, column: int) -> int:
    """Index of the code point that holds the given UTF-16 column."""
    units = 0
    for index, character in enumerate(line):
        units += 2 if character > "\uffff" else 1
        if units >= column:
            return index
    return len(line)


def _window(line: str, start: int) -> str:
    """Cut the visible piece of a line from ``start``, with ellipses where something is missing."""
    end = start + _EXCERPT_WIDTH
    return ("…" if start else "") + _visible(line[start:end]) + ("…" if len(line) > end else "")


def _visible(text: str) -> str:
    return "".join(
        "\ufffd" if character != "\t" and unicodedata.category(character) in _INVISIBLE_CATEGORIES else character
        for character in text
    )


def _padding(text: str) -> str:
    """Blanks as wide as the text in a fixed-width font."""
    cells = []
    for character in text:
        if character == "\t":
            cells.append("\t")
        elif unicodedata.combining(character) == 0:
            cells.append("  " if unicodedata.east_asian_width(character) in "WF" else " ")
    return "".join(cells)
