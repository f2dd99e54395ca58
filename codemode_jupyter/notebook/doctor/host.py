"""The doctor's look at what runs the kernel: versions, and whether messages come through while a cell runs."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from codemode_jupyter.notebook import kernel_shim
from codemode_jupyter.notebook.doctor.report import Finding

_PACKAGES = ("codemode-jupyter", "ipython", "ipywidgets", "anywidget")


async def check_versions() -> Finding:
    """Name the versions that a report needs."""
    found = ", ".join(f"{name} {_version(name)}" for name in _PACKAGES)
    return Finding("ok", f"{found}, Python {platform.python_version()} on {platform.system()} {platform.machine()}")


async def check_kernel(kernel: Any) -> Finding:
    """Tell which kernel runs, and how it hears the page while a cell runs."""
    if kernel is None:
        return Finding("absent", "none: this is a terminal or a script, which has no page")
    name = f"ipykernel {_version('ipykernel')}"
    if kernel_shim.is_installed(kernel):
        return Finding("ok", f"{name}; messages during cells come through the shim")
    if not kernel_shim.needs_shim(kernel):
        return Finding("ok", f"{name}; messages during cells come through by themselves")
    return Finding(
        "wrong",
        f"{name}; a page is not heard while a cell runs: the shim is not installed",
        mend="Run %reload_ext codemode_jupyter, or install ipykernel 7.4 or newer.",
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"
