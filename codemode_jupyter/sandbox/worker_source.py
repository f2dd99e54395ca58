"""The one sandbox runtime, as text for a Worker.

Owns: the order in which the fragments in ``js/worker`` are put together. Never runs anything.

How to use the text: make a Worker of it (classic or module), hand it a ``MessagePort`` in its first message, then post
the kernel's texts to the other end of that channel and take the Worker's texts from there.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

FRAGMENTS = (
    "captured",
    "heap",
    "random",
    "clock",
    "timers",
    "errors",
    "encode",
    "special_values",
    "decode",
    "inspect",
    "console",
    "transport",
    "events",
    "calls",
    "steps",
    "connectors",
    "fetch",
    "modules",
    "languages",
    "lockdown",
    "main",
)
"""Names of the fragments in order; each may use at load time only what stands before it."""

RUNTIME_NAME = "codemode-sandbox.js"
"""The runtime's name in stacks: without one they would show the Worker's address."""


PYTHON_FRAGMENTS = ("interpreter", "packages", "program")
"""Names of the fragments in ``js/python`` that a Worker for Python has besides, before the last of the others."""


@cache
def worker_source() -> str:
    """Return the sandbox runtime: one strict function in which the fragments share a scope."""
    return _put_together([_fragment("worker", name) for name in FRAGMENTS])


def python_worker_source(glue: str) -> str:
    """Return the same runtime with the part for Python; ``glue`` defines ``makePyodide`` (``python/assets.py``)."""
    before, after = python_worker_parts()
    return before + glue + after


@cache
def python_worker_parts() -> tuple[str, str]:
    """Return what stands before and after the glue in the runtime for Python."""
    before = [_fragment("worker", name) for name in FRAGMENTS[:-1]]
    python = [_fragment("python", name) for name in PYTHON_FRAGMENTS]
    gap = "\0"
    start, end = _put_together([*before, gap, *python, _fragment("worker", FRAGMENTS[-1])]).split(gap)
    return start, end


def _fragment(folder: str, name: str) -> str:
    return (files("codemode_jupyter.sandbox") / "js" / folder / f"{name}.js").read_text(encoding="utf-8")


def _put_together(fragments: list[str]) -> str:
    return '(() => {\n"use strict";\n' + "\n".join(fragments) + f"\n}})();\n//# sourceURL={RUNTIME_NAME}\n"
