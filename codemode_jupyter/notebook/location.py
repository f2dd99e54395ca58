"""Where the notebook is: the database path for runtimes that were not given one.

Owns: turning what the front end says about the notebook into a path. Never does: opening or creating the file.

What a front end says is a hint: it is missing in a script, is a session's name in a console, and is stale after a
rename.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DATABASE_SUFFIX = ".codemode.sqlite3"
NAMELESS_DATABASE = "codemode.sqlite3"


def notebook_path(namespace: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return the notebook file of this kernel as far as the front end told, else ``None``.

    VS Code sets ``__vsc_ipynb_file__`` in the user's namespace, Jupyter Server 2 sets ``JPY_SESSION_NAME`` in the
    kernel's environment. The first that names an existing ``.ipynb`` file is taken, so that the name of a console
    or of a notebook that was moved away is not.
    """
    for hint in (namespace.get("__vsc_ipynb_file__"), environ.get("JPY_SESSION_NAME")):
        if not isinstance(hint, str) or not hint:
            continue
        path = Path(hint)
        if path.suffix == ".ipynb" and path.is_absolute() and path.is_file():
            return path
    return None


def database_path(namespace: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> Path:
    """Return where a runtime made in this kernel keeps its log.

    Beside the notebook, named after it without ``.ipynb``: ``quickstart.ipynb`` has ``quickstart.codemode.sqlite3``.
    ``codemode.sqlite3`` in the working directory where no notebook is known.
    """
    notebook = notebook_path(namespace, environ)
    if notebook is None:
        return Path.cwd() / NAMELESS_DATABASE
    return notebook.with_name(notebook.stem + DATABASE_SUFFIX)
