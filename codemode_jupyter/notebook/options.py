"""Options on the line of a magic, read as a shell would read them.

Owns: the parser whose every complaint is a ``UsageError``, which IPython shows as one line.
Never does: knowing an option.
"""

from __future__ import annotations

import argparse
import shlex
from typing import NoReturn

from IPython.core.error import UsageError


class OptionParser(argparse.ArgumentParser):
    """An ``argparse`` parser for the magic that is written ``name``."""

    def __init__(self, name: str) -> None:
        super().__init__(prog=name, add_help=False, allow_abbrev=False)

    def parse_line(self, line: str) -> argparse.Namespace:
        """Return the options of ``line``.

        Raises
        ------
        UsageError
            The line cannot be read or has options that are unknown or incomplete.
        """
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise UsageError(f"{self.prog} {line}: this cannot be read ({str(error).lower()})") from None
        return self.parse_args(words)

    def error(self, message: str) -> NoReturn:
        """Raise what ``argparse`` would print before it ends the process."""
        raise UsageError(f"{self.prog}: {message}")
