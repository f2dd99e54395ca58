"""Where the ``deno`` executable is. Owns: that question, which the wheel's build asks too. Needs nothing installed."""

from __future__ import annotations

import shutil


def find_deno() -> str | None:
    """Return the path of a Deno executable: the ``deno`` package's own, else the one on the path, else ``None``."""
    try:
        from deno import find_deno_bin  # type: ignore[import-untyped]  # noqa: PLC0415  an extra that may be missing

        return str(find_deno_bin())
    except (ImportError, FileNotFoundError):
        return shutil.which("deno")
