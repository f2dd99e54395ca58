"""Whether a text is Python: what can be said of it without running it.

Owns: the refusal of what does not parse, where the kernel's own Python can tell.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.program.positions import Position, utf16_length
from codemode_jupyter.program.script import read_script
from codemode_jupyter.program.syntax import syntax_error

SANDBOX_VERSION = (3, 14)
"""The Python that runs in the sandbox. An older one refuses some of what it takes, so only one as new is asked."""

_COMMAND = re.compile(r"^\s*[%!]", re.MULTILINE)

_OF_PYTHON = re.compile(r"indent|use of tabs|character|nested|outside|, line \d+\)$", re.IGNORECASE)
"""What the compiler says of a text that is Python but for one thing, or of a text that the program made itself."""


def other_language_hint(code: str, problem: str) -> str | None:
    """Return a hint for a text that is JavaScript, or IPython's, and no Python; ``problem`` is the compiler's word."""
    if _COMMAND.search(code):
        return "Lines that begin with % or ! are commands of the notebook; a program is Python alone."
    if _OF_PYTHON.search(problem):
        return None
    try:
        read_script(code)
    except CodemodeError:
        return None
    return "This looks like JavaScript; the program must be Python, or its language JavaScript."


def check_python(code: str, text: str | None = None, indent: int = 0) -> None:
    """Refuse a text that does not parse, where this Python can tell; ``text`` is what of ``code`` is program.

    Raises
    ------
    CodemodeError
        ``syntax_error`` with its place.
    """
    if sys.version_info < SANDBOX_VERSION:
        return
    text = code if text is None else text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text, "program.py")
        except SyntaxError as fault:
            line = fault.lineno or 1
            before = (fault.text or "")[: max(0, (fault.offset or 1) - 1)]
            position = Position(line, utf16_length(before) + 1 + indent)
            problem = f"{fault.msg[:1].upper()}{fault.msg[1:]}" + ("" if fault.msg.endswith("?") else ".")
            raise syntax_error(code, position, problem, hint=other_language_hint(code, problem)) from None
        except (ValueError, RecursionError, MemoryError) as fault:
            raise syntax_error(code, Position(1, 1), f"The program cannot be read: {fault}.") from None
