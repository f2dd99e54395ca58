"""One pass, as every executor sees it: the Worker's texts in, the kernel's texts out, and one end.

Owns: the begin message, the order and number of what a Worker may say, the batching of replies, the running time.
Never does: transport (an executor carries the texts), decisions about calls (the ``PassHandler``), or trust.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from codemode_jupyter.sandbox.protocol import (
    CallBatch,
    Event,
    PassEnd,
    PassHandler,
    PassRequest,
    Reply,
    StepResult,
)
from codemode_jupyter.sandbox.running_time import RunningTime
from codemode_jupyter.sandbox.worker_messages import (
    ConsoleMessage,
    MalformedMessageError,
    WorkerMessage,
    parse_worker_message,
)

MAX_CALLS = 25_000
"""Most calls that a Worker may ask for in one pass; the sandbox's runtime refuses earlier, with a better text."""

MAX_EVENTS = 500_000
"""Most events that a Worker may tell of in one pass."""

MAX_MESSAGES = 200_000
"""Most texts of a Worker in one pass."""

MAX_CONSOLE_LENGTH = 2_000_000
"""Most characters that a pass may print; the rest is dropped. The sandbox's runtime drops earlier, with a note."""

MAX_CONSOLE_LINES = 20_000
"""Most lines that a pass may print; likewise."""

CALLS_A_TURN = 1_000
"""Calls that are handed on in one turn of the event loop, which has others to serve as well."""

_TEXT_COST = 10
"""As how many calls a text counts: it is read, and its calls are recorded, by itself."""

_ENCODER = json.JSONEncoder(separators=(",", ":"))


class PassSession:
    """One pass of a program in some sandbox.

    The executor calls ``start`` when the sandbox can take texts, ``receive`` with each text of it, ``end`` when it
    knows that nothing more will come, and awaits ``wait``. All of it happens on one event loop; none of it raises.

    Parameters
    ----------
    request : PassRequest
        What to run.
    handler : PassHandler
        Who is told what the program does.
    send_text : callable
        Takes a text to the sandbox; must not block.
    """

    def __init__(self, request: PassRequest, handler: PassHandler, send_text: Callable[[str], None]) -> None:
        self._request = request
        self._handler = handler
        self._send_text = send_text
        self._loop = asyncio.get_running_loop()
        self._end: asyncio.Future[PassEnd] = self._loop.create_future()
        self._time = RunningTime(request.timeout, self._expire)
        self._messages = 0
        self._events = 0
        self._console_length = 0
        self._console_lines = 0
        self._last_seq = -1
        self._calls = 0
        self._waiting: set[int] = set()
        """Calls and steps that the kernel has to answer; while there are any, the running time stands."""
        self._steps: dict[int, str] = {}
        """Tokens of steps that the sandbox was told to run."""
        self._replies: list[dict[str, Any]] = []
        self._is_receiving = False
        self._left: deque[str | CallBatch] = deque()
        """Texts that are to be taken, and what is left of a text with more calls than a turn of the loop takes."""
        self._taken = 0
        """Calls taken in this turn, each text counted as some more."""

    @property
    def has_ended(self) -> bool:
        """Whether the pass is over."""
        return self._end.done()

    def start(self) -> None:
        """Hand the program to the sandbox and let its time run."""
        if self.has_ended:
            return
        self._send_text(begin_text(self._request))
        self._time.run()
        self._handler.started(self)

    def receive(self, text: str) -> None:
        """Take one text of the sandbox; it is ignored after the end, and ends the pass if no runtime would send it."""
        if self.has_ended:
            return
        self._left.append(text)
        self._take_left()

    def _take_left(self) -> None:
        while self._left and self._taken < CALLS_A_TURN:
            if self._taken == 0:
                self._loop.call_soon(self._begin_turn)
            self._taken += _TEXT_COST
            with self._receiving():
                left = self._left.popleft()
                if isinstance(left, str):
                    self._count_message()
                    self._take(parse_worker_message(left))
                else:
                    self._hand_on(left)

    def _begin_turn(self) -> None:
        self._taken = 0
        self._take_left()

    @contextmanager
    def _receiving(self) -> Iterator[None]:
        """Take something of the sandbox in the block; nothing more is taken after the end."""
        self._is_receiving = True
        try:
            yield
        except MalformedMessageError as fault:
            self.end(PassEnd("protocol", error=f"The sandbox sent a message that no program can send: {fault}."))
        finally:
            self._is_receiving = False
            self._send_replies()

    def reply(self, replies: Sequence[Reply]) -> None:
        """Send answers to the sandbox, together with all others of this tick of the loop."""
        if self.has_ended:
            return
        for reply in replies:
            if reply.seq not in self._waiting:
                continue
            self._waiting.discard(reply.seq)
            if reply.state == "run" and reply.token is not None:
                self._steps[reply.seq] = reply.token
            # What is answered while a text is taken goes out right after it.
            if not self._replies and not self._is_receiving:
                self._loop.call_soon(self._send_replies)
            self._replies.append(_reply_fields(reply))

    def end(self, end: PassEnd) -> None:
        """End the pass, if it has not ended yet."""
        self._time.close()
        self._left.clear()
        if not self._end.done():
            self._end.set_result(end)

    async def wait(self) -> PassEnd:
        """Return how the pass ended, once it has."""
        return await asyncio.shield(self._end)

    def _count_message(self) -> None:
        self._messages += 1
        if self._messages > MAX_MESSAGES:
            raise MalformedMessageError("too many messages")

    def _take(self, message: WorkerMessage) -> None:
        match message:
            case CallBatch():
                self._take_calls(message)
            case StepResult():
                if self._steps.pop(message.seq, None) != message.token:
                    raise MalformedMessageError("a step that was not handed out")
                self._await_kernel(message.seq)
                self._handler.step_result(message)
            case ConsoleMessage():
                self._handler.console(self._within_limit(message.lines))
            case PassEnd():
                self._count_events(message.events)
                self.end(replace(message, console=tuple(self._within_limit(message.console))))

    def _take_calls(self, batch: CallBatch) -> None:
        self._count_events(batch.events)
        self._calls += len(batch.calls)
        if self._calls > MAX_CALLS:
            raise MalformedMessageError("too many calls")
        for call in batch.calls:
            if call.seq <= self._last_seq:
                raise MalformedMessageError("call numbers that do not increase")
            self._last_seq = call.seq
            self._await_kernel(call.seq)
        first, *others = _turns(batch, len(self._request.calls))
        self._left.extendleft(reversed(others))
        self._hand_on(first)

    def _hand_on(self, batch: CallBatch) -> None:
        self._taken += len(batch.calls)
        self._handler.calls(batch)

    def _count_events(self, events: Sequence[Event]) -> None:
        self._events += len(events)
        if self._events > MAX_EVENTS:
            raise MalformedMessageError("too many events")

    def _await_kernel(self, seq: int) -> None:
        self._waiting.add(seq)
        self._time.stand()

    def _within_limit(self, lines: Sequence[tuple[Any, str]]) -> list[tuple[Any, str]]:
        kept = []
        for level, text in lines:
            self._console_lines += 1
            self._console_length += len(text) + 1
            if self._console_length <= MAX_CONSOLE_LENGTH and self._console_lines <= MAX_CONSOLE_LINES:
                kept.append((level, text))
        return kept

    def _send_replies(self) -> None:
        replies, self._replies = self._replies, []
        if self.has_ended or not replies:
            return
        self._send_text(_ENCODER.encode({"type": "replies", "replies": replies}))
        if not self._waiting:
            self._time.run()

    def _expire(self) -> None:
        seconds = f"{self._request.timeout:g}"
        self.end(PassEnd("timeout", error=f"Execution timed out: the program ran for more than {seconds} s."))


def _turns(batch: CallBatch, recorded: int) -> Iterator[CallBatch]:
    """Yield the batch in parts for one turn of the loop each; calls that the log may have stay in the first one.

    So nothing of a batch is applied when it turns out not to be what was recorded.
    """
    end = CALLS_A_TURN + sum(call.seq < recorded for call in batch.calls)
    yield replace(batch, calls=batch.calls[:end])
    for start in range(end, len(batch.calls), CALLS_A_TURN):
        yield CallBatch(batch.calls[start : start + CALLS_A_TURN], ())


def begin_text(request: PassRequest) -> str:
    """Return the message that hands a program to a sandbox."""
    return _ENCODER.encode(
        {
            "type": "begin",
            "source": request.source,
            "line_offset": request.line_offset,
            "namespaces": [[space.name, space.methods] for space in request.namespaces],
            "calls": list(request.calls),
            "events": list(request.events),
            "clock": request.clock,
            "seed": request.seed,
            "language": request.language,
            "fetch": request.fetch,
            "modules": [(module.name, module.source, module.line_offset) for module in request.modules],
        }
    )


def _reply_fields(reply: Reply) -> dict[str, Any]:
    fields = {"value": reply.value, "error": reply.error, "token": reply.token}
    return {"seq": reply.seq, "state": reply.state} | {key: text for key, text in fields.items() if text is not None}
