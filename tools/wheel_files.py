"""The build's hook that puts into the wheel what Jupyter servers serve, and what the sandbox's Python is made of.

Owns: where the files are installed to, and what is needed to make them. Never does: make them; ``sandbox/frame.py`` has
the served form of the sandbox's frame, ``sandbox/python/`` the files of Python, which are made once and kept in the
user's cache folder, so that a later build takes them from there. They are installed to ``share/jupyter/labextensions``,
where Jupyter servers find what they serve; there is no ``package.json`` with them, so JupyterLab takes them for plain
files, not for an extension of its own.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import sys_tags

_DENO = "deno>=2.9"
_DENO_PLATFORMS = (
    "manylinux_2_27_x86_64",
    "manylinux_2_27_aarch64",
    "macosx_11_0_arm64",
    "macosx_10_12_x86_64",
    "win_amd64",
)


class WheelFiles(BuildHookInterface[Any]):
    """Adds the files to the shared data of a wheel, also of an editable one."""

    _folder: Path | None = None

    def dependencies(self) -> list[str]:
        """Return what the making of Python's files needs, where that can be had for this platform."""
        return [_DENO] if any(tag.platform in _DENO_PLATFORMS for tag in sys_tags()) else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  given by the build
        """Write the files and name them to the build."""
        self._folder = Path(tempfile.mkdtemp())
        sys.path.insert(0, self.root)  # the package to be built, of which that much needs no other one
        try:
            for path, data in (*_frame(), *self._python()):
                file = self._folder / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)
        finally:
            sys.path.remove(self.root)
        build_data["shared_data"][str(self._folder)] = "share/jupyter/labextensions"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002  see above
        """Remove what was written."""
        if self._folder is not None:
            shutil.rmtree(self._folder)

    def _python(self) -> list[tuple[str, bytes]]:
        """Return Python's files, made where they are not there yet; none, with a warning, where they cannot be."""
        from codemode_jupyter.errors import CodemodeError  # noqa: PLC0415  found once `initialize` says where
        from codemode_jupyter.sandbox.deno_binary import find_deno  # noqa: PLC0415
        from codemode_jupyter.sandbox.python.assets import FILES  # noqa: PLC0415
        from codemode_jupyter.sandbox.python.making import ensure_assets  # noqa: PLC0415
        from codemode_jupyter.sandbox.python.packed import compressed  # noqa: PLC0415
        from codemode_jupyter.sandbox.python.shipped import served_path  # noqa: PLC0415

        self.app.display_waiting("Making the files of the sandbox's Python, where the cache has none…")
        try:
            assets = ensure_assets(find_deno() or "deno")
            return [(served_path(assets.folder.name, name), compressed(assets, name)) for name in FILES]
        except (CodemodeError, OSError) as error:
            why = error.message if isinstance(error, CodemodeError) else str(error)
            self.app.display_warning(
                f"WARNING: the wheel is built without the files of the sandbox's Python. {why}\n"
                "What is installed works all the same; its first program in Python makes them, with Deno and a network."
            )
            return []


def _frame() -> Iterator[tuple[str, bytes]]:
    from codemode_jupyter.sandbox.frame import LABEXTENSION, served_files  # noqa: PLC0415  see above

    for path, text in served_files().items():
        yield f"{LABEXTENSION}/{path}", text.encode()
