"""Begin, complete, fail: what one run of a program comes to."""

from __future__ import annotations

import math

import pytest

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.beginning import new_execution
from tests.runtime.fake_sandbox import Program


async def test_a_program_with_a_read_completes_and_the_read_is_in_the_log(world):
    async def program(p: Program):
        return await p.call("shelf.peek", {"i": 2})

    outcome = await world.execute(program)
    assert outcome.status == "completed", outcome
    assert outcome.result == {"slot": 2, "v": "ok"}
    assert [(c.seq, c.connector, c.method, c.args, c.state, c.result) for c in outcome.calls] == [
        (0, "shelf", "peek", {"i": 2}, "applied", {"slot": 2, "v": "ok"})
    ]


async def test_a_gated_call_pauses_and_an_approval_runs_it_once(world):
    async def program(p: Program):
        a = await p.call("shelf.peek", {"i": 2, "count": True})
        b = await p.call("shelf.stow", {"what": "jar", "from": a["slot"]})
        return {"a": a, "b": b}

    outcome = await world.execute(program)
    assert outcome.status == "paused", outcome
    [pending] = outcome.pending
    assert (pending.seq, pending.connector, pending.method, pending.args) == (
        1,
        "shelf",
        "stow",
        {"what": "jar", "from": 2},
    )
    assert world.shelf.created == []
    assert await world.runtime.pending() == [pending]

    approved = await world.runtime.approve(outcome.execution_id, pending.seq, digest=pending.digest)
    assert approved.status == "completed", approved
    assert approved.result == {"a": {"slot": 2, "v": "look 1"}, "b": {"id": 1}}
    assert world.shelf.created == [{"what": "jar", "from": 2}]
    assert await world.runtime.pending() == []


async def test_half_a_character_in_a_program_is_refused_with_its_place(world):
    outcome = await world.runtime.execute("const a = 1;\nreturn '\ud83d'")
    assert (outcome.status, outcome.execution_id, outcome.error.code) == ("error", "", "invalid_code")
    assert (outcome.error.line, outcome.error.column) == (2, 9)
    assert r"\ud83d" in outcome.error.hint
    assert await world.runtime.executions() == []


@pytest.mark.parametrize("limit", [0, -1, math.nan, "5", True])
async def test_a_timeout_that_is_no_number_of_seconds_is_refused(world, limit):
    outcome = await world.runtime.execute("async () => 1", timeout=limit)
    assert (outcome.status, outcome.execution_id, outcome.error.code) == ("error", "", "invalid_option")
    assert "`timeout`" in outcome.error.message


def test_a_program_without_a_limit_in_time_is_accepted():
    assert new_execution("1", "javascript", math.inf, (), "me").timeout == math.inf
    with pytest.raises(CodemodeError):
        new_execution("1", "javascript", None, (), "me")  # type: ignore[arg-type]
