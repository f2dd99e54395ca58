"""The journal of one call: the steps that its tool makes and the questions that it asks, over all runs of the tool.

Owns: telling a repeated step or question from a new one, running new steps, and noticing that the tool can only wait.
Never does: end the tool, or write to the store; the call's keeper does both.

The rule: each time it runs, a tool makes the same steps and asks the same questions. They are told apart by what they
are (a step's name; a question's payload and schema) and by how often that has come before, so branches that run side by
side may take turns in any order. What is new may come only when all that is recorded has come again.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Protocol, TypeAlias

from codemode_jupyter.connectors.functions.plain_call import call_in_thread, call_on_loop
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime import values
from codemode_jupyter.runtime.digest import question_digest
from codemode_jupyter.runtime.options import check_text
from codemode_jupyter.runtime.store.rows import CallRow, JournalRow
from codemode_jupyter.runtime.user_code import ends_the_task
from codemode_jupyter.runtime.value_writer import message_of

MOST_ENTRIES = 1_000
"""How many steps and questions one call may have."""

_QUIET_TURNS = 10
"""Turns of the event loop in which nothing happens, after which a tool is taken to wait for answers only."""

_Key: TypeAlias = tuple[str, str, str]
"""What tells a step or a question from others: its kind; its name, or its payload; the schema of its answer."""

_in_step: ContextVar[bool] = ContextVar("codemode_in_step", default=False)


class JournalKeeper(Protocol):
    """What a journal needs of whoever runs the call."""

    def journal_of(self, row: CallRow) -> list[JournalRow]:
        """Return what is recorded."""

    def record_step(self, entry: JournalRow) -> None:
        """Record what a step came to."""


class CallJournal:
    """Steps and questions of one run of one tool.

    Parameters
    ----------
    row : CallRow
        The call.
    keeper : JournalKeeper
        Where entries are kept.
    on_rest : callable
        Called once the tool can only wait, or has taken another way than before (``fault``); it then is to be ended.
    may_ask : bool
        Whether questions are allowed.
    """

    def __init__(
        self, row: CallRow, keeper: JournalKeeper, on_rest: Callable[[CallJournal], None], *, may_ask: bool
    ) -> None:
        self._row = row
        self._keeper = keeper
        self._on_rest = on_rest
        self._may_ask = may_ask
        self._recorded: dict[_Key, deque[JournalRow]] | None = None
        self._numbers = 0
        self._moves = 0
        self._under_way = 0
        self._idle = asyncio.Event()
        self._resting: asyncio.Task[None] | None = None
        self._is_over = False
        self.waiting: list[JournalRow] = []
        """The questions that the tool waits for; those without ``asked_at`` are new."""
        self.is_suspended = False
        """Whether the call is recorded as waiting: what its tool does from then on counts for nothing."""
        self.fault: CodemodeError | None = None
        """Set when the tool did not do the same as before."""

    async def interrupt(self, payload: object, schema: Mapping[str, Any] | None) -> Any:
        """Return the answer to a question; while there is none, never return.

        Raises
        ------
        CodemodeError
            ``interrupts_off``, ``not_in_step``, ``invalid_schema``, ``not_storable``, ``too_large``,
            ``tool_divergence``, ``too_many_questions``.
        """
        self._check_open("A question")
        if self._row.ephemeral:
            raise CodemodeError(
                "interrupts_off",
                f"{self._row.name} wanted to ask a person, but it runs anew in every pass.",
                hint='A tool with replay="reexecute" cannot ask; declare it with replay="record".',
            )
        subject, shape = values.encode(payload), _schema_text(schema, self._row.name)
        entry = self._claim(_question_key(subject, shape))
        if entry is None:
            if not self._may_ask:  # what was asked before, where somebody answers, has its answer here too
                raise CodemodeError(
                    "interrupts_off",
                    f'{self._row.name} wanted to ask a person, but this runtime was made with on_interrupt="fail".',
                    hint='Make it with on_interrupt="replay" where somebody answers.',
                )
            await self._all_repeated(f"asked a person something new ({subject[:100]})")
            number = self._take_number()
            digest = question_digest(self._row.digest, number, subject, shape)
            entry = JournalRow(self._row.seq, number, "question", subject, digest, "waiting", shape)
        if entry.state == "answered" and entry.outcome is not None:
            return values.decode(entry.outcome)
        self.waiting.append(entry)
        try:
            await self._never()
        finally:
            if not self.is_suspended:
                self.waiting.remove(entry)

    async def step(self, name: str, function: Callable[[], object]) -> Any:
        """Return what a step came to: run now, or recorded when the tool ran before.

        Raises
        ------
        CodemodeError
            What the step raised: its own code where it is a ``CodemodeError``, else ``step_failed``. And
            ``not_in_step``, ``invalid_option``, ``tool_divergence``, ``too_many_questions``.
        """
        self._check_open("A step")
        if not isinstance(name, str) or not name or not callable(function):
            hint = 'Write `await ctx.step("name", function)`; the function takes nothing.'
            raise CodemodeError(
                "invalid_option", f"{self._row.name} made a step without a name or function.", hint=hint
            )
        check_text("name of a step", name)
        entry = self._claim(("step", name, ""))
        if entry is None:
            await self._all_repeated(f'made a new step, "{name[:100]}"')
            entry = await self._run_step(name, function)
        if entry.state == "failed":
            raise _error_of(entry)
        return values.decode(entry.outcome or "null")

    def check_repeated(self) -> None:
        """Note a fault when the tool has ended, and something that is recorded did not come again."""
        self.open()
        if not self.is_suspended and self.fault is None and self._unclaimed():
            self.fault = self._divergence("ended")

    def close(self) -> None:
        """End the journal with the run of its tool."""
        self._is_over = True
        if self._resting is not None:
            self._resting.cancel()

    def open(self) -> None:
        """Read what is recorded."""
        if self._recorded is None:
            self._recorded = {}
            for entry in self._keeper.journal_of(self._row):
                is_step = entry.kind == "step"
                key = ("step", entry.subject, "") if is_step else _question_key(entry.subject, entry.schema)
                self._recorded.setdefault(key, deque()).append(entry)
                self._numbers = max(self._numbers, entry.number + 1)

    def _check_open(self, what: str) -> None:
        if self._is_over or self.is_suspended:
            raise asyncio.CancelledError
        if _in_step.get():
            raise CodemodeError(
                "not_in_step",
                f"{what} of {self._row.name} came inside a step.",
                hint="Ask, or make the other step, before or after it.",
            )
        if self.fault is not None:
            raise self.fault
        self.open()

    def _claim(self, key: _Key) -> JournalRow | None:
        self._moves += 1
        assert self._recorded is not None  # noqa: S101  it is open
        entries = self._recorded.get(key)
        return entries.popleft() if entries else None

    def _unclaimed(self) -> list[JournalRow]:
        return [entry for entries in (self._recorded or {}).values() for entry in entries]

    def _take_number(self) -> int:
        if self._numbers >= MOST_ENTRIES:
            raise CodemodeError(
                "too_many_questions",
                f"{self._row.name} has made {MOST_ENTRIES:,} steps and questions, which is the most.",
            )
        self._numbers += 1
        return self._numbers - 1

    async def _all_repeated(self, what: str) -> None:
        """Let other branches of the tool repeat what is recorded; refuse what is new as long as they do not."""
        moves, quiet = self._moves, 0
        while self._unclaimed():
            if quiet >= _QUIET_TURNS:
                self.fault = self._divergence(what)
                raise self.fault
            await asyncio.sleep(0)
            quiet = quiet + 1 if moves == self._moves else 0
            moves = self._moves

    def _divergence(self, what: str) -> CodemodeError:
        missed = self._unclaimed()[0]
        told = f'the step "{missed.subject[:100]}"' if missed.kind == "step" else f"the question {missed.subject[:100]}"
        return CodemodeError(
            "tool_divergence",
            f"{self._row.name} did not do the same as before: it {what}, where {told} came the first time.",
            hint="A tool runs from its beginning after each answer. It must ask the same questions and make the same "
            "steps each time; wrap what may differ in `await ctx.step(name, function)`.",
        )

    async def _run_step(self, name: str, function: Callable[[], object]) -> JournalRow:
        number = self._take_number()
        self._under_way += 1
        self._idle.clear()
        try:
            entry = JournalRow(self._row.seq, number, "step", name, "", "done")
            try:
                entry.outcome = values.encode(await _called(f"step {name}", function))
            except BaseException as error:  # whatever a step raises is what it came to
                if ends_the_task(error):
                    raise
                entry.state, entry.outcome = "failed", _error_text(name, error)
            self._keeper.record_step(entry)
            return entry
        finally:
            self._under_way -= 1
            self._moves += 1
            if self._under_way == 0:
                self._idle.set()

    async def _never(self) -> None:
        if self._under_way == 0:
            self._idle.set()
        if self._resting is None:
            self._resting = asyncio.create_task(self._rest(), name=f"{self._row.name} waits")
        await asyncio.get_running_loop().create_future()

    async def _rest(self) -> None:
        """Wait until the tool can only wait: its steps have ended, and no branch of it asks anything more."""
        moves, quiet = self._moves, 0
        while quiet < _QUIET_TURNS:
            await self._idle.wait()
            await asyncio.sleep(0)
            quiet = quiet + 1 if moves == self._moves else 0
            moves = self._moves
        self._resting = None
        if self._is_over or not self.waiting:
            return
        if self._unclaimed():
            self.fault = self._divergence("waited for an answer")
        self._on_rest(self)


def _question_key(payload: str, schema: str | None) -> _Key:
    return "question", values.canonical(payload), "" if schema is None else values.canonical(schema)


async def _called(name: str, function: Callable[[], object]) -> object:
    token = _in_step.set(True)
    try:
        if inspect.iscoroutinefunction(function):
            return await call_on_loop(name, function)
        answer = await call_in_thread(name, function)
        return await answer if isinstance(answer, Awaitable) else answer
    finally:
        _in_step.reset(token)


def _schema_text(schema: object, name: str) -> str | None:
    """Return a schema as JSON text; ``None`` for free text."""
    if schema is None:
        return None
    why = "it is no JSON object"
    if isinstance(schema, Mapping):
        try:
            text = json.dumps(schema, allow_nan=False)  # in its order, which is that of the form
        except (TypeError, ValueError, RecursionError) as error:
            why = str(error)
        else:
            values.check_size(text, "The schema of an answer")
            return text
    hint = 'Write a JSON Schema as a dict: {"type": "string"}, or Model.model_json_schema().'
    raise CodemodeError("invalid_schema", f"The schema of a question of {name} cannot be used: {why}.", hint=hint)


def _error_text(name: str, error: BaseException) -> str:
    """Return the stored form of what a step raised: code, message, hint."""
    if isinstance(error, CodemodeError):
        fields: Sequence[str | None] = (error.code, error.message, error.hint)
    else:
        told = f"{type(error).__name__}: {message_of(error)}".rstrip(": ")
        fields = ("step_failed", f'The step "{name[:200]}" failed: {told[:10_000]}', None)
    return values.encode(list(fields))


def _error_of(entry: JournalRow) -> CodemodeError:
    code, message, hint = values.decode(entry.outcome or '["step_failed","The step failed.",null]')
    return CodemodeError(code, message, hint=hint, data={"step": entry.subject})
