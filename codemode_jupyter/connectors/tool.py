"""A tool: everything about one method of a connector in one place.

Owns: the description of a tool and the context it is called with. Never does: logging, approval decisions or replay;
the runtime does these, asking the fields here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

JsonSchema: TypeAlias = dict[str, Any]
Arguments: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may know about the call it serves.

    ``idempotency_key`` is stable over passes and restarts: the same call of the same execution always has the same key.
    """

    execution_id: str
    seq: int
    idempotency_key: str


@dataclass(frozen=True, slots=True)
class Tool:
    """One method of a connector.

    Attributes
    ----------
    name : str
        Identifier in the sandbox.
    call : callable
        ``await call(arguments, context)``; ``arguments`` is what ``validate`` returned.
    description : str
        First paragraph and more, for people and models.
    input_schema : dict
        JSON Schema (2020-12) of the arguments object.
    output_schema : dict or None
        JSON Schema of the result, when known.
    parameters : tuple of str
        Names in positional order, used to bind positional arguments; a last one that starts with ``*`` takes the rest.
    validate : callable
        Takes the arguments object, returns what ``call`` takes; raises ``CodemodeError`` with
        code ``invalid_arguments`` that lists every fault with its path.
    requires_approval : bool or callable
        ``True``, or a function of the arguments object that says so.
    revert : callable or None
        ``revert(arguments, result)``, sync or async, undoes an applied call.
    replay : {"record", "reexecute"}
        ``reexecute``: the result is not stored, the tool runs again in every pass.
    idempotent : bool
        Running it twice under one idempotency key has the effect of running it once.
    timeout : float or None
        Limit in seconds for one run; ``None``: the runtime's default.
    cancellable : bool
        Cancelling the call ends it. ``False`` for a plain function: its thread runs to the end, whoever waits for it.
    """

    name: str
    call: Callable[[Any, ToolContext], Awaitable[object]]
    description: str = ""
    input_schema: JsonSchema = field(default_factory=lambda: {"type": "object", "properties": {}})
    output_schema: JsonSchema | None = None
    parameters: tuple[str, ...] = ()
    validate: Callable[[Arguments], Any] = dict
    requires_approval: bool | Callable[[Arguments], bool] = False
    revert: Callable[[Mapping[str, Any], Any], object] | None = None
    replay: Literal["record", "reexecute"] = "record"
    idempotent: bool = False
    timeout: float | None = None
    cancellable: bool = True
