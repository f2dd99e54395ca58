"""Real programs through the browser executor, in the page's real code and a real Chromium."""

import asyncio
import json
import time
from dataclasses import replace

import pytest
import pytest_asyncio

from codemode_jupyter.sandbox.browser import BrowserExecutor
from codemode_jupyter.sandbox.protocol import Namespace, PassRequest, RecordedCall, Reply
from codemode_jupyter.sandbox.worker_source import worker_source
from tests.sandbox.real_page import chromium, open_pages

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser():
    async with chromium() as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="module")
async def pages(browser):
    async with open_pages(browser, worker_source()) as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="module")
async def executor(pages):
    made = BrowserExecutor(pages)
    yield made
    await made.close()


class World:
    """The kernel's side: ``echo`` answers its argument, ``fail`` fails, ``gated`` waits for a person."""

    def __init__(self):
        self.batches, self.lines = [], []
        self.has_calls = asyncio.Event()

    @property
    def calls_made(self):
        return [call for batch in self.batches for call in batch.calls]

    def started(self, link):
        self.link = link

    def calls(self, batch):
        self.batches.append(batch)
        self.has_calls.set()
        self.link.reply([self._answer(call) for call in batch.calls if call.method != "hang"])

    def _answer(self, call):
        if call.method == "gated":
            return Reply(call.seq, "pending")
        if call.method == "fail":
            error = {"$type": "error", "value": {"name": "Error", "message": "it failed"}}
            return Reply(call.seq, "failed", error=json.dumps(error))
        return Reply(call.seq, "applied", value=call.arguments)

    def step_result(self, result):
        self.link.reply([Reply(result.seq, "applied", value=result.value)])

    def console(self, lines):
        self.lines += lines


def request(source, *, timeout=20.0, calls=(), events=()):
    return PassRequest(
        execution_id="e",
        source=source,
        line_offset=0,
        namespaces=(Namespace("world", ("echo", "fail", "gated", "hang")),),
        clock=1_700_000_000_000.0,
        seed="0123456789abcdef" * 2,
        timeout=timeout,
        calls=calls,
        events=events,
    )


async def test_the_result_of_a_program_comes_back(executor):
    end = await executor.run_pass(request("async () => ({sum: 1 + 1, when: new Date(5), big: 3n})"), World())
    assert end.kind == "completed", end
    assert json.loads(end.value) == {
        "sum": 2,
        "when": {"$type": "date", "value": 5},
        "big": {"$type": "bigint", "value": "3"},
    }


async def test_calls_and_their_failures_come_back(executor):
    world = World()
    source = """async () => {
      const number = (await world.echo({ number: 6 })).number;
      let message;
      try { await world.fail({}) } catch (error) { message = error.message }
      return [number * 7, message];
    }"""
    end = await executor.run_pass(request(source), world)
    assert json.loads(end.value) == [42, "it failed"]
    assert [(call.seq, call.method) for call in world.calls_made] == [(0, "echo"), (1, "fail")]


async def test_the_console_is_heard(executor):
    world = World()
    end = await executor.run_pass(request("async () => { console.log('hello'); console.warn({a: 1}) }"), world)
    heard = [*world.lines, *end.console]
    assert [level for level, _ in heard] == ["log", "warn"]
    assert heard[0][1] == "hello"


async def test_a_thousand_parallel_calls_take_few_messages(executor, pages):
    world = World()
    await executor.ready()
    before = len(pages.sent) + len(pages.heard)
    source = "async () => (await Promise.all(Array.from({length: 1000}, (_, i) => world.echo({i})))).map(({i}) => i)"
    end = await executor.run_pass(request(source), world)
    assert json.loads(end.value) == list(range(1000))
    assert [call.seq for call in world.calls_made] == list(range(1000))
    assert len(pages.sent) + len(pages.heard) - before < 40


async def test_values_of_a_megabyte_travel_both_ways(executor):
    source = "async () => (await world.echo({text: 'ä'.repeat(400_000)})).text.length"
    end = await executor.run_pass(request(source), World())
    assert end.value == "400000", end


async def test_a_gated_call_pauses_the_pass_and_a_replay_goes_on_after_it(executor):
    source = """async () => {
      const first = await world.echo({ n: Math.random() });
      const second = await world.gated({ n: 2 });
      return [first.n, second.n, Date.now()];
    }"""
    world = World()
    paused = await executor.run_pass(request(source), world)
    assert paused.kind == "paused", paused
    first, second = world.calls_made
    events = [event for batch in world.batches for event in batch.events] + list(paused.events)

    recorded = (
        RecordedCall(first.seq, first.connector, first.method, first.arguments, "applied", first.arguments),
        RecordedCall(second.seq, second.connector, second.method, second.arguments, "applied", '{"n":3}'),
    )
    clock = events[-1][2] + 1000
    again = World()
    request_again = request(source, calls=recorded, events=(*events, ("call", 1, clock)))
    end = await executor.run_pass(request_again, again)
    assert json.loads(end.value) == [json.loads(first.arguments)["n"], 3, clock]
    assert again.calls_made == []


async def test_an_endless_loop_ends_by_its_limit_and_the_page_stays_usable(executor, pages):
    await executor.ready()
    [tab] = pages.tabs
    await tab.evaluate("window.gap = 0")
    start = time.monotonic()
    end = await executor.run_pass(request("async () => { while (true) {} }", timeout=1.0), World())
    assert end.kind == "timeout"
    assert time.monotonic() - start < 1.0 + 3.0
    assert (await executor.run_pass(request("async () => 'next'"), World())).value == '"next"'
    assert await tab.evaluate("window.gap") < 1000
    assert await tab.locator("iframe").count() == 1


async def test_an_endless_chain_of_microtasks_ends_by_its_limit(executor):
    source = "async () => { const again = () => Promise.resolve().then(again); return again() }"
    end = await executor.run_pass(request(source, timeout=0.5), World())
    assert end.kind == "timeout"


async def test_a_cancelled_pass_dies_in_the_page(executor, pages):
    world = World()
    task = asyncio.create_task(executor.run_pass(request("async () => { await world.hang({}); }"), world))
    await world.has_calls.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    heard = len(pages.heard)
    assert (await executor.run_pass(request("async () => 1"), World())).kind == "completed"
    assert all(message["type"] in {"texts", "pong"} for message in pages.heard[heard:])


async def test_passes_run_side_by_side_and_one_that_is_killed_takes_no_other_with_it(executor):
    world = World()
    patient = asyncio.create_task(
        executor.run_pass(request("async () => { await world.echo({}); await world.hang({}); return 1 }"), world),
    )
    await world.has_calls.wait()
    looping = executor.run_pass(request("async () => { while (true) {} }", timeout=0.5), World())
    quick = executor.run_pass(request("async () => 2"), World())
    ends = await asyncio.gather(looping, quick)
    assert [end.kind for end in ends] == ["timeout", "completed"]
    async with asyncio.timeout(10):
        while not (hanging := [call for call in world.calls_made if call.method == "hang"]):
            world.has_calls.clear()
            await world.has_calls.wait()
    world.link.reply([Reply(hanging[0].seq, "applied", value="1")])
    assert (await patient).value == "1"


async def test_a_reload_loses_the_pass_and_the_next_one_runs_in_the_reloaded_page(executor, pages):
    world = World()
    task = asyncio.create_task(executor.run_pass(request("async () => world.hang({})"), world))
    await world.has_calls.wait()
    old = executor.page.id
    await pages.load(pages.tabs[0])
    assert (await task).kind == "lost"
    assert (await executor.run_pass(request("async () => 'back'"), World())).value == '"back"'
    assert executor.page.id != old


async def test_with_two_pages_a_program_runs_once_and_the_second_takes_over(executor, pages):
    await executor.ready()
    await pages.open()
    world = World()
    task = asyncio.create_task(executor.run_pass(request("async () => world.hang({})"), world))
    await world.has_calls.wait()
    assert len(world.calls_made) == 1
    first = executor.page.id
    await pages.tabs.pop(0).close()
    assert (await task).kind == "lost"
    assert (await executor.run_pass(request("async () => 'second'"), World())).value == '"second"'
    assert executor.page.id != first


async def test_a_request_of_another_language_is_refused_in_words(executor):
    end = await executor.run_pass(replace(request("1"), language="cobol"), World())
    assert end.kind == "failed"
    assert "cobol" in end.error
