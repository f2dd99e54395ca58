"""Detached runs: what is returned in place of the outcome, and who hears how they ended."""

from __future__ import annotations

import asyncio
import threading

import pytest

from codemode_jupyter.connectors.questions import Question, QuestionField
from codemode_jupyter.connectors.tool import Tool
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.detached_exit import CONSOLE_BYTES
from codemode_jupyter.runtime.runtime import Runtime
from codemode_jupyter.runtime.store.database import Database
from codemode_jupyter.sandbox.deno import DenoExecutor, find_deno
from tests.runtime.fake_sandbox import FakeExecutor, Program
from tests.runtime.shelf import Shelf
from tests.runtime.waiting import until

needs_deno = pytest.mark.skipif(find_deno() is None, reason="the extra [headless] is not installed")


async def gated(p: Program):
    p.print("before")
    first = await p.call("shelf.stow", {"n": 1})
    p.print("after")
    return first


async def gated_twice(p: Program):
    await p.call("shelf.stow", {"n": 1})
    return await p.call("shelf.stow", {"n": 2})


async def slow(p: Program):
    p.print("begun")
    return await p.call("shelf.slow", {"gate": "g"})


async def quick(p: Program):
    return 7


@pytest.fixture
def heard(world):
    """What the hook of the world's runtimes heard."""
    exits = []
    world.options["on_detached_exit"] = exits.append
    return exits


async def test_a_run_that_waits_is_let_go_and_its_end_is_delivered(world, heard):
    reply = await world.execute(gated, detach=True, metadata={"ticket": 12})
    assert (reply.status, reply.is_detached) == ("waiting", True)
    wire = reply.to_wire()
    assert list(wire) == ["status", "executionId", "waiting", "logs", "note"]
    assert [(call["method"], call["args"]) for call in wire["waiting"]] == [("stow", {"n": 1})]
    assert wire["logs"] == ["before"]
    assert "Do NOT run the program again" in wire["note"]

    approved = await world.runtime.approve(reply.execution_id)
    assert approved.status in {"running", "ended"}
    assert approved.result is None
    await until(lambda: heard)
    [told] = heard
    assert (told.execution_id, told.status, told.result, told.metadata) == (
        reply.execution_id,
        "completed",
        {"id": 1},
        {"ticket": 12},
    )
    assert told.console == "before\nafter"
    assert told.created_at <= told.detached_at <= told.ended_at
    assert told.to_wire()["result"] == {"id": 1}
    await until(lambda: world.runtime._store.exits.all() == [])


async def test_a_detached_run_that_waits_again_tells_nothing_until_it_ends(world, heard):
    reply = await world.execute(gated_twice, detach=True)
    await world.runtime.approve(reply.execution_id)
    await until(lambda: world.shelf.pass_ends.count((reply.execution_id, "paused")) == 2)
    assert heard == []
    await world.runtime.approve(reply.execution_id)
    await until(lambda: heard)
    assert heard[0].result == {"id": 2}
    assert world.shelf.counts["stow"] == 2


async def test_a_run_that_ends_before_it_is_detached_returns_as_usual(world, heard):
    outcome = await world.execute(quick, detach=True)
    assert (outcome.status, outcome.result) == ("completed", 7)
    outcome = await world.execute(quick, detach=60)
    assert (outcome.status, outcome.result) == ("completed", 7)
    assert heard == []
    assert world.runtime._store.exits.all() == []


async def test_a_run_is_let_go_after_some_seconds(world, heard):
    reply = await world.execute(slow, detach=0.05)
    assert reply.to_wire()["status"] == "running"
    assert reply.to_wire()["waiting"] == []
    assert reply.logs == ("begun",)
    world.shelf.gate("g").set()
    await until(lambda: heard)
    assert heard[0].status == "completed"


async def test_a_run_that_somebody_awaits_can_be_detached(world, heard):
    if world.mode == "reopened":
        pytest.skip("whoever awaits in another process hears at the end")
    started = []
    awaiting = asyncio.create_task(world.execute(slow, on_start=started.append))
    await until(lambda: "g" in world.shelf.gates)
    assert await world.runtime.detach(started[0], {"why": "takes long"})
    reply = await awaiting
    assert (reply.status, reply.execution_id) == ("running", started[0])
    world.shelf.gate("g").set()
    await until(lambda: heard)
    assert heard[0].metadata == {"why": "takes long"}
    assert await world.runtime.detach(started[0]) is False


async def test_who_awaits_in_another_runtime_gets_no_outcome_of_a_detached_run(world, heard):
    started = []
    first, second = world.another(), world.another()
    awaiting = asyncio.create_task(first.execute(world.sandbox.program(slow), on_start=started.append))
    await until(lambda: "g" in world.shelf.gates)
    assert await second.detach(started[0])
    world.shelf.gate("g").set()
    assert (await awaiting).status == "ended"
    await until(lambda: heard)
    assert len(heard) == 1


async def test_an_attached_run_tells_the_hook_nothing_and_commits_nothing_more(world, heard):
    outcome = await world.execute(gated)
    end = await world.runtime.approve(outcome.execution_id)
    assert (outcome.status, end.status) == ("paused", "completed")
    assert heard == []
    assert world.runtime._store.exits.all() == []


async def test_detaching_needs_somebody_who_hears_of_the_end(world):
    refused = await world.execute(quick, detach=True)
    assert refused.error.code == "no_exit_hook"
    assert "on_detached_exit" in refused.error.hint
    paused = await world.execute(gated)
    with pytest.raises(CodemodeError, match="Nothing was detached"):
        await world.runtime.detach(paused.execution_id)
    with pytest.raises(CodemodeError, match="Nothing was detached"):
        world.runtime.tool(detach=True)
    assert (await world.runtime.approve(paused.execution_id)).status == "completed"


@pytest.mark.parametrize("option", [{"detach": -1}, {"detach": "soon"}, {"metadata": {1: 2}}, {"metadata": {"a": {3}}}])
async def test_wrong_options_are_refused(world, heard, option):
    refused = await world.execute(quick, **option)
    assert refused.error.code == "invalid_option"
    assert await world.runtime.executions() == []


def test_the_blocking_form_lets_go_of_nothing_that_would_be_ended_with_its_loop(tmp_path):
    runtime = Runtime(path=tmp_path / "store.sqlite3", on_detached_exit=print)
    with pytest.raises(CodemodeError, match="loop of a blocking call"):
        runtime.run("1", detach=5)


def test_a_detached_run_whose_event_loop_ends_is_left_to_recover_and_not_stopped(tmp_path):
    shelf, sandbox, heard = Shelf(), FakeExecutor("never"), []
    runtime = Runtime([shelf], executor=sandbox, path=tmp_path / "store.sqlite3", on_detached_exit=heard.append)

    async def detaches():
        reply = await runtime.execute(sandbox.program(slow), detach=0)
        await until(lambda: shelf.counts["slow"])
        return reply.execution_id

    async def recovers():
        await runtime.recover()
        [call] = await runtime.pending()
        await runtime.respond(call.call_id, "happened", result="late")
        await until(lambda: heard)
        return call.kind

    id_ = asyncio.run(detaches())
    assert [row.id for row in asyncio.run(runtime.stale())] == [id_]
    assert heard == []
    assert asyncio.run(recovers()) == "in_doubt"
    assert [(told.execution_id, told.status, told.result) for told in heard] == [(id_, "completed", "late")]
    assert shelf.counts["slow"] == 1


async def test_a_tool_that_cancels_itself_leaves_no_detached_run_hanging(world, heard):
    async def cancels_itself(_, __):
        await world.shelf.gate("g").wait()
        asyncio.current_task().cancel()
        await asyncio.sleep(0)

    async def program(p: Program):
        return await p.call("shelf.cancels_itself", {})

    world.shelf.extra = [Tool("cancels_itself", cancels_itself)]
    reply = await world.execute(program, detach=0)
    assert reply.status == "running"
    world.shelf.gate("g").set()
    await until(lambda: heard)
    assert heard[0].status == "error"


async def test_stop_after_detaching_does_not_stop_the_run(world, heard):
    if world.mode == "reopened":
        pytest.skip("the runtime that drives is needed")
    started = []
    turn = asyncio.create_task(world.execute(slow, on_start=started.append))
    await until(lambda: "g" in world.shelf.gates)
    await world.runtime.detach(started[0])
    turn.cancel()  # before it has had a step to return its reply
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert (await world.runtime.execution(started[0])).status == "running"
    world.shelf.gate("g").set()
    await until(lambda: heard)
    assert heard[0].status == "completed"


async def test_stop_before_detaching_stops_the_run(world, heard):
    turn = asyncio.create_task(world.execute(slow, detach=60))
    await until(lambda: "g" in world.shelf.gates)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    [record] = await world.runtime.executions()
    assert record.error.code == "stopped"
    assert heard == []


async def test_whichever_way_a_waiting_run_ends_it_is_told_once(world, heard):
    ids = [(await world.execute(gated, detach=True)).execution_id for _ in range(4)]
    assert await world.runtime.reject(ids[0], reason="no")
    assert await world.runtime.delete_execution(ids[1])
    await until(lambda: len(heard) == 2)
    assert set(await world.runtime.expire_paused(0)) == set(ids[2:])
    await until(lambda: len(heard) == 4)
    ways = {told.execution_id: (told.status, told.error.code) for told in heard}
    assert ways == {
        ids[0]: ("rejected", "rejected"),
        ids[1]: ("error", "deleted"),
        ids[2]: ("rejected", "expired"),
        ids[3]: ("rejected", "expired"),
    }
    assert len({told.id for told in heard}) == 4


async def test_a_waiting_run_that_is_rolled_back_is_told_as_rejected(world, heard):
    async def noted_then_gated(p: Program):
        await p.call("shelf.note", {"n": 1})
        return await gated(p)

    reply = await world.execute(noted_then_gated, detach=True)
    report = await world.runtime.rollback(reply.execution_id)
    await until(lambda: heard)
    assert report.status == "rolled_back"
    assert (heard[0].status, heard[0].error.code) == ("rejected", "rolled_back")


async def test_a_detached_run_that_is_stopped_is_told(world, heard):
    if world.mode == "reopened":
        pytest.skip("the runtime that drives is needed")
    reply = await world.execute(slow, detach=0)
    await until(lambda: "g" in world.shelf.gates)
    assert await world.runtime.stop(reply.execution_id)
    await until(lambda: heard)
    assert heard[0].error.code == "stopped"


async def test_the_hook_hears_the_last_16_kib_of_the_console(world, heard):
    async def talkative(p: Program):
        await p.call("shelf.stow", {})
        for number in range(3000):
            p.print(f"line {number} ä")

    reply = await world.execute(talkative, detach=True)
    await world.runtime.approve(reply.execution_id)
    await until(lambda: heard)
    console = heard[0].console
    assert CONSOLE_BYTES - 40 < len(console.encode()) <= CONSOLE_BYTES
    assert console.startswith("line ")
    assert console.endswith("line 2999 ä")


async def test_a_reply_has_the_last_lines_before_the_wait(world, heard):
    async def talkative(p: Program):
        for number in range(3000):
            p.print(f"line {number}")
        await p.call("shelf.stow", {})

    reply = await world.execute(talkative, detach=True)
    assert reply.to_wire()["logs"][-1] == "line 2999"


async def test_the_result_is_reshaped_for_the_hook_as_for_a_reader(world, heard):
    world.options["transform_result"] = lambda value: {"shaped": value}
    reply = await world.execute(gated, detach=True)
    await world.runtime.approve(reply.execution_id)
    await until(lambda: heard)
    assert heard[0].result == {"shaped": {"id": 1}}


async def test_the_note_can_be_set(world, heard):
    world.options["detach_note"] = "Wait for the mail."
    assert (await world.execute(gated, detach=True)).to_wire()["note"] == "Wait for the mail."


@pytest.mark.parametrize("error", [ValueError("not now"), SystemExit("not now")], ids=["error", "exit"])
async def test_a_hook_that_raised_is_called_again_by_recover_and_by_the_next_runtime(world, error):
    calls = []

    async def hook(told):
        calls.append(told.id)
        if len(calls) < 3:
            raise error

    world.options["on_detached_exit"] = hook
    runtime = world.another()
    reply = await runtime.execute(world.sandbox.program(gated), detach=True)
    await runtime.approve(reply.execution_id)
    await until(lambda: len(calls) == 1 and runtime._store.exits.all()[0].failures == 1)
    await runtime.recover()
    await until(lambda: len(calls) == 2 and runtime._store.exits.all()[0].failures == 2)
    await world.another().executions()
    await until(lambda: len(calls) == 3 and runtime._store.exits.all() == [])
    assert len(set(calls)) == 1


async def test_an_exit_that_was_left_is_told_when_a_runtime_is_made_before_anybody_uses_it(world):
    def refuses(told):
        raise ValueError("not now")

    runtime = world.another(on_detached_exit=refuses)
    reply = await runtime.execute(world.sandbox.program(gated), detach=True)
    await runtime.reject(reply.execution_id)
    await until(lambda: runtime._store.exits.all()[0].failures == 1)
    heard = []
    world.another(on_detached_exit=heard.append)
    await until(lambda: heard)
    assert heard[0].execution_id == reply.execution_id


async def test_making_a_runtime_makes_no_file_and_fails_for_no_file(tmp_path, heard):
    (tmp_path / "broken.sqlite3").write_text("no store")
    for name in ("none.sqlite3", "broken.sqlite3"):
        Runtime(path=tmp_path / name, on_detached_exit=heard.append)
    await asyncio.sleep(0.01)
    assert not (tmp_path / "none.sqlite3").exists()
    assert heard == []


async def test_whatever_can_be_called_is_a_hook_also_when_it_is_false(world):
    class Heard(list):
        def __call__(self, told):
            self.append(told)

    heard = Heard()
    runtime = world.another(on_detached_exit=heard)
    reply = await runtime.execute(world.sandbox.program(gated), detach=True)
    await runtime.reject(reply.execution_id)
    await until(lambda: heard)


async def test_a_hook_that_always_raises_is_called_at_five_starts_and_then_by_recover_only(world):
    calls = []

    def hook(told):
        calls.append(told.id)
        raise ValueError("never")

    world.options["on_detached_exit"] = hook
    runtime = world.another()
    reply = await runtime.execute(world.sandbox.program(gated), detach=True)
    await runtime.reject(reply.execution_id)
    for number in range(1, 6):
        await until(lambda: runtime._store.exits.all()[0].failures == number)  # noqa: B023
        await world.another().executions()
    assert len(calls) == 5
    await runtime.recover()
    await until(lambda: runtime._store.exits.all()[0].failures == 6)
    assert len(calls) == 6


async def test_of_two_runtimes_on_one_file_one_tells(world):
    heard = []
    gate = asyncio.Event()

    async def hook(told):
        heard.append(told.id)
        await gate.wait()

    world.options["on_detached_exit"] = hook
    first, second = world.another(), world.another()
    await second.executions()
    reply = await first.execute(world.sandbox.program(gated), detach=True)
    await second.approve(reply.execution_id)
    await until(lambda: heard)
    await first.recover()
    await second.recover()
    await world.another().recover()
    gate.set()
    await until(lambda: first._store.exits.all() == [])
    assert len(heard) == 1


async def test_an_id_that_is_used_again_leaves_an_undelivered_exit_alone(world):
    def refuses(told):
        raise ValueError("not now")

    runtime = world.another(on_detached_exit=refuses)
    reply = await runtime.execute(world.sandbox.program(gated), detach=True)
    row = runtime._store.executions.get(reply.execution_id)
    await runtime.reject(reply.execution_id, reason="first")
    await until(lambda: runtime._store.exits.all()[0].failures == 1)
    await runtime.delete_execution(reply.execution_id)
    with runtime._store.transaction() as connection:
        runtime._store.executions.insert(connection, row)
    await runtime.expire_paused(0)
    await until(lambda: [row.failures for row in runtime._store.exits.all()] == [1, 1])

    heard = []
    await world.another(on_detached_exit=heard.append).recover()
    await until(lambda: len(heard) == 2)
    assert [told.execution_id for told in heard] == [reply.execution_id] * 2
    assert [told.error.code for told in heard] == ["rejected", "expired"]
    assert heard[0].id != heard[1].id


async def test_closing_gives_up_a_hook_under_way_and_the_next_runtime_calls_it_again(world):
    begun = []

    async def hook(told):
        begun.append(told.id)
        await asyncio.Event().wait()

    runtime = world.another(on_detached_exit=hook)
    reply = await runtime.execute(world.sandbox.program(gated), detach=True)
    await runtime.reject(reply.execution_id)
    await until(lambda: begun)
    await runtime.close()
    heard = []
    following = world.another(on_detached_exit=heard.append)
    await until(lambda: following._store.exits.all() == [])
    assert [told.id for told in heard] == begun


async def test_closing_leaves_an_exit_to_others_also_where_its_hook_clings(tmp_path):
    begun, clings = [], asyncio.Event()

    async def hook(told):
        begun.append(told.id)
        try:
            await asyncio.Event().wait()
        finally:
            await clings.wait()

    sandbox, heard = FakeExecutor("never"), []
    runtime = Runtime(path=tmp_path / "store.sqlite3", executor=sandbox, on_detached_exit=hook)
    await runtime.execute(sandbox.program(quick), detach=0)
    await until(lambda: begun)
    await runtime.close()
    following = Runtime(path=tmp_path / "store.sqlite3", executor=sandbox, on_detached_exit=heard.append)
    await until(lambda: heard)
    assert [told.id for told in heard] == begun
    clings.set()
    await following.close()


@pytest.mark.parametrize("world", ["normal"], indirect=True)
async def test_five_hundred_races_between_the_end_and_detaching_each_tell_one(world, heard):
    told_reader = 0
    runtime = world.another()
    for number in range(500):
        gate = world.shelf.gates["g"] = asyncio.Event()
        started = []
        reading = asyncio.create_task(runtime.execute(world.sandbox.program(slow), on_start=started.append))
        while not gate._waiters:  # noqa: ASYNC110  the event itself tells nobody that it is awaited
            await asyncio.sleep(0)
        gate.set()
        for _ in range(number % 25):
            await asyncio.sleep(0)
        is_detached = await runtime.detach(started[0])
        outcome = await reading
        assert outcome.is_detached == is_detached
        told_reader += not is_detached
    assert 0 < told_reader < 500
    await until(lambda: len(heard) == 500 - told_reader)
    assert runtime._store.exits.all() == []
    assert len({told.execution_id for told in heard}) == len(heard)


@pytest.mark.parametrize("world", ["normal"], indirect=True)
async def test_a_run_that_waits_holds_no_task_and_no_thread(world, heard):
    await world.execute(gated, detach=True)  # whatever is made once is there now
    tasks, threads = len(asyncio.all_tasks()), threading.active_count()
    replies = [await world.execute(gated, detach=True) for _ in range(20)]
    assert {reply.status for reply in replies} == {"waiting"}
    await until(lambda: len(asyncio.all_tasks()) == tasks)
    assert threading.active_count() == threads
    assert list(world.runtime._driven) == []


@pytest.mark.parametrize("world", ["normal"], indirect=True)
async def test_the_tool_says_what_a_detached_reply_means(world, heard):
    tool = world.runtime.tool(detach=True, metadata={"agent": "a"})
    assert "Do NOT run it again" in tool.description
    assert tool.description.index("Do NOT run it again") < tool.description.index("How to work")
    assert "let go" not in world.runtime.tool().description
    reply = await tool(code=world.sandbox.program(gated))
    assert reply["status"] == "waiting"
    assert [call.execution_id for call in await tool.runtime.pending()] == [reply["executionId"]]
    await tool.runtime.approve(reply["executionId"])
    await until(lambda: heard)
    assert heard[0].metadata == {"agent": "a"}


async def test_a_run_whose_tool_asks_a_question_while_it_runs_is_let_go(world, heard):
    if world.mode == "reopened":
        pytest.skip("only the process that runs a call knows what it asks")

    async def ask(arguments, context):
        answer = await context.ask(Question("Really?", (QuestionField("sure", "boolean"),)))
        return answer.content

    world.shelf.extra.append(Tool("sure", ask))

    async def program(p: Program):
        return await p.call("shelf.sure", {})

    reply = await world.execute(program, detach=True)
    assert reply.status == "waiting"
    [asked] = await world.runtime.pending(reply.execution_id)
    assert asked.kind == "question"
    answered = await world.runtime.respond(asked.call_id, {"sure": True})
    assert answered.is_detached
    await until(lambda: heard)
    assert heard[0].result == {"sure": True}


async def test_giving_up_what_is_in_doubt_is_told(world, heard):
    async def program(p: Program):
        return await p.call("shelf.stow", {})

    runtime = world.another()
    reply = await runtime.execute(world.sandbox.program(program), detach=True)
    with runtime._store.transaction() as connection:
        runtime._store.calls.update(connection, reply.execution_id, 0, ("pending",), state="in_doubt")
    [call] = await runtime.pending()
    given_up = await runtime.respond(call.call_id, "give_up")
    assert given_up.status == "ended"
    assert given_up.error is None
    await until(lambda: heard)
    assert (heard[0].status, heard[0].error.code) == ("error", "given_up")


@pytest.mark.parametrize("world", ["normal"], indirect=True)
async def test_a_run_that_never_detaches_costs_no_commit_more(world, heard, monkeypatch):
    commits = []
    transaction = Database.transaction

    def counted(self, *, durable):
        commits.append(durable)
        return transaction(self, durable=durable)

    monkeypatch.setattr(Database, "transaction", counted)
    with_hook, without = world.another(), world.another(on_detached_exit=None)
    numbers = []
    for runtime in (with_hook, without):
        await runtime.execute(world.sandbox.program(quick))
        commits.clear()
        outcome = await runtime.execute(world.sandbox.program(gated))
        await runtime.approve(outcome.execution_id)
        numbers.append(list(commits))
    assert numbers[0] == numbers[1]


@needs_deno
async def test_a_run_that_waits_holds_no_worker_in_a_real_sandbox(tmp_path):
    exits = []
    executor = DenoExecutor()
    runtime = Runtime([Shelf()], executor=executor, path=tmp_path / "store.sqlite3", on_detached_exit=exits.append)
    code = "async () => { const stowed = await shelf.stow({ n: 1 }); return stowed; }"
    first = await runtime.execute(code, detach=True)
    threads = threading.active_count()
    replies = [first, *[await runtime.execute(code, detach=True) for _ in range(12)]]  # more than there are places
    assert {reply.status for reply in replies} == {"waiting"}
    assert threading.active_count() == threads
    assert [level.taken for level in executor._pool._levels.values()] == [0]
    assert not [task for task in asyncio.all_tasks() if "exec_" in task.get_name()]
    for reply in replies:
        await runtime.approve(reply.execution_id)
    await until(lambda: len(exits) == len(replies))
    assert {told.status for told in exits} == {"completed"}
    await runtime.close()
    await executor.close()
