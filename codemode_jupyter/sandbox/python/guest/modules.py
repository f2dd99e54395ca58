"""The modules that the host gave programs in Python: texts by name, found by ``import`` like any other.

Owns: finding and running them, once in a pass. They see the connectors as the program does.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from .tracebacks import remember


class GivenModules:
    """Finds and loads modules from their texts.

    Parameters
    ----------
    texts : mapping of str to str
        By name, without ``.py``.
    names : mapping
        What they find besides Python's own names.
    """

    def __init__(self, texts: Mapping[str, str], names: Mapping[str, Any]) -> None:
        self._texts = texts
        self._names = names

    def install(self) -> None:
        """Let imports find them first."""
        sys.meta_path.insert(0, self)

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,  # noqa: ARG002  as importlib calls it
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """Return the spec of a module, or ``None`` where it is none of these."""
        return ModuleSpec(name, self, origin=f"module-{name}.py") if name in self._texts else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """Return ``None``: the usual kind of module."""

    def exec_module(self, module: ModuleType) -> None:
        """Run a module's text."""
        text, file = self._texts[module.__name__], f"module-{module.__name__}.py"
        remember(file, text)
        module.__dict__.update(self._names)
        exec(compile(text, file, "exec"), module.__dict__)  # noqa: S102  what the host gave
