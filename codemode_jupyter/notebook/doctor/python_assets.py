"""The doctor's look at what programs in Python need: an interpreter for the sandbox, as files.

Owns: that one finding. This version runs no programs in Python and has no such files; the check says so.
"""

from __future__ import annotations

from codemode_jupyter.notebook.doctor.report import Finding


async def check_python_assets() -> Finding:
    """Tell whether the files are there."""
    return Finding("absent", "not in this version: programs are written in JavaScript or TypeScript")
