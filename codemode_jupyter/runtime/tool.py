"""The tool a model gets: one text parameter in, one JSON outcome out.

Owns: its name, description and schema. Never does: return the program's source or the log of calls.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.capabilities import Capabilities
from codemode_jupyter.runtime.failures import detail_of
from codemode_jupyter.runtime.records import Outcome

if TYPE_CHECKING:
    from codemode_jupyter.runtime.runtime import Runtime

_DESCRIPTION = """\
Run a JavaScript program in a sandbox; it composes the tools of the connectors below.
{detached}
How to work:
1. `const found = await codemode.search("what you want to do")` lists methods and saved snippets that match.
2. `const how = await codemode.describe(found.results[0].path)` says how one is called.
3. Then call it: `await connector.method({ name: value })`. Never guess a method's name.

Rules:
- Write one async arrow function, `async () => { … }`, and return what you want to know. TypeScript syntax is accepted.
- The ONLY globals are {globals} (plus standard JavaScript). {network}
- Await every call. Calls that do not depend on each other may run together in `Promise.all`.
- Some methods need a person's approval: `search` and `describe` mark them with `requiresApproval`. Write the program
  as if they returned normally. An answer with status "paused" means that a person is being asked: say what is
  pending, and do NOT send the program again; it goes on by itself once it is approved.
- A program may be run again from its first line with all calls answered from the record, so it must make the same
  calls each time. Time, random numbers and UUIDs repeat by themselves; `codemode.step(name, fn)` keeps the value of
  anything else.
- `codemode.run(name, input)` runs a saved snippet. A program worth keeping takes its input as a parameter:
  `async (input) => { … }`.

Connectors:
{connectors}"""

_DETACHED = """
A run may be let go before it has ended: a reply with status "waiting" (it waits for a person) or "running" is NOT a
failure. The program goes on by itself. Do NOT run it again: tell your user what it waits for, or that it is still
running, and that you will say how it ended; that is told to you later, with the same executionId.
"""

_NO_NETWORK = "There is no network, no file system, no `fetch`,\n  no `require`."
_NETWORK = "There is no file system, no `require`,\n  and no network but this: {}."


@dataclass(frozen=True, slots=True)
class RuntimeTool:
    """A runtime as one tool, in the neutral form that agent libraries adapt.

    ``await tool({"code": "..."})`` or ``await tool(code="...")`` returns the outcome's wire form and never raises for
    what a model did.
    """

    name: str
    description: str
    input_schema: dict[str, Any]
    execute: Callable[[str], Awaitable[Outcome]]
    runtime: Runtime = field(repr=False)
    """For what the host does and no model may: ``pending``, ``approve``, ``respond``, ``detach``, ``subscribe`` …"""

    async def __call__(self, arguments: Mapping[str, Any] | None = None, /, **keywords: Any) -> dict[str, Any]:
        """Run the program in ``code``."""
        given = {**(arguments or {}), **keywords}
        code = given.pop("code", None)
        if not isinstance(code, str) or given:
            refusal = CodemodeError("invalid_code", "The tool takes one argument, `code`, which is a text.")
            return Outcome("error", "", error=detail_of(refusal)).to_wire()
        return (await self.execute(code)).to_wire()


def runtime_tool(  # noqa: PLR0913  a tool in all its parts
    capabilities: Capabilities,
    execute: Callable[[str], Awaitable[Outcome]],
    runtime: Runtime,
    description: str | None,
    hints: Mapping[str, str],
    *,
    detaches: bool,
) -> RuntimeTool:
    """Return the tool over a runtime.

    ``hints`` are short remarks by connector, ``description`` replaces the whole text. ``detaches``: runs are let go.
    """
    schema = {
        "type": "object",
        "properties": {"code": {"type": "string", "description": "The program: one async arrow function."}},
        "required": ["code"],
        "additionalProperties": False,
    }
    if description is None:
        description = _described(capabilities, hints, detaches=detaches)
    return RuntimeTool("codemode", description, schema, execute, runtime)


def _described(capabilities: Capabilities, hints: Mapping[str, str], *, detaches: bool) -> str:
    names = [f"`{name}`" for name in (*capabilities.required, "codemode")]
    listed = " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
    lines = []
    for connector in capabilities.connectors:
        remark = hints.get(connector.name) or next(iter(connector.instructions().strip().splitlines()), "")
        lines.append(f"- `{connector.name}`" + (f" — {remark}" if remark else ""))
    network = _NO_NETWORK if capabilities.outbound is None else _NETWORK.format(capabilities.outbound.described)
    if importable := capabilities.modules.names:
        network += f"\n  `import` finds only {', '.join(json.dumps(name, ensure_ascii=False) for name in importable)}."
    text = (
        _DESCRIPTION.replace("{detached}", _DETACHED if detaches else "")
        .replace("{network}", network)
        .replace("{globals}", listed)
    )
    return text.replace("{connectors}", "\n".join(lines) or "(none)")
