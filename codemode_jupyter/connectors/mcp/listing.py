"""The tools of a server, as its list has them.

Owns: reading all pages within bounds, and the identifiers that programs use. Never does: make tools
(``connector.py``).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping

import mcp_types as types
from mcp import ClientSession

from codemode_jupyter.connectors.names import sanitize_name, sanitize_names
from codemode_jupyter.errors import CodemodeError

MOST_TOOLS = 10_000
"""Most tools that are taken from one server."""

_MOST_PAGES = 1_000
_LONGEST_NAME = 200
_OF_THE_LANGUAGES = re.compile(r"__.*__")
_log = logging.getLogger(__name__)


async def list_tools(session: ClientSession, connector: str) -> list[types.Tool]:
    """Return the tools of all pages, each name once; what goes beyond the bounds is left out, which the log says."""
    found: dict[str, types.Tool] = {}
    cursors: set[str] = set()
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
        for tool in page.tools:
            if tool.name in found:
                _log.warning("%s lists the tool %.100r twice; the first counts.", connector, tool.name)
            elif len(tool.name) > _LONGEST_NAME:
                _log.warning("%s has a tool with a name of %d characters; left out.", connector, len(tool.name))
            else:
                found[tool.name] = tool
        cursor = page.next_cursor
        if cursor is None or cursor in cursors or len(found) > MOST_TOOLS:
            break
        cursors.add(cursor)
    if len(found) > MOST_TOOLS or cursor is not None:
        _log.warning("%s has more tools than the first %d; the others are left out.", connector, MOST_TOOLS)
    return list(found.values())[:MOST_TOOLS]


def identifiers(connector: str, names: Iterable[str], rename: Mapping[str, str]) -> dict[str, str]:
    """Return the identifier of each tool.

    Raises
    ------
    CodemodeError
        ``duplicate_name``: two tools would have one identifier; the message names both.
    """
    listed = list(names)
    made = {name: rename.get(name) or _identifier(name) for name in listed}
    if len(set(made.values())) == len(made):
        return made
    try:
        sanitize_names(connector, [rename.get(name, name) for name in listed])
    except CodemodeError as refusal:
        raise CodemodeError(
            refusal.code, refusal.message, hint='Give one of them another name: rename={"its name": "another"}.'
        ) from None
    raise CodemodeError(
        "duplicate_name",
        f'Two tools of "{connector}" have one name in programs.',
        hint='Give one of them another name: rename={"its name": "another"}.',
    )


def _identifier(name: str) -> str:
    made = sanitize_name(name)
    return f"{made.strip('_')}_" if _OF_THE_LANGUAGES.fullmatch(made) else made
