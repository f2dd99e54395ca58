"""How executions end otherwise: refusals, time limits, stops, calls left under way, sizes."""

from __future__ import annotations

import asyncio

import pytest

from codemode_jupyter.connectors.tool import Tool
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.protocol import PassEnd
from tests.runtime.fake_sandbox import Program, ThrownError
from tests.runtime.waiting import until


async def test_two_runs_at_once_end_each_with_its_own_result(world):
    async def program(p: Program):
        return (await p.call("shelf.who", {}))["execution"]

    one, two = await asyncio.gather(world.execute(program), world.execute(program))
    assert one.result == one.execution_id
    assert two.result == two.execution_id
    assert one.execution_id != two.execution_id


async def test_ids_sort_by_start(world):
    async def program(p: Program):
        return 1

    ids = []
    for _ in range(3):
        ids.append((await world.execute(program)).execution_id)
        await asyncio.sleep(0.002)
    assert ids == sorted(ids)
    assert all(id_.startswith("exec_0") for id_ in ids)
    assert [record.id for record in await world.runtime.executions()] == ids[::-1]
    assert [record.id for record in await world.runtime.executions(1)] == ids[-1:]


async def test_unknown_tools_are_refused_with_the_nearest_names_and_recorded(world):
    async def program(p: Program):
        await p.call("shelf.peeek", {})

    outcome = await world.execute(program)
    assert outcome.error.code == "unknown_tool"
    assert 'Tool "peeek" not found on shelf' in outcome.error.message
    assert "peek" in outcome.error.message
    assert [(call.method, call.state) for call in outcome.calls] == [("peeek", "failed")]


async def test_an_unknown_connector_is_refused(world):
    async def program(p: Program):
        await p.call("shelv.peek", {})

    outcome = await world.execute(program)
    assert outcome.error.code == "unknown_connector"
    assert "shelf" in outcome.error.message


async def test_arguments_that_do_not_fit_never_reach_the_tool(world):
    async def program(p: Program):
        try:
            await p.call("shelf.peek", {"i": "one"})
        except ThrownError as error:
            return error.message

    outcome = await world.execute(program)
    assert "i must be an integer" in outcome.result
    assert world.shelf.counts["peek"] == 0
    assert outcome.calls[0].error.code == "invalid_arguments"


async def test_positional_arguments_are_bound_to_parameters(world):
    async def program(p: Program):
        return await p.call("shelf.peek", 7)

    outcome = await world.execute(program)
    assert outcome.result == {"slot": 7, "v": "ok"}
    assert outcome.calls[0].args == {"i": 7}


async def test_a_program_that_is_too_long_is_not_recorded(world):
    outcome = await world.runtime.execute("async () => { /* " + "x" * 1_000_000 + " */ }")
    assert (outcome.status, outcome.execution_id, outcome.error.code) == ("error", "", "too_large")
    assert "too large to record durably" in outcome.error.message
    assert await world.runtime.executions() == []


async def test_a_program_that_does_not_parse_is_recorded_and_not_run(world):
    started = []
    outcome = await world.runtime.execute("async () => { return (1 }", on_start=started.append)
    assert outcome.error.code == "syntax_error"
    assert outcome.error.line == 1
    assert started == [outcome.execution_id]
    assert world.sandbox.passes == 0
    assert not outcome.to_wire()["error"].startswith("Code execution failed")


async def test_an_unknown_language_and_a_program_that_is_no_text_are_refused(world):
    assert (await world.runtime.execute("1", language="cobol")).error.code == "unknown_language"
    assert (await world.runtime.execute(5)).error.code == "invalid_code"


async def test_the_execution_is_recorded_before_anything_runs(world):
    seen = []

    def on_start(execution_id: str) -> None:
        seen.append(execution_id)

    async def program(p: Program):
        record = await_now(world.another().execution(seen[0]))
        return record.status

    outcome = await world.execute(program, on_start=on_start)
    assert outcome.result == "running"
    assert seen == [outcome.execution_id]


def await_now(coroutine):
    """Run a coroutine that never really waits."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waited")


async def test_a_call_that_was_not_awaited_is_waited_for_and_marked_late(world):
    async def program(p: Program):
        p.call("shelf.slow", {})
        return "left"

    async def open_gate():
        await until(lambda: "slow" in world.shelf.gates)
        await asyncio.sleep(0.02)
        world.shelf.gate("slow").set()

    opening = asyncio.create_task(open_gate())
    outcome = await world.execute(program)
    await opening
    assert (outcome.status, outcome.result) == ("completed", "left")
    assert [(call.state, call.result, call.late) for call in outcome.calls] == [("applied", "slow", True)]


async def test_a_tool_that_takes_too_long_is_cancelled_and_fails(world):
    world.options["tool_timeout"] = 0.05

    async def program(p: Program):
        try:
            await p.call("shelf.slow", {})
        except ThrownError as error:
            return error.message

    outcome = await world.execute(program)
    assert "took longer than 0.05 s" in outcome.result
    assert outcome.calls[0].error.code == "tool_timeout"


async def test_a_tools_own_timeout_error_is_its_own(world):
    async def call(arguments, context):
        raise TimeoutError("the service did not answer")

    world.shelf.extra.append(Tool("late", call))

    async def program(p: Program):
        await p.call("shelf.late", {})

    outcome = await world.execute(program)
    assert outcome.calls[0].error.code == "tool_error"
    assert "the service did not answer" in outcome.error.message


async def test_cancelling_the_awaiting_task_stops_the_run(world):
    async def program(p: Program):
        await p.call("shelf.slow", {})

    started = asyncio.Event()
    ids = []

    def on_start(execution_id):
        ids.append(execution_id)
        started.set()

    runtime = world.runtime
    task = asyncio.create_task(runtime.execute(world.sandbox.program(program), on_start=on_start))
    await started.wait()
    await until(lambda: world.shelf.counts["slow"])
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    record = await runtime.execution(ids[0])
    assert (record.status, record.error.code) == ("error", "stopped")
    assert [(call.state, call.error.code) for call in record.calls] == [("failed", "stopped")]
    assert world.shelf.disposed == [(ids[0], "error")]


async def test_stop_ends_a_run_from_outside_and_its_awaiter_gets_an_outcome(world):
    async def program(p: Program):
        await p.call("shelf.slow", {})

    ids = []
    runtime = world.runtime
    task = asyncio.create_task(runtime.execute(world.sandbox.program(program), on_start=ids.append))
    await until(lambda: world.shelf.counts["slow"])
    assert await runtime.stop(ids[0]) is True
    outcome = await task
    assert (outcome.status, outcome.error.code) == ("error", "stopped")
    assert await runtime.stop(ids[0]) is False


async def test_a_program_that_runs_too_long_ends_with_timeout(world):
    async def program(p: Program):
        await p.first()

    outcome = await world.execute(program)
    assert outcome.error.code == "timeout"
    assert "Execution timed out" in outcome.error.message


async def test_results_and_arguments_over_the_limit_fail_the_call_with_advice(world):
    async def program(p: Program):
        messages = []
        for path, arguments in (("shelf.huge", {"n": 999_999}), ("shelf.peek", {"big": "z" * 1_000_000})):
            try:
                await p.call(path, arguments)
            except ThrownError as error:
                messages.append(error.message)
        fits = await p.call("shelf.huge", {"n": 999_998})
        await p.call("shelf.stow", {})
        return [messages, len(fits)]

    outcome = await world.execute(program)
    assert outcome.status == "paused", outcome.error
    end = await world.runtime.approve(outcome.execution_id)
    [[result, arguments], length] = end.result
    assert "too large to record durably" in result
    assert "Write large data to a file or workspace" in result
    assert "too large" in arguments
    assert length == 999_998
    assert world.shelf.counts["peek"] == 0


async def test_a_result_that_cannot_be_stored_fails_the_call(world):
    async def call(arguments, context):
        return object()

    world.shelf.extra.append(Tool("strange", call))

    async def program(p: Program):
        await p.call("shelf.strange", {})

    outcome = await world.execute(program)
    assert outcome.error.code == "result_not_storable"
    assert "could not be recorded durably" in outcome.error.message


async def test_a_final_result_over_the_limit_is_returned_and_noted_in_the_audit_row(world):
    async def program(p: Program):
        return "p" * 1_000_001

    outcome = await world.execute(program)
    assert (outcome.status, len(outcome.result)) == ("completed", 1_000_001)
    record = await world.runtime.execution(outcome.execution_id)
    assert record.result.startswith("[codemode: result omitted from the audit trail")


async def test_console_lines_are_kept_for_paused_runs_too(world):
    async def program(p: Program):
        p.print("first")
        p.print("careful", "warn")
        await p.call("shelf.stow", {})
        p.print("last", "error")

    outcome = await world.execute(program)
    assert outcome.logs == ("first", "[warn] careful")
    end = await world.runtime.approve(outcome.execution_id)
    assert end.logs == ("first", "[warn] careful", "[error] last")


async def test_too_many_console_lines_lose_the_older_half(world):
    async def program(p: Program):
        for number in range(40):
            p.print(f"{number} " + "x" * 50_000)

    outcome = await world.execute(program)
    assert "20 earlier console lines were dropped" in outcome.logs[0] or "dropped" in outcome.logs[0]
    assert outcome.logs[-1].startswith("39 ")


async def test_no_sandbox_is_an_error_outcome_and_a_paused_run_stays_paused(world):
    class Nowhere:
        name = "none"

        async def run_pass(self, _, __) -> PassEnd:
            raise CodemodeError("no_sandbox", "There is no sandbox here.", hint="Install one.")

        async def close(self) -> None:
            """Nothing is held."""

    async def program(p: Program):
        return await p.call("shelf.stow", {})

    bare = world.another(executor=Nowhere())
    failed = await bare.execute(world.sandbox.program(program))
    assert failed.error.code == "no_sandbox"
    outcome = await world.execute(program)
    refused = await bare.approve(outcome.execution_id)
    assert refused.error.code == "no_sandbox"
    assert [call.seq for call in await world.runtime.pending(outcome.execution_id)] == [0]
    assert (await world.runtime.approve(outcome.execution_id)).status == "completed"


async def test_wait_returns_when_the_run_is_over(world):
    async def program(p: Program):
        return await p.call("shelf.stow", {})

    runtime = world.runtime
    outcome = await runtime.execute(world.sandbox.program(program))
    waiting = asyncio.create_task(runtime.wait(outcome.execution_id))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    await runtime.approve(outcome.execution_id)
    assert (await waiting).result == {"id": 1}
    with pytest.raises(CodemodeError) as refusal:
        await runtime.wait("exec_nope")
    assert refusal.value.code == "unknown_execution"


async def test_subscribers_are_told_of_every_change_once_a_tick(world):
    told = []
    runtime = world.runtime
    unsubscribe = runtime.subscribe(told.append)

    async def program(p: Program):
        await p.call("shelf.peek", {})

    outcome = await runtime.execute(world.sandbox.program(program))
    await asyncio.sleep(0)
    assert set(told) == {outcome.execution_id}
    assert len(told) >= 3
    unsubscribe()
    told.clear()
    await runtime.execute(world.sandbox.program(program))
    assert told == []


async def test_transform_result_reshapes_what_the_caller_gets_and_not_the_store(world):
    world.options["transform_result"] = lambda value: {"wrapped": value}

    async def program(p: Program):
        return (await p.call("shelf.stow", {}))["id"]

    outcome = await world.execute(program)
    end = await world.runtime.approve(outcome.execution_id)
    assert end.result == {"wrapped": 1}
    assert (await world.runtime.execution(outcome.execution_id)).result == 1


async def test_a_transform_that_fails_warns_and_gives_the_raw_result(world):
    world.options["transform_result"] = lambda _: 1 / 0

    async def program(p: Program):
        return 5

    with pytest.warns(UserWarning, match="transform_result failed"):
        outcome = await world.execute(program)
    assert outcome.result == 5
