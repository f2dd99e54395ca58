"""Rollback, hooks, retention, snippets, search: what surrounds the execution of a program."""

from __future__ import annotations

import asyncio

import pytest

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.runtime import Runtime
from tests.runtime.fake_sandbox import Program, ThrownError
from tests.runtime.shelf import Shelf
from tests.runtime.waiting import until


async def notes_and_stow(p: Program):
    await p.call("shelf.peek", {})
    await p.call("shelf.note", {"t": 1})
    await p.step("own", lambda: 1)
    await p.call("shelf.note", {"t": 2})
    return await p.call("shelf.stow", {"t": 3})


async def done(world):
    outcome = await world.execute(notes_and_stow)
    return (await world.runtime.approve(outcome.execution_id)).execution_id


async def test_rollback_reverts_applied_actions_newest_first_and_only_once(world):
    id_ = await done(world)
    report = await world.runtime.rollback(id_)
    assert [entry[1] for entry in world.shelf.reverted] == [{"t": 3}, {"t": 2}, {"t": 1}]
    assert [entry[2] for entry in world.shelf.reverted] == [{"id": 3}, 2, 1]
    assert report.status == "rolled_back"
    assert [entry.method for entry in report.reverted] == ["stow", "note", "note"]
    record = await world.runtime.execution(id_)
    assert record.status == "rolled_back"
    assert [call.state for call in record.calls] == ["applied", "reverted", "applied", "reverted", "reverted"]
    again = await world.runtime.rollback(id_)
    assert (again.reverted, again.status, len(world.shelf.reverted)) == ((), "rolled_back", 3)
    assert world.shelf.disposed == [(id_, "completed"), (id_, "rolled_back")]


async def test_a_failing_revert_does_not_stop_the_others_and_the_status_says_so(world):
    async def program(p: Program):
        await p.call("shelf.note", {"t": 1})
        await p.call("shelf.note", {"t": 2, "bad": "ink"})

    outcome = await world.execute(program)
    report = await world.runtime.rollback(outcome.execution_id)
    assert report.status == "partly_rolled_back"
    assert [(entry.seq, entry.message) for entry in report.failed] == [(1, "cannot undo ink")]
    assert [entry.seq for entry in report.reverted] == [0]
    assert "cannot undo ink" in str(report)
    assert (await world.runtime.execution(outcome.execution_id)).status == "partly_rolled_back"


async def test_rollback_without_anything_to_revert_changes_nothing(world):
    async def program(p: Program):
        await p.call("shelf.peek", {})

    outcome = await world.execute(program)
    report = await world.runtime.rollback(outcome.execution_id)
    assert (report.status, report.reverted) == ("completed", ())
    assert world.shelf.disposed == [(outcome.execution_id, "completed")]
    assert (await world.runtime.rollback("exec_nope")).status == "unknown"


async def test_rollback_of_a_paused_run_ends_it(world):
    outcome = await world.execute(notes_and_stow)
    assert (await world.runtime.rollback(outcome.execution_id)).status == "rolled_back"
    assert await world.runtime.pending() == []
    refused = await world.runtime.approve(outcome.execution_id)
    assert refused.error.code == "not_paused"
    assert [call.state for call in refused.calls or (await world.runtime.execution(outcome.execution_id)).calls][
        -1
    ] == "cancelled"


async def test_two_rollbacks_at_once_revert_everything_once(world):
    id_ = await done(world)
    await asyncio.gather(world.runtime.rollback(id_), world.another().rollback(id_))
    assert len(world.shelf.reverted) == 3


async def test_rollback_without_the_connector_says_what_it_skipped(world):
    id_ = await done(world)
    other = world.another(connectors=[])
    report = await other.rollback(id_)
    assert [entry.method for entry in report.skipped] == ["stow", "note", "note"]
    assert report.status == "completed"


async def test_a_running_execution_cannot_be_rolled_back(world):
    ids = []
    runtime = world.runtime

    async def program(p: Program):
        await p.call("shelf.slow", {})

    task = asyncio.create_task(runtime.execute(world.sandbox.program(program), on_start=ids.append))
    await until(lambda: world.shelf.counts["slow"])
    with pytest.raises(CodemodeError) as refusal:
        await runtime.rollback(ids[0])
    assert refusal.value.code == "still_running"
    world.shelf.gate("slow").set()
    assert (await task).status == "completed"


async def test_hooks_run_after_each_pass_that_ended_and_once_at_the_end(world):
    id_ = await done(world)
    assert world.shelf.pass_ends == [(id_, "paused"), (id_, "completed")]
    assert world.shelf.disposed == [(id_, "completed")]


async def test_a_hook_that_raises_changes_nothing(world, caplog):
    def broken(*_):
        raise RuntimeError("hook")

    world.shelf.on_pass_end = broken

    async def program(p: Program):
        return 1

    assert (await world.execute(program)).result == 1
    assert "The hook shelf.on_pass_end failed" in caplog.text


async def test_a_new_run_prunes_finished_ones_and_never_paused_ones(world):
    world.options["max_executions"] = 2

    async def program(p: Program):
        return 1

    paused = await world.execute(notes_and_stow)
    for _ in range(5):
        await asyncio.sleep(0.002)
        await world.execute(program)
    statuses = [record.status for record in await world.runtime.executions()]
    assert statuses == ["completed", "completed", "completed", "paused"]
    assert await world.runtime.prune_executions(1) == 2
    assert [record.id for record in await world.runtime.executions()][-1] == paused.execution_id


async def test_paused_runs_expire_by_their_age(world):
    outcome = await world.execute(notes_and_stow)
    assert await world.runtime.expire_paused(60) == []
    await asyncio.sleep(0.02)
    assert await world.runtime.expire_paused(0.01) == [outcome.execution_id]
    assert await world.runtime.expire_paused(0.01) == []
    record = await world.runtime.execution(outcome.execution_id)
    assert (record.status, record.error.message) == ("rejected", "Expired awaiting approval.")
    assert record.calls[-1].state == "cancelled"
    assert (await world.runtime.approve(outcome.execution_id)).error.code == "not_paused"
    assert world.shelf.disposed == [(outcome.execution_id, "rejected")]


async def test_deleting_a_paused_run_disposes_it_and_deleting_a_finished_one_does_not(world):
    paused = await world.execute(notes_and_stow)
    finished = await done(world)
    world.shelf.disposed.clear()
    assert await world.runtime.delete_execution(finished) is True
    assert world.shelf.disposed == []
    assert await world.runtime.delete_execution(paused.execution_id) is True
    assert world.shelf.disposed == [(paused.execution_id, "rejected")]
    assert await world.runtime.delete_execution(paused.execution_id) is False
    with pytest.raises(CodemodeError) as refusal:
        await world.runtime.execution(paused.execution_id)
    assert refusal.value.code == "unknown_execution"
    assert await world.runtime.executions() == []


async def test_snippets_are_saved_from_runs_listed_by_name_replaced_and_deleted(world):
    async def program(p: Program):
        return 1

    outcome = await world.execute(program)
    await world.runtime.save_snippet("b", execution_id=outcome.execution_id)
    saved = await world.runtime.save_snippet("a", execution_id=outcome.execution_id, description="first")
    assert (saved.name, saved.description, saved.connectors) == ("a", "first", ("shelf",))
    await world.runtime.save_snippet("a", execution_id=outcome.execution_id, description="second")
    assert [(s.name, s.description) for s in await world.runtime.snippets()] == [("a", "second"), ("b", "")]
    assert await world.runtime.delete_snippet("a") is True
    assert await world.runtime.delete_snippet("a") is False
    with pytest.raises(CodemodeError) as refusal:
        await world.runtime.save_snippet("c", execution_id="exec_nope")
    assert refusal.value.code == "unknown_execution"


async def test_a_program_gets_the_recorded_text_of_a_snippet_also_after_it_changed(world):
    async def one(p: Program):
        return 1

    first = await world.execute(one)
    second = await world.execute(one)
    await world.runtime.save_snippet("s", execution_id=first.execution_id)

    async def program(p: Program):
        snippet = await p.call("codemode.run", "s")
        await p.call("shelf.stow", {"name": snippet["name"]})
        return snippet["source"]

    outcome = await world.execute(program)
    await world.runtime.save_snippet("s", execution_id=second.execution_id)
    end = await world.runtime.approve(outcome.execution_id)
    first_record = await world.runtime.execution(first.execution_id)
    assert first_record.code in end.result


async def test_a_missing_snippet_and_a_missing_connector_throw(world):
    async def program(p: Program):
        try:
            await p.call("codemode.run", "nope", {})
        except ThrownError as error:
            return error.message

    assert 'Snippet "nope" not found.' in (await world.execute(program)).result
    outcome = await world.execute(notes_and_stow)
    await world.runtime.save_snippet("nope", execution_id=outcome.execution_id)
    bare = world.another(connectors=[])
    end = await bare.execute(world.sandbox.program(program))
    assert 'requires connector(s) "shelf"' in end.result


async def test_search_and_describe_are_recorded_as_reads(world):
    async def program(p: Program):
        found = await p.call("codemode.search", "stow")
        described = await p.call("codemode.describe", found["results"][0]["path"])
        await p.call("shelf.stow", {})
        return found["total"], described["requiresApproval"]

    outcome = await world.execute(program)
    assert [call.method for call in outcome.calls] == ["search", "describe", "stow"]
    await world.runtime.save_snippet("stow everything", execution_id=outcome.execution_id)
    end = await world.runtime.approve(outcome.execution_id)
    assert end.result == [1, True]
    assert (await world.runtime.search("stow"))["total"] == 2
    assert "not found" in (await world.runtime.describe("constructor"))["types"]
    assert (await world.runtime.search("?!"))["results"] == []


async def test_runtimes_of_different_names_have_separate_histories(world):
    async def program(p: Program):
        return await p.call("shelf.stow", {})

    outcome = await world.execute(program)
    other = world.another(name="other")
    assert await other.executions() == []
    assert await other.pending() == []
    assert (await other.approve(outcome.execution_id)).error.code == "unknown_execution"
    assert await other.delete_execution(outcome.execution_id) is False


@pytest.mark.parametrize("name", ["", "a b", "ä", "x/y", 'a"b'])
def test_runtime_names_are_checked(name):
    with pytest.raises(CodemodeError) as refusal:
        Runtime(name=name)
    assert refusal.value.code == "invalid_name"


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["codemode"], "reserved_name"),
        (["class"], "reserved_name"),
        (["Promise"], "reserved_name"),
        (["state", "state"], "duplicate_name"),
    ],
)
def test_connector_names_are_checked_when_the_runtime_is_made(names, code):
    with pytest.raises(CodemodeError) as refusal:
        Runtime([_named(name) for name in names])
    assert refusal.value.code == code


def _named(name: str) -> Shelf:
    shelf = Shelf()
    shelf.name = name
    return shelf


async def test_a_runtime_without_connectors_works(world):
    async def program(p: Program):
        return 5

    assert (await world.another(connectors=[]).execute(world.sandbox.program(program))).result == 5


async def test_connectors_are_asked_for_their_tools_once(world):
    async def program(p: Program):
        await p.call("shelf.peek", {})

    runtime = world.another()
    for _ in range(3):
        await runtime.execute(world.sandbox.program(program))
    await runtime.search("peek")
    assert world.shelf.tool_calls == 1


async def test_the_models_tool_returns_the_wire_form_and_never_raises(world):
    async def program(p: Program):
        p.print("hello")
        return {"big": 10**20, "data": b"abc", "id": (await p.call("shelf.stow", {"n": 1}))["id"]}

    tool = world.runtime.tool(hints={"shelf": "things"})
    assert tool.name == "codemode"
    assert tool.input_schema["required"] == ["code"]
    assert "The ONLY globals are `shelf` and `codemode`" in tool.description
    assert "- `shelf` — things" in tool.description
    paused = await tool({"code": world.sandbox.program(program)})
    assert paused["status"] == "paused"
    assert paused["pending"] == [
        {"executionId": paused["executionId"], "seq": 0, "connector": "shelf", "method": "stow", "args": {"n": 1}}
    ]
    end = (await world.runtime.approve(paused["executionId"])).to_wire()
    assert end == {
        "status": "completed",
        "executionId": paused["executionId"],
        "result": {"big": str(10**20), "data": "[3 bytes]", "id": 1},
        "logs": ["hello"],
    }
    assert (await tool({"source": "1"}))["code"] == "invalid_code"
    assert world.runtime.tool(description="My own words").description == "My own words"


async def test_the_error_text_of_a_failed_program_starts_and_ends_as_models_know_it(world):
    async def program(p: Program):
        p.print("before")
        raise LookupError("no such thing")

    wire = (await world.execute(program)).to_wire()
    assert wire["error"].startswith("Code execution failed: LookupError: no such thing")
    assert wire["error"].endswith("\n\nConsole output:\nbefore")


@pytest.mark.parametrize(
    "option", [{"timeout": 0}, {"timeout": "5"}, {"tool_timeout": -1}, {"max_executions": -1}, {"max_executions": 2.5}]
)
def test_an_option_that_means_nothing_is_refused_by_its_name(option, tmp_path):
    with pytest.raises(CodemodeError) as refusal:
        Runtime(path=tmp_path / "store.sqlite3", **option)
    assert refusal.value.code == "invalid_option"
    assert next(iter(option)) in refusal.value.message


async def test_pruning_to_a_negative_number_deletes_nothing(world):
    id_ = await done(world)
    with pytest.raises(CodemodeError) as refusal:
        await world.runtime.prune_executions(-1)
    assert refusal.value.code == "invalid_option"
    assert [record.id for record in await world.runtime.executions()] == [id_]
