"""What a model is told about the tool that a runtime is, for each language of its programs.

Owns: the words. Never does: run anything, or say what only people may do.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from codemode_jupyter.runtime.capabilities import Capabilities

ToolLanguage: TypeAlias = Literal["javascript", "python", "both"]
"""What programs a tool takes; with ``both`` the model says the language of each."""

TOOL_LANGUAGES: tuple[ToolLanguage, ...] = ("javascript", "python", "both")

_DESCRIPTION = """\
Run a {language} program in a sandbox; it composes the tools of the connectors below.
{detached}
How to work:
{steps}

Rules:
{form}
- The ONLY globals are {globals} {besides} {network}
- Await every call. Calls that do not depend on each other may run together in {together}.{failing}
- Some methods need a person's approval: `search` and `describe` mark them with `requiresApproval`. Write the program
  as if they returned normally. An answer with status "paused" means that a person is being asked: say what is
  pending, and do NOT send the program again; it goes on by itself once it is approved.
- A program may be run again from its first line with all calls answered from the record, so it must make the same
  calls each time. Time, random numbers and UUIDs repeat by themselves; `codemode.step({step})` keeps the value of
  anything else.
- `codemode.run(name, input)` runs a saved snippet, whatever its language. A program worth keeping takes its input as a
  parameter: `{keeping}`.
{other}
Connectors:
{connectors}"""

_DETACHED = """
A run may be let go before it has ended: a reply with status "waiting" (it waits for a person) or "running" is NOT a
failure. The program goes on by itself. Do NOT run it again: tell your user what it waits for, or that it is still
running, and that you will say how it ended; that is told to you later, with the same executionId.
"""

_ALSO_PYTHON = """
A program may be in Python as well: say `"language": "python"`. Then, in place of the above:
{steps}
{form}
- Globals are {globals} {besides} {network}
- Calls run together in {together}.{failing}
- `codemode.step({step})`. A program worth keeping: `{keeping}`.
"""


@dataclass(frozen=True, slots=True)
class _Words:
    """How one language says it."""

    language: str
    steps: str
    form: str
    besides: str
    no_network: str
    network: str
    together: str
    failing: str
    step: str
    keeping: str


_JAVASCRIPT = _Words(
    language="JavaScript",
    steps="""\
1. `const found = await codemode.search("what you want to do")` lists methods and saved snippets that match.
2. `const how = await codemode.describe(found.results[0].path)` says how one is called.
3. Then call it: `await connector.method({ name: value })`. Never guess a method's name.""",
    form="""\
- Write one async arrow function, `async () => { … }`, and return what you want to know.
  TypeScript syntax is accepted.""",
    besides="(plus standard JavaScript).",
    no_network="There is no network, no file system, no `fetch`,\n  no `require`.",
    network="There is no file system, no `require`,\n  and no network but this: {}.",
    together="`Promise.all`",
    failing="",
    step="name, fn",
    keeping="async (input) => { … }",
)

_PYTHON = _Words(
    language="Python",
    steps="""\
1. `found = await codemode.search("what you want to do")` lists methods and saved snippets that match.
2. `how = await codemode.describe(found["results"][0]["path"])` says how one is called.
3. Then call it: `await connector.method(name=value)`. Never guess a method's name.""",
    form="""\
- Write statements of Python 3.14 with `await` at the top (the event loop runs already: no `asyncio.run`). The value of
  the last expression is the result; `return` may stand at the top, too.""",
    besides="(plus `ToolError` and Python's standard library).",
    no_network="There is no\n  network, no `fetch`, no `input()`, no thread, no process.",
    network="There is no\n  `input()`, no thread, no process, and no network but this: {}.",
    together="`asyncio.gather` or a\n  `TaskGroup`",
    failing=" A call that fails raises `ToolError` (`.code`, `.data`).",
    step="name, function",
    keeping="async def main(input): …",
)


def tool_description(
    capabilities: Capabilities, hints: Mapping[str, str], language: ToolLanguage, *, detaches: bool
) -> str:
    """Return what a model reads about a runtime.

    ``hints`` are short remarks by connector, in place of the first line of its instructions. ``detaches``: runs are
    let go.
    """
    names = [f"`{name}`" for name in (*capabilities.required, "codemode")]
    given = {"globals": " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]}
    words = _PYTHON if language == "python" else _JAVASCRIPT
    other = _filled(_ALSO_PYTHON, _PYTHON, capabilities, **given) if language == "both" else ""
    return _filled(
        _DESCRIPTION,
        words,
        capabilities,
        **given,
        language="JavaScript or Python" if language == "both" else words.language,
        detached=_DETACHED if detaches else "",
        other=other,
        connectors="\n".join(_listed(capabilities, hints)) or "(none)",
    )


def _filled(text: str, words: _Words, capabilities: Capabilities, **more: str) -> str:
    outbound = capabilities.outbound
    network = words.no_network if outbound is None else words.network.format(outbound.described)
    fields = {name: getattr(words, name) for name in _Words.__dataclass_fields__} | {
        "network": network + _importable(capabilities, is_python=words is _PYTHON),
        **more,
    }
    return text.format(**fields).replace("\n  ", " ")  # the lines are broken for readers of this file


def _importable(capabilities: Capabilities, *, is_python: bool) -> str:
    if is_python:
        names: Iterable[str] = (*capabilities.modules.python_names, *capabilities.packages.names)
        return f"\n  `import` also finds {', '.join(names)}." if names else ""
    names = [json.dumps(name, ensure_ascii=False) for name in capabilities.modules.names]
    return f"\n  `import` finds only {', '.join(names)}." if names else ""


def _listed(capabilities: Capabilities, hints: Mapping[str, str]) -> Iterable[str]:
    for connector in capabilities.connectors:
        remark = hints.get(connector.name) or next(iter(connector.instructions().strip().splitlines()), "")
        yield f"- `{connector.name}`" + (f" — {remark}" if remark else "")
