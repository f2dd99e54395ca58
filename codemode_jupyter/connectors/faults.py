"""What is wrong with the arguments of a call: every fault, with its path.

Owns: the wording of refused arguments. Never does: validation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from codemode_jupyter.connectors.names import did_you_mean
from codemode_jupyter.errors import CodemodeError

_MOST_SHOWN = 10
_MOST_LISTED = 100


def invalid_arguments(name: str, arguments: object, error: ValidationError, known: Sequence[str]) -> CodemodeError:
    """Return the refusal of a call's arguments.

    Parameters
    ----------
    name : str
        The tool, as the message names it.
    arguments : object
        What was passed.
    error : ValidationError
        What pydantic found.
    known : sequence of str
        The names that the tool has, to suggest the nearest one for an unknown name.
    """
    details = error.errors(include_url=False, include_input=False, include_context=False)
    return refuse_arguments(name, [_fault(detail, arguments, known) for detail in details], known)


def refuse_arguments(name: str, faults: Sequence[Mapping[str, str]], known: Sequence[str]) -> CodemodeError:
    """Return the refusal of a call whose faults are known; each has a ``path`` and a ``message``.

    The message shows the first 10, ``data["faults"]`` has the first 100: a long list of wrong items is one mistake.
    """
    distinct = [dict(fault) for fault in {(fault["path"], fault["message"]): fault for fault in faults}.values()]
    lines = [f"{fault['path']}: {fault['message']}" if fault["path"] else fault["message"] for fault in distinct]
    more = f"; and {len(lines) - _MOST_SHOWN} more" if len(lines) > _MOST_SHOWN else ""
    takes = f"It takes: {', '.join(known)}." if known else "It takes no arguments."
    return CodemodeError(
        "invalid_arguments",
        f"Arguments to {name} do not fit: {'; '.join(lines[:_MOST_SHOWN])}{more}.".replace("?.", "?"),
        hint=takes,
        data={"faults": distinct[:_MOST_LISTED]},
    )


def path_of(parts: Sequence[str | int]) -> str:
    """Return a path as a program would write it: ``items[0].title``."""
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part.isidentifier():
            text += f".{part}" if text else part
        else:
            text += f'["{part}"]'
    return text


def _fault(detail: ErrorDetails, arguments: object, known: Sequence[str]) -> dict[str, str]:
    path, branch = _split(detail, arguments)
    message = detail["msg"]
    if detail["type"] == "extra_forbidden":
        near = did_you_mean(str(path[0]), known) if len(path) == 1 else ""
        message = f"unknown argument. {near}".strip().rstrip(".") if len(path) == 1 else "unknown key"
    elif detail["type"] == "missing":
        message = "is missing"
    elif branch:
        message = f"{message} (as {' '.join(branch)})"
    return {"path": path_of(path), "message": message}


def _split(detail: ErrorDetails, value: Any) -> tuple[list[str | int], list[str]]:
    """Split a location into the path into the arguments and the branches of unions that pydantic puts between."""
    path: list[str | int] = []
    branch: list[str] = []
    for part in detail["loc"]:
        in_mapping = isinstance(value, Mapping) and part in value
        if in_mapping or (isinstance(value, list | tuple) and isinstance(part, int) and part < len(value)):
            value = value[part]
        elif detail["type"] != "missing" or part != detail["loc"][-1]:
            branch.append(str(part))
            continue
        path.append(part)
    return path, branch
