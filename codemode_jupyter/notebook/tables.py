"""Short tables in plain text, for what commands print.

Owns: the layout, and making text that a program or tool wrote fit for a terminal: no control characters reach it.
Never does: deciding what is in a table.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

_GAP = "  "


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return ``rows`` in aligned columns under ``headings``."""
    lines = [list(headings), *[list(row) for row in rows]]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headings))]
    return "\n".join(
        _GAP.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def one_line(text: str, width: int) -> str:
    """Return ``text`` as one printable line of at most ``width`` characters."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    line = " ".join(printable.split())
    return line if len(line) <= width else line[: width - 1] + "…"


def as_json(value: Any, width: int) -> str:
    """Return ``value`` as one line of JSON, cut to ``width``; what has no JSON form is written as Python writes it."""
    return one_line(json.dumps(value, ensure_ascii=False, default=repr), width)


def local_time(seconds: float) -> str:
    """Return a time (seconds since the epoch) as date and minute in the local time zone."""
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")
