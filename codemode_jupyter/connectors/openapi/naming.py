"""Names of tools and of their arguments: every operation gets one, and no two share it.

Owns: the identifier made of an ``operationId`` or a path, and how collisions are solved. Never does: leave one out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from codemode_jupyter.connectors.names import sanitize_name
from codemode_jupyter.connectors.openapi.operations import Operation, Parameter

_BETWEEN_WORDS = re.compile(r"[^A-Za-z0-9_$.\s\ufeff-]+")
_RESERVED = re.compile(r"__.*__")


def tool_name(operation: Operation) -> str:
    """Return the name that an operation would have if it were the only one.

    It is made of the ``operationId``, or of the method and the path where there is none. A ``/`` or another character
    between two words becomes ``_``: ``repos/list-for-org`` is ``repos_list_for_org``.
    """
    if re.search(r"[A-Za-z0-9]", operation.id):
        wanted = _BETWEEN_WORDS.sub("_", operation.id)
    else:
        words = re.findall(r"[A-Za-z0-9_.-]+", operation.path)
        wanted = "_".join([operation.method.lower(), *words])
    made = sanitize_name(wanted.strip("_") or "_")
    return made.strip("_") or "operation" if _RESERVED.fullmatch(made) else made


def tool_names(operations: Sequence[Operation], taken: Iterable[str]) -> list[str]:
    """Return a name for each operation, none of them taken or given twice.

    Where two would be called the same, the first of the document keeps the name and the others get their method and
    path after it; a number where that is not enough.
    """
    used = set(taken)
    free: dict[str, int] = {}
    names: list[str] = []
    for operation in operations:
        wanted = tool_name(operation)
        if wanted in used:
            words = re.findall(r"[A-Za-z0-9]+", operation.path)
            wanted = sanitize_name("_".join([wanted, operation.method.lower(), *words]))
        name = wanted
        while name in used:
            free[wanted] = free.get(wanted, 1) + 1
            name = f"{wanted}_{free[wanted]}"
        used.add(name)
        names.append(name)
    return names


class ArgumentNames:
    """The names of one operation's arguments.

    A parameter is called as the document calls it. Where two share a name (one in the path, one in the query), the
    first keeps it and the other gets its place after it: ``id_query``.
    """

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self.parameters: dict[str, Parameter] = {}
        for parameter in parameters:
            self.parameters[self._free(parameter.name, f"{parameter.name}_{parameter.place}")] = parameter
        self._used = set(self.parameters)

    def further(self, *wanted: str) -> str:
        """Return a name for an argument that is no parameter: the first of ``wanted`` that is free."""
        name = self._free(*wanted)
        self._used.add(name)
        return name

    def _free(self, *wanted: str) -> str:
        used = getattr(self, "_used", self.parameters)
        numbered = (f"{wanted[-1]}_{number}" for number in range(2, len(used) + 3))
        return next(name for name in (*wanted, *numbered) if name not in used)
