"""The doctor's look at what packages of Python programs need: pip in the kernel's environment.

Owns: that one finding. Never does: ask an index for anything.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from codemode_jupyter.notebook.doctor.report import Finding
from codemode_jupyter.sandbox.python.packages.folder import packages_folder


async def check_packages() -> Finding:
    """Tell whether packages can be fetched, and where they are kept."""
    try:
        found = f"pip {version('pip')} fetches them"
    except PackageNotFoundError:
        mend = "Run `python -m ensurepip` in the kernel's environment, if programs in Python are to have packages."
        return Finding("absent", "Runtime(packages=…) needs pip, which is not there", mend=mend)
    return Finding("ok", f"{found}; they are kept in {packages_folder()}")
