"""Many programs at once, in one page and in one Deno process: bounded, in turn, and apart from each other."""

import asyncio
import time

import pytest
import pytest_asyncio

from codemode_jupyter import FunctionConnector, Runtime
from codemode_jupyter.notebook.card.status import execution_status
from codemode_jupyter.sandbox.browser import BrowserExecutor
from codemode_jupyter.sandbox.deno import DenoExecutor
from codemode_jupyter.sandbox.worker_source import worker_source
from tests.sandbox.conftest import make_deno
from tests.sandbox.real_page import chromium, open_pages

pytestmark = [pytest.mark.alone, pytest.mark.asyncio(loop_scope="module")]


class Tools:
    """``hold`` answers when the test says so, ``echo`` at once; both count who is inside."""

    def __init__(self):
        self.door = asyncio.Event()
        self.held = 0
        self.arrived = asyncio.Event()

    async def hold(self, name: str) -> str:
        """Wait until the test opens the door."""
        self.held += 1
        self.arrived.set()
        await self.door.wait()
        return name

    async def echo(self, n: int) -> int:
        """The same number."""
        return n

    async def until_held(self, count):
        async with asyncio.timeout(20):
            while self.held < count:
                self.arrived.clear()
                await self.arrived.wait()


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["deno", "chromium"])
async def make_executor(request):
    """Makes executors of one kind; those in a page share it."""
    made = []
    if request.param == "deno":
        make_deno()

        def make(**options):
            made.append(DenoExecutor(**options))
            return made[-1]

        yield make
        await asyncio.gather(*(executor.close() for executor in made))
        return
    async with chromium() as browser, open_pages(browser, worker_source()) as pages:

        def make(**options):
            made.append(BrowserExecutor(pages, **options))
            return made[-1]

        yield make
        await asyncio.gather(*(executor.close() for executor in made))


@pytest.fixture
def tools():
    return Tools()


@pytest.fixture
def runtime_on(tools, tmp_path):
    def make(executor, name="default", **options):
        connector = FunctionConnector("it", [tools.hold, tools.echo])
        return Runtime([connector], executor=executor, path=tmp_path / "s.sqlite3", name=name, **options)

    return make


async def longest_wait(stopped):
    """The longest time in seconds in which the event loop did not come round, until ``stopped``."""
    longest, last = 0.0, time.monotonic()
    while not stopped.is_set():
        await asyncio.sleep(0.005)
        now = time.monotonic()
        longest, last = max(longest, now - last), now
    return longest


async def test_two_hundred_programs_at_once_all_complete_and_the_loop_goes_on(make_executor, runtime_on):
    runtime = runtime_on(make_executor(), max_executions=500)
    began = time.monotonic()
    for n in range(8):
        assert (await runtime.execute(f"await it.echo({{ n: {n} }})")).result == n
    single = (time.monotonic() - began) / 8
    stopped = asyncio.Event()
    beating = asyncio.create_task(longest_wait(stopped))
    began = time.monotonic()
    outcomes = await asyncio.gather(*(runtime.execute(f"await it.echo({{ n: {n} }})") for n in range(200)))
    took = time.monotonic() - began
    stopped.set()
    gap = await beating
    print(f"\n200 at once: {took:.2f} s, one after the other {200 * single:.2f} s; the loop stood {1000 * gap:.0f} ms")  # noqa: T201
    assert [outcome.result for outcome in outcomes] == list(range(200))
    assert took < 2 * 200 * single + 2
    assert gap < 2


async def test_only_so_many_run_and_the_others_come_in_order(make_executor, runtime_on, tools):
    runtime = runtime_on(make_executor(max_passes=2))
    tasks = [asyncio.create_task(runtime.execute(f"await it.hold({{ name: '{n}' }})")) for n in range(5)]
    await tools.until_held(2)
    await asyncio.sleep(0.2)
    assert tools.held == 2
    tools.door.set()
    assert [outcome.result for outcome in await asyncio.gather(*tasks)] == ["0", "1", "2", "3", "4"]


async def test_a_stuck_program_costs_its_own_place_only(make_executor, runtime_on):
    executor = make_executor(max_passes=2)
    stuck, others = runtime_on(executor, "stuck"), runtime_on(executor, "others")
    looping = asyncio.create_task(stuck.execute("for (;;) {}", timeout=4))
    outcomes = await asyncio.gather(*(others.execute(f"{n}") for n in range(6)))
    assert [outcome.result for outcome in outcomes] == list(range(6))
    assert not looping.done()
    assert (await looping).error.code == "timeout"


async def test_a_program_that_waits_for_its_turn_can_be_stopped_and_takes_no_place(make_executor, runtime_on, tools):
    runtime = runtime_on(make_executor(max_passes=1))
    first = asyncio.create_task(runtime.execute("await it.hold({ name: 'first' })"))
    await tools.until_held(1)
    started = asyncio.get_running_loop().create_future()
    second = asyncio.create_task(runtime.execute("await it.hold({ name: 'second' })", on_start=started.set_result))
    third = asyncio.create_task(runtime.execute("'third'"))
    execution_id = await started
    async with asyncio.timeout(10):
        while not (await runtime.execution(execution_id)).waits_for_turn:  # noqa: ASYNC110  nothing happens that tells
            await asyncio.sleep(0.05)
    assert execution_status(await runtime.execution(execution_id)).words == "Waiting for its turn"
    assert await runtime.stop(execution_id)
    assert not (await runtime.execution(execution_id)).waits_for_turn
    assert (await second).error.code == "stopped"
    tools.door.set()
    assert [(await task).result for task in (first, third)] == ["first", "third"]
    assert tools.held == 1


async def test_waiting_for_a_turn_is_no_running_time(make_executor, runtime_on):
    runtime = runtime_on(make_executor(max_passes=1))
    looping = runtime.execute("for (;;) {}", timeout=2)
    ids = []
    quick = runtime.execute("'quick'", timeout=1, on_start=ids.append)
    ends = await asyncio.gather(looping, quick)
    assert (ends[0].error.code, ends[1].result) == ("timeout", "quick")
    assert (await runtime.execution(ids[0])).running_time < 2


async def test_a_tool_that_runs_a_program_does_not_wait_for_the_place_of_its_own(make_executor, tmp_path):
    executor = make_executor(max_passes=1)
    inner = Runtime(executor=executor, path=tmp_path / "inner.sqlite3")

    async def compute(code: str) -> int:
        """Run a program."""
        return (await inner.execute(code)).result

    outer = Runtime([FunctionConnector("it", [compute])], executor=executor, path=tmp_path / "outer.sqlite3")
    async with asyncio.timeout(20):
        assert (await outer.execute("await it.compute({ code: '6 * 7' })")).result == 42


async def test_programs_of_two_runtimes_do_not_see_each_other(make_executor, runtime_on):
    one, two = runtime_on(make_executor(), "one"), runtime_on(make_executor(), "two")
    program = """
      try { globalThis.mark = (globalThis.mark ?? "") + NAME } catch {}
      try { Array.prototype.mark = NAME } catch {}
      console.log(NAME);
      const answers = [];
      for (let n = 0; n < 5; n++) answers.push(await it.echo({ n: n + SHIFT }));
      return [globalThis.mark, [].mark ?? null, answers];
    """

    def run(runtime, name, shift):
        return runtime.execute(program.replace("NAME", f"'{name}'").replace("SHIFT", str(shift)))

    outcomes = await asyncio.gather(*(run(*who) for who in [(one, "one", 0), (two, "two", 100)] * 5))
    for outcome, name, shift in zip(outcomes, ["one", "two"] * 5, [0, 100] * 5, strict=True):
        assert outcome.result == [name, None, [n + shift for n in range(5)]]
        assert list(outcome.logs) == [name]
    assert {len(await runtime.executions()) for runtime in (one, two)} == {5}
