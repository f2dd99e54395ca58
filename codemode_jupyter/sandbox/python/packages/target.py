"""The platform that packages are for: the sandbox's Python.

Owns: its version, its wheel tags and its environment markers. Never does: fetch anything. The names are those of
PEP 783 (Emscripten packaging) and PEP 508 (markers).
"""

from __future__ import annotations

from functools import cache

from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

PYTHON = (3, 14)
ABI = "cp314"
ABI_VERSION = "2026_0"
"""Pyodide's: which builds of compiled packages fit."""

PLATFORMS = (f"pyemscripten_{ABI_VERSION}_wasm32", f"pyodide_{ABI_VERSION}_wasm32")
"""The tag of PEP 783, and the one that was used before it."""

MARKERS = {
    "implementation_name": "cpython",
    "implementation_version": "3.14.2",
    "os_name": "posix",
    "platform_machine": "wasm32",
    "platform_release": "5.0.3",
    "platform_system": "Emscripten",
    "platform_version": "#1",
    "python_full_version": "3.14.2",
    "platform_python_implementation": "CPython",
    "python_version": "3.14",
    "sys_platform": "emscripten",
}
"""What environment markers of requirements are evaluated for."""

DESCRIBED = f"CPython {PYTHON[0]}.{PYTHON[1]} on {PLATFORMS[0]}"


@cache
def supported_tags() -> frozenset[Tag]:
    """Return the tags of all wheels that the sandbox's Python can import."""
    return frozenset(cpython_tags(PYTHON, [ABI], PLATFORMS)) | frozenset(compatible_tags(PYTHON, ABI, PLATFORMS))


def fits(filename: str) -> bool:
    """Tell by its file name whether the sandbox's Python can import a wheel."""
    try:
        tags = parse_wheel_filename(filename)[3]
    except InvalidWheelFilename:
        return False
    return not tags.isdisjoint(supported_tags())
