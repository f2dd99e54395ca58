"""The kernel's end of the conversation with the pages, against pages that say what a test wants."""

import asyncio
import contextvars
import json
import re
from dataclasses import replace

import pytest

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.browser import BrowserExecutor
from codemode_jupyter.sandbox.protocol import Namespace, PassRequest, Reply

REQUEST = PassRequest(
    execution_id="e",
    source="async () => 1",
    line_offset=0,
    namespaces=(Namespace("world", ("read",)),),
    clock=0.0,
    seed="0" * 32,
    timeout=30.0,
)


class Handler:
    """Answers every call with its arguments, and keeps what it is told."""

    def __init__(self):
        self.batches, self.lines, self.link = [], [], None

    def started(self, link):
        self.link = link

    def calls(self, batch):
        self.batches.append(batch)
        self.link.reply([Reply(call.seq, "applied", value=call.arguments) for call in batch.calls])

    def step_result(self, result):
        raise AssertionError(result)

    def console(self, lines):
        self.lines += lines


class Channel:
    """A ``PageChannel`` whose pages are objects of the test."""

    def __init__(self):
        self.sent, self.pages, self.callbacks = [], [], []
        self.changed = asyncio.Event()

    def send(self, content, buffers=None):  # noqa: ARG002  part of the protocol
        self.sent.append(content)
        self.changed.set()
        for page in tuple(self.pages):
            if content["to"] in (page.id, "*"):
                asyncio.get_running_loop().call_soon(page.take, content)

    def on_message(self, callback):
        self.callbacks.append(callback)

        def unsubscribe():
            if callback in self.callbacks:
                self.callbacks.remove(callback)

        return unsubscribe

    def say(self, content):
        for callback in tuple(self.callbacks):
            callback(content, ())

    def of_kind(self, kind):
        return [content for content in self.sent if content["type"] == kind]

    async def until_sent(self, kind, count=1):
        async with asyncio.timeout(5):
            while len(self.of_kind(kind)) < count:
                self.changed.clear()
                await self.changed.wait()
        return self.of_kind(kind)[count - 1]


class FakePage:
    """A page that behaves, until it is told not to."""

    def __init__(self, channel, page_id, *, fault=None):
        self.channel, self.id, self.fault = channel, page_id, fault
        self.is_silent = False
        channel.pages.append(self)

    def say(self, kind, /, **fields):
        self.channel.say({**fields, "from": self.id, "type": kind})

    def hello(self):
        self.say("hello", agent="a test", path="/lab/tree/notebook.ipynb", visible=True)

    def leave(self):
        self.channel.pages.remove(self)
        self.say("bye")

    def take(self, content):
        if self.is_silent:
            return
        match content["type"]:
            case "who":
                self.hello()
            case "prepare" if self.fault is not None:
                self.say("unusable", message=self.fault)
            case "prepare":
                self.say("prepared")
            case "ping":
                self.say("pong")

    def texts(self, run, *messages):
        self.say("texts", texts=[[run, json.dumps(message), False] for message in messages])


def done(value="1"):
    return {"type": "done", "status": "completed", "value": value, "issued": 0, "events": [], "lines": []}


@pytest.fixture
def channel():
    return Channel()


@pytest.fixture
async def executor(channel):
    made = BrowserExecutor(channel, page_timeout=2.0, heartbeat=0.02)
    yield made
    await made.close()


async def begin(executor, channel, handler=None):
    """Start a pass; return its task and its run's id once a page was told."""
    count = len(channel.of_kind("start")) + 1
    task = asyncio.create_task(executor.run_pass(REQUEST, handler or Handler()))
    start = await channel.until_sent("start", count)
    return task, start["run"]


async def test_a_page_that_is_there_is_found_by_asking(channel, executor):
    FakePage(channel, "page")
    assert await executor.ready(1.0)
    assert executor.page.id == "page"
    assert executor.page.path == "/lab/tree/notebook.ipynb"


async def test_a_pass_waits_for_a_page_that_is_still_loading(channel, executor):
    task = asyncio.create_task(executor.run_pass(REQUEST, Handler()))
    await channel.until_sent("who", 2)
    page = FakePage(channel, "late")
    page.hello()
    run = (await channel.until_sent("start"))["run"]
    page.texts(run, done("7"))
    assert (await task).value == "7"


async def test_without_a_page_the_error_names_the_fix(channel):
    executor = BrowserExecutor(channel, page_timeout=0.05)
    assert not await executor.ready()
    with pytest.raises(CodemodeError, match=re.escape("pip install 'codemode-jupyter[headless]'")) as caught:
        await executor.run_pass(REQUEST, Handler())
    assert caught.value.code == "no_page"
    await executor.close()


async def test_a_page_that_cannot_make_a_sandbox_says_why(channel, executor):
    FakePage(channel, "strict", fault="The policy forbids it.")
    assert not await executor.ready(1.0)
    with pytest.raises(CodemodeError, match="The policy forbids it") as caught:
        await executor.run_pass(REQUEST, Handler())
    assert caught.value.code == "no_sandbox"


async def test_another_page_is_taken_when_the_first_cannot_make_a_sandbox(channel, executor):
    FakePage(channel, "strict", fault="The policy forbids it.")
    FakePage(channel, "free")
    assert await executor.ready(1.0)
    assert executor.page.id == "free"


async def test_the_first_text_starts_the_pass_and_its_end_is_told_to_the_page(channel, executor):
    page = FakePage(channel, "page")
    handler = Handler()
    task, run = await begin(executor, channel, handler)
    assert json.loads(channel.of_kind("start")[0]["text"])["type"] == "begin"
    call = {"seq": 0, "connector": "world", "method": "read", "arguments": "{}"}
    page.texts(run, {"type": "calls", "calls": [call], "events": []})
    reply = await channel.until_sent("text")
    assert (reply["to"], reply["run"]) == ("page", run)
    page.texts(run, done("[]"))
    assert (await task).kind == "completed"
    assert (await channel.until_sent("end"))["runs"] == [run]
    assert channel.of_kind("kill") == []


async def test_a_start_tells_the_page_which_passes_are_over(channel, executor):
    page = FakePage(channel, "page")
    task, first = await begin(executor, channel)
    page.texts(first, done("1"))
    await task
    task, second = await begin(executor, channel)
    assert channel.of_kind("start")[-1]["over"] == [first]
    page.texts(second, done("2"))
    await task
    assert (await channel.until_sent("end"))["runs"] == [second]
    assert len(channel.of_kind("end")) == 1


async def test_closing_tells_the_page_at_once_which_passes_are_over(channel, executor):
    page = FakePage(channel, "page")
    task, run = await begin(executor, channel)
    page.texts(run, done("1"))
    await task
    await executor.close()
    assert channel.of_kind("end")[-1]["runs"] == [run]


async def test_tools_run_in_the_context_of_the_cell_that_started_the_pass(channel, executor):
    cell = contextvars.ContextVar("cell", default="none")
    seen = []

    class Watching(Handler):
        def calls(self, batch):
            seen.append(cell.get())
            super().calls(batch)

    page = FakePage(channel, "page")
    cell.set("first")
    task, run = await begin(executor, channel, Watching())
    cell.set("another")
    call = {"seq": 0, "connector": "world", "method": "read", "arguments": "{}"}
    page.texts(run, {"type": "calls", "calls": [call], "events": []})
    assert seen == ["first"]
    page.texts(run, done("1"))
    await task


async def test_a_text_in_pieces_is_put_together(channel, executor):
    page = FakePage(channel, "page")
    task, run = await begin(executor, channel)
    text = json.dumps(done(json.dumps("a long one")))
    page.say("texts", texts=[[run, text[:10], True]])
    page.say("texts", texts=[[run, text[10:20], True], [run, text[20:], False]])
    assert (await task).value == '"a long one"'


async def test_several_passes_run_at_once(channel, executor):
    page = FakePage(channel, "page")
    first, first_run = await begin(executor, channel)
    second, second_run = await begin(executor, channel)
    page.texts(second_run, done("2"))
    assert (await second).value == "2"
    assert not first.done()
    page.texts(first_run, done("1"))
    assert (await first).value == "1"


@pytest.mark.parametrize(
    "forged",
    [
        {},
        {"from": "page"},
        {"from": 7, "type": "texts"},
        {"from": "page", "type": "texts"},
        {"from": "page", "type": "texts", "texts": [["RUN", 5, False], ["RUN"], "RUN", None, ["RUN", "{}", "no"]]},
        {"from": "page", "type": "lost", "runs": "RUN", "reason": "frame"},
        {"from": "page", "type": "lost", "runs": [["RUN"]], "reason": "frame"},
        {"from": "page", "type": "cut", "run": {"id": "RUN"}},
        {"from": "page", "type": "texts", "texts": [["0123456789abcdef", json.dumps(done("666")), False]]},
        {"from": "stranger", "type": "texts", "texts": [["RUN", json.dumps(done("666")), False]]},
        {"from": "stranger", "type": "lost", "runs": ["RUN"], "reason": "frame"},
        {"from": "stranger", "type": "bye"},
        {"from": "second", "type": "texts", "texts": [["RUN", json.dumps(done("666")), False]]},
        {"from": "second", "type": "cut", "run": "RUN", "kind": "protocol"},
        {"from": "second", "type": "lost", "runs": ["RUN"], "reason": "frame"},
        {"from": "second", "type": "unusable", "message": "no"},
        {"from": "page", "type": "surprise", "run": "RUN"},
    ],
)
async def test_messages_that_no_page_of_this_run_sends_change_nothing(channel, executor, forged):
    page = FakePage(channel, "page")
    await executor.ready(1.0)
    FakePage(channel, "second").hello()
    task, run = await begin(executor, channel)
    channel.say(json.loads(json.dumps(forged).replace("RUN", run)))
    page.texts(run, done("1"))
    assert (await task).value == "1"


async def test_what_arrives_after_the_end_is_ignored(channel, executor):
    page = FakePage(channel, "page")
    handler = Handler()
    task, run = await begin(executor, channel, handler)
    call = {"seq": 0, "connector": "world", "method": "read", "arguments": "{}"}
    page.texts(run, done("1"), {"type": "calls", "calls": [call], "events": []}, done("2"))
    assert (await task).value == "1"
    page.texts(run, {"type": "calls", "calls": [call], "events": []})
    assert handler.batches == []


async def test_cancelling_a_pass_kills_it_in_the_page_and_cuts_its_link(channel, executor):
    FakePage(channel, "page")
    handler = Handler()
    task, run = await begin(executor, channel, handler)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert channel.of_kind("kill")[-1]["run"] == run
    sent = len(channel.sent)
    handler.link.reply([Reply(0, "applied", value="1")])
    await asyncio.sleep(0)
    assert len(channel.sent) == sent


@pytest.mark.parametrize(
    ("kind", "end"), [("too_large", "too_large"), ("protocol", "protocol"), ("nonsense", "protocol")]
)
async def test_a_pass_that_the_page_cut_ends_with_the_limit_it_broke(channel, executor, kind, end):
    page = FakePage(channel, "page")
    task, run = await begin(executor, channel)
    page.say("cut", run=run, kind=kind)
    assert (await task).kind == end
    assert channel.of_kind("kill")[-1]["run"] == run


async def start_of(channel, execution_id, count):
    """The run's id of the start that is number ``count``, which has to be of that execution's source."""
    start = await channel.until_sent("start", count)
    assert json.loads(start["text"])["source"] == execution_id
    return start["run"]


async def test_after_a_frame_died_with_several_passes_each_of_them_runs_alone(channel, executor):
    page = FakePage(channel, "page")

    def run(name):
        return asyncio.create_task(executor.run_pass(replace(REQUEST, execution_id=name, source=name), Handler()))

    tasks = [run("bomb"), run("innocent")]
    runs = [await start_of(channel, name, count) for count, name in enumerate(["bomb", "innocent"], 1)]
    page.say("lost", runs=[runs[0]], reason="frame")  # frames of one page may share a process and be told one by one
    page.say("lost", runs=[runs[1]], reason="frame")
    assert [(await task).kind for task in tasks] == ["lost", "lost"]
    tasks = [run("bomb"), run("innocent"), run("stranger")]
    bomb = await start_of(channel, "bomb", 3)
    await asyncio.sleep(0.1)
    assert len(channel.of_kind("start")) == 3
    page.say("lost", runs=[bomb], reason="frame")
    assert (await tasks[0]).kind == "memory"
    innocent = await start_of(channel, "innocent", 4)
    page.texts(innocent, done("1"))
    assert (await tasks[1]).kind == "completed"
    page.texts(await start_of(channel, "stranger", 5), done("2"))
    assert (await tasks[2]).kind == "completed"
    again = [run("innocent"), run("stranger")]  # nothing is held against it any more
    for count, name in enumerate(["innocent", "stranger"], 6):
        page.texts(await start_of(channel, name, count), done("3"))
    assert [(await task).kind for task in again] == ["completed", "completed"]


async def test_two_hundred_passes_start_eight_at_a_time(channel, executor):
    page = FakePage(channel, "page")
    tasks = [asyncio.create_task(executor.run_pass(REQUEST, Handler())) for _ in range(200)]
    for count in range(1, 201):
        start = await channel.until_sent("start", count)
        assert len(channel.of_kind("start")) <= count + 7
        page.texts(start["run"], done("1"))
    assert {(await task).kind for task in tasks} == {"completed"}


async def test_a_frame_that_died_with_one_pass_in_it_ran_out_of_memory(channel, executor):
    page = FakePage(channel, "page")
    task, run = await begin(executor, channel)
    page.say("lost", runs=[run], reason="frame")
    end = await task
    assert end.kind == "memory"
    assert "memory" in end.error


async def test_a_frame_that_died_with_several_passes_loses_them_all(channel, executor):
    page = FakePage(channel, "page")
    first, first_run = await begin(executor, channel)
    second, second_run = await begin(executor, channel)
    page.say("lost", runs=[first_run, second_run], reason="frame")
    assert {(await first).kind, (await second).kind} == {"lost"}


async def test_a_pass_whose_frame_has_to_be_made_in_another_way_is_lost_and_blames_no_program(channel, executor):
    page = FakePage(channel, "page")
    task, run = await begin(executor, channel)
    page.say("lost", runs=[run], reason="moved")
    end = await task
    assert end.kind == "lost"
    assert "another way" in end.error
    assert executor.page.is_prepared


async def test_a_page_that_says_bye_loses_its_passes_at_once_and_the_next_page_takes_over(channel, executor):
    page = FakePage(channel, "page")
    task, _ = await begin(executor, channel)
    page.leave()
    end = await task
    assert end.kind == "lost"
    assert "reloaded" in end.error
    FakePage(channel, "fresh").hello()
    task, run = await begin(executor, channel)
    assert channel.of_kind("start")[-1]["to"] == "fresh"
    channel.say({"from": "fresh", "type": "texts", "texts": [[run, json.dumps(done("2")), False]]})
    assert (await task).value == "2"


async def test_a_page_that_falls_silent_loses_its_passes(channel, executor):
    page = FakePage(channel, "page")
    task, _ = await begin(executor, channel)
    page.is_silent = True
    assert (await task).kind == "lost"
    assert executor.page is None


async def test_a_second_tab_does_not_disturb_a_running_pass(channel, executor):
    page = FakePage(channel, "page")
    task, run = await begin(executor, channel)
    FakePage(channel, "second").hello()
    await channel.until_sent("ping", 10)
    assert executor.page.id == "page"
    page.texts(run, done("1"))
    assert (await task).value == "1"


async def test_a_page_that_vanished_is_found_out_when_another_says_hello(channel, executor):
    executor._heartbeat = 3600.0  # nothing but the hello may lead to it
    page = FakePage(channel, "page")
    task, _ = await begin(executor, channel)
    page.is_silent = True
    FakePage(channel, "reloaded").hello()
    assert (await task).kind == "lost"
    assert executor.page.id == "reloaded"


async def test_a_page_that_was_given_up_is_taken_back_when_it_speaks_again(channel, executor):
    page = FakePage(channel, "page")
    task, run = await begin(executor, channel)
    page.is_silent = True
    await task
    page.is_silent = False
    page.texts(run, done("late"))
    assert await executor.ready(1.0)
    assert executor.page.id == "page"


async def test_a_ping_names_the_passes_that_still_count(channel, executor):
    page = FakePage(channel, "page")
    task, run = await begin(executor, channel)
    pings = len(channel.of_kind("ping"))
    assert run in (await channel.until_sent("ping", pings + 2))["runs"]
    page.texts(run, done())
    await task


@pytest.mark.parametrize(("pieces", "is_lost"), [(0, False), (-1, True), (3, True)])
async def test_a_pass_of_which_a_text_got_lost_is_lost_and_one_without_goes_on(channel, executor, pieces, is_lost):
    page = FakePage(channel, "page")
    task, run = await begin(executor, channel)
    page.say("pong", runs=[[run, pieces], ["another", 7], "broken"])
    if is_lost:
        end = await task
        assert (end.kind, end.is_left) == ("lost", True)
        assert "connection broke" in end.error
    else:
        page.texts(run, done("1"))
        assert (await task).value == "1"


async def test_a_ping_says_how_many_texts_were_sent_to_each_pass(channel, executor):
    page = FakePage(channel, "page")
    task, run = await begin(executor, channel)
    call = {"seq": 0, "connector": "world", "method": "read", "arguments": "{}"}
    page.texts(run, {"type": "calls", "calls": [call], "events": []})
    await channel.until_sent("text")
    pings = len(channel.of_kind("ping"))
    ping = await channel.until_sent("ping", pings + 1)
    assert dict(zip(ping["runs"], ping["texts"], strict=True)) == {run: 1 + len(channel.of_kind("text"))}
    page.texts(run, done())
    await task


async def test_two_executors_on_one_channel_do_not_meet(channel, executor):
    other = BrowserExecutor(channel, heartbeat=0.02)
    page = FakePage(channel, "page")
    first, first_run = await begin(executor, channel)
    second, second_run = await begin(other, channel)
    owners = {content["owner"] for content in channel.of_kind("start")}
    assert len(owners) == 2
    page.texts(first_run, done("1"))
    assert (await first).value == "1"
    page.texts(second_run, done("2"))
    assert (await second).value == "2"
    await other.close()


async def test_closing_ends_the_passes_that_run(channel, executor):
    FakePage(channel, "page")
    task, _ = await begin(executor, channel)
    await executor.close()
    assert (await task).kind == "lost"
    assert channel.callbacks == []


async def test_an_idle_page_that_is_gone_is_found_out_before_a_program_is_sent_to_it(channel, executor):
    page = FakePage(channel, "page")
    assert await executor.ready(1.0)
    page.is_silent = True
    executor.page.heard_at -= 3600.0
    fresh = FakePage(channel, "fresh")
    task, run = await begin(executor, channel)
    assert [content["to"] for content in channel.of_kind("start")] == ["fresh"]
    fresh.texts(run, done())
    assert (await task).kind == "completed"


async def test_a_page_with_a_fault_is_asked_again(channel, executor):
    page = FakePage(channel, "page", fault="too slow")
    assert not await executor.ready(1.0)
    page.fault = None
    assert await executor.ready(1.0)
