"""The doctor's look at the store: where it is and whether a run can be recorded there. The file is only read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from codemode_jupyter.notebook.doctor.report import Finding
from codemode_jupyter.notebook.doctor.threads import in_thread
from codemode_jupyter.runtime.store.inspection import StoreFile, inspect_store

Place: TypeAlias = Path | Callable[[], Path]
"""A path, or what tells it: that can fail too, where the working directory is gone."""

_WRITABLE = "Make the file and its folder writable, or give the runtime another path: Runtime(path=...)."


async def check_storage(place: Place) -> Finding:
    """Tell what is at the place of the store."""
    file = await in_thread(lambda: inspect_store(place() if callable(place) else place))
    found = "; ".join([str(file.path), *_details(file)])
    if not file.is_writable:
        return Finding("wrong", found, mend=_WRITABLE)
    return Finding("ok", found)


def _details(file: StoreFile) -> list[str]:
    place = "on a network file system" if file.is_on_network else "on a local file system"
    writable = "writable" if file.is_writable else "not writable"
    if not file.exists:
        return ["not there yet, the first run makes it", writable, place]
    return [f"schema {file.schema}", f"{file.size:,} bytes", f"mode {file.mode:04o}", writable, place, _journal(file)]


def _journal(file: StoreFile) -> str:
    if file.journal == "wal":
        return "WAL"
    if file.is_on_network:
        return f"no WAL ({file.journal}): it does not work on network file systems"
    return f"no WAL ({file.journal}): no runtime has opened it for writing, or the file system refused it"
