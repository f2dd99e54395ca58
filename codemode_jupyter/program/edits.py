"""Changes to a text that keep its lines: replacements, and how far they moved what follows on their line.

Owns: ``Edit``, applying a list of them, and the column bookkeeping. Knows nothing of JavaScript.
Offsets are bytes of the UTF-8 text, as the parser counts; columns are UTF-16 code units from 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from codemode_jupyter.program.positions import LINE_BREAK, Position, blank, position_at, utf16_length


class Edit(NamedTuple):
    """Replace the bytes from ``start`` to ``end`` by ``text``; an insertion when both are equal."""

    start: int
    end: int
    text: str


class Shift(NamedTuple):
    """On ``line``, what stands at ``column`` or after it was moved to the right by ``width`` code units."""

    line: int
    column: int
    width: int


class Edited(NamedTuple):
    """A changed text and the shifts that lead back to the text it was made from."""

    text: str
    shifts: tuple[Shift, ...]


def blanked(data: bytes, start: int, end: int, *, first: str = "", last: str = "") -> Edit:
    """Make an edit that puts blanks for a piece of text, but for a given first or last character in ASCII."""
    text = blank(data[start:end].decode())
    if first:
        text = first + text[len(first) :]
    if last:
        text = text[: -len(last)] + last
    return Edit(start, end, text)


def apply_edits(text: str, edits: Iterable[Edit]) -> Edited:
    """Make the changes. Each must keep the line breaks it covers, and none may overlap another.

    Insertions at one offset appear in the order given.
    """
    data = text.encode()
    pieces: list[str] = []
    shifts: list[Shift] = []
    done = 0
    written = Position(1, 1)
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        kept = data[done : edit.start].decode()
        replaced = data[edit.start : edit.end].decode()
        pieces += [kept, edit.text]
        written = _advance(_advance(written, kept), edit.text)
        width = _last_line_length(edit.text) - _last_line_length(replaced)
        if width:
            shifts.append(Shift(written.line, written.column, width))
        done = edit.end
    pieces.append(data[done:].decode())
    return Edited("".join(pieces), tuple(shifts))


def column_before(shifts: Iterable[Shift], line: int, column: int) -> int:
    """Return the column that stood at ``column`` before the edits; inside an insertion, where it was made."""
    on_line = sorted((shift for shift in shifts if shift.line == line), key=lambda shift: shift.column, reverse=True)
    for shift in on_line:
        if column >= shift.column:
            column -= shift.width
        elif column > shift.column - shift.width:
            column = shift.column - shift.width
    return max(column, 1)


def _advance(position: Position, text: str) -> Position:
    inside = position_at(text, len(text))
    if inside.line == 1:
        return Position(position.line, position.column + inside.column - 1)
    return Position(position.line + inside.line - 1, inside.column)


def _last_line_length(text: str) -> int:
    return utf16_length(LINE_BREAK.split(text)[-1])
