"""Folders that are there whole or not at all, also when two processes make the same one, or one is killed at it.

Owns: the temporary folder, and its taking of the place. Never does: know what is in it.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_folder(folder: Path, is_complete: Callable[[Path], bool]) -> Iterator[Path]:
    """Hand out an empty folder, which takes the place of ``folder`` when the block ends without an error.

    Somebody else's that is complete by then stays instead; an incomplete one goes.

    Raises
    ------
    OSError
        The folder beside ``folder`` cannot be made.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="making-", ignore_cleanup_errors=True) as temporary:
        made = Path(temporary) / folder.name
        made.mkdir()
        yield made
        if not is_complete(folder):
            shutil.rmtree(folder, ignore_errors=True)
            with contextlib.suppress(OSError):
                made.replace(folder)
