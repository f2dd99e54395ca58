"""What a tool's answer means to a program.

Owns: turning the result of ``tools/call`` into one value or one error. Never does: the protocol.

The order: an error is thrown; structured content is the value; text alone is text (JSON of an object or a list is read,
any JSON where the tool declares what it returns); anything else stays the list of its parts, with bytes as bytes.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

from codemode_jupyter.errors import CodemodeError

_MESSAGE = 10_000


def unwrap(result: Mapping[str, Any], *, declared: bool) -> Any:
    """Return the value of a result.

    Parameters
    ----------
    result : mapping
        The result as it was sent (``CallToolResult``; ``toolResult`` of the first revision, too).
    declared : bool
        Whether the tool has an output schema.

    Raises
    ------
    CodemodeError
        ``tool_failed``: the tool says so (``isError``); the message is what it says.
    """
    if result.get("toolResult") is not None:
        return result["toolResult"]
    content = result.get("content")
    parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
    texts = [str(part.get("text") or "") for part in parts if part.get("type") == "text"]
    if result.get("isError"):
        raise _failed(texts, result, parts)
    if result.get("structuredContent") is not None:
        return result["structuredContent"]
    if not parts:
        return None
    if len(texts) == len(parts):
        text = "\n".join(texts)
        return _read(text, declared=declared) if len(texts) == 1 else text
    return {"content": [_part(part) for part in parts]}


def _failed(texts: list[str], result: Mapping[str, Any], parts: list[Mapping[str, Any]]) -> CodemodeError:
    message = "\n".join(texts)[:_MESSAGE] or "Tool call failed"
    data = {key: value for key, value in (("structuredContent", result.get("structuredContent")),) if value is not None}
    kinds = [str(part.get("type")) for part in parts if part.get("type") != "text"]
    if kinds:
        data["otherContent"] = kinds
    return CodemodeError("tool_failed", message, data=data or None)


def _read(text: str, *, declared: bool) -> Any:
    """Return the value of a text that is JSON; a number or a word stays text unless a schema says otherwise."""
    if not declared and not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text


def _refuse(constant: str) -> Any:
    raise ValueError(f"JSON has no {constant}")  # RFC 8259, 6; Python reads NaN and Infinity nevertheless


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    kept = dict(part)
    match part.get("type"):
        case "image" | "audio":
            kept["data"] = _bytes(part.get("data"))
        case "resource" if isinstance(resource := part.get("resource"), Mapping) and "blob" in resource:
            kept["resource"] = {**resource, "blob": _bytes(resource["blob"])}
    return kept


def _bytes(text: object) -> object:
    """Return the bytes of a base64 text (RFC 4648); what is none stays as it is."""
    try:
        return base64.b64decode(text, validate=True) if isinstance(text, str) else text
    except (binascii.Error, ValueError):
        return text
