"""The kernel's side of a pass, against a sandbox that says what a test wants."""

import asyncio
import json
import time

import pytest

from codemode_jupyter.sandbox import session
from codemode_jupyter.sandbox.protocol import (
    CallBatch,
    CallRequest,
    Namespace,
    PassEnd,
    PassRequest,
    RecordedCall,
    Reply,
    StepResult,
)
from codemode_jupyter.sandbox.session import MAX_CONSOLE_LENGTH, MAX_CONSOLE_LINES, PassSession
from codemode_jupyter.sandbox.worker_messages import MAX_RESULT_BYTES, MAX_VALUE_BYTES

TOKEN = "t"  # noqa: S105  no secret: the tests' own
DONE = {"type": "done", "status": "completed", "value": "1", "issued": 0, "events": [], "lines": []}


class Recorder:
    """A handler that keeps what it is told, and the sandbox's end of the wire."""

    def __init__(self, timeout=30.0, **request):
        self.told, self.sent, self.link = [], [], None
        self.session = PassSession(
            PassRequest("e", "async () => 1", 0, (Namespace("it", ("echo",)),), 5.0, "0" * 32, timeout, **request),
            self,
            lambda text: self.sent.append(json.loads(text)),
        )

    def started(self, link):
        self.link = link

    def calls(self, batch):
        self.told.append(batch)

    def step_result(self, result):
        self.told.append(result)

    def console(self, lines):
        self.told.append(list(lines))

    def say(self, message):
        self.session.receive(message if isinstance(message, str) else json.dumps(message))

    def say_calls(self, *seqs, **changes):
        call = {"connector": "it", "method": "echo", "arguments": "{}"} | changes
        self.say({"type": "calls", "calls": [call | {"seq": seq} for seq in seqs], "events": []})


@pytest.fixture
async def sandbox():
    recorder = Recorder()
    recorder.session.start()
    return recorder


async def end_of(recorder):
    return await asyncio.wait_for(recorder.session.wait(), 5)


async def test_the_begin_message_holds_all_that_a_pass_needs():
    recorder = Recorder(calls=[RecordedCall(0, "it", "echo", "{}", "applied", "1")], events=[("call", 0, 6.0)])
    recorder.session.start()
    assert recorder.sent == [
        {
            "type": "begin",
            "source": "async () => 1",
            "line_offset": 0,
            "namespaces": [["it", ["echo"]]],
            "calls": [[0, "it", "echo", "{}", "applied", "1"]],
            "events": [["call", 0, 6.0]],
            "clock": 5.0,
            "seed": "0" * 32,
            "language": "javascript",
            "fetch": False,
            "modules": [],
        }
    ]
    assert recorder.link is recorder.session


async def test_messages_arrive_typed_and_in_order(sandbox):
    sandbox.say({"type": "console", "lines": [["warn", "w"]]})
    sandbox.say_calls(0, 2)
    sandbox.say(DONE | {"events": [["call", 0, 5], ["timer", 1, 6.5]], "lines": [["log", "last"]], "issued": 3})
    assert sandbox.told == [
        [("warn", "w")],
        CallBatch((CallRequest(0, "it", "echo", "{}"), CallRequest(2, "it", "echo", "{}")), ()),
    ]
    assert await end_of(sandbox) == PassEnd(
        "completed", value="1", issued=3, events=(("call", 0, 5), ("timer", 1, 6.5)), console=(("log", "last"),)
    )


async def test_everything_after_the_end_is_ignored(sandbox):
    sandbox.say(DONE)
    sandbox.say_calls(0)
    sandbox.say("nonsense")
    sandbox.say(DONE | {"value": "2"})
    sandbox.link.reply([Reply(0, "applied", value="1")])
    sandbox.session.end(PassEnd("lost"))
    await asyncio.sleep(0)
    assert (await end_of(sandbox)).value == "1"
    assert sandbox.told == []
    assert len(sandbox.sent) == 1


async def test_replies_of_one_tick_are_one_message(sandbox):
    sandbox.say_calls(0, 1, 2)
    sandbox.link.reply([Reply(0, "applied", value="1")])
    sandbox.link.reply([Reply(1, "failed", error='{"$type":"error"}'), Reply(2, "pending")])
    await asyncio.sleep(0)
    assert sandbox.sent[1:] == [
        {
            "type": "replies",
            "replies": [
                {"seq": 0, "state": "applied", "value": "1"},
                {"seq": 1, "state": "failed", "error": '{"$type":"error"}'},
                {"seq": 2, "state": "pending"},
            ],
        }
    ]


async def test_replies_that_nobody_waits_for_are_not_sent(sandbox):
    sandbox.say_calls(0)
    sandbox.link.reply([Reply(5, "applied", value="1"), Reply(0, "applied", value="1"), Reply(0, "applied", value="2")])
    await asyncio.sleep(0)
    assert [reply["value"] for reply in sandbox.sent[1]["replies"]] == ["1"]


async def test_a_step_is_taken_with_its_token_and_once(sandbox):
    sandbox.say_calls(0, connector="__step", method="s")
    sandbox.link.reply([Reply(0, "run", token=TOKEN)])
    sandbox.say({"type": "step", "seq": 0, "token": TOKEN, "value": "5"})
    assert sandbox.told[1:] == [StepResult(0, TOKEN, value="5")]
    sandbox.say({"type": "step", "seq": 0, "token": TOKEN, "value": "6"})
    assert (await end_of(sandbox)).kind == "protocol"


@pytest.mark.parametrize("token", ["", "wrong", None])
async def test_a_forged_step_ends_the_pass(sandbox, token):
    sandbox.say_calls(0, connector="__step", method="s")
    sandbox.link.reply([Reply(0, "run", token=TOKEN)])
    sandbox.say({"type": "step", "seq": 0, "token": token, "value": "5"})
    assert (await end_of(sandbox)).kind == "protocol"
    assert len(sandbox.told) == 1


async def test_a_step_for_a_call_that_waits_ends_the_pass(sandbox):
    sandbox.say_calls(0)
    sandbox.link.reply([Reply(0, "pending")])
    sandbox.say({"type": "step", "seq": 0, "token": "", "value": '"forged"'})
    assert (await end_of(sandbox)).kind == "protocol"
    assert len(sandbox.told) == 1


CALL = {"seq": 0, "connector": "it", "method": "echo", "arguments": "{}"}


@pytest.mark.parametrize(
    "message",
    [
        "",
        "nonsense",
        "[]",
        "null",
        "NaN",
        '{"type": "calls"',
        "[" * 100_000,
        {},
        {"type": "start"},
        {"type": ["calls"]},
        {"type": "replies", "replies": []},
        {"type": "calls"},
        {"type": "calls", "calls": {}, "events": []},
        {"type": "calls", "calls": [], "events": None},
        {"type": "calls", "calls": [None], "events": []},
        *(
            {"type": "calls", "calls": [CALL | change], "events": []}
            for change in [
                {"seq": -1},
                {"seq": True},
                {"seq": 0.5},
                {"seq": 2**31},
                {"seq": "0"},
                {"connector": None},
                {"connector": "x" * 1_001},
                {"method": 5},
                {"arguments": {}},
                {"arguments": "{"},
                {"arguments": "NaN"},
                {"arguments": '["\ud800"]'},
                {"arguments": "[" * 5_000 + "]" * 5_000},
                {"arguments": "9" * 5_000},
                {"arguments": '"' + "x" * MAX_VALUE_BYTES + '"'},
                {"arguments": '"' + "€" * (MAX_VALUE_BYTES // 3) + '"'},
            ]
        ),
        {"type": "calls", "calls": [CALL, CALL], "events": []},
        {"type": "calls", "calls": [CALL | {"seq": 3}, CALL | {"seq": 2}], "events": []},
        *(
            {"type": "calls", "calls": [], "events": [event]}
            for event in [
                ["call"],
                ["call", 0],
                ["step", 0, 1],
                ["call", "0", 1],
                ["call", -1, 1],
                ["timer", 1, -1],
                ["timer", 1, 1e300],
                5,
            ]
        ),
        {"type": "console", "lines": [["shout", "x"]]},
        {"type": "console", "lines": [["log", 5]]},
        {"type": "console", "lines": [["log", "x" * 100_001]]},
        {"type": "console", "lines": "x"},
        {"type": "step", "seq": 0, "token": TOKEN},
        {"type": "step", "seq": 0, "token": TOKEN, "value": "1", "error": "1"},
        *(
            DONE | change
            for change in [
                {"status": "ok"},
                {"status": "timeout"},
                {"status": None},
                {"value": 1},
                {"value": None},
                {"value": "{"},
                {"value": '"' + "x" * MAX_RESULT_BYTES + '"'},
                {"issued": None},
                {"issued": -1},
                {"line": "1"},
                {"events": [[]]},
                {"lines": None},
                {"status": "failed"},
                {"status": "failed", "error": 5},
            ]
        ),
    ],
    ids=lambda message: str(message)[:60],
)
async def test_what_no_runtime_would_send_ends_the_pass(sandbox, message):
    sandbox.say(message)
    end = await end_of(sandbox)
    assert end.kind == "protocol"
    assert end.error.startswith("The sandbox sent a message that no program can send")
    assert sandbox.told == []


async def test_call_numbers_increase_over_the_whole_pass(sandbox):
    sandbox.say_calls(0, 4)
    sandbox.say_calls(4)
    assert (await end_of(sandbox)).kind == "protocol"
    assert len(sandbox.told) == 1


async def test_calls_beyond_the_limit_end_the_pass(sandbox):
    sandbox.say_calls(*range(25_000))
    assert not sandbox.session.has_ended
    sandbox.say_calls(25_000)
    assert (await end_of(sandbox)).kind == "protocol"


async def test_a_flood_of_lines_is_dropped(sandbox):
    for _ in range(30):
        sandbox.say({"type": "console", "lines": [["log", "x" * 99_999]]})
    kept = sum(len(text) for lines in sandbox.told for _, text in lines)
    assert kept <= MAX_CONSOLE_LENGTH
    assert not sandbox.session.has_ended


async def test_a_flood_of_lines_with_the_end_or_of_empty_ones_is_dropped_too(sandbox):
    sandbox.say({"type": "console", "lines": [["log", ""]] * 30_000})
    assert len(sandbox.told[0]) == MAX_CONSOLE_LINES
    sandbox.say(DONE | {"lines": [["log", "x"]] * 30_000})
    assert (await end_of(sandbox)).console == ()


async def test_events_beyond_the_limit_end_the_pass(sandbox, monkeypatch):
    monkeypatch.setattr(session, "MAX_EVENTS", 100)
    for _ in range(2):
        sandbox.say({"type": "calls", "calls": [], "events": [["call", 0, 0]] * 50})
    assert not sandbox.session.has_ended
    sandbox.say(DONE | {"events": [["call", 0, 0]]})
    assert (await end_of(sandbox)).kind == "protocol"


@pytest.mark.parametrize(
    "part",
    ["[],", '"",', '["call",0,0],', '{"a":1},', '"\\",\\\\",', '"\\\\",'],
    ids=["lists", "texts", "events", "objects", "escapes", "more escapes"],
)
async def test_a_text_of_nothing_but_parts_is_refused_before_it_is_read(sandbox, part):
    text = '{"type": "calls", "calls": [], "events": [' + part * (16_000_000 // len(part))
    start = time.process_time()
    sandbox.say(text)
    assert (await end_of(sandbox)).kind == "protocol"
    assert time.process_time() - start < 2


async def test_a_long_value_full_of_commas_is_no_text_of_many_parts(sandbox):
    value = json.dumps(["," * 3_000_000, '",' * 500_000])
    sandbox.say(DONE | {"value": value})
    assert (await end_of(sandbox)).value == value


async def test_a_forged_end_can_only_end_the_pass(sandbox):
    """A program may say that it is done; the kernel knows which calls it recorded."""
    sandbox.say_calls(0)
    sandbox.say(DONE | {"issued": 2**30})
    assert (await end_of(sandbox)).issued == 2**30


async def test_the_time_stands_while_a_call_waits_for_the_kernel():
    recorder = Recorder(timeout=0.15)
    recorder.session.start()
    recorder.say_calls(0)
    await asyncio.sleep(0.3)
    assert not recorder.session.has_ended
    recorder.link.reply([Reply(0, "pending")])
    end = await asyncio.wait_for(recorder.session.wait(), 2)
    assert end.kind == "timeout"
    assert "0.15 s" in end.error


async def test_a_step_that_runs_is_running_time():
    recorder = Recorder(timeout=0.1)
    recorder.session.start()
    recorder.say_calls(0, connector="__step")
    recorder.link.reply([Reply(0, "run", token=TOKEN)])
    assert (await asyncio.wait_for(recorder.session.wait(), 2)).kind == "timeout"


async def test_a_sandbox_that_says_nothing_times_out():
    recorder = Recorder(timeout=0.05)
    recorder.session.start()
    assert (await asyncio.wait_for(recorder.session.wait(), 2)).kind == "timeout"


async def test_a_pass_that_ended_before_its_start_stays_ended():
    recorder = Recorder()
    recorder.session.end(PassEnd("lost", error="gone"))
    recorder.session.start()
    assert (await end_of(recorder)).error == "gone"
    assert recorder.sent == []


async def test_many_calls_are_taken_over_several_turns_of_the_loop_and_what_follows_them_after_them(sandbox):
    loop, count = asyncio.get_running_loop(), 2 * session.CALLS_A_TURN + 5
    turns = []
    loop.call_soon(lambda: turns.append(sum(len(told.calls) for told in sandbox.told)))
    sandbox.say_calls(*range(count))
    sandbox.say({"type": "console", "lines": [["log", "after them"]]})
    sandbox.say(DONE | {"issued": count})
    assert not sandbox.session.has_ended
    assert (await end_of(sandbox)).kind == "completed"
    *batches, lines = sandbox.told
    assert [call.seq for batch in batches for call in batch.calls] == list(range(count))
    assert max(len(batch.calls) for batch in batches) == session.CALLS_A_TURN
    assert turns == [session.CALLS_A_TURN]
    assert lines == [("log", "after them")]


async def test_many_texts_are_taken_over_several_turns_of_the_loop(sandbox):
    for seq in range(session.CALLS_A_TURN):
        sandbox.say_calls(seq)
    assert 0 < len(sandbox.told) < session.CALLS_A_TURN
    sandbox.say(DONE | {"issued": session.CALLS_A_TURN})
    assert (await end_of(sandbox)).kind == "completed"
    assert [call.seq for batch in sandbox.told for call in batch.calls] == list(range(session.CALLS_A_TURN))


async def test_calls_that_the_log_may_have_are_judged_together():
    count = 2 * session.CALLS_A_TURN
    recorder = Recorder(calls=[RecordedCall(seq, "it", "echo", "{}", "open") for seq in range(count)])
    recorder.session.start()
    recorder.say_calls(*range(count))
    (batch,) = recorder.told
    assert len(batch.calls) == count
