"""Tools that ask a person in their middle: each question is answered once, each effect happens once."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections import Counter

import pytest

from codemode_jupyter.connectors.human import HumanConnector
from codemode_jupyter.connectors.tool import Tool, ToolContext
from codemode_jupyter.errors import CodemodeError
from tests.runtime.fake_sandbox import Program
from tests.runtime.shelf import Shelf
from tests.runtime.test_in_doubt import DEAD, Nowhere
from tests.runtime.waiting import until

YES = {"type": "boolean"}


class Tools:
    """Tools that ask; ``effects`` counts what they did outside, ``runs`` how often they were run."""

    def __init__(self):
        self.effects, self.runs, self.told = Counter(), Counter(), []

    def all(self):
        names = "loop chain both swallow stubborn broken fickle forgetful caught threaded".split()  # noqa: SIM905  one a word
        yield from (Tool(name, getattr(self, name), timeout=1.0) for name in names)
        yield Tool("gated", self.swallow, requires_approval=True, revert=lambda *_: None)
        yield Tool("fresh_ask", self.caught, replay="reexecute")

    def note(self, what):
        self.effects[what] += 1
        return what

    async def loop(self, arguments, context):
        self.runs["loop"] += 1
        answers = []
        for number in range(arguments.get("times", 3)):
            await context.step("before", lambda number=number: self.note(f"before {number}"))
            answers.append(await context.interrupt(f"Question {number}?", {"type": "integer"}))
        await context.step("after", lambda: self.note("after"))
        return [*answers, context.idempotency_key.rpartition(":")[2]]

    async def chain(self, arguments, context):
        word = arguments["word"]
        await context.step(f"open {word}", lambda: self.note(f"open {word}"))
        return [word, await context.interrupt({"word": word})]

    async def both(self, _, context):
        self.runs["both"] += 1
        return await asyncio.gather(self.chain({"word": "a"}, context), self.chain({"word": "b"}, context))

    async def swallow(self, _, context):
        try:
            return await context.interrupt("Really?", YES)
        except Exception:  # noqa: BLE001  what many tools do
            return "swallowed"

    async def stubborn(self, _, context):
        try:
            return await context.interrupt("Really?", YES)
        except asyncio.CancelledError:
            self.effects["caught"] += 1
            return "caught"

    async def broken(self, _, context):
        for _ in range(2):
            try:
                await context.step("fails", lambda: 1 / self.note("tried").count("x"))
            except CodemodeError as error:
                self.told.append((error.code, error.message))
        return await context.interrupt("And now?")

    async def fickle(self, _, context):
        self.runs["fickle"] += 1
        return await context.interrupt(f"It is {self.runs['fickle']}?")

    async def forgetful(self, _, context):
        self.runs["forgetful"] += 1
        return await context.interrupt("Once?") if self.runs["forgetful"] == 1 else "no question"

    async def caught(self, _, context):
        try:
            return await context.interrupt("Anybody there?")
        except CodemodeError as error:
            return error.code

    async def threaded(self, _, context):
        return await asyncio.to_thread(_in_a_thread, context)


@pytest.fixture
def asking(world):
    """The world, with tools that ask."""
    tools = Tools()
    world.shelf.extra = list(tools.all())
    world.effects, world.runs, world.told = tools.effects, tools.runs, tools.told
    return world


def _in_a_thread(context: ToolContext) -> str:
    try:
        context.interrupt("Me?")
    except CodemodeError as error:
        return error.code
    return "asked"


def calling(*names, **arguments):
    async def program(p: Program):
        return await p.gather(*(p.call(f"shelf.{name}", arguments) for name in names))

    return program


async def paused(world, *names, **arguments):
    outcome = await world.execute(calling(*names, **arguments))
    assert outcome.status == "paused", outcome
    return outcome


async def test_three_questions_in_a_loop_and_two_side_by_side_each_need_one_answer(asking):
    outcome = await paused(asking, "loop", "both")
    answered = []
    while outcome.status == "paused":
        waiting = await asking.runtime.pending(outcome.execution_id)
        assert [one.call_id for one in waiting] == [one.call_id for one in outcome.pending]
        one = waiting[-1]
        answered.append(one.call_id)
        answer = len(answered) if one.method == "loop" else f"for {one.payload['word']}"
        outcome = await asking.runtime.respond(one.call_id, answer, digest=one.digest)
    assert outcome.status == "completed", outcome.error
    assert len(answered) == len(set(answered)) == 5
    assert outcome.result == [[3, 4, 5, "0"], [["a", "for a"], ["b", "for b"]]]
    assert set(asking.effects.values()) == {1}
    assert len(asking.effects) == 3 + 1 + 2
    assert asking.runs == {"loop": 4, "both": 3}
    assert await asking.runtime.pending() == []


async def test_a_question_is_listed_with_its_payload_its_form_and_an_id_of_its_own(asking):
    outcome = await paused(asking, "chain", "swallow", word="x")
    first, second = outcome.pending
    assert (first.kind, first.payload, first.method) == ("interrupt", {"word": "x"}, "chain")
    assert (second.payload, second.question.message) == ("Really?", "Really?")
    assert [field.kind for field in (*first.question.fields, *second.question.fields)] == ["text", "boolean"]
    assert first.call_id.startswith(f"{outcome.execution_id}:0:")
    wire = outcome.to_wire()
    assert [one["payload"] for one in wire["pending"]] == [{"word": "x"}, "Really?"]
    assert wire["pending"][0]["callId"] == first.call_id
    record = await asking.runtime.execution(outcome.execution_id)
    assert (record.status, [call.state for call in record.calls]) == ("paused", ["waiting", "waiting"])


async def test_a_second_answer_is_refused_and_the_same_one_again_does_nothing(asking):
    [asked] = (await paused(asking, "loop", times=1)).pending
    done = await asking.runtime.respond(asked.call_id, 5)
    again = await asking.runtime.respond(asked.call_id, 5)
    assert (again.status, again.result) == (done.status, done.result) == ("completed", [[5, "0"]])
    assert "nothing was changed" in again.note
    assert not done.note
    assert (await asking.runtime.respond(asked.call_id, 6)).error.code == "already_answered"
    assert asking.runs["loop"] == 2


async def test_an_answer_that_does_not_fit_is_refused_with_its_faults_and_the_question_stays(asking):
    [asked] = (await paused(asking, "loop", times=1)).pending
    for wrong in ("5", 1.5, None, [1]):
        refused = (await asking.runtime.respond(asked.call_id, wrong)).error
        assert (refused.code, len(refused.faults)) == ("invalid_answer", 1)
    assert (await asking.runtime.respond(asked.call_id, 5, digest="another")).error.code == "stale_decision"
    for unknown in ("nonsense", 7, f"{asked.execution_id}:0:99", f"{asked.execution_id}:7:0", "exec_1:0:0"):
        assert (await asking.runtime.respond(unknown, 5)).error.code == "unknown_call"
    assert (await asking.runtime.respond(asked.call_id, 5)).status == "completed"


async def test_an_answer_where_the_tool_is_not_there_is_refused_and_the_question_stays(asking):
    [asked] = (await paused(asking, "loop", times=1)).pending
    other = asking.another(connectors=[Shelf()])
    assert (await other.respond(asked.call_id, 5)).error.code == "missing_tools"
    assert (await asking.runtime.respond(asked.call_id, 5)).status == "completed"


async def test_a_question_without_a_schema_is_answered_by_a_text_only(asking):
    [asked, _] = (await paused(asking, "both")).pending
    for wrong in (5, None, True, ["a"], {"a": 1}, b"a"):
        refused = (await asking.runtime.respond(asked.call_id, wrong)).error
        assert (refused.code, len(refused.faults)) == ("invalid_answer", 1)
    assert (await asking.runtime.respond(asked.call_id, "")).error is None


async def test_answers_that_race_are_given_once_and_questions_side_by_side_may_be_answered_at_once(asking):
    first, second = (await paused(asking, "both")).pending
    one = asking.runtime  # another runtime hears of the end within a second: in one mode
    others = [asking.another() for _ in range(3)] if asking.mode == "normal" else [one] * 3
    outcomes = await asyncio.gather(
        *(runtime.respond(first.call_id, str(number)) for number, runtime in enumerate(others)),
        one.respond(second.call_id, "two"),
    )
    refused = [one.error.code for one in outcomes if one.error is not None]
    assert refused == ["already_answered"] * 2
    record = await asking.runtime.execution(first.execution_id)
    assert (record.status, record.result[0][1][1]) == ("completed", "two")
    assert asking.effects == {"open a": 1, "open b": 1}


async def test_a_question_is_answered_while_another_call_still_runs(asking):
    running = asyncio.ensure_future(asking.execute(calling("swallow", "slow")))
    await asyncio.sleep(0)
    other = asking._made[-1]
    while not (waiting := await other.pending()):  # noqa: ASYNC110  what is waited for is in the store
        await asyncio.sleep(0.001)
    [asked] = waiting
    answering = asyncio.ensure_future(other.respond(asked.call_id, answer=True))
    await asyncio.sleep(0.05)
    assert not answering.done()
    asking.shelf.gate("slow").set()
    assert (await running).result == (await answering).result == [True, "slow"]
    assert asking.shelf.counts["slow"] == 1


async def test_except_exception_does_not_catch_the_wait_and_catching_cancellation_changes_nothing(asking):
    outcome = await paused(asking, "swallow", "stubborn")
    assert [one.method for one in outcome.pending] == ["swallow", "stubborn"]
    for one in outcome.pending:
        outcome = await asking.runtime.respond(one.call_id, answer=True)
    assert outcome.result == [True, True]
    assert asking.effects["caught"] >= 1


async def test_what_a_step_raised_is_raised_again_without_running_it(asking):
    [asked] = (await paused(asking, "broken")).pending
    assert (await asking.runtime.respond(asked.call_id, "go on")).result == ["go on"]
    told = ("step_failed", 'The step "fails" failed: ZeroDivisionError: division by zero')
    assert asking.told == [told] * 4
    assert asking.effects == {"tried": 2}


@pytest.mark.parametrize("name", ["fickle", "forgetful"])
async def test_a_tool_that_does_not_do_the_same_again_fails_with_the_reason(asking, name):
    [asked] = (await paused(asking, name)).pending
    outcome = await asking.runtime.respond(asked.call_id, "yes")
    assert (outcome.status, outcome.error.code) == ("error", "tool_divergence")
    assert name in outcome.error.message
    assert asking.runs[name] == 2


async def test_an_approval_comes_first_then_the_question(asking):
    outcome = await paused(asking, "gated")
    assert [one.kind for one in outcome.pending] == ["approval"]
    outcome = await asking.runtime.approve(outcome.execution_id)
    [asked] = outcome.pending
    assert (asked.kind, asked.call_id.count(":")) == ("interrupt", 2)
    assert (await asking.runtime.approve(outcome.execution_id)).error.code == "stale_decision"
    assert (await asking.runtime.respond(asked.call_id, answer=False)).result == [False]


async def test_a_run_that_waits_for_an_answer_can_be_rejected_expire_be_deleted_or_rolled_back(asking):
    [asked] = (await paused(asking, "loop")).pending
    assert not await asking.runtime.reject(asked.execution_id, asked.seq, digest="another")
    assert await asking.runtime.reject(asked.execution_id, asked.seq, digest=asked.digest, reason="no time")
    assert (await asking.runtime.execution(asked.execution_id)).error.message.endswith("rejected by user: no time")
    assert (await asking.runtime.respond(asked.call_id, 1)).error.code == "stale_decision"
    report = await asking.runtime.rollback(asked.execution_id)
    assert [entry.method for entry in report.doubtful] == ["loop"]

    [asked] = (await paused(asking, "loop")).pending
    assert await asking.runtime.expire_paused(0) == [asked.execution_id]
    assert (await asking.runtime.respond(asked.call_id, 1)).error.code == "stale_decision"

    [asked] = (await paused(asking, "loop")).pending
    assert await asking.runtime.delete_execution(asked.execution_id)
    assert (await asking.runtime.respond(asked.call_id, 1)).error.code == "unknown_call"
    with sqlite3.connect(asking.path) as store:
        rows = store.execute("SELECT * FROM journal WHERE execution = ?", (asked.execution_id,)).fetchall()
    assert rows == []
    assert await asking.runtime.pending() == []


async def test_questions_can_be_switched_off_and_are_no_part_of_tools_that_run_in_every_pass(asking):
    alone = asking.another(on_interrupt="fail")
    outcome = await alone.execute(asking.sandbox.program(calling("caught", "fresh_ask", "threaded")))
    assert outcome.result == ["interrupts_off", "interrupts_off", "async_only"]
    with pytest.raises(CodemodeError, match="on_interrupt"):
        asking.another(on_interrupt="perhaps")


async def test_where_questions_are_switched_off_one_that_waits_already_can_be_answered(asking):
    [asked] = (await paused(asking, "loop", times=1)).pending
    done = await asking.another(on_interrupt="fail").respond(asked.call_id, 5)
    assert (done.status, done.result) == ("completed", [[5, "0"]])


async def test_a_call_in_doubt_that_had_asked_is_settled_and_its_steps_are_not_made_again(asking):
    [asked] = (await paused(asking, "loop")).pending
    with sqlite3.connect(asking.path) as store:
        store.execute("UPDATE execution SET status = 'running', owner = ?", (DEAD,))
        store.execute("UPDATE call SET state = 'executing'")
    store.close()
    await asking.runtime.recover()
    assert [one.kind for one in await asking.runtime.pending()] == ["in_doubt"]
    doubtful = (await asking.runtime.pending())[0]
    assert (await asking.runtime.respond(asked.call_id, 1)).error.code == "stale_decision"
    outcome = await asking.runtime.respond(doubtful.call_id, "run_again")
    assert [one.call_id for one in outcome.pending] == [asked.call_id]
    assert asking.effects == {"before 0": 1}


async def test_without_a_sandbox_an_answer_is_taken_back_and_can_be_given_again(asking):
    [asked] = (await paused(asking, "loop", times=1)).pending
    refused = await asking.another(executor=Nowhere()).respond(asked.call_id, 4)
    assert refused.error.code == "no_sandbox"
    assert [one.call_id for one in await asking.runtime.pending()] == [asked.call_id]
    assert (await asking.runtime.respond(asked.call_id, 5)).result == [[5, "0"]]


async def test_an_answer_whose_kernel_died_before_the_pass_is_taken_up_by_recover(asking):
    [asked] = (await paused(asking, "loop", times=1)).pending
    await asking.another(executor=Nowhere()).respond(asked.call_id, 4)
    with sqlite3.connect(asking.path) as store:  # as it is between the commit of the answer and the next pass
        store.execute("UPDATE execution SET status = 'running', owner = ?", (DEAD,))
        store.execute("UPDATE call SET state = 'answered', decided_at = 1")
        store.execute("UPDATE journal SET state = 'answered', outcome = '6', ended_at = 1 WHERE kind = 'question'")
    store.close()
    [outcome] = await asking.runtime.recover()
    assert outcome.result == [[6, "0"]]


async def test_on_wait_hears_of_each_wait_once_over_restarts(asking):
    heard = []
    asking.options["on_wait"] = heard.append
    outcome = await asking.execute(calling("gated", "loop", times=2))
    await until(lambda: len(heard) == 2)
    outcome = await asking.runtime.approve(outcome.execution_id)
    await until(lambda: len(heard) == 3)
    for runtime in (asking.runtime, asking.another()):
        await runtime.recover()
    while outcome.status == "paused":
        one = outcome.pending[-1]
        outcome = await asking.runtime.respond(one.call_id, 1 if one.method == "loop" else True)
    await asking.close()
    told = [(call.kind, call.method) for call in heard]
    assert sorted(told) == [("approval", "gated"), *[("interrupt", "gated")], *[("interrupt", "loop")] * 2]
    assert len({(call.kind, call.call_id) for call in heard}) == 4


async def test_recover_announces_what_nobody_was_told_of(asking):
    [asked] = (await paused(asking, "swallow")).pending
    heard = []

    async def hook(call):
        heard.append(call.call_id)
        raise RuntimeError("a hook that fails")

    for _ in range(2):
        runtime = asking.another(on_wait=hook)
        await runtime.recover()
        await runtime.close()
    assert heard == [asked.call_id]


async def test_the_hook_may_answer_by_itself(asking):
    async def hook(call):
        await asking.runtime.respond(call.call_id, answer=True)

    asking.options["on_wait"] = hook
    outcome = await asking.execute(calling("swallow"))
    final = await asking.runtime.wait(outcome.execution_id)
    assert final.result == [True]


async def test_a_program_asks_the_person_with_the_human_connector(asking):
    async def program(p: Program):
        colour = await p.call("human.ask", {"question": "Which?", "choices": ["red", "blue"]})
        return [colour, await p.call("human.ask", {"question": f"Why {colour}?"})]

    asking.options["connectors"] = [HumanConnector()]
    outcome = await asking.execute(program)
    assert outcome.pending[0].question.fields[0].options == (("red", "red"), ("blue", "blue"))
    assert (await asking.runtime.respond(outcome.pending[0].call_id, "green")).error.code == "invalid_answer"
    outcome = await asking.runtime.respond(outcome.pending[0].call_id, "blue")
    assert outcome.pending[0].payload == "Why blue?"
    outcome = await asking.runtime.respond(outcome.pending[0].call_id, "It is calm.")
    assert outcome.result == ["blue", "It is calm."]


async def test_a_waiting_run_holds_no_task_and_no_thread(asking):
    before = asyncio.all_tasks()
    await paused(asking, "both", "loop", "stubborn")
    await until(lambda: asyncio.all_tasks() == before)
    assert json.dumps(sorted(asking.effects.items()))


async def test_a_tool_without_a_runtime_has_nobody_to_ask():
    with pytest.raises(CodemodeError, match="nobody to ask"):
        await ToolContext("e", 0, "k").interrupt("?")
