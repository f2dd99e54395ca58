"""What a tool tells and asks while it runs: progress, lines from elsewhere, questions to the person.

Owns: the open questions of one call, the pause of its time limit while they are open, and the bounds of what a tool may
tell. Never does: store anything; all of it is gone when the call ends.
"""

from __future__ import annotations

import asyncio
import hmac
import math
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from codemode_jupyter.connectors.questions import Action, Answer, Question, check_answer
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.call_ids import live_mark
from codemode_jupyter.runtime.call_journal import CallJournal
from codemode_jupyter.runtime.records import ConsoleRecord, Progress

MOST_QUESTIONS = 10
"""How many questions of one call may be open at once."""

MOST_LINES = 500
"""How many lines one call may add to the console."""

_LINE = 4_000
_MESSAGE = 500
_LEVELS = frozenset({"debug", "info", "log", "warn", "error"})


@dataclass(frozen=True, slots=True, eq=False)
class OpenQuestion:
    """A question that waits for its answer; ``digest`` binds an answer to it."""

    question: Question
    digest: str
    answer: asyncio.Future[Answer]


class LiveCall:
    """The channel of one call (``CallChannel``).

    Parameters
    ----------
    console : list of ConsoleRecord
        Where lines go.
    notify : callable
        Called when something has changed that a card shows.
    """

    def __init__(self, console: list[ConsoleRecord], notify: Callable[[], None]) -> None:
        self._console = console
        self._notify = notify
        self._lines = 0
        self._clock: asyncio.Timeout | None = None
        self._left: float | None = None
        self.told: Progress | None = None
        self.questions: list[OpenQuestion] = []
        self.journal: CallJournal | None = None

    def limit(self, seconds: float) -> asyncio.Timeout:
        """Return the time limit of the call; it stands still while a question is open."""
        self._clock = asyncio.timeout(seconds)
        return self._clock

    def progress(self, done: float, total: float | None, message: str) -> None:
        """Keep how far the call is."""
        if not math.isfinite(done):
            return
        known = total if total is not None and math.isfinite(total) and total > 0 else None
        self.told = Progress(done, known, message[:_MESSAGE])
        self._notify()

    def log(self, level: str, text: str, source: str) -> None:
        """Add a line to the console."""
        self._lines += 1
        if self._lines > MOST_LINES:
            return
        shown = "Further lines of this call are left out." if self._lines == MOST_LINES else text[:_LINE]
        self._console.append(ConsoleRecord(level if level in _LEVELS else "log", shown, source))
        self._notify()

    async def ask(self, question: Question) -> Answer:
        """Ask the person, and wait for the answer.

        Raises
        ------
        CodemodeError
            ``too_many_questions``
        """
        if len(self.questions) >= MOST_QUESTIONS:
            raise CodemodeError("too_many_questions", f"{MOST_QUESTIONS} questions of this call are open already.")
        asked = OpenQuestion(question, secrets.token_hex(16), asyncio.get_running_loop().create_future())
        self._hold()
        self.questions.append(asked)
        self._notify()
        try:
            return await asked.answer
        finally:
            self._close(asked)

    async def interrupt(self, payload: object, schema: Mapping[str, Any] | None) -> Any:
        """Return the answer to a question that the call's journal keeps."""
        return await self._kept().interrupt(payload, schema)

    async def step(self, name: str, function: Callable[[], object]) -> Any:
        """Return what a step came to that the call's journal keeps."""
        return await self._kept().step(name, function)

    def close(self) -> None:
        """Turn away what is still asked: the call has ended."""
        for asked in self.questions:
            if not asked.answer.done():
                asked.answer.set_result(Answer("cancel"))

    def respond(self, mark: str, digest: str | None, action: Action, content: Any) -> None:
        """Answer the open question of that mark; with a ``digest`` only where it is that question's.

        Raises
        ------
        CodemodeError
            ``stale_decision``: no such question is open; ``invalid_answer``: it does not fit, and the question stays.
        """
        asked = next((one for one in self.questions if live_mark(one.digest) == mark), None)
        if asked is None or asked.answer.done() or not (digest is None or _same(digest, asked.digest)):
            raise CodemodeError(
                "stale_decision",
                "This question is not open (any more).",
                hint="Look at what is pending now; nothing was changed.",
            )
        answer = Answer(action, check_answer(asked.question, content) if action == "accept" else {})
        asked.answer.set_result(answer)
        self._close(asked)

    def _kept(self) -> CallJournal:
        if self.journal is None:
            raise CodemodeError("nobody_to_ask", "This call has no journal: it was not made by a program.")
        return self.journal

    def _close(self, asked: OpenQuestion) -> None:
        if asked in self.questions:
            self.questions.remove(asked)
            if not self.questions:
                self._go_on()
            self._notify()

    def _hold(self) -> None:
        if self._clock is not None and self._left is None and (end := self._clock.when()) is not None:
            self._left = max(0.0, end - asyncio.get_running_loop().time())
            self._clock.reschedule(None)

    def _go_on(self) -> None:
        if self._clock is not None and self._left is not None:
            with suppress(RuntimeError):  # the call has ended meanwhile
                self._clock.reschedule(asyncio.get_running_loop().time() + self._left)
        self._left = None


def _same(digest: str, other: str) -> bool:
    return hmac.compare_digest(digest.encode("utf-8", "replace"), other.encode())
