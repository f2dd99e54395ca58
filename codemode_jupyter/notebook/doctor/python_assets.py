"""The doctor's look at what programs in Python need: an interpreter for the sandbox, as files.

Owns: that one finding. Never does: make the files; the first program in Python does.
"""

from __future__ import annotations

from codemode_jupyter.notebook.doctor.report import Finding
from codemode_jupyter.sandbox.deno import find_deno
from codemode_jupyter.sandbox.python.assets import PYODIDE_VERSION, assets_folder, find_assets

_MEGABYTE = 1_000_000


async def check_python_assets() -> Finding:
    """Tell whether the files are there."""
    assets = find_assets()
    if find_deno() is None:
        mend = "Run `pip install 'codemode-jupyter[python]'`."
        return Finding("absent", "programs in Python run in Deno, which is not installed", mend=mend)
    if assets is None:
        what = f"Pyodide {PYODIDE_VERSION} is not there yet; the first program in Python fetches it"
        return Finding("absent", f"{what} into {assets_folder()}")
    return Finding("ok", f"Pyodide {PYODIDE_VERSION}, {assets.size / _MEGABYTE:.0f} MB in {assets.folder}")
