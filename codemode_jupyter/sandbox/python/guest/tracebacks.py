"""Where in a program something happened, as a Python author reads it.

Owns: which files are the program's own, their text, and that tracebacks show their lines alone: not those of the
sandbox's package, of asyncio or of the standard library.
"""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Iterable, Iterator
from types import FrameType, TracebackType
from typing import Any

PROGRAM_FILE = "program.py"

Positions = tuple[int | None, int | None, int | None, int | None]

_walk_all = traceback._walk_tb_with_full_positions  # type: ignore[attr-defined]  # noqa: SLF001  what all tracebacks are made by


def is_own_file(name: str) -> bool:
    """Tell whether a file is the program, a snippet of its or a module that the host gave."""
    return name == PROGRAM_FILE or (name.startswith(("snippet-", "module-")) and name.endswith(".py"))


def remember(file: str, text: str) -> None:
    """Keep the text of a program, whose lines tracebacks show."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)


def install_tracebacks() -> None:
    """Leave out of every traceback, also one that the program prints, the lines that are not its own."""
    traceback._walk_tb_with_full_positions = _walk_own  # type: ignore[attr-defined]  # noqa: SLF001  as above


def own_places(error: BaseException) -> list[tuple[str, int, int]]:
    """Return file, line and column (both from 1) of the frames that lie in the program, outermost first.

    Of several errors in one the first one's frames follow.
    """
    places = [
        (frame.f_code.co_filename, line or 1, _column(frame.f_code.co_filename, line or 1, column))
        for frame, (line, _, column, _) in _walk_own(error.__traceback__)
    ]
    if isinstance(error, BaseExceptionGroup):
        places += own_places(error.exceptions[0])
    return places[-20:]


def own_origin(origin: Iterable[tuple[str, int, str]] | None) -> tuple[str, int] | None:
    """Return file and line of the innermost of some frames that lies in the program."""
    return next(((file, line) for file, line, _ in origin or () if is_own_file(file)), None)


def in_words(file: str, line: int) -> str:
    """Return a place as it stands in a sentence."""
    return f"line {line}" if file == PROGRAM_FILE else f"{file}, line {line}"


def told(error: BaseException) -> str:
    """Return the traceback of an error."""
    return "".join(traceback.format_exception(error)).rstrip("\n")


def _walk_own(trace: TracebackType | None) -> Iterator[tuple[FrameType, Positions]]:
    for frame, positions in _walk_all(trace):
        if is_own_file(frame.f_code.co_filename):
            yield frame, positions


def _column(file: str, line: int, offset: Any) -> int:
    """Return a column in UTF-16 units, as all columns are counted, from an offset in UTF-8 bytes."""
    before = linecache.getline(file, line).encode("utf-8", "surrogatepass")[: offset or 0]
    return len(before.decode("utf-8", "ignore").encode("utf-16-le", "surrogatepass")) // 2 + 1
