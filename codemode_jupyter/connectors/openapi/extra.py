"""The libraries of the extra ``[openapi]``, looked for where they are needed.

Owns: the refusal where one is missing. Never does: import them before they are asked for.
"""

from __future__ import annotations

import importlib
from typing import Any

from codemode_jupyter.errors import CodemodeError


def needed(name: str) -> Any:
    """Return a library of the extra.

    Raises
    ------
    CodemodeError
        ``missing_extra``
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        raise CodemodeError(
            "missing_extra",
            f"OpenApiConnector needs {name}, which is not installed.",
            hint="Run `pip install 'codemode-jupyter[openapi]'`.",
        ) from None
