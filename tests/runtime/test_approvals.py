"""Approve, reject: what was shown is what is decided, and the first decision wins."""

from __future__ import annotations

import asyncio

import pytest

from codemode_jupyter.runtime.digest import combined_digest
from tests.runtime.fake_sandbox import Program
from tests.runtime.shelf import Shelf
from tests.runtime.waiting import until


async def two_in_a_row(p: Program):
    await p.call("shelf.stow", {"n": 1})
    await p.call("shelf.stow", {"n": 2})
    return "done"


async def two_at_once(p: Program):
    return await p.gather(p.call("shelf.stow", {"n": 1}), p.call("shelf.stow", {"n": 2}))


async def test_two_gated_calls_in_a_row_pause_twice(world):
    first = await world.execute(two_in_a_row)
    second = await world.runtime.approve(first.execution_id)
    assert [call.args for call in second.pending] == [{"n": 2}]
    third = await world.runtime.approve(first.execution_id)
    assert (third.status, third.result) == ("completed", "done")
    assert world.shelf.created == [{"n": 1}, {"n": 2}]


async def test_calls_issued_together_are_pending_together_and_decided_each_by_itself(world):
    outcome = await world.execute(two_at_once)
    assert [(call.seq, call.args) for call in outcome.pending] == [(0, {"n": 1}), (1, {"n": 2})]
    later = await world.runtime.approve(outcome.execution_id, 1, digest=outcome.pending[1].digest)
    assert (later.status, [call.seq for call in later.pending]) == ("paused", [0])
    assert world.shelf.created == [{"n": 2}]
    end = await world.runtime.approve(outcome.execution_id, 0)
    assert (end.status, end.result) == ("completed", [{"id": 2}, {"id": 1}])


async def test_all_pending_calls_can_be_approved_in_one_step_bound_to_a_combined_digest(world):
    outcome = await world.execute(two_at_once)
    end = await world.runtime.approve(outcome.execution_id, [0, 1], digest=combined_digest(outcome.pending))
    assert end.status == "completed"
    assert world.shelf.counts["stow"] == 2


async def test_an_approval_with_another_digest_changes_nothing(world):
    outcome = await world.execute(two_in_a_row)
    refused = await world.runtime.approve(outcome.execution_id, 0, digest="0" * 64)
    assert (refused.status, refused.error.code) == ("error", "stale_decision")
    assert world.shelf.created == []
    assert (await world.runtime.approve(outcome.execution_id, 0, digest=outcome.pending[0].digest)).status == "paused"


async def test_the_same_button_pressed_twice_does_not_approve_the_next_action(world):
    outcome = await world.execute(two_in_a_row)
    shown = outcome.pending[0]
    await world.runtime.approve(outcome.execution_id, shown.seq, digest=shown.digest)
    again = await world.runtime.approve(outcome.execution_id, shown.seq, digest=shown.digest)
    assert again.error.code == "stale_decision"
    assert world.shelf.created == [{"n": 1}]


async def test_of_two_approvals_at_once_one_wins_and_the_action_runs_once(world):
    outcome = await world.execute(two_in_a_row)
    other = world.another()
    await other.describe("shelf")  # it knows its tools
    both = await asyncio.gather(world.runtime.approve(outcome.execution_id, 0), other.approve(outcome.execution_id, 0))
    assert sorted(result.status for result in both) == ["error", "paused"]
    [loser] = [result for result in both if result.status == "error"]
    assert loser.error.code == "not_paused"
    assert "only a paused run can be approved" in loser.error.message
    assert world.shelf.created == [{"n": 1}]


async def test_an_approval_means_what_waits_when_it_is_given_however_long_tools_take_to_load(world):
    class Slow(Shelf):
        async def tools(self):
            await asyncio.sleep(0.1)
            return super().tools()

    outcome = await world.execute(two_in_a_row)
    late = asyncio.create_task(world.another(connectors=[Slow()]).approve(outcome.execution_id))
    await asyncio.sleep(0)
    assert (await world.runtime.approve(outcome.execution_id)).status == "paused"
    assert (await late).error.code == "stale_decision"
    assert [call.seq for call in await world.runtime.pending()] == [1]


async def test_approving_what_is_not_paused_or_unknown_changes_nothing(world):
    async def program(p: Program):
        return 1

    outcome = await world.execute(program)
    refused = await world.runtime.approve(outcome.execution_id)
    assert refused.error.code == "not_paused"
    assert "is not paused (status: completed); only a paused run can be approved." in refused.error.message
    unknown = await world.runtime.approve("exec_nope")
    assert unknown.error.code == "unknown_execution"
    assert 'No execution "exec_nope" to resume.' in unknown.error.message
    assert await world.runtime.reject("exec_nope") is False
    assert await world.runtime.pending("exec_nope") == []


async def test_a_rejected_call_is_never_run(world):
    outcome = await world.execute(two_in_a_row)
    assert await world.runtime.reject(outcome.execution_id, 5) is False
    assert (await world.runtime.execution(outcome.execution_id)).status == "paused"
    assert await world.runtime.reject(outcome.execution_id, 0, reason="not today") is True
    assert await world.runtime.reject(outcome.execution_id, 0) is False
    record = await world.runtime.execution(outcome.execution_id)
    assert record.status == "rejected"
    assert "Action shelf.stow rejected by user" in record.error.message
    assert "not today" in record.error.message
    assert [call.state for call in record.calls] == ["rejected"]
    assert (await world.runtime.approve(outcome.execution_id)).error.code == "not_paused"
    assert world.shelf.created == []
    assert world.shelf.disposed == [(outcome.execution_id, "rejected")]


async def test_rejecting_one_of_two_ends_the_run_and_cancels_the_other(world):
    outcome = await world.execute(two_at_once)
    assert await world.runtime.reject(outcome.execution_id, 0)
    record = await world.runtime.execution(outcome.execution_id)
    assert [call.state for call in record.calls] == ["rejected", "cancelled"]


async def test_pending_lists_all_paused_runs_newest_first(world):
    first = await world.execute(two_at_once)
    await asyncio.sleep(0.002)
    second = await world.execute(two_in_a_row)
    listed = [(call.execution_id, call.seq) for call in await world.runtime.pending()]
    assert listed == [(second.execution_id, 0), (first.execution_id, 0), (first.execution_id, 1)]
    assert {call.execution_id for call in await world.runtime.pending(first.execution_id)} == {first.execution_id}


async def test_a_program_cannot_catch_the_pause(world):
    after = []

    async def program(p: Program):
        try:
            await p.call("shelf.stow", {"n": 1})
        except Exception as error:  # noqa: BLE001
            after.append(error)
        finally:
            await p.call("shelf.note", {"n": 2})
        return "end"

    outcome = await world.execute(program)
    assert outcome.status == "paused"
    assert [call.method for call in outcome.calls] == ["stow"]
    assert after == []
    assert (await world.runtime.approve(outcome.execution_id)).result == "end"


async def test_reads_before_the_pause_keep_their_first_value(world):
    async def program(p: Program):
        first = await p.call("shelf.peek", {"count": True})
        await p.call("shelf.stow", {"saw": first["v"]})
        return first["v"], (await p.call("shelf.peek", {"count": True}))["v"]

    outcome = await world.execute(program)
    await world.another().execute(world.sandbox.program(program))
    end = await world.runtime.approve(outcome.execution_id)
    assert end.result == ["look 1", "look 3"]


async def test_a_read_beside_a_gated_call_runs_once_and_its_result_is_kept(world):
    async def program(p: Program):
        return await p.gather(p.call("shelf.slow", {}), p.call("shelf.stow", {"n": 1}))

    world.shelf.gate("slow").set()
    outcome = await world.execute(program)
    assert [(call.method, call.state) for call in outcome.calls] == [("slow", "applied"), ("stow", "pending")]
    end = await world.runtime.approve(outcome.execution_id)
    assert end.result == ["slow", {"id": 1}]
    assert world.shelf.counts == {"slow": 1, "stow": 1}


async def test_parallel_chains_before_a_pause_are_approved_whatever_their_order(world):
    async def chain(p: Program, number: int):
        await p.call("shelf.slow", {"gate": f"gate {number}"})
        return (await p.call("shelf.peek", {"i": number}))["slot"]

    async def program(p: Program):
        slots = await p.gather(*(chain(p, number) for number in range(3)))
        await p.call("shelf.stow", {"slots": slots})
        return slots

    async def open_backwards():
        for number in (2, 0, 1):
            await until(lambda: world.shelf.counts["slow"] == 3)
            world.shelf.gate(f"gate {number}").set()
            await asyncio.sleep(0.005)

    opening = asyncio.create_task(open_backwards())
    outcome = await world.execute(program)
    await opening
    assert outcome.status == "paused", outcome.error
    end = await world.runtime.approve(outcome.execution_id)
    assert (end.status, end.result) == ("completed", [0, 1, 2])


async def test_a_run_without_its_connectors_stays_paused(world):
    outcome = await world.execute(two_in_a_row)
    bare = world.another(connectors=[])
    refused = await bare.approve(outcome.execution_id)
    assert refused.error.code == "missing_connectors"
    assert 'requires connector(s) "shelf" that are not configured on this runtime' in refused.error.message
    assert (await world.runtime.approve(outcome.execution_id)).status == "paused"


async def test_a_run_whose_tool_is_not_there_stays_paused(world):
    class Bare(Shelf):
        def tools(self):
            return [tool for tool in super().tools() if tool.name != "stow"]

    outcome = await world.execute(two_in_a_row)
    refused = await world.another(connectors=[Bare()]).approve(outcome.execution_id)
    assert refused.error.code == "missing_tools"
    assert "shelf.stow" in refused.error.message
    assert (await world.runtime.approve(outcome.execution_id)).status == "paused"


async def test_a_run_whose_connector_cannot_say_its_tools_stays_paused(world):
    class Down(Shelf):
        def tools(self):
            raise ConnectionError("the server is down")

    outcome = await world.execute(two_in_a_row)
    refused = await world.another(connectors=[Down()]).approve(outcome.execution_id)
    assert refused.error.code == "connector_failed"
    assert (await world.runtime.approve(outcome.execution_id)).status == "paused"


async def test_an_approval_rule_decides_by_the_arguments(world):
    async def program(p: Program):
        await p.call("shelf.maybe", {"n": 1})
        await p.call("shelf.maybe", {"n": 2, "ask": True})

    outcome = await world.execute(program)
    assert [call.args for call in outcome.pending] == [{"n": 2, "ask": True}]
    assert world.shelf.created == [{"n": 1}]


async def test_a_gated_call_that_nobody_awaits_pauses_the_finished_program(world):
    async def program(p: Program):
        p.call("shelf.stow", {"n": "late"})
        return "left"

    outcome = await world.execute(program)
    assert outcome.status == "paused"
    end = await world.runtime.approve(outcome.execution_id)
    assert (end.status, end.result) == ("completed", "left")
    assert world.shelf.created == [{"n": "late"}]


@pytest.mark.parametrize("seq", [[], [0, 7], 7])
async def test_a_decision_about_calls_that_do_not_wait_changes_nothing(world, seq):
    outcome = await world.execute(two_at_once)
    refused = await world.runtime.approve(outcome.execution_id, seq)
    assert refused.error.code == "stale_decision"
    assert world.shelf.created == []


async def test_a_reject_while_the_call_runs_changes_nothing(world):
    async def program(p: Program):
        await p.call("shelf.stow", {"n": 1})
        return await p.call("shelf.slow", {})

    runtime = world.runtime
    outcome = await runtime.execute(world.sandbox.program(program))
    approving = asyncio.create_task(runtime.approve(outcome.execution_id))
    await until(lambda: world.shelf.counts["slow"])
    assert await runtime.reject(outcome.execution_id, 0) is False
    assert (await runtime.execution(outcome.execution_id)).status == "running"
    world.shelf.gate("slow").set()
    end = await approving
    assert [call.state for call in end.calls] == ["applied", "applied"]
