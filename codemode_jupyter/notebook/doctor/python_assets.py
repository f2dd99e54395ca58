"""The doctor's look at what programs in Python need: an interpreter for the sandbox, as files.

Owns: that one finding. Never does: make the files or unpack them; the first program in Python does.
"""

from __future__ import annotations

from codemode_jupyter.notebook.doctor.report import Finding
from codemode_jupyter.notebook.doctor.threads import in_thread
from codemode_jupyter.sandbox.deno_binary import find_deno
from codemode_jupyter.sandbox.python.assets import FILES, PYODIDE_VERSION, assets_folder, is_complete, shipped_assets

_MEGABYTE = 1_000_000


async def check_python_assets() -> Finding:
    """Tell whether the files are there, and where they come from."""
    return await in_thread(_look)


def _look() -> Finding:
    made, shipped = assets_folder(), shipped_assets()
    if shipped is not None:
        size = sum((shipped / f"{name}.gz").stat().st_size for name in FILES) / _MEGABYTE
        return Finding("ok", f"Pyodide {PYODIDE_VERSION}, {size:.0f} MB, came with the installed package: {shipped}")
    if is_complete(made):
        size = sum((made / name).stat().st_size for name in FILES) / _MEGABYTE
        return Finding("ok", f"Pyodide {PYODIDE_VERSION}, {size:.0f} MB, made on this machine: {made}")
    what = f"Pyodide {PYODIDE_VERSION} did not come with the installed package and was not made on this machine yet"
    if find_deno() is None:
        mend = "Run `pip install 'codemode-jupyter[python]'`: Deno makes the files."
        return Finding("absent", f"{what}, which takes Deno", mend=mend)
    return Finding("absent", f"{what}; the first program in Python fetches it into {made}")
