"""The function around a text that a sandbox runs.

Owns: the one form of it. The text stands on lines of its own inside a labelled block, and the wrapper ends by leaving
that block by its label. The label is derived from the text, so no text can hold its own; a text that closes the wrapper
and opens another leaves a ``break`` without its label, which every engine refuses before running anything.
"""

from __future__ import annotations

import hashlib

LINES_BEFORE = 1
"""Lines of the wrapper before the text's first one."""


def wrapped(text: str, parameters: str, *, before: str = "", closing: str = "") -> str:
    """Return an async function of a text, with statements before it (on one line) and after it."""
    label = "program_" + hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"async ({parameters}) => {{ {before}{label}: {{\n{text}\n{closing}break {label}; }} }}"
