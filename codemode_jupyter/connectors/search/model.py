"""The small model of the extra ``[semantic]``: static word vectors that ship in a wheel, so nothing is downloaded.

Owns: loading it once for the process. Never does: reach the network.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from codemode_jupyter.errors import CodemodeError


@cache
def _model() -> Any:
    try:
        package = import_module("wordllama")
    except ImportError as error:
        raise CodemodeError(
            "missing_extra",
            'embed="semantic" needs a model that is not installed.',
            hint='Install it: pip install "codemode-jupyter[semantic]".',
        ) from error
    # Weights and tokenizer lie in the package itself; its own default would look for the tokenizer elsewhere.
    return package.WordLlama.load(cache_dir=Path(str(package.__file__)).parent, disable_download=True)


def semantic(texts: list[str]) -> Any:
    """Return a vector of 256 numbers for each text.

    Raises
    ------
    CodemodeError
        ``missing_extra``: the extra ``[semantic]`` is not installed.
    """
    return _model().embed(texts, norm=True)
