"""A Worker with no runtime in it, which says whatever it wants: it can end its own pass, and nothing else."""

# ruff: noqa: E501  a table: one message, one line

import asyncio
import json
import time
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio

from codemode_jupyter.sandbox import deno_process
from codemode_jupyter.sandbox.browser import BrowserExecutor
from codemode_jupyter.sandbox.protocol import Namespace, PassRequest, Reply
from tests.sandbox.conftest import make_deno
from tests.sandbox.real_page import chromium, open_pages

pytestmark = pytest.mark.asyncio(loop_scope="module")

PUPPET = """onmessage = ({ ports: [port] }) => {
  const evaluate = globalThis.eval;
  port.onmessage = ({ data }) => {
    port.onmessage = ({ data }) => globalThis.hear?.(data);
    globalThis.raw = (value, ports = []) => port.postMessage(value, ports);
    globalThis.post = (message) => raw(JSON.stringify(message));
    globalThis.call = (seq, more) => ({ seq, connector: "it", method: "echo", arguments: "{}", ...more });
    globalThis.calls = (...list) => ({ type: "calls", calls: list, events: [] });
    globalThis.done = (value, more) => ({ type: "done", status: "completed", value, issued: 0, events: [], lines: [], ...more });
    globalThis.begin = JSON.parse(data);
    evaluate(begin.source);
  };
};
"""
"""Runs the text of the program with the runtime's port in its hands."""


@asynccontextmanager
async def deno_of_puppets():
    with pytest.MonkeyPatch.context() as changes:
        changes.setattr(deno_process, "worker_source", lambda: PUPPET)
        executor = make_deno()
        yield executor, None
        await executor.close()


@asynccontextmanager
async def page_of_puppets():
    async with chromium() as browser, open_pages(browser, PUPPET) as pages:
        executor = BrowserExecutor(pages)
        yield executor, pages.tabs[0]
        await executor.close()


class World:
    """The kernel's side: notes what it is asked, answers ``echo``, and leaves ``hang`` open."""

    def __init__(self):
        self.asked, self.steps, self.lines = [], [], []
        self.is_asked = asyncio.Event()

    def started(self, link):
        self.link = link

    def calls(self, batch):
        self.asked += [(call.seq, call.method) for call in batch.calls]
        self.is_asked.set()
        self.link.reply([Reply(c.seq, "applied", value=c.arguments) for c in batch.calls if c.method != "hang"])

    def step_result(self, result):
        self.steps.append(result)

    def console(self, lines):
        self.lines += lines


async def run(executor, source, world=None, seconds=20.0):
    request = PassRequest("e", source, 0, (Namespace("it", ("echo", "hang")),), 5.0, "0" * 32, seconds)
    return await executor.run_pass(request, world or World())


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=[deno_of_puppets, page_of_puppets], ids=["deno", "page"]
)
async def puppets(request):
    """An executor of puppets with an innocent pass in it, which has to end well after all that the others did."""
    async with request.param() as (executor, tab):
        world = World()
        innocent = asyncio.create_task(
            run(
                executor,
                "post(calls(call(0, { method: 'hang' }))); globalThis.hear = (text) => post(done(text))",
                world,
            )
        )
        await world.is_asked.wait()
        yield executor, tab
        world.link.reply([Reply(0, "applied", value='"still here"')])
        end = await innocent
        assert json.loads(end.value)["replies"] == [{"seq": 0, "state": "applied", "value": '"still here"'}], end
        assert world.asked == [(0, "hang")]


FORGED = [
    ("post(done('1', { run: 'another', id: 'another', from: 'another', to: '*' }))", "completed", 0),
    ("post({ ...calls(call(0)), run: 'another' }); post(done('1'))", "completed", 1),
    ("post(calls(call(0, { method: 'hang' }))); post(done('1'))", "completed", 1),
    ("post(done('1')); post(done('2')); post(calls(call(0)))", "completed", 0),
    ("post(begin)", "protocol", 0),
    ("post({ type: 'texts', texts: [['another', '{}', false]], from: 'page' })", "protocol", 0),
    ("post({ type: 'lost', runs: ['another'], reason: 'frame' })", "protocol", 0),
    ("post(calls(call(0))); post(calls(call(0)))", "protocol", 1),
    ("post(calls(call(5))); post(calls(call(4)))", "protocol", 1),
    ("post(calls(call(5), call(5)))", "protocol", 0),
    ("post(calls(call(2 ** 31 - 1))); post(calls(call(0)))", "protocol", 1),
    *((f"post(calls(call({seq})))", "protocol", 0) for seq in ("-1", "0.5", "2 ** 53", "null", "'0'", "true", "[0]")),
    ("raw('{\"type\":\"calls\",\"calls\":[],\"events\":[[\"call\",0,1e999]]}')", "protocol", 0),
    ("post({ type: 'step', seq: 0, token: 'guess', value: '1' })", "protocol", 0),
    ("post(calls(call(0, { connector: '__step', method: 'hang' }))); post({ type: 'step', seq: 0, token: '', value: '1' })", "protocol", 1),
    ("post(calls({ __proto__: null, seq: 0, connector: ['it'], method: 'echo', arguments: '{}' }))", "protocol", 0),
    ("raw('{\"__proto__\":{\"type\":\"done\"},\"constructor\":1}')", "protocol", 0),
    *((f"raw({value})", "protocol", 0) for value in ("{}", "null", "new Uint8Array(9)", "new Map([[1, 2]])", "['text', 'x']")),
    ("const c = new MessageChannel(); raw(c.port1, [c.port1])", "protocol", 0),
    ("const c = new MessageChannel(); raw('{', [c.port1])", "protocol", 0),
    ("raw('\"\\ud800\"')", "protocol", 0),
    ("raw('')", "protocol", 0),
    ("raw('{}\\n0123456789abcdef0123456789abcdef text another {}\\nclose another ')", "protocol", 0),
]  # fmt: skip
"""What is said, how the pass ends, and how many calls the kernel is asked."""

FLOODS = [
    ("post(done('1')); for (let i = 0; i < 10000; i++) post(calls(call(i)))", "completed", 0),
    ("post(done('1')); for (let i = 0; i < 10000; i++) post(done(`${i}`))", "completed", 0),
    ("post(done('1')); for (let i = 0; i < 10000; i++) raw('{')", "completed", 0),
    ("for (let i = 0; i < 10000; i++) post(calls(call(i))); post(done('1'))", "completed", 10_000),
    ("for (let i = 0; i < 10000; i++) post({ type: 'console', lines: [['log', 'x']] }); post(done('1'))", "completed", 0),
    ("for (let i = 0; i < 30000; i++) post({ type: 'console', lines: [] })", "protocol", 0),
    ("for (let i = 0; i < 10000; i++) raw('{')", "protocol", 0),
    ("for (let i = 0; i < 10000; i++) post({ type: 'replies', replies: [{ seq: 0, state: 'applied', value: '1' }] })", "protocol", 0),
    ("raw('['.repeat(5_000_000))", "protocol", 0),
    ("raw('{\"type\":\"x\",\"a\":[' + '0,'.repeat(4_000_000))", "protocol", 0),
    ("raw('{\"type\":\"calls\",\"calls\":[],\"events\":[' + '[\"call\",0,0],'.repeat(600_000) + '0]}')", "protocol", 0),
    ("raw('x'.repeat(40 * 2 ** 20))", "too_large", 0),
]  # fmt: skip


async def test_a_forged_message_ends_its_own_pass_at_most(puppets):
    executor, _ = puppets
    worlds = [World() for _ in FORGED]
    ends = await asyncio.gather(*(run(executor, case[0], world) for case, world in zip(FORGED, worlds, strict=True)))
    for (source, kind, asked), world, end in zip(FORGED, worlds, ends, strict=True):
        assert (end.kind, end.value, len(world.asked)) == (kind, "1" if kind == "completed" else None, asked), source
        assert (world.steps, world.lines) == ([], []), source
    await next_run_works(executor)


@pytest.mark.parametrize(("source", "kind", "asked"), FLOODS, ids=lambda value: str(value)[:60])
async def test_a_flood_of_them_does_no_more_and_nothing_stands_still(puppets, source, kind, asked):
    executor, tab = puppets
    world = World()
    if tab:
        await tab.evaluate("window.gap = 0")
    watch = asyncio.create_task(longest_gap())
    await asyncio.sleep(0)
    end = await run(executor, source, world)
    watch.cancel()
    assert (end.kind, end.value) == (kind, "1" if kind == "completed" else None), end
    assert (len(world.asked), world.steps) == (asked, [])
    await next_run_works(executor)
    assert await watch < STANDSTILL
    if tab:
        assert await tab.evaluate("window.gap") < STANDSTILL * 1000


async def test_a_flood_without_end_is_ended(puppets):
    executor, _ = puppets
    end = await run(executor, "while (true) raw({})", seconds=1.0)
    assert end.kind in ("protocol", "timeout"), end
    await next_run_works(executor)


STANDSTILL = 4.0
"""Longest time in seconds that the kernel's loop or the page's timers may stand still, on a busy machine."""


async def next_run_works(executor):
    end = await run(executor, "post(calls(call(0))); globalThis.hear = (text) => post(done('\"next\"'))")
    assert (end.kind, end.value) == ("completed", '"next"'), end


async def longest_gap():
    """Return, when cancelled, the longest time in seconds that the kernel's loop stood still."""
    longest, last = 0.0, time.monotonic()
    try:
        while True:
            await asyncio.sleep(0.005)
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
    except asyncio.CancelledError:
        return longest
