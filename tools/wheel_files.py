"""The build's hook that puts the served form of the sandbox's frame into the wheel.

Owns: writing the files of ``sandbox/frame.py`` where the build takes them from. Never does: make their text. They are
installed to ``share/jupyter/labextensions``, where Jupyter servers find what they serve; there is no ``package.json``
with them, so JupyterLab takes them for plain files, not for an extension of its own.
"""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ServedFrame(BuildHookInterface[Any]):
    """Adds the files to the shared data of a wheel, also of an editable one."""

    _folder: Path | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  given by the build
        """Write the files and name them to the build."""
        frame = _frame_module(Path(self.root))
        self._folder = Path(tempfile.mkdtemp())
        for path, text in frame.served_files().items():
            file = self._folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
        build_data["shared_data"][str(self._folder)] = f"share/jupyter/labextensions/{frame.LABEXTENSION}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002  see above
        """Remove what was written."""
        if self._folder is not None:
            shutil.rmtree(self._folder)


def _frame_module(root: Path) -> ModuleType:
    """Load the module by its file: the package's dependencies are not there while it is built."""
    spec = importlib.util.spec_from_file_location("frame", root / "codemode_jupyter" / "sandbox" / "frame.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError("codemode_jupyter/sandbox/frame.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
