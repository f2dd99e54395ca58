"""What a program prints becomes console lines.

Owns: standard output and error, warnings and logging. The Worker's runtime owns the limits.
"""

from __future__ import annotations

import io
import logging
import sys
import warnings
from typing import Any

_LEVELS = ((logging.ERROR, "error"), (logging.WARNING, "warn"), (logging.INFO, "info"), (0, "debug"))


class ConsoleStream(io.TextIOBase):
    """A text stream whose lines go to the console."""

    def __init__(self, bridge: Any, level: str) -> None:
        self._bridge = bridge
        self._level = level
        self._begun = ""

    encoding = "utf-8"

    def writable(self) -> bool:
        """Tell that it can be written to."""
        return True

    def write(self, text: str) -> int:
        """Print the lines that have ended; the rest of the text waits for its end."""
        *lines, self._begun = (self._begun + text).split("\n")
        if lines:
            self._bridge.print(self._level, "\n".join(lines))
        return len(text)

    def flush(self) -> None:
        """Print the line that has begun."""
        if self._begun:
            self._bridge.print(self._level, self._begun)
            self._begun = ""


class _ConsoleHandler(logging.Handler):
    def __init__(self, bridge: Any) -> None:
        super().__init__()
        self._bridge = bridge

    def emit(self, record: logging.LogRecord) -> None:
        """Print one record."""
        level = next(name for least, name in _LEVELS if record.levelno >= least)
        self._bridge.print(level, self.format(record))


def install_console(bridge: Any) -> None:
    """Send all that the program prints to the console."""
    sys.stdout = ConsoleStream(bridge, "log")
    sys.stderr = ConsoleStream(bridge, "error")
    logging.lastResort = None
    logging.getLogger().addHandler(_ConsoleHandler(bridge))

    def show(message: Any, category: Any, filename: str, lineno: int, *_: Any) -> None:
        place = f" (line {lineno})" if filename.endswith(".py") and not filename.startswith("/") else ""
        bridge.print("warn", f"{category.__name__}: {message}{place}")

    warnings.showwarning = show  # type: ignore[assignment]  # takes what it is given
    warnings.simplefilter("default")


def flush_console() -> None:
    """Print lines that have begun."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
