"""What a program prints becomes console lines.

Owns: standard output and error, warnings and logging. The Worker's runtime owns the limits.
"""

from __future__ import annotations

import io
import logging
import sys
import warnings
from typing import Any

from .tracebacks import in_words, is_own_file, own_origin

_LEVELS = ((logging.ERROR, "error"), (logging.WARNING, "warn"), (logging.INFO, "info"), (0, "debug"))

_FOR_AUTHORS = (DeprecationWarning, PendingDeprecationWarning, ImportWarning)
"""Warnings that say something to whoever wrote the code, and to nobody else: as Python's own filters have it."""


class ConsoleStream(io.TextIOBase):
    """A text stream that goes to the console: what one ``print`` writes is one entry."""

    def __init__(self, bridge: Any, level: str) -> None:
        self._bridge = bridge
        self._level = level
        self._begun = ""

    encoding = "utf-8"

    def writable(self) -> bool:
        """Tell that it can be written to."""
        return True

    def write(self, text: str) -> int:
        """Print what was written once its last line has ended."""
        self._begun += text
        if text.endswith("\n"):
            begun, self._begun = self._begun[:-1], ""
            self._bridge.print(self._level, begun)
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
        """Print one record; its level is the entry's."""
        level = next(name for least, name in _LEVELS if record.levelno >= least)
        self._bridge.print(level, self.format(record))


def install_console(bridge: Any) -> None:
    """Send all that the program prints to the console."""
    sys.stdout = ConsoleStream(bridge, "log")
    sys.stderr = ConsoleStream(bridge, "error")
    _install_logging(bridge)
    _install_warnings(bridge)


def flush_console() -> None:
    """Print lines that have begun."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()


def _install_logging(bridge: Any) -> None:
    logging.lastResort = None
    handler = _ConsoleHandler(bridge)
    logging.getLogger().addHandler(handler)
    configure = logging.basicConfig

    def basic_config(**options: Any) -> None:
        """Configure the root logger, which writes to the console unless it is told otherwise."""
        if logging.getLogger().handlers == [handler] and not options.keys() & {"handlers", "filename", "stream"}:
            if "format" not in options:  # the console shows the level already
                handler.setFormatter(logging.Formatter("%(message)s"))
            options |= {"handlers": [handler], "force": True}
        configure(**options)

    logging.basicConfig = basic_config


def _install_warnings(bridge: Any) -> None:
    once: dict[Any, Any] = {}

    def show(message: Any, category: Any, filename: str, lineno: int, *_: Any) -> None:
        if issubclass(category, _FOR_AUTHORS) and not is_own_file(filename):
            return
        place = f" ({in_words(filename, lineno)})" if is_own_file(filename) else ""
        bridge.print("warn", f"{category.__name__}: {message}{place}")

    def warn_unawaited(coroutine: Any) -> None:
        file, line = own_origin(coroutine.cr_origin) or ("", 0)
        text = f"{coroutine.__qualname__}() was never awaited: write `await {coroutine.__qualname__}(…)`"
        warnings.warn_explicit(text, RuntimeWarning, file, line, registry=once)

    warnings.showwarning = show  # type: ignore[assignment]  # takes what it is given
    warnings._warn_unawaited_coroutine = warn_unawaited  # type: ignore[attr-defined]  # noqa: SLF001  what the interpreter calls
    warnings.simplefilter("default")
    warnings.simplefilter("ignore", ResourceWarning)
    sys.set_coroutine_origin_tracking_depth(3)  # the connector's own frames, and the program's line
