"""A tool: everything about one method of a connector in one place.

Owns: the description of a tool and the context it is called with. Never does: logging, approval decisions or replay;
the runtime does these, asking the fields here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from codemode_jupyter.connectors.questions import Answer, Question
from codemode_jupyter.connectors.schemas.validation import SchemaValidator
from codemode_jupyter.errors import CodemodeError

JsonSchema: TypeAlias = dict[str, Any]
Arguments: TypeAlias = dict[str, Any]


class CallChannel(Protocol):
    """What a tool may tell and ask while it runs; the runtime is behind it."""

    def progress(self, done: float, total: float | None, message: str) -> None:
        """Show how far the call is."""

    def log(self, level: str, text: str, source: str) -> None:
        """Show a line that somebody else than the program wrote."""

    async def ask(self, question: Question) -> Answer:
        """Ask the person, and wait for the answer."""

    async def interrupt(self, payload: object, schema: Mapping[str, Any] | None) -> Any:
        """Return the answer to a question that may wait for days."""

    async def step(self, name: str, function: Callable[[], object]) -> Any:
        """Return what a step came to, which is run once."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may know about the call it serves, and how it speaks to the person meanwhile.

    ``idempotency_key`` is stable over passes and restarts: the same call of the same execution always has the same key.
    What is told with ``progress`` and ``log`` shows in the card while the call runs; the program never sees it.
    """

    execution_id: str
    seq: int
    idempotency_key: str
    channel: CallChannel | None = field(default=None, compare=False, repr=False)

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Show how far the call is: ``done`` of ``total`` in any unit, ``None`` where the end is not known."""
        if self.channel is not None:
            self.channel.progress(done, total, message)

    def log(self, level: str, text: str, source: str) -> None:
        """Show a line in the card's console, marked as from ``source``; models do not read it.

        ``level`` is ``debug``, ``info``, ``log``, ``warn`` or ``error``.
        """
        if self.channel is not None:
            self.channel.log(level, text, source)

    async def ask(self, question: Question) -> Answer:
        """Ask the person and wait; neither the call's nor the program's time limit counts meanwhile.

        The question is in flight, not recorded: it is gone when the call ends or its kernel dies.

        Raises
        ------
        CodemodeError
            ``nobody_to_ask``: the call was not made by a runtime.
        """
        if self.channel is None:
            raise CodemodeError("nobody_to_ask", "There is nobody to ask: no runtime made this call.")
        return await self.channel.ask(question)

    def interrupt(self, payload: object, schema: JsonSchema | None = None) -> Awaitable[Any]:
        """Ask a person, however long the answer takes: ``answer = await context.interrupt("Which one?")``.

        The run pauses and nothing is kept alive. When ``Runtime.respond`` gives the answer, the tool runs **again from
        its beginning**, under the same ``idempotency_key``, and this returns the answer. So a tool must ask the same
        questions each time, and what it does before one belongs into ``step``. Several questions may be asked one after
        the other, in a loop, or side by side (``asyncio.gather``); whatever else the tool is doing at a question, but
        for its steps, is cancelled and done again. ``except Exception`` does not catch the wait.

        Parameters
        ----------
        payload : any storable value
            What the person is shown: a text, or any data.
        schema : dict or None, default None
            JSON Schema (2020-12) of the answer, of which the form is made and against which the answer is checked;
            ``None``: free text.

        Raises
        ------
        CodemodeError
            ``async_only``: called in a plain function, which runs in a thread that cannot wait for days.
            ``nobody_to_ask``, ``interrupts_off`` (the runtime's ``on_interrupt="fail"``, or a tool with
            ``replay="reexecute"``), ``not_in_step``, ``invalid_schema``, ``not_storable``, ``too_large``,
            ``tool_divergence``, ``too_many_questions``.
        """
        return self._durable("interrupt").interrupt(payload, schema)

    def step(self, name: str, function: Callable[[], object]) -> Awaitable[Any]:
        """Run a function once for this call, however often the tool runs: ``await context.step("charge", charge)``.

        Its value, or error, is recorded, and returned as recorded each time (dates as ISO text, models as dicts).
        A plain function runs in a thread. Steps of one name are told apart by their order.

        Raises
        ------
        CodemodeError
            What the function raised, as ``step_failed`` unless it is a ``CodemodeError``; ``not_storable`` and
            ``too_large`` for its value. ``async_only``, ``nobody_to_ask``, ``not_in_step``, ``tool_divergence``.
        """
        return self._durable("step").step(name, function)

    def _durable(self, word: str) -> CallChannel:
        if self.channel is None:
            raise CodemodeError("nobody_to_ask", "There is nobody to ask: no runtime made this call.")
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            raise CodemodeError(
                "async_only",
                f"A plain function used `{word}`, which only a coroutine function can await.",
                hint=f"Write the tool as `async def`, and `await context.{word}(…)`.",
            ) from None
        return self.channel


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
        code ``invalid_arguments`` that lists every fault with its path. By default the arguments are checked against
        ``input_schema`` and returned as they are.
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
    validate: Callable[[Arguments], Any] = dict  # replaced when the tool is made
    requires_approval: bool | Callable[[Arguments], bool] = False
    revert: Callable[[Mapping[str, Any], Any], object] | None = None
    replay: Literal["record", "reexecute"] = "record"
    idempotent: bool = False
    timeout: float | None = None
    cancellable: bool = True

    def __post_init__(self) -> None:
        checks = self.validate
        stale = isinstance(checks, SchemaValidator) and checks.schema is not self.input_schema
        if checks is dict or stale:  # `replace(tool, input_schema=…)` brings the check of the schema before
            object.__setattr__(self, "validate", SchemaValidator(self.name, self.input_schema))
