"""``%codemode packages``: which packages programs in Python may import, and which a run had.

Owns: the command's words. Never does: fetch or choose packages; the runtime does what its user named.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from codemode_jupyter.notebook.ids import find_execution, short_id
from codemode_jupyter.notebook.stop import until_done
from codemode_jupyter.notebook.tables import one_line, table
from codemode_jupyter.runtime.runtime import Runtime
from codemode_jupyter.sandbox.python.packages.package import Package

_UPDATE = "update"
_ORIGINS = {"index": "index", "project": "local project", "file": "wheel", "distribution": "Pyodide distribution"}


async def packages(runtime: Runtime, given: Namespace) -> str:
    """List the packages of the runtime, after an update if asked for, or those of an execution."""
    if given.arguments and given.arguments[0] != _UPDATE:
        known = [execution.id for execution in await runtime.executions()]
        execution_id = find_execution(given.arguments[0], known)
        found = (await runtime.execution(execution_id)).packages
        return _listed(found) if found else f"Execution {short_id(execution_id)} has no packages."
    found = await until_done(runtime.packages(update=bool(given.arguments)))
    return _listed(found) if found else "This runtime has no packages: Runtime(packages=[…]) names them."


def _listed(found: Sequence[Package]) -> str:
    rows = [(one_line(one.name, 40), one_line(one.version, 20), _ORIGINS[one.origin], one.sha256[:16]) for one in found]
    return table(("PACKAGE", "VERSION", "FROM", "SHA-256"), rows)
