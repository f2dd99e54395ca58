"""Answers of servers that keep to the protocol less than the SDK asks, mended before the SDK reads them.

Owns: what is left out or replaced so that one bad tool costs itself, never the list. Never does: make a tool more than
its server says; what is mended is looser or gone.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from mcp_types import JSONRPCMessage, JSONRPCResponse

_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_log = logging.getLogger(__name__)


def mended(message: JSONRPCMessage) -> JSONRPCMessage:
    """Return a message as it was, an answer with its tools or its content mended."""
    if not isinstance(message, JSONRPCResponse) or not isinstance(result := message.result, dict):
        return message
    if isinstance(tools := result.get("tools"), list):
        kept = [made for tool in tools if (made := _tool(tool)) is not None]
        if len(kept) < len(tools):
            _log.warning("%d tools of a server have no name; they are left out.", len(tools) - len(kept))
        return message.model_copy(update={"result": {**result, "tools": kept}})
    if "content" in result or "isError" in result:
        content = result.get("content", [])
        parts = [_part(part) for part in content] if isinstance(content, list) else content
        return message.model_copy(update={"result": {**result, "content": parts}})
    return message


def _tool(tool: object) -> dict[str, Any] | None:
    if not isinstance(tool, Mapping) or not isinstance(tool.get("name"), str):
        return None
    made = {"name": tool["name"], "inputSchema": _schema(tool.get("inputSchema"))}
    for key in ("title", "description"):
        if isinstance(tool.get(key), str):
            made[key] = tool[key]
    if isinstance(tool.get("outputSchema"), Mapping):
        made["outputSchema"] = _schema(tool["outputSchema"])
    hints = tool.get("annotations")
    if isinstance(hints, Mapping):
        made["annotations"] = {key: hints[key] for key in _HINTS if isinstance(hints.get(key), bool)}
        if isinstance(hints.get("title"), str):
            made["annotations"]["title"] = hints["title"]
    if isinstance(tool.get("_meta"), Mapping):
        made["_meta"] = tool["_meta"]
    return made


def _schema(schema: object) -> dict[str, Any]:
    """Return a schema of an object whose properties are schemas; what is none asks for nothing."""
    if not isinstance(schema, Mapping):
        return {"type": "object"}
    made = {**schema, "type": "object"}
    properties = made.pop("properties", None)
    if isinstance(properties, Mapping):
        made["properties"] = {name: one if isinstance(one, Mapping) else {} for name, one in properties.items()}
    required = made.pop("required", None)
    if isinstance(required, list):
        made["required"] = [name for name in required if isinstance(name, str)]
    return made


def _part(part: object) -> object:
    is_text = isinstance(part, Mapping) and part.get("type") == "text"
    return {"text": "", **part} if is_text and isinstance(part, Mapping) else part
