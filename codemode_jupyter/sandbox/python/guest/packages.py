"""Packages that the program may import: archives whose bytes came into the sandbox before it.

Owns: unpacking them where Python and its shared libraries are looked for. What lies there harms nobody but the program:
the Worker is the boundary.
"""

from __future__ import annotations

import io
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

SITE = Path("/lib/python3.14/site-packages")
_FOLDERS = {"site": SITE, "dynlib": Path("/usr/lib")}


def unpack(data: Any, place: str) -> None:
    """Unpack one archive, a wheel or a shared library; ``data`` is JavaScript's ``Uint8Array``."""
    folder = _FOLDERS[place]
    with zipfile.ZipFile(io.BytesIO(data.to_bytes())) as archive:
        archive.extractall(folder)  # it leaves out what leads out of the folder
        spread = {name.split("/", 1)[0] for name in archive.namelist() if ".data/" in name}
    for name in spread:
        _spread(folder / name)


def _spread(data: Path) -> None:
    """Move the parts of a wheel's ``.data`` folder to where they belong (the wheel format's own rule)."""
    if not data.name.endswith(".data"):
        return
    for part, target in (("purelib", SITE), ("platlib", SITE), ("data", Path(sys.prefix))):
        if (data / part).is_dir():
            shutil.copytree(data / part, target, dirs_exist_ok=True)
    shutil.rmtree(data)


def make_importable() -> None:
    """Let imports find what was unpacked."""
    SITE.mkdir(parents=True, exist_ok=True)
    if str(SITE) not in sys.path:
        sys.path.append(str(SITE))
    # Not `importlib.invalidate_caches()`, which reads the list of the whole standard library again.
    sys.path_importer_cache.pop(str(SITE), None)
    metadata = sys.modules.get("importlib.metadata")
    if metadata is not None:
        metadata.MetadataPathFinder.invalidate_caches()
