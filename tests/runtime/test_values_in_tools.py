"""What a program passes arrives in a tool as what it was, at once, after a pause and when it is undone."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from codemode_jupyter import Connector, DenoExecutor, FunctionConnector, Runtime, Tool, tool

WHEN = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
PROGRAM = """async () => DESK.put({
  when: new Date("2026-01-02T03:04:05.678Z"), tags: new Set(["b", "a"]), ages: new Map([["ann", 3]]),
  byNumber: new Map([[1, new Date(0)]]), raw: new Uint8Array([1, 255]), big: 2n ** 70n,
  odd: [NaN, Infinity, -Infinity, -0], gone: undefined, empty: null, pairs: new Set([[1], [2]]),
})"""
ARRIVES = {
    "when": WHEN,
    "tags": {"a", "b"},
    "ages": {"ann": 3},
    "byNumber": {1: datetime(1970, 1, 1, tzinfo=UTC)},
    "raw": b"\x01\xff",
    "big": 2**70,
    "empty": None,
    "pairs": [[1], [2]],
}


class Issue(BaseModel):
    due: datetime
    title: str
    tags: list[str]
    voters: set[str]


class Desk:
    """Keeps what it was given."""

    def __init__(self) -> None:
        self.given: list[Any] = []

    def tools(self) -> list[Any]:
        given = self.given

        def put(**values: Any) -> None:
            given.append(values)

        def put_untyped(value, also=None):
            given.append((value, also))

        def put_record(record: dict, items: list, mixed: dict[str, list[object]]) -> None:
            given.append((record, items, mixed))

        def put_typed(  # noqa: PLR0917  one of each type
            text: str, moment: datetime, ordered: list[str], members: set[int], counts: dict[int, str], issue: Issue
        ) -> None:
            given.append((text, moment, ordered, members, counts, issue))

        @tool(
            requires_approval=lambda args: isinstance(args["value"], datetime) and args["tags"] == {1},
            revert=lambda args, _: given.append(("reverted", args)),
        )
        def put_gated(value: Any, tags: Any) -> None:
            given.append((value, tags))

        return [put, put_untyped, put_record, put_typed, put_gated]


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
async def runtime(desk: Desk, tmp_path: Path) -> AsyncIterator[Runtime]:
    runtime = Runtime(
        [FunctionConnector("desk", desk.tools())], executor=DenoExecutor(), path=tmp_path / "store.sqlite3"
    )
    yield runtime
    await runtime.close()


async def run(runtime: Runtime, program: str) -> Any:
    outcome = await runtime.execute(program)
    assert outcome.status in ("completed", "paused"), outcome.error
    return outcome


async def test_every_type_of_a_program_arrives_in_a_tool(runtime: Runtime, desk: Desk) -> None:
    await run(runtime, PROGRAM.replace("DESK", "desk"))
    (given,) = desk.given
    odd = given.pop("odd")
    assert given == ARRIVES
    assert math.isnan(odd[0])
    assert odd[1:3] == [math.inf, -math.inf]
    assert math.copysign(1, odd[3]) == -1


async def test_positional_arguments_without_a_type_arrive_as_they_are(runtime: Runtime, desk: Desk) -> None:
    await run(runtime, 'async () => desk.put_untyped(new Date("2026-01-02T03:04:05.678Z"), new Set([1, 2]))')
    assert desk.given == [(WHEN, {1, 2})]


async def test_containers_without_item_types_hold_what_was_put_in(runtime: Runtime, desk: Desk) -> None:
    await run(
        runtime,
        "async () => { const d = new Date(0); await desk.put_record({a: d}, [d, {d}], {x: [d, new Set([1])]}) }",
    )
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    assert desk.given == [({"a": epoch}, [epoch, {"d": epoch}], {"x": [epoch, {1}]})]


async def test_a_parameter_with_a_type_gets_what_it_says(runtime: Runtime, desk: Desk) -> None:
    program = """async () => {
      const when = new Date("2026-01-02T03:04:05.678Z"), names = new Set(["b", "a", "c"])
      await desk.put_typed(when, when, names, new Set([1, 2]), new Map([[1, "one"]]),
        {due: when, title: when, tags: names, voters: names})
    }"""
    await run(runtime, program)
    ((text, moment, ordered, members, counts, issue),) = desk.given
    assert (text, moment, ordered, members, counts) == (
        "2026-01-02T03:04:05.678Z",
        WHEN,
        ["b", "a", "c"],
        {1, 2},
        {1: "one"},
    )
    assert [type(value) for value in (text, ordered, counts)] == [str, list, dict]
    assert issue == Issue(due=WHEN, title=text, tags=["b", "a", "c"], voters={"a", "b", "c"})


async def test_what_was_approved_arrives_as_it_was_passed_and_is_undone_so(runtime: Runtime, desk: Desk) -> None:
    """The rule, the tool after the pause and the revert see the same values."""
    outcome = await run(runtime, 'async () => desk.put_gated(new Date("2026-01-02T03:04:05.678Z"), new Set([1]))')
    assert outcome.status == "paused"
    assert desk.given == []
    assert (await runtime.approve(outcome.execution_id)).status == "completed"
    assert desk.given == [(WHEN, {1})]
    await runtime.rollback(outcome.execution_id)
    assert desk.given[1:] == [("reverted", {"value": WHEN, "tags": {1}})]


async def test_a_tool_described_by_a_schema_gets_what_json_has(tmp_path: Path) -> None:
    """ISO text for a Date and a list for a Set, in the order in which the program added to it."""
    given = []

    async def call(arguments: dict[str, Any], context: object) -> None:
        given.append(arguments)

    class Service(Connector):
        def tools(self) -> list[Tool]:
            return [Tool("put", call)]

    runtime = Runtime([Service("service")], executor=DenoExecutor(), path=tmp_path / "store.sqlite3")
    try:
        await run(runtime, "async () => service.put({when: new Date(0), tags: new Set(['b', 'a'])})")
    finally:
        await runtime.close()
    assert given == [{"when": "1970-01-01T00:00:00.000Z", "tags": ["b", "a"]}]
