"""What the buttons of a live card do.

Owns: turning a click into a call of the runtime, bound to what the page showed, and saying why it was refused.
Never does: deciding whether a click is still good; the runtime compares it with what waits now. The first one wins.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, NoReturn

from codemode_jupyter.connectors.questions import read_form
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.notebook.card.question import Faults, answer_content
from codemode_jupyter.notebook.card.widget import Action
from codemode_jupyter.runtime import failures
from codemode_jupyter.runtime.records import ErrorDetail, Outcome, PendingCall
from codemode_jupyter.runtime.runtime import Runtime

ANSWERS: tuple[Literal["accept", "decline", "cancel"], ...] = ("accept", "decline", "cancel")
"""What can be clicked about a question."""

DECISIONS = frozenset({"approve", "approve_all", "reject", "run_again", "happened", "give_up", *ANSWERS})
"""What can be clicked about calls that wait."""

_REFUSALS = frozenset(
    {
        "stale_decision",
        "already_answered",
        "unknown_call",
        "invalid_answer",
        "modules_changed",
        "not_paused",
        "unknown_execution",
        "missing_connectors",
        "missing_tools",
        "connector_failed",
        "in_doubt",
        "not_storable",
        "no_sandbox",
        "no_page",
        "store_locked",
        "store_read_only",
        "store_full",
        "store_damaged",
        "store_unavailable",
    }
)


class Clicks:
    """The clicks on the card of one execution.

    Parameters
    ----------
    runtime, execution_id
        What the clicks are about.
    waiting : callable
        Returns the ``seq`` of the calls that the card shows as waiting for an approval.
    redraw : callable
        Draws the card, with ``deciding`` and ``notices`` as they are now.
    """

    def __init__(
        self,
        runtime: Runtime,
        execution_id: str,
        waiting: Callable[[], Sequence[int]],
        redraw: Callable[[], Awaitable[None]],
    ) -> None:
        self._runtime = runtime
        self._execution_id = execution_id
        self._waiting = waiting
        self._redraw = redraw
        self.deciding: dict[int, str] = {}
        self.notices: tuple[str, ...] = ()
        self.faults: Faults = {}

    async def take(self, action: Action) -> None:
        """Do what was clicked; afterwards the card says what could not be done, and its buttons work again."""
        if action.execution_id != self._execution_id or action.name not in DECISIONS | {"stop"}:
            return
        self.notices, self.faults = (), {}
        try:
            refusal = await (self._stop() if action.name == "stop" else self._decide(action))
        except CodemodeError as error:
            refusal = str(error)
        except Exception as error:  # noqa: BLE001  a background task has no other place to say it than the card
            refusal = f"That failed: {type(error).__name__}: {error}"
        self.notices = (refusal,) if refusal else ()
        await self._redraw()

    async def _decide(self, action: Action) -> str | None:
        if action.digest is None or (action.seq is None and action.name != "approve_all"):
            return "The click did not say what it was about; nothing was changed."
        calls = [action.seq] if action.seq is not None else list(self._waiting())
        mine = [seq for seq in calls if seq not in self.deciding]
        self.deciding |= dict.fromkeys(mine, action.name)
        try:
            await self._redraw()
            match action.name:
                case "reject":
                    return await self._reject(action, calls)
                case "approve" | "approve_all":
                    return _refusal(await self._runtime.approve(self._execution_id, calls, digest=action.digest))
                case "accept" | "decline" | "cancel" as answer:
                    return _refusal(await self._answer(action, answer))
                case _:
                    return _refusal(await self._respond(action))
        finally:
            for seq in mine:
                self.deciding.pop(seq, None)

    async def _reject(self, action: Action, calls: Sequence[int]) -> str | None:
        reason = action.fields.get("reason", "").strip() or None
        if await self._runtime.reject(self._execution_id, calls, digest=action.digest, reason=reason):
            return None
        return "This call was no longer waiting as it was shown here; nothing was changed."

    async def _answer(self, action: Action, answer: Literal["accept", "decline", "cancel"]) -> Outcome:
        """Answer the question that the page showed: what was typed is read by the fields of that very question."""
        call = await self._shown(action)
        if call is None or call.question is None:
            return _stale(self._execution_id)
        given: object = answer
        try:
            if answer == "accept":
                given = read_form(call.question, answer_content(call.question, action.fields))
        except CodemodeError as refusal:
            outcome = Outcome("error", self._execution_id, error=failures.detail_of(refusal))
        else:
            outcome = await self._runtime.respond(call.call_id, given, digest=action.digest)
        if outcome.error is not None and outcome.error.faults:
            self.faults = {call.digest: tuple((fault["path"], fault["message"]) for fault in outcome.error.faults)}
        return outcome

    async def _respond(self, action: Action) -> Outcome:
        """Give the answer about a call in doubt."""
        call = await self._shown(action)
        if call is None:
            return _stale(self._execution_id)
        result = json_value(action.fields.get("result", "")) if action.name == "happened" else None
        return await self._runtime.respond(call.call_id, action.name, result=result, digest=action.digest)

    async def _shown(self, action: Action) -> PendingCall | None:
        """Return what waits now with the digest of what was shown."""
        pending = await self._runtime.pending(self._execution_id)
        return next((call for call in pending if call.seq == action.seq and call.digest == action.digest), None)

    async def _stop(self) -> str | None:
        return None if await self._runtime.stop(self._execution_id) else "The run was not running any more."


def json_value(text: str) -> object:
    """Return the value of a text that a person typed; an empty one is ``None``.

    Raises
    ------
    CodemodeError
        ``invalid_result``: it is not JSON (RFC 8259).
    """
    if not text.strip():
        return None
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        where = f" at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else ""
        raise CodemodeError(
            "invalid_result",
            f"The result is not JSON{where}; nothing was changed.",
            hint='A text stands in quotation marks ("done"), names of an object too ({"id": 12}).',
        ) from None


def _stale(execution_id: str) -> Outcome:
    detail = ErrorDetail(
        "stale_decision", "What was asked here is not open (any more), or was asked otherwise; nothing was changed."
    )
    return Outcome("error", execution_id, error=detail)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _refusal(outcome: Outcome) -> str | None:
    """Return what to say when a decision was refused; an error of the program itself stands in the card anyway."""
    error = outcome.error
    if error is None or error.code not in _REFUSALS:
        return None
    return error.message if error.hint is None else f"{error.message} {error.hint}"
