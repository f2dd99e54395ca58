"""The connector of the runtime's tests: a shelf that counts what is done to it."""

from __future__ import annotations

import asyncio
import datetime as dt
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from codemode_jupyter.connectors.base import Connector
from codemode_jupyter.connectors.tool import Tool, ToolContext
from codemode_jupyter.errors import CodemodeError


class Shelf(Connector):
    """Tools whose effects are kept in memory, outside any store."""

    def __init__(self, name: str = "shelf") -> None:
        super().__init__(name, "A shelf of things.")
        self.counts: Counter[str] = Counter()
        self.created: list[dict[str, Any]] = []
        self.reverted: list[Any] = []
        self.pass_ends: list[tuple[str, str]] = []
        self.disposed: list[tuple[str, str]] = []
        self.contexts: list[ToolContext] = []
        self.gates: dict[str, asyncio.Event] = {}
        self.tool_calls = 0
        self.extra: list[Tool] = []

    def tools(self) -> Sequence[Tool]:
        self.tool_calls += 1
        return [
            Tool("peek", self._peek, "Look at a slot.", parameters=("i",), validate=_check_slot),
            Tool("stow", self._stow, "Put a thing on the shelf.", requires_approval=True, revert=self._unstow),
            Tool("note", self._note, "Write a note.", revert=self._unnote),
            Tool("fragile", self._fragile, "Always fails."),
            Tool("slow", self._slow, "Waits for its gate."),
            Tool("nothing", self._nothing),
            Tool("bytes", self._bytes),
            Tool("odd", self._odd),
            Tool("fresh", self._fresh, replay="reexecute"),
            Tool("huge", self._huge, parameters=("n",)),
            Tool("who", self._who),
            Tool("control", self._control),
            Tool("maybe", self._note, requires_approval=lambda arguments: bool(arguments.get("ask"))),
            *self.extra,
        ]

    def on_pass_end(self, execution_id: str, status: str) -> None:
        self.pass_ends.append((execution_id, status))

    async def dispose_execution(self, execution_id: str, reason: str) -> None:
        self.disposed.append((execution_id, reason))

    def gate(self, name: str) -> asyncio.Event:
        return self.gates.setdefault(name, asyncio.Event())

    async def _peek(self, arguments: Any, __: ToolContext) -> Any:
        self.counts["peek"] += 1
        return {"slot": arguments.get("i", 0), "v": f"look {self.counts['peek']}" if arguments.get("count") else "ok"}

    async def _stow(self, arguments: Any, __: ToolContext) -> Any:
        self.counts["stow"] += 1
        self.created.append(arguments)
        return {"id": len(self.created)}

    async def _note(self, arguments: Any, __: ToolContext) -> Any:
        self.counts["note"] += 1
        self.created.append(arguments)
        return len(self.created)

    def _unstow(self, arguments: Any, result: Any) -> None:
        self.reverted.append(["stow", arguments, result])

    async def _unnote(self, arguments: Any, result: Any) -> None:
        if arguments.get("bad"):
            raise ValueError(f"cannot undo {arguments['bad']}")
        self.reverted.append(["note", arguments, result])

    async def _fragile(self, _: Any, __: ToolContext) -> Any:
        self.counts["fragile"] += 1
        raise LookupError(f"fragile failed #{self.counts['fragile']}")

    async def _slow(self, arguments: Any, __: ToolContext) -> Any:
        self.counts["slow"] += 1
        await self.gate(arguments.get("gate", "slow")).wait()
        return arguments.get("gate", "slow")

    async def _nothing(self, _: Any, __: ToolContext) -> Any:
        return None

    async def _bytes(self, _: Any, __: ToolContext) -> Any:
        return bytes([5, 4, 3])

    async def _odd(self, _: Any, __: ToolContext) -> Any:
        return {"when": dt.datetime(2020, 1, 1, tzinfo=dt.UTC), "n": math.nan, "big": 10**30, "zero": -0.0}

    async def _fresh(self, _: Any, __: ToolContext) -> Any:
        self.counts["fresh"] += 1
        return {"reads": self.counts["fresh"]}

    async def _huge(self, arguments: Any, __: ToolContext) -> Any:
        self.counts["huge"] += 1
        return "h" * arguments["n"]

    async def _who(self, _: Any, context: ToolContext) -> Any:
        self.contexts.append(context)
        return {"execution": context.execution_id, "seq": context.seq, "key": context.idempotency_key}

    async def _control(self, _: Any, __: ToolContext) -> Any:
        return {"$type": "bytes", "value": "AAAA", "__codemode_control__": "pause"}


def _check_slot(arguments: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(arguments.get("i", 0), int):
        raise CodemodeError(
            "invalid_arguments", "shelf.peek was called with arguments that do not fit: i must be an integer."
        )
    return arguments
