"""Tools, rules and reverts of a user's own that do what none should: the run goes on, or ends and says why."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from codemode_jupyter.connectors.functions.function import function_tool
from codemode_jupyter.connectors.tool import Tool
from codemode_jupyter.runtime.runtime import Runtime
from tests.runtime.fake_sandbox import FakeExecutor, Program, ThrownError
from tests.runtime.shelf import Shelf
from tests.runtime.waiting import until


class MuteError(Exception):
    """An error that cannot tell its message."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


def raising(error: BaseException) -> Any:
    async def call(_: Any, __: Any) -> Any:
        raise error

    return call


async def caught(p: Program):
    try:
        await p.call("shelf.unruly", {"a": 1})
    except ThrownError as error:
        return error.message


async def test_an_error_that_cannot_tell_its_message_ends_its_call(world):
    world.shelf.extra.append(Tool("unruly", raising(MuteError())))
    outcome = await asyncio.wait_for(world.execute(caught), 10)
    assert outcome.result == "MuteError, whose message cannot be read"
    assert [call.state for call in outcome.calls] == ["failed"]


async def test_a_tool_that_exits_fails_and_the_process_goes_on(world):
    world.shelf.extra.append(Tool("unruly", raising(SystemExit(3))))
    outcome = await asyncio.wait_for(world.execute(caught), 10)
    assert (outcome.status, outcome.result) == ("completed", "3")


class OddError(BaseException):
    """An error that is no ``Exception``, as those of test frameworks and other event loops are."""


async def test_a_tool_that_raises_what_is_no_exception_fails_and_does_not_hang_the_run(world):
    world.shelf.extra.append(Tool("unruly", raising(OddError("odd"))))
    outcome = await asyncio.wait_for(world.execute(caught), 10)
    assert (outcome.status, outcome.result) == ("completed", "odd")
    assert [call.state for call in outcome.calls] == ["failed"]


async def test_a_call_whose_task_ended_otherwise_than_by_its_outcome_is_recorded(world):
    world.shelf.extra.append(Tool("unruly", raising(GeneratorExit("closed"))))
    outcome = await asyncio.wait_for(world.execute(caught), 10)
    assert (outcome.status, outcome.result) == ("completed", "closed")


@pytest.mark.parametrize("error", [SystemExit(1), OddError("odd")])
async def test_a_validation_that_raises_what_is_no_exception_refuses_the_call(error, tmp_path):
    def validate(_: Any) -> Any:
        raise error

    shelf, sandbox = Shelf(), FakeExecutor()
    shelf.extra.append(Tool("unruly", raising(AssertionError("never runs")), validate=validate))
    runtime = Runtime([shelf], executor=sandbox, path=tmp_path / "store.sqlite3")
    outcome = await asyncio.wait_for(runtime.execute(sandbox.program(caught)), 10)
    assert [(call.state, call.error.code) for call in outcome.calls] == [("failed", "invalid_arguments")]
    await runtime.close()


@pytest.mark.parametrize("error", [SystemExit(1), OddError("odd"), asyncio.CancelledError()])
async def test_hooks_that_raise_what_none_should_change_nothing(error, tmp_path, caplog):
    class Odd(Shelf):
        def on_pass_end(self, *_: str) -> None:
            raise error

        async def dispose_execution(self, *_: str) -> None:
            raise error

    async def call(_: Any, __: Any) -> int:
        return 1

    shelf, sandbox = Odd(), FakeExecutor()
    shelf.extra.append(Tool("unruly", call))

    def transform(_: Any) -> Any:
        raise error

    runtime = Runtime([shelf], executor=sandbox, path=tmp_path / "store.sqlite3", transform_result=transform)
    with pytest.warns(UserWarning, match="transform_result failed"):
        outcome = await asyncio.wait_for(runtime.execute(sandbox.program(caught)), 10)
    assert outcome.status == "completed"
    for hook in ("on_pass_end", "dispose_execution"):
        assert f"The hook shelf.{hook} failed" in caplog.text
    await runtime.close()


async def test_a_tool_that_is_cancelled_from_within_is_not_said_to_be_stopped(world):
    world.shelf.extra.append(Tool("unruly", raising(asyncio.CancelledError())))
    outcome = await asyncio.wait_for(world.execute(caught), 10)
    assert "cancelled from within" in outcome.result
    assert [call.error.code for call in outcome.calls] == ["tool_cancelled"]


async def test_a_validation_that_raises_its_own_error_refuses_the_call(world):
    def validate(_: Any) -> Any:
        raise ValueError("a must be even")

    world.shelf.extra.append(Tool("unruly", raising(AssertionError("never runs")), validate=validate))
    outcome = await asyncio.wait_for(world.execute(caught), 10)
    assert outcome.result == "Arguments to shelf.unruly do not fit: a must be even"
    assert [(call.state, call.error.code) for call in outcome.calls] == [("failed", "invalid_arguments")]


@pytest.mark.parametrize("error", [ZeroDivisionError(), SystemExit(1), MuteError()])
async def test_an_approval_rule_that_fails_asks_a_person(world, error):
    def rule(_: Any) -> bool:
        raise error

    world.shelf.extra.append(Tool("unruly", raising(AssertionError("never runs")), requires_approval=rule))
    outcome = await asyncio.wait_for(world.execute(caught), 10)
    assert outcome.status == "paused"
    assert [call.method for call in outcome.pending] == ["unruly"]


async def test_a_fault_of_ours_in_a_call_ends_the_run_instead_of_hanging_it(world, monkeypatch):
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr("codemode_jupyter.runtime.live_pass.admit", broken)
    outcome = await asyncio.wait_for(world.execute(caught), 10)
    assert (outcome.status, outcome.error.code) == ("error", "internal_error")
    assert "ZeroDivisionError: a fault" in outcome.error.message


def plain_revert(error: BaseException) -> Any:
    def revert(_: Any, __: Any) -> None:
        raise error

    return revert


@pytest.mark.parametrize(
    "revert",
    [
        *map(plain_revert, [StopIteration(), SystemExit(1), KeyboardInterrupt(), MuteError(), OddError()]),
        *map(raising, [SystemExit(1), MuteError(), OddError(), asyncio.CancelledError()]),
    ],
)
async def test_a_revert_that_raises_what_no_function_should_has_failed(revert, tmp_path):

    async def call(_: Any, __: Any) -> int:
        return 1

    shelf, sandbox = Shelf(), FakeExecutor()
    shelf.extra.append(Tool("unruly", call, revert=revert))
    runtime = Runtime([shelf], executor=sandbox, path=tmp_path / "store.sqlite3")
    outcome = await runtime.execute(sandbox.program(caught))
    report = await asyncio.wait_for(runtime.rollback(outcome.execution_id), 10)
    assert [entry.method for entry in report.failed] == ["unruly"]
    assert report.status == "partly_rolled_back"
    await runtime.close()


async def test_a_rollback_that_ends_before_another_one_failed_does_not_say_that_all_was_undone(tmp_path):
    began, go_on = asyncio.Event(), asyncio.Event()

    async def revert(arguments: Any, _: Any) -> None:
        if arguments["n"] == 1:
            began.set()
            await go_on.wait()
            raise ValueError("cannot undo")
        await began.wait()

    async def call(arguments: Any, _: Any) -> int:
        return arguments["n"]

    async def program(p: Program):
        await p.call("shelf.unruly", {"n": 1})
        await p.call("shelf.unruly", {"n": 2})

    shelf, sandbox = Shelf(), FakeExecutor()
    shelf.extra.append(Tool("unruly", call, revert=revert))
    runtime = Runtime([shelf], executor=sandbox, path=tmp_path / "store.sqlite3")
    id_ = (await runtime.execute(sandbox.program(program))).execution_id
    first = asyncio.create_task(runtime.rollback(id_))
    await asyncio.sleep(0)
    second = asyncio.create_task(runtime.rollback(id_))
    report = await asyncio.wait_for(first, 10)
    assert report.status == "partly_rolled_back"
    go_on.set()
    assert [entry.message for entry in (await asyncio.wait_for(second, 10)).failed] == ["cannot undo"]
    assert (await runtime.execution(id_)).status == "partly_rolled_back"
    await runtime.close()


async def test_a_connector_without_instructions_is_named(tmp_path):
    class Mute(Shelf):
        def instructions(self) -> str:
            raise LookupError("no words")

    sandbox = FakeExecutor()
    runtime = Runtime([Mute()], executor=sandbox, path=tmp_path / "store.sqlite3")
    for _ in range(2):
        outcome = await runtime.execute(sandbox.program(caught))
        assert outcome.error.code == "connector_failed"
        assert 'Connector "shelf" could not give its instructions' in outcome.error.message
    await runtime.close()


async def test_a_callback_that_fails_at_the_start_leaves_no_run_behind(world, caplog):
    def on_start(_: str) -> None:
        raise ValueError("no view")

    async def program(p: Program):
        return (await p.call("shelf.peek", {}))["v"]

    outcome = await world.execute(program, on_start=on_start)
    assert outcome.result == "ok"
    assert "no view" in caplog.text


async def test_a_plain_function_is_not_said_to_have_ended_with_the_run(world):
    begun, release, ended = threading.Event(), threading.Event(), threading.Event()

    def plain() -> None:
        begun.set()
        release.wait(10)
        ended.set()

    async def program(p: Program):
        await p.call("shelf.plain", {})

    world.shelf.extra.append(function_tool(plain))
    ids: list[str] = []
    runtime = world.runtime
    try:
        task = asyncio.create_task(runtime.execute(world.sandbox.program(program), on_start=ids.append))
        await until(begun.is_set)
        await runtime.stop(ids[0])
        (call,) = (await task).calls
    finally:
        release.set()
    assert "under way when the run was stopped" in call.error.message
    assert "runs to its end" in str(call.error)
    await until(ended.is_set)
