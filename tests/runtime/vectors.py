"""The reference's scenarios, told to this runtime: operations in, comparable facts out.

Owns: the connector of the corpus, and bringing both sides to one form (ids, times and texts that may differ are left
out).
"""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

from codemode_jupyter.connectors.base import Connector
from codemode_jupyter.connectors.tool import Tool, ToolContext
from codemode_jupyter.runtime.records import CallRecord, ExecutionRecord, Outcome
from codemode_jupyter.runtime.runtime import Runtime
from codemode_jupyter.sandbox.protocol import Executor

CORPUS = Path(__file__).parents[3] / "shared" / "vectors" / "runtime.json"


def programs_in_python() -> dict[str, list[str]]:
    """Return the programs of each scenario in Python, by its name."""
    _, *scenarios = (Path(__file__).parent / "python_scenarios.txt").read_text(encoding="utf-8").split("\n== ")
    named = (scenario.split("\n", 1) for scenario in scenarios)
    return {name: programs.strip("\n").split("\n--\n") for name, programs in named}


class Shelf(Connector):
    """The connector of the corpus, as its notes describe it."""

    def __init__(self) -> None:
        super().__init__("shelf")
        self.counts: Counter[str] = Counter()
        self.created: list[Any] = []
        self.reverted: list[Any] = []
        self.pass_ends: list[list[str]] = []
        self.disposed: list[list[str]] = []

    def tools(self) -> list[Tool]:
        def tool(name: str, function: Any, **options: Any) -> Tool:
            async def call(arguments: Any, context: ToolContext) -> Any:
                if name not in ("ctl", "tagged", "poison", "errv"):
                    self.counts[name] += 1
                answer = function(arguments, context)
                return await answer if asyncio.iscoroutine(answer) else answer

            return Tool(name, call, **options)

        return [
            tool("peek", lambda a, _: {"slot": a.get("i", 0), "v": "ok"}, parameters=("i",)),
            tool(
                "stow",
                lambda a, _: {"id": self._create(a)},
                description="Put an item.",
                requires_approval=True,
                revert=self._revert,
            ),
            tool("note", lambda a, _: self._create(a), revert=self._revert),
            tool("fragile", self._fragile),
            tool("slow", self._slow),
            tool("u", lambda *_: None, description="returns undefined"),
            tool("bytes", lambda *_: bytes([5, 4, 3])),
            tool("dt", lambda *_: {"d": dt.datetime.fromtimestamp(0, dt.UTC), "n": math.nan, "big": 10}),
            tool("fresh", lambda *_: {"reads": self.counts["fresh"]}, replay="reexecute"),
            tool("huge", lambda a, _: "h" * a.get("n", 1_200_000)),
            tool("who", lambda _, context: {"executionId": context.execution_id}),
            tool("ctl", lambda *_: {"__codemode_control__": "pause"}),
            tool("tagged", lambda *_: {"__codemode_binary_v1__": "Uint8Array", "data": "AAAA"}),
            tool("poison", lambda *_: {"__codemode_binary_v1__": "Uint8Array", "data": "***"}),
            tool("errv", lambda *_: {"error": "just data"}),
        ]

    def on_pass_end(self, execution_id: str, status: str) -> None:
        self.pass_ends.append([execution_id, status])

    def dispose_execution(self, execution_id: str, status: str) -> None:
        self.disposed.append([execution_id, status])

    def state(self) -> dict[str, Any]:
        return {
            "counts": dict(self.counts),
            "created": self.created,
            "reverted": self.reverted,
            "disposed": self.disposed,
            "passEnds": self.pass_ends,
        }

    def _create(self, arguments: Any) -> int:
        self.created.append(arguments)
        return len(self.created)

    def _revert(self, arguments: Any, result: Any) -> None:
        if arguments.get("bad"):
            raise ValueError(f"cannot undo {arguments['bad']}")
        self.reverted.append([arguments, result])

    def _fragile(self, _: Any, __: ToolContext) -> Any:
        raise RuntimeError(f"fragile failed #{sum(self.counts.values())}")

    async def _slow(self, arguments: Any, _: ToolContext) -> Any:
        await asyncio.sleep(arguments.get("ms", 0) / 1000)
        return arguments


class Teller:
    """Plays one scenario on a fresh runtime; with ``python`` its programs are these, in that language."""

    def __init__(self, folder: Path, executor: Executor, python: list[str] | None = None) -> None:
        self._python = None if python is None else iter(python)
        self.shelf = Shelf()
        self._folder = folder
        self._executor = executor
        self._options: dict[str, Any] = {}
        self._ids: list[str] = []
        self.runtime = self._made()

    def _made(self) -> Runtime:
        return Runtime(
            [self.shelf], executor=self._executor, path=self._folder / "store.sqlite3", tool_timeout=5, **self._options
        )

    async def play(self, step: dict[str, Any]) -> Any:
        """Do one step; return what came out, in the corpus' form."""
        return self._unnamed(await getattr(self, f"_{step['op']}")(self._named(step.get("input") or {})))

    async def _exec(self, given: Any) -> Any:
        if "maxExecutions" in given:
            self._options["max_executions"] = given["maxExecutions"]
            self.runtime.max_executions = given["maxExecutions"]
        code = given["code"]
        language, comment = "javascript", "async () => { /* {} */ }"
        if self._python is not None:
            code, language, comment = next(self._python), "python", "# {}"
        if "…(1000032 characters)" in given["code"]:
            code = comment.replace("{}", "x" * 1_000_032)
        # At least a second: on a busy machine a sandbox takes longer to begin than the corpus' 200 ms.
        timeout = max(1.0, given["timeout"] / 1000) if "timeout" in given else None
        outcome = await self.runtime.execute(code, timeout=timeout, language=language)
        self._see(outcome)
        return told(outcome)

    async def _approve(self, given: Any) -> Any:
        return told(await self.runtime.approve(given["id"]))

    async def _both(self, given: Any) -> Any:
        return [told(o) for o in await asyncio.gather(*(self.runtime.approve(given["id"]) for _ in range(2)))]

    async def _reject(self, given: Any) -> Any:
        return await self.runtime.reject(given["id"], given["seq"])

    async def _pending(self, given: Any) -> Any:
        calls = await self.runtime.pending(given.get("id"))
        return [
            {"executionId": c.execution_id, "seq": c.seq, "connector": c.connector, "method": c.method, "args": c.args}
            for c in calls
        ]

    async def _executions(self, _: Any) -> Any:
        return [told_record(record) for record in await self.runtime.executions(with_calls=True)]

    async def _rollback(self, given: Any) -> Any:
        report = await self.runtime.rollback(given["id"])
        return f"threw: {report}" if report.failed else "ok"

    async def _expire(self, given: Any) -> Any:
        return await self.runtime.expire_paused(given["ms"] / 1000)

    async def _delete(self, given: Any) -> Any:
        return await self.runtime.delete_execution(given["id"])

    async def _prune(self, given: Any) -> Any:
        return await self.runtime.prune_executions(given["keep"])

    async def _save(self, given: Any) -> Any:
        snippet = await self.runtime.save_snippet(
            given["name"], execution_id=given["id"], description=given.get("description", "")
        )
        return {"name": snippet.name, "description": snippet.description, "connectors": list(snippet.connectors)}

    async def _state(self, _: Any) -> Any:
        return self.shelf.state()

    def _see(self, outcome: Outcome) -> None:
        if outcome.execution_id and outcome.execution_id not in self._ids:
            self._ids.append(outcome.execution_id)

    def _named(self, given: Any) -> Any:
        text = json.dumps(given)
        for number, id_ in enumerate(self._ids, start=1):
            text = text.replace(f"<exec:{number}>", id_)
        return json.loads(text)

    def _unnamed(self, output: Any) -> Any:
        text = json.dumps(jsonable(output))
        for number, id_ in enumerate(self._ids, start=1):
            text = text.replace(id_, f"<exec:{number}>")
        return json.loads(text)


def told(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome in the corpus' form."""
    form: dict[str, Any] = {"status": outcome.status, "executionId": outcome.execution_id}
    if outcome.status == "completed":
        form["result"] = outcome.result
    if outcome.status == "paused":
        form["pending"] = [
            {"executionId": c.execution_id, "seq": c.seq, "connector": c.connector, "method": c.method, "args": c.args}
            for c in outcome.pending
        ]
    if outcome.error is not None:
        form["error"] = outcome.to_wire()["error"]
    if outcome.calls:
        form["calls"] = [told_call(call) for call in outcome.calls]
    if outcome.logs:
        form["logs"] = list(outcome.logs)
    return form


def told_record(record: ExecutionRecord) -> dict[str, Any]:
    form: dict[str, Any] = {"id": record.id, "status": record.status, "log": [told_call(call) for call in record.calls]}
    if record.has_result:
        form["result"] = record.result
    if record.error is not None:
        form["error"] = record.error.message
    return form


def told_call(call: CallRecord) -> dict[str, Any]:
    form: dict[str, Any] = {
        "seq": call.seq,
        "connector": call.connector,
        "method": call.method,
        "args": call.args,
        "requiresApproval": call.requires_approval,
        "state": call.state,
    }
    if call.has_result:
        form["result"] = call.result
    if call.ephemeral:
        form["ephemeral"] = True
    return form


def jsonable(value: Any) -> Any:  # noqa: PLR0911  one line for each type
    """Return a value in JSON types, in the corpus' spelling of those that JSON lacks."""
    if isinstance(value, dict):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [jsonable(item) for item in value]
    if isinstance(value, bytes):
        return {str(index): byte for index, byte in enumerate(value)}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dt.datetime):
        return value.isoformat()
    if isinstance(value, str) and len(value) > 300:
        return f"{value[:20]}…({len(value)} characters)"
    return value


def comparable(op: str, output: Any) -> Any:
    """Return the facts of an output that both sides should agree on.

    Left out: times, code, wording of errors (only whether there is one), console lines of a failed run inside its
    text, the step's missing arguments, and the args of calls that have none.
    """
    return _without_chance(_facts(op, output))


def _facts(op: str, output: Any) -> Any:
    if op in ("exec", "approve") and isinstance(output, dict):
        return _outcome_facts(output)
    if op == "both":
        return sorted((_outcome_facts(o) for o in output), key=json.dumps)
    if op == "executions" and isinstance(output, list):
        return [
            {
                "id": r["id"],
                "status": r["status"],
                "error": "error" in r,
                "log": [_call_facts(c) for c in r.get("log", [])],
            }
            for r in output
        ]
    if op == "save":
        return {key: output[key] for key in ("name", "description", "connectors")}
    return output


def _without_chance(facts: Any) -> Any:
    """Return facts without the digits of random numbers, and with long texts cut alike."""
    text = json.dumps(facts, ensure_ascii=False)
    text = re.sub(r"0\.\d{5,}", "0", text)
    text = re.sub(r"(.)\1{19,}…\((\d+) characters\)", r"\1…(\2 characters)", text)
    return json.loads(text.replace('"bigint:12"', "12"))


def _outcome_facts(output: dict[str, Any]) -> dict[str, Any]:
    facts = {
        key: output[key]
        for key in ("status", "executionId", "result", "pending", "logs")
        if output.get(key) is not None
    }
    facts["error"] = "error" in output
    facts["calls"] = [_call_facts(call) for call in output.get("calls", [])]
    return facts


def _call_facts(call: dict[str, Any]) -> dict[str, Any]:
    kept = ("seq", "connector", "method", "requiresApproval", "state")
    facts = {key: call[key] for key in kept if key in call}
    if call.get("result") is not None:
        facts["result"] = call["result"]
    return facts
