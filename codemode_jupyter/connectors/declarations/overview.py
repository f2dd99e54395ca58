"""A connector with very many tools at a glance: their names and what each does, without types.

Owns: a list that a model can read whole. Never does: declare types; ``describe`` of one method does.
"""

from __future__ import annotations

from collections.abc import Sequence

from codemode_jupyter.connectors.declarations.comments import text_lines
from codemode_jupyter.connectors.declarations.notes import shortened
from codemode_jupyter.connectors.tool import Tool

_LONGEST_LINE = 120
_LONGEST_TEXT = 100_000


def overview(connector: str, tools: Sequence[Tool]) -> str:
    """Return the tools of a connector, one a line, no more than about 100,000 characters."""
    lines = [
        f"{connector} has {len(tools)} methods.",
        f'codemode.describe("{connector}.NAME") tells how one is called, codemode.search("what you want") finds one.',
        "",
    ]
    length = sum(map(len, lines))
    for index, tool in enumerate(tools):
        said = next(iter(text_lines(tool.description)), "")
        line = shortened(f"{tool.name}: {said}" if said else tool.name, _LONGEST_LINE)
        length += len(line) + 1
        if length > _LONGEST_TEXT:
            return "\n".join([*lines, f"… and {len(tools) - index} more"])
        lines.append(line)
    return "\n".join(lines)
