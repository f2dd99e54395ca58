"""Replay: recorded calls are compared, errors are results, steps keep their values, divergence applies nothing."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime import driver
from codemode_jupyter.sandbox.protocol import CallBatch, CallRequest, PassEnd, StepResult
from tests.runtime.fake_sandbox import Program, ThrownError
from tests.runtime.waiting import until


async def test_a_failed_call_is_recorded_and_replays_as_the_same_error(world):
    async def program(p: Program):
        try:
            await p.call("shelf.fragile", {})
        except ThrownError as error:
            why = f"{error.name}: {error.message}"
        return await p.call("shelf.stow", {"why": why})

    outcome = await world.execute(program)
    assert outcome.calls[0].state == "failed"
    assert (outcome.calls[0].error.name, outcome.calls[0].error.message) == ("LookupError", "fragile failed #1")
    end = await world.runtime.approve(outcome.execution_id)
    assert end.status == "completed"
    assert world.shelf.created == [{"why": "LookupError: fragile failed #1"}]
    assert world.shelf.counts["fragile"] == 1


async def test_a_tool_error_that_is_not_caught_ends_the_run_with_its_message(world):
    async def program(p: Program):
        p.print("before")
        await p.call("shelf.fragile", {})

    outcome = await world.execute(program)
    assert outcome.status == "error"
    assert outcome.error.code == "program_error"
    assert "fragile failed #1" in outcome.error.message
    assert outcome.logs == ("before",)
    record = await world.runtime.execution(outcome.execution_id)
    assert (record.status, record.error) == ("error", outcome.error)
    assert [str(line) for line in record.logs] == ["before"]


async def test_a_step_runs_once_and_keeps_its_value(world):
    counter = itertools.count(1)

    async def program(p: Program):
        value = await p.step("count", lambda: next(counter))
        await p.call("shelf.stow", {"value": value})
        return value

    outcome = await world.execute(program)
    assert outcome.status == "paused"
    [step, _] = outcome.calls
    assert (step.connector, step.method, step.state) == ("__step", "count", "applied")
    end = await world.runtime.approve(outcome.execution_id)
    assert (end.status, end.result) == ("completed", outcome.pending[0].args["value"])


async def test_a_failed_step_is_recorded_too(world):
    attempts = []

    def fail():
        attempts.append(1)
        raise ValueError(f"step broke {len(attempts)}")

    async def program(p: Program):
        try:
            await p.step("bad", fail)
        except ThrownError as error:
            message = error.message
        return (await p.call("shelf.stow", {"message": message})) and message

    outcome = await world.execute(program)
    end = await world.runtime.approve(outcome.execution_id)
    assert end.result == outcome.pending[0].args["message"]


async def test_other_arguments_in_the_replay_are_a_divergence_and_apply_nothing(world):
    passes = itertools.count()

    async def program(p: Program):
        await p.call("shelf.peek", {"i": 1})
        return await p.call("shelf.stow", {"n": next(passes)})

    world.sandbox.lose = "never"
    outcome = await world.execute(program)
    end = await world.runtime.approve(outcome.execution_id)
    assert end.error.code == "replay_divergence"
    assert end.error.message.startswith(
        "Codemode replay divergence at step 1: shelf.stow was called with different arguments"
    )
    assert "codemode.step" in end.error.hint
    assert world.shelf.created == []
    assert await world.runtime.pending() == []
    assert [call.state for call in end.calls] == ["applied", "cancelled"]


async def test_another_method_in_the_replay_is_a_divergence(world):
    passes = itertools.count()

    async def program(p: Program):
        await p.call("shelf.peek" if next(passes) == 0 else "shelf.who", {})
        return await p.call("shelf.stow", {})

    world.sandbox.lose = "never"
    outcome = await world.execute(program)
    end = await world.runtime.approve(outcome.execution_id)
    assert end.error.message.startswith("Codemode replay divergence at step 0: expected shelf.peek, got shelf.who.")
    assert world.shelf.created == []


async def test_a_program_that_ends_early_in_the_replay_diverges(world):
    passes = itertools.count()

    async def program(p: Program):
        if next(passes):
            return "early"
        return await p.call("shelf.stow", {})

    world.sandbox.lose = "never"
    outcome = await world.execute(program)
    end = await world.runtime.approve(outcome.execution_id)
    assert end.error.code == "replay_divergence"
    assert "without repeating shelf.stow" in end.error.message
    assert world.shelf.created == []


async def test_the_order_of_keys_is_no_divergence(world):
    passes = itertools.count()

    async def program(p: Program):
        arguments = {"a": 1, "b": {"x": 1, "y": 2}} if next(passes) % 2 else {"b": {"y": 2, "x": 1}, "a": 1}
        return await p.call("shelf.stow", arguments)

    outcome = await world.execute(program)
    assert (await world.runtime.approve(outcome.execution_id)).status == "completed"


async def test_a_reexecuted_tool_runs_in_every_pass_and_its_result_is_not_stored(world):
    async def program(p: Program):
        value = await p.call("shelf.fresh", {})
        await p.call("shelf.stow", {})
        return value

    outcome = await world.execute(program)
    [fresh, _] = outcome.calls
    assert (fresh.state, fresh.ephemeral, fresh.has_result) == ("applied", True, False)
    before = world.shelf.counts["fresh"]
    end = await world.runtime.approve(outcome.execution_id)
    assert end.result == {"reads": world.shelf.counts["fresh"]}
    assert world.shelf.counts["fresh"] > before


async def test_racing_calls_settle_in_the_same_order_in_the_replay(world):
    async def program(p: Program):
        winner = await p.first(p.call("shelf.slow", {"gate": "a"}), p.call("shelf.slow", {"gate": "b"}))
        await p.call("shelf.stow", {"winner": winner})
        return winner

    async def open_gates():
        for name in ("b", "a"):
            await until(lambda: {"a", "b"} <= set(world.shelf.gates))
            world.shelf.gate(name).set()
            await asyncio.sleep(0.02)

    opening = asyncio.create_task(open_gates())
    outcome = await world.execute(program)
    await opening
    assert outcome.pending[0].args == {"winner": "b"}, outcome
    assert (await world.runtime.approve(outcome.execution_id)).result == "b"


async def test_values_of_results_are_the_same_in_every_pass(world):
    async def program(p: Program):
        seen = [await p.call(f"shelf.{name}", {}) for name in ("bytes", "nothing", "control")]
        await p.call("shelf.stow", {})
        return seen

    outcome = await world.execute(program)
    end = await world.runtime.approve(outcome.execution_id)
    assert end.result == [
        bytes([5, 4, 3]),
        None,
        {"$type": "bytes", "value": "AAAA", "__codemode_control__": "pause"},
    ]


async def test_tools_see_one_execution_id_and_a_stable_idempotency_key(world):
    async def program(p: Program):
        await p.call("shelf.who", {})
        await p.call("shelf.stow", {})
        return await p.call("shelf.who", {})

    outcome = await world.execute(program)
    await world.runtime.approve(outcome.execution_id)
    assert {context.execution_id for context in world.shelf.contexts} == {outcome.execution_id}
    assert [context.seq for context in world.shelf.contexts] == [0, 2]
    assert len({context.idempotency_key for context in world.shelf.contexts}) == 2


class Hostile:
    """An executor that says what it likes."""

    name = "hostile"

    def __init__(self, act):
        self._act = act

    async def run_pass(self, request, handler):
        return await self._act(request, handler)

    async def close(self):
        """Nothing is held."""


class Link:
    def __init__(self):
        self.replies = []

    def reply(self, replies):
        self.replies.extend(replies)


def request(seq: int, method: str, connector: str = "shelf", arguments: str = "{}") -> CallRequest:
    return CallRequest(seq, connector, method, arguments)


async def test_a_step_is_recorded_only_with_its_token_and_only_once(world):
    link = Link()

    async def act(_, handler):
        handler.started(link)
        handler.calls(CallBatch((request(0, "pick", "__step"), request(1, "stow")), ()))
        token = link.replies[0].token
        handler.step_result(StepResult(0, "guess", value='"forged"'))
        handler.step_result(StepResult(1, token, value='"forged"'))
        handler.step_result(StepResult(0, token, value='"real"'))
        handler.step_result(StepResult(0, token, value='"twice"'))
        return PassEnd("paused", issued=2)

    runtime = world.another(executor=Hostile(act))
    outcome = await runtime.execute("async () => 1")
    assert [(call.state, call.result) for call in outcome.calls] == [("applied", "real"), ("pending", None)]


async def test_a_sandbox_that_skips_numbers_or_asks_twice_is_ended(world):
    async def skip(_, handler):
        handler.calls(CallBatch((request(3, "note"),), ()))
        await asyncio.Event().wait()

    async def twice(_, handler):
        handler.calls(CallBatch((request(0, "note"), request(0, "note")), ()))
        await asyncio.Event().wait()

    for act in (skip, twice):
        outcome = await world.another(executor=Hostile(act)).execute("async () => 1")
        assert outcome.error.code == "protocol"
    assert world.shelf.created == []


async def test_a_sandbox_that_claims_to_have_repeated_what_never_happened_is_ended(world):
    async def in_a_batch(_, handler):
        handler.calls(CallBatch((request(0, "note"),), (), replayed=1))
        await asyncio.Event().wait()

    async def at_the_end(_, handler):
        return PassEnd("completed", value="1", replayed=1)

    for act in (in_a_batch, at_the_end):
        outcome = await world.another(executor=Hostile(act)).execute("async () => 1")
        assert outcome.error.code == "protocol"
    assert world.shelf.created == []


async def test_what_arrives_after_the_end_of_a_pass_is_ignored(world):
    kept = []

    async def act(_, handler):
        kept.append(handler)
        return PassEnd("completed", value="1")

    runtime = world.another(executor=Hostile(act))
    outcome = await runtime.execute("async () => 1")
    kept[0].calls(CallBatch((request(0, "note"),), ()))
    kept[0].console([("log", "late")])
    kept[0].step_result(StepResult(0, "x", value="1"))
    kept[0].started(Link())
    await asyncio.sleep(0)
    record = await runtime.execution(outcome.execution_id)
    assert (record.calls, record.logs, world.shelf.created) == ((), (), [])


async def test_an_executor_that_raises_ends_the_run_as_an_error(world):
    async def act(_, handler):
        raise OSError("no more files")

    outcome = await world.another(executor=Hostile(act)).execute("async () => 1")
    assert outcome.error.code == "internal_error"
    assert "no more files" in outcome.error.message


async def test_a_pass_that_is_lost_again_and_again_ends_as_an_error(world):
    async def act(_, handler):
        return PassEnd("lost")

    outcome = await world.another(executor=Hostile(act)).execute("async () => 1")
    assert outcome.error.code == "sandbox_lost"


async def test_a_page_that_is_left_again_and_again_is_no_error(world):
    ends = [PassEnd("lost", is_left=True)] * 9 + [PassEnd("completed", value="7")]

    async def act(_, handler):
        return ends.pop(0)

    outcome = await world.another(executor=Hostile(act)).execute("async () => 7")
    assert (outcome.status, outcome.result) == ("completed", 7)


@pytest.mark.parametrize("code", ["no_page", "no_sandbox"])
async def test_after_a_loss_a_page_is_waited_for_without_a_limit_and_a_broken_sandbox_for_a_while(
    world, monkeypatch, code
):
    monkeypatch.setattr(driver, "SANDBOX_PATIENCE", 0.05)
    monkeypatch.setattr(driver, "_FIRST_PAUSE", 0.05)
    ends = [PassEnd("lost"), *[CodemodeError(code, "Nothing is there.")] * 3, PassEnd("completed", value="7")]

    async def act(_, handler):
        match ends.pop(0):
            case CodemodeError() as error:
                raise error
            case end:
                return end

    outcome = await world.another(executor=Hostile(act)).execute("async () => 7")
    if code == "no_page":
        assert outcome.result == 7
    else:
        assert (outcome.status, outcome.error.code) == ("error", "no_sandbox")
        assert [row.status for row in await world.runtime.executions()] == ["running"], "`recover` takes it up"
