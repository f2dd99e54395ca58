"""Which runtime a cell or command means.

Owns: the rule, by names in the user's namespace. Never does: keeping runtimes; they live where the user put them.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from IPython.core.error import UsageError

from codemode_jupyter.runtime.runtime import Runtime

DEFAULT_VARIABLE = "runtime"


def find_runtime(namespace: dict[str, Any], name: str | None = None) -> Runtime:
    """Return the runtime that is meant.

    With a ``name``: the variable of that name, else the runtime whose own name that is. Without: the variable
    ``runtime``, else the only runtime there is. Where there is none, one without connectors is made and kept in the
    variable ``runtime``.

    Raises
    ------
    UsageError
        No such runtime (names the nearest), several to choose from, or ``runtime`` is something else.
    """
    known = {
        variable: value
        for variable, value in namespace.items()
        if isinstance(value, Runtime) and not variable.startswith("_")  # `_`, `_3` … hold past outputs
    }
    if name is not None:
        return _named(name, known, namespace)
    if DEFAULT_VARIABLE in known:
        return known[DEFAULT_VARIABLE]
    distinct = {id(runtime): runtime for runtime in known.values()}
    if len(distinct) == 1:
        return next(iter(distinct.values()))
    if distinct:
        raise UsageError(f"there are several runtimes ({', '.join(known)}): say which with -r NAME")
    if DEFAULT_VARIABLE in namespace:
        kind = type(namespace[DEFAULT_VARIABLE]).__name__
        raise UsageError(
            f"the variable {DEFAULT_VARIABLE!r} is {_article(kind)} {kind}, not a Runtime: "
            "make one under another name, such as codemode_runtime = Runtime()"
        )
    namespace[DEFAULT_VARIABLE] = runtime = Runtime()
    return runtime


def _named(name: str, known: dict[str, Runtime], namespace: dict[str, Any]) -> Runtime:
    if name in known:
        return known[name]
    own = {id(runtime): runtime for runtime in known.values() if runtime.name == name}
    if len(own) == 1:
        return next(iter(own.values()))
    if own:
        raise UsageError(f"several runtimes are named {name!r}: say which by the name of its variable")
    if name in namespace:
        kind = type(namespace[name]).__name__
        raise UsageError(f"the variable {name!r} is {_article(kind)} {kind}, not a Runtime")
    candidates = list(dict.fromkeys([*known, *(runtime.name for runtime in known.values())]))
    near = get_close_matches(name, candidates, n=3, cutoff=0.4)
    if near:
        raise UsageError(f"there is no runtime {name!r}; did you mean {' or '.join(map(repr, near))}?")
    there = f"there is {', '.join(map(repr, known))}" if known else "none has been made yet"
    raise UsageError(f"there is no runtime {name!r}: {there}")


def _article(word: str) -> str:
    return "an" if word[:1].lower() in "aeiou" else "a"
