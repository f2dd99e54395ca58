"""Begin, complete, fail: what one run of a program comes to."""

from __future__ import annotations

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
