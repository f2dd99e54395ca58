"""Names of runtimes, which keep histories in one file apart.

Owns: which names there may be. Never does: look anything up.
"""

from __future__ import annotations

import re

from codemode_jupyter.errors import CodemodeError

_RUNTIME_NAME = re.compile(r"[A-Za-z0-9_.\-]+")


def check_runtime_name(name: str) -> None:
    """Refuse a runtime name that is empty or holds anything but letters, digits, ``_``, ``-`` and ``.``.

    Raises
    ------
    CodemodeError
        ``invalid_name``
    """
    if not isinstance(name, str) or not _RUNTIME_NAME.fullmatch(name):
        raise CodemodeError(
            "invalid_name",
            f"{name!r} cannot be the name of a runtime.",
            hint="Use letters, digits, `_`, `-` and `.` only.",
        )
