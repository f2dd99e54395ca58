"""Commands of ``%codemode`` that end, forget and look up: stop, delete, prune, expire, search, describe.

Owns: their words. Never does: an operation itself; every one is a method of the runtime.
"""

from __future__ import annotations

from argparse import Namespace

from IPython.core.error import UsageError

from codemode_jupyter.notebook.card.value_text import count
from codemode_jupyter.notebook.ids import find_execution, short_id
from codemode_jupyter.notebook.tables import one_line, table
from codemode_jupyter.runtime.retention import EXPIRE_SECONDS
from codemode_jupyter.runtime.runtime import Runtime

_HOUR = 3600.0


async def stop(runtime: Runtime, given: Namespace) -> str:
    """End a run that is under way here."""
    execution_id = await _find(runtime, given)
    if await runtime.stop(execution_id):
        return f"Run {short_id(execution_id)} was ended."
    return f"Run {short_id(execution_id)} is not running here; %codemode reject ends one that waits."


async def delete(runtime: Runtime, given: Namespace) -> str:
    """Forget an execution and its log."""
    execution_id = await _find(runtime, given)
    await runtime.delete_execution(execution_id)
    return f"Deleted: execution {short_id(execution_id)} and its log."


async def prune(runtime: Runtime, given: Namespace) -> str:
    """Forget finished executions but the newest."""
    number = await runtime.prune_executions(int(_number("KEEP", given.arguments[0])))
    return f"Deleted: {count(number, 'finished execution')}."


async def expire(runtime: Runtime, given: Namespace) -> str:
    """End executions that nobody has touched for some hours."""
    hours = _number("HOURS", given.arguments[0]) if given.arguments else EXPIRE_SECONDS / _HOUR
    ended = await runtime.expire_paused(hours * _HOUR)
    names = f" ({', '.join(map(short_id, ended))})" if ended else ""
    return f"Expired: {count(len(ended), 'execution')}{names}."


async def search(runtime: Runtime, given: Namespace) -> str:
    """Find methods and snippets by a question."""
    found = (await runtime.search(" ".join(given.arguments)))["results"]
    if not found:
        return "Nothing was found: ask in other words."
    return table(("NAME", "WHAT IT DOES"), [(one_line(hit["path"], 50), _summary(hit)) for hit in found])


async def describe(runtime: Runtime, given: Namespace) -> str:
    """Declare a connector, a method or a snippet in TypeScript."""
    described = await runtime.describe(given.arguments[0])
    lines = str(described["types"]).split("\n")
    return "\n".join(" " * (len(line) - len(line.lstrip(" "))) + one_line(line, 200) for line in lines)


def _summary(hit: dict[str, object]) -> str:
    return one_line(str(hit.get("description") or ""), 90)


async def _find(runtime: Runtime, given: Namespace) -> str:
    return find_execution(given.arguments[0], [execution.id for execution in await runtime.executions()])


def _number(name: str, text: str) -> float:
    """Return a number, 0 or more, that a person typed."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise UsageError(f"{name} is a number, 0 or more, not {text!r:.40}")
    return number
