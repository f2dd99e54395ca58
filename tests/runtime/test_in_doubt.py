"""Calls whose kernel died: what an answer needs, and what stays when it is refused."""

from __future__ import annotations

import json
import socket
import sqlite3

import pytest

from codemode_jupyter.errors import CodemodeError
from tests.runtime.fake_sandbox import Program

DEAD = json.dumps({"host": socket.gethostname(), "pid": 2**22 + 1, "start": "1", "id": "gone"})


async def note_then_stow(p: Program):
    note = await p.call("shelf.note", {"n": 1})
    return [note, await p.call("shelf.stow", {"n": 2})]


async def left_by_a_dead_kernel(world) -> str:
    """Return an execution that is recorded as running, with its first call under way."""
    id_: str = (await world.execute(note_then_stow)).execution_id
    with sqlite3.connect(world.path) as connection:
        connection.execute("UPDATE execution SET status = 'running', owner = ?", (DEAD,))
        connection.execute("UPDATE call SET state = 'executing', outcome = NULL WHERE seq = 0")
    return id_


@pytest.mark.parametrize("answer", ["run_again", "happened"])
async def test_an_answer_without_the_connectors_is_refused_and_the_call_stays_in_doubt(world, answer):
    id_ = await left_by_a_dead_kernel(world)
    await world.runtime.recover()
    refused = await world.another(connectors=[]).respond(f"{id_}:0", answer, result=1)
    assert refused.error.code == "missing_connectors"
    assert [(call.seq, call.kind) for call in await world.runtime.pending()] == [(0, "in_doubt"), (1, "approval")]
    outcome = await world.runtime.respond(f"{id_}:0", "happened", result=7)
    assert [call.method for call in outcome.pending] == ["stow"]
    assert (await world.runtime.approve(id_)).result == [7, {"id": 2}]


async def test_giving_up_needs_no_connectors(world):
    id_ = await left_by_a_dead_kernel(world)
    await world.runtime.recover()
    assert (await world.another(connectors=[]).respond(f"{id_}:0", "give_up")).error.code == "given_up"


async def test_a_rollback_of_a_run_whose_kernel_is_gone_leads_to_recover(world):
    id_ = await left_by_a_dead_kernel(world)
    with pytest.raises(CodemodeError) as refusal:
        await world.runtime.rollback(id_)
    assert refusal.value.code == "still_running"
    assert "recover" in (refusal.value.hint or "")


async def test_a_call_that_was_to_run_again_and_did_not_is_still_in_doubt_for_a_rollback(world):
    async def program(p: Program):
        await p.gather(p.call("shelf.note", {"n": 1}), p.call("shelf.note", {"n": 2}), p.call("shelf.stow", {}))

    id_ = (await world.execute(program)).execution_id
    with sqlite3.connect(world.path) as connection:
        connection.execute("UPDATE execution SET status = 'running', owner = ?", (DEAD,))
        connection.execute("UPDATE call SET state = 'executing', outcome = NULL WHERE seq < 2")
    await world.runtime.recover()
    await world.runtime.respond(f"{id_}:0", "run_again")
    assert await world.runtime.expire_paused(0) == [id_]
    report = await world.runtime.rollback(id_)
    assert [entry.seq for entry in report.doubtful] == [1, 0]


class Nowhere:
    """An executor where there is no sandbox."""

    async def run_pass(self, *_):
        raise CodemodeError("no_sandbox", "There is no sandbox here.")


@pytest.mark.parametrize("answer", ["run_again", "happened"])
async def test_without_a_sandbox_a_run_that_is_taken_up_is_not_lost(world, answer):
    id_ = await left_by_a_dead_kernel(world)
    nowhere = world.another(executor=Nowhere())
    await nowhere.recover()
    assert (await nowhere.respond(f"{id_}:0", answer, result=7)).error.code == "no_sandbox"
    assert [refused.error.code for refused in await nowhere.recover()] == ["no_sandbox"] * (answer == "happened")
    if answer == "run_again":
        await world.runtime.approve(id_, 0)
    else:
        await world.runtime.recover()
    assert [call.method for call in await world.runtime.pending(id_)] == ["stow"]
    outcome = await world.runtime.approve(id_)
    assert outcome.status == "completed"
    assert world.shelf.counts["note"] == (2 if answer == "run_again" else 1)
