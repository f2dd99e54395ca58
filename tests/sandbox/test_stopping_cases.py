"""What a program may do to never end or to take everything: each case ends with its own code, and the next run works.

The table is run in each sandbox through the whole runtime; in the browser the page's timers are watched meanwhile.
"""

import asyncio
import time
from dataclasses import dataclass

import pytest
import pytest_asyncio
from playwright.async_api import Page

from codemode_jupyter import FunctionConnector, Runtime, tool
from codemode_jupyter.sandbox.browser import BrowserExecutor
from codemode_jupyter.sandbox.protocol import Executor
from codemode_jupyter.sandbox.worker_source import worker_source
from tests.sandbox.conftest import make_deno
from tests.sandbox.real_page import Pages, chromium, open_pages

pytestmark = [pytest.mark.alone, pytest.mark.asyncio(loop_scope="module")]

LIMIT = 0.5
"""Seconds of running time of programs that would not end."""

SHORT = 1.0
"""Seconds of running time of programs that wait; a sandbox that has to be started takes some of it."""

MAX_GAP = 200
"""Milliseconds that the page's timers may stand still longer than an empty page's on the same busy machine."""

TIMERS = """() => {
  let last = performance.now();
  window.gap = 0;
  setInterval(() => { const now = performance.now(); window.gap = Math.max(window.gap, now - last); last = now; }, 10);
}"""

PATIENT = 120.0
"""Seconds of running time of programs that end by another limit; a busy machine is slow to fill gigabytes."""

ENDLESS = {
    "loop": "for (;;) {}",
    "microtasks": "for (;;) await null",
    "queued microtasks": "const again = () => queueMicrotask(again); again(); await new Promise(() => {})",
    "timers": "for (;;) await new Promise((done) => setTimeout(done))",
    "regular expression": "/^(a+)+$/.test('a'.repeat(40) + 'b')",
    "sort": "Array.from({ length: 100 }, (_, i) => i).sort(() => { for (;;) {} })",
    "getter of the result": "return { get value() { for (;;) {} } }",
    "flood of lines": "for (;;) console.log('x'.repeat(100))",
    "map that grows": "const map = new Map(); for (let i = 0; ; i++) map.set(i % 1000, 'x'.repeat(i % 1000))",
    "swallowed errors": "for (;;) try { null.x } catch {}",
}

TABLE = {
    **{name: (body, LIMIT, "timeout") for name, body in ENDLESS.items()},
    "promise that never settles": ("await new Promise(() => {})", PATIENT, "unsettled"),
    "Atomics.wait": ("Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", PATIENT, "program_error"),
    "self.close": ("self.close()", PATIENT, "program_error"),
    "globalThis.close": ("globalThis.close()", PATIENT, "program_error"),
    "arrays": ("const all = []; for (;;) all.push(new Array(1e6).fill(all.length))", PATIENT, "out_of_memory"),
    "strings": (
        "const all = []; for (let i = 0; ; i++) { all.push((i + 'ab').repeat(1e6)); all[i].charCodeAt(5) }",
        PATIENT,
        "out_of_memory",
    ),
    "buffers": ("const all = []; for (;;) all.push(new ArrayBuffer(1e8))", PATIENT, "out_of_memory"),
    "filled typed arrays": (
        "const all = []; for (;;) all.push(new Uint8Array(5e7).fill(1))",
        PATIENT,
        "out_of_memory",
    ),
    "WebAssembly": ("new WebAssembly.Memory({ initial: 60000 })", PATIENT, "program_error"),
    "200 MB as result": ("return 'x'.repeat(200e6)", PATIENT, "too_large"),
    "30 MB of objects": (
        "return Array.from({ length: 3e5 }, (_, i) => ({ i, text: 'x'.repeat(50) }))",
        PATIENT,
        "too_large",
    ),
    "200 MB as argument": ("await codemode.search('x'.repeat(200e6))", PATIENT, "too_large"),
    "200 MB in a line": ("console.log('x'.repeat(200e6)); return 1", PATIENT, None),
    "10,000 lines": ("for (let i = 0; i < 10_000; i++) console.log('line', i); return 1", PATIENT, None),
    "deep recursion": ("const deeper = (n) => deeper(n + 1) + 1; return deeper(0)", PATIENT, "program_error"),
    "caught recursion": ("let n = 0; const f = () => { n++; f() }; try { f() } catch {} return n > 100", PATIENT, None),
    "deep result": ("let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a", PATIENT, "not_storable"),
    "unhandled rejections": (
        "for (let i = 0; i < 10_000; i++) Promise.reject(new Error('r' + i)); return 1",
        PATIENT,
        "program_error",
    ),
}
"""By name: the body of a program, its running time, and the code of its end (``None``: it completes)."""


@tool(requires_approval=True)
async def decide() -> str:
    """What a person has to allow."""
    return "decided"


async def take_time(seconds: float) -> str:
    """Take longer than the program may."""
    await asyncio.sleep(seconds)
    return "done"


@tool(timeout=0.3)
async def hang() -> None:
    """Never answer."""
    await asyncio.Event().wait()


def make_runtime(executor, path):
    connector = FunctionConnector("it", [decide, take_time, hang])
    return Runtime([connector], executor=executor, path=path)


@dataclass
class Stand:
    """A sandbox under test; ``pages`` where it is in a page."""

    executor: Executor
    runtime: Runtime
    pages: Pages | None
    empty_page: Page | None


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["deno", "chromium"])
async def stand(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("stopping") / "codemode.sqlite3"
    if request.param == "deno":
        executor = make_deno()
        yield Stand(executor, make_runtime(executor, path), None, None)
        await executor.close()
        return
    async with chromium(memory=4 * 2**30) as browser, open_pages(browser, worker_source()) as pages:
        executor = BrowserExecutor(pages)
        await executor.ready()
        empty_page = await pages.context.new_page()
        await empty_page.evaluate(TIMERS)
        yield Stand(executor, make_runtime(executor, path), pages, empty_page)
        await executor.close()


async def gaps(stand):
    """How long the timers of the page, and of an empty one beside it, stood still since the last call, in ms."""
    return await stand.pages.gap(), await stand.empty_page.evaluate("() => { const was = gap; gap = 0; return was }")


@pytest.mark.parametrize("name", list(TABLE))
async def test_a_program_that_takes_too_much_ends_with_its_own_code(stand, name):
    body, limit, code = TABLE[name]
    more = []
    for _ in range(3):  # a busy machine holds a page up, too: the best of three counts
        if stand.pages is not None:
            await gaps(stand)
        started = time.monotonic()
        outcome = await stand.runtime.execute(f"async () => {{ {body} }}", timeout=limit)
        seconds = time.monotonic() - started
        if stand.pages is None:
            break
        here, beside = await gaps(stand)
        more.append(here - beside)
        if more[-1] <= MAX_GAP:
            break
    began = time.monotonic()
    following = await stand.runtime.execute("1 + 1")
    gap = f"the page's timers stood {here:.0f} ms, an empty page's {beside:.0f} ms" if more else ""
    said = "completed" if outcome.error is None else f"{outcome.error.code} after {seconds:.1f} s"
    print(f"\n{name}: {said}; the next run took {time.monotonic() - began:.2f} s; {gap}")  # noqa: T201  figures
    if code is None:
        assert (outcome.status, outcome.error) == ("completed", None)
    else:
        assert outcome.error is not None, outcome
        assert outcome.error.code == code, outcome.error
    assert following.result == 2
    if limit == LIMIT:
        assert seconds < LIMIT + 3
    assert not more or min(more) <= MAX_GAP


async def test_the_time_of_tools_and_of_persons_does_not_count(stand):
    program = """
      const first = await it.take_time({ seconds: 1.2 });
      const answers = await Promise.all([it.take_time({ seconds: 1.2 }), it.take_time({ seconds: 0.5 })]);
      return [first, ...answers, await it.decide()];
    """
    paused = await stand.runtime.execute(program, timeout=SHORT)
    assert paused.status == "paused", paused.error
    await asyncio.sleep(SHORT)
    approved = await stand.runtime.approve(paused.execution_id)
    assert approved.result == ["done", "done", "done", "decided"]


async def test_the_time_of_a_program_counts_also_between_calls(stand):
    program = "await it.take_time({ seconds: 1.2 }); for (;;) {}"
    outcome = await stand.runtime.execute(program, timeout=SHORT)
    assert (outcome.error.code, len(outcome.calls)) == ("timeout", 1)


async def test_a_tool_that_hangs_is_ended_by_its_own_limit_and_the_program_goes_on(stand):
    program = "try { await it.hang() } catch (error) { return error.message }"
    outcome = await stand.runtime.execute(program, timeout=SHORT)
    assert "took longer than 0.3 s" in outcome.result
    [call] = outcome.calls
    assert (call.state, call.error.code) == ("failed", "tool_timeout")
