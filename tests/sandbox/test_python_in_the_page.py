"""Python in a real page: the ways its files come, and that nothing but them becomes code; stops, losses, replay."""

import asyncio
import gzip
import time

import pytest
import pytest_asyncio

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox import page_python
from codemode_jupyter.sandbox.browser import BrowserExecutor
from codemode_jupyter.sandbox.deno import find_deno
from codemode_jupyter.sandbox.python.making import ensure_assets
from codemode_jupyter.sandbox.python.packed import packed_files
from codemode_jupyter.sandbox.worker_source import worker_source
from tests.sandbox.kernel import Kernel
from tests.sandbox.real_page import PLAIN_HOST, chromium, open_pages
from tests.sandbox.test_served_frame import NO_INLINE

pytestmark = pytest.mark.asyncio(loop_scope="module")

KERNEL, SERVER, STORE = "the kernel", "the server", "the page's store"


@pytest.fixture(scope="module")
def packed():
    try:
        return packed_files(ensure_assets(find_deno() or "deno"))
    except CodemodeError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def served(packed):
    """The files as a server has them."""
    return {file.path: file.data for file in packed}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser(packed):
    async with chromium() as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(browser):
    """One page for the tests that leave Python as they found it."""
    async with open_pages(browser, worker_source()) as pages:
        executor = BrowserExecutor(pages)
        yield executor
        await executor.close()


async def run(executor, source="1 + 1", **options):
    """Run a program in Python to its end; return the end and what it waited for before it began."""
    kernel = Kernel(source, {"it.echo": lambda arguments: arguments}, language="python", **options)
    end = await kernel.run(executor)
    return end, kernel.prepared


async def value(executor, source="1 + 1", **options):
    end, _ = await run(executor, source, **options)
    assert end.kind == "completed", end
    return end.value


def ways(executor):
    return set(executor.page.python.ways)


# ---- the ways of its files


async def test_the_files_come_from_the_kernel_and_after_a_reload_from_the_pages_store(browser):
    async with open_pages(browser, worker_source()) as pages:
        executor = BrowserExecutor(pages)
        end, waited = await run(executor, "import sys\nawait it.echo(a=sys.platform)")
        assert end.value == '{"a":"emscripten"}'
        assert any(text.startswith("Loading Python… ") and text.endswith(" of 13 MB") for text in waited)
        assert waited[-1] == "Starting Python…"
        assert ways(executor) == {KERNEL}
        await pages.until(lambda: executor.page.python.is_warm)
        assert (await run(executor))[1] == []
        await pages.load(pages.tabs[0])
        pages.sent.clear()
        assert await value(executor) == "2"
        assert ways(executor) == {STORE}
        assert [message for message in pages.sent if message["type"] == "piece"] == []
        await executor.close()


@pytest.mark.parametrize("options", [{}, {"policy": NO_INLINE}], ids=["open page", "hardened page"])
async def test_the_files_come_from_a_server_that_has_them(browser, served, options):
    async with open_pages(browser, worker_source(), is_installed=True, files=served, **options) as pages:
        executor = BrowserExecutor(pages)
        assert await value(executor) == "2"
        assert ways(executor) == {SERVER}
        assert executor.page.is_served == bool(options)
        assert len([path for path in pages.site.requests if path.endswith(".gz")]) == len(served)
        await executor.close()


async def test_files_that_are_not_the_kernels_are_not_used_wherever_they_come_from(browser, served):
    async with open_pages(browser, worker_source(), files=served) as pages:
        executor = BrowserExecutor(pages)
        assert await value(executor) == "2"
        assert ways(executor) == {SERVER}
        await pages.tabs[0].evaluate(POISON)
        poisoned = gzip.compress(b"globalThis.stolen = 1; function makePyodide() { throw 'stolen' }")
        for path in served:
            pages.site.replace(path, poisoned)
        await pages.load(pages.tabs[0])
        assert await value(executor) == "2"
        assert ways(executor) == {KERNEL}
        await executor.close()


POISON = """async () => {
  const database = await new Promise((resolve) => {
    const opening = indexedDB.open("codemode-jupyter", 1);
    opening.onsuccess = () => resolve(opening.result);
  });
  const writing = database.transaction("files", "readwrite");
  const done = new Promise((resolve) => { writing.oncomplete = resolve; });
  const files = writing.objectStore("files");
  const answer = (request) => new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
  const keys = await answer(files.getAllKeys());
  for (const key of keys) files.put(new Blob([(await answer(files.get(key))).slice(0, -1), "x"]), key);
  await done;
  database.close();
  return keys.length;
}"""
"""Change the last byte of every file in the page's store: the length stays."""


async def test_without_tls_the_store_is_used_and_checked_as_well(browser):
    async with open_pages(browser, worker_source(), host=PLAIN_HOST) as pages:
        assert not await pages.tabs[0].evaluate("isSecureContext")
        executor = BrowserExecutor(pages)
        assert await value(executor) == "2"
        assert ways(executor) == {KERNEL}
        await pages.load(pages.tabs[0])
        assert await value(executor) == "2"
        assert ways(executor) == {STORE}
        assert await pages.tabs[0].evaluate(POISON) == 4
        await pages.load(pages.tabs[0])
        assert await value(executor) == "2"
        assert ways(executor) == {KERNEL}
        await executor.close()


async def test_without_a_store_the_files_come_from_the_kernel_each_time(browser):
    async with open_pages(browser, worker_source()) as pages:
        await pages.tabs[0].add_init_script("delete window.indexedDB; window.indexedDB = undefined;")
        await pages.load(pages.tabs[0])
        executor = BrowserExecutor(pages)
        assert await value(executor) == "2"
        await pages.load(pages.tabs[0])
        assert await value(executor) == "2"
        assert ways(executor) == {KERNEL}
        await executor.close()


async def test_two_executors_of_one_page_load_the_files_once(browser):
    async with open_pages(browser, worker_source()) as pages:
        executors = [BrowserExecutor(pages), BrowserExecutor(pages, csp="webrtc 'block'")]
        assert await asyncio.gather(*map(value, executors)) == ["2", "2"]
        pieces = [(message["file"], message["start"]) for message in pages.sent if message["type"] == "piece"]
        assert len(pieces) == len(set(pieces)) > 4
        for executor in executors:
            await executor.close()


# ---- what fails on the way


async def test_a_load_that_fails_ends_the_run_with_a_code_and_the_next_one_tries_again(browser, monkeypatch):
    async with open_pages(browser, worker_source()) as pages:
        executor = BrowserExecutor(pages)
        with monkeypatch.context() as changes:
            changes.setattr(page_python.PythonFiles, "piece", lambda *_: b"nonsense" * 2**18)
            with pytest.raises(CodemodeError, match="did not arrive") as caught:
                await run(executor)
        assert caught.value.code == "python_not_available"
        assert "DenoExecutor" in caught.value.hint
        assert await value(executor) == "2"
        await executor.close()


async def test_a_page_that_never_says_anything_of_python_is_given_up(browser, monkeypatch):
    monkeypatch.setattr(page_python, "REMINDER", 0.1)
    monkeypatch.setattr(page_python, "PATIENCE", 0.3)
    async with open_pages(browser, worker_source()) as pages:
        executor = BrowserExecutor(pages)
        await executor.ready()
        executor._python._ask = lambda _page: None
        with pytest.raises(CodemodeError, match="said nothing"):
            await run(executor)
        await executor.close()


async def test_a_page_that_is_reloaded_during_the_load_loses_the_pass_and_the_next_page_runs_it(browser):
    async with open_pages(browser, worker_source()) as pages:
        executor = BrowserExecutor(pages)
        running = asyncio.create_task(run(executor))
        await pages.until(lambda: any(message["type"] == "piece" for message in pages.sent))
        await pages.load(pages.tabs[0])
        end, _ = await running
        assert (end.kind, end.is_left) == ("lost", True)
        assert await value(executor) == "2"
        await executor.close()


async def test_a_run_that_is_cancelled_during_the_load_begins_nothing_and_the_next_one_uses_what_came(browser):
    async with open_pages(browser, worker_source()) as pages:
        executor = BrowserExecutor(pages)
        running = asyncio.create_task(run(executor))
        await pages.until(lambda: any(message["type"] == "piece" for message in pages.sent))
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert not [message for message in pages.sent if message["type"] == "start"]
        assert await value(executor) == "2"
        pieces = [(message["file"], message["start"]) for message in pages.sent if message["type"] == "piece"]
        assert len(pieces) == len(set(pieces))
        await executor.close()


async def test_the_time_of_the_load_is_no_running_time(browser, monkeypatch):
    hand_over, delays = page_python.PythonForPages.hand_over, [1.6]

    def late(self, page, content):
        asyncio.get_running_loop().call_later(delays.pop() if delays else 0, hand_over, self, page, content)

    monkeypatch.setattr(page_python.PythonForPages, "hand_over", late)
    async with open_pages(browser, worker_source()) as pages:
        executor = BrowserExecutor(pages)
        assert await value(executor, timeout=1.5) == "2"
        assert delays == []
        await executor.close()


async def test_a_page_whose_sandbox_failed_and_was_mended_runs_python_again(browser):
    async with open_pages(browser, worker_source()) as pages:
        executor = BrowserExecutor(pages)
        await executor.ready()
        pages.say({"type": "unusable", "from": executor.page.id, "policy": "", "message": "a fault of a moment"})
        assert executor.page.fault
        assert await value(executor) == "2"
        await executor.close()


# ---- its Workers


async def test_no_worker_has_python_until_a_program_needs_it_and_then_one_waits(browser):
    async with open_pages(browser, worker_source()) as pages:
        [tab] = pages.tabs
        executor = BrowserExecutor(pages)
        for number in range(3):
            assert (await Kernel(f"() => {number}").run(executor)).value == f"{number}"
        assert not [message for message in pages.sent if message["type"] in ("warm", "piece")]
        assert not [path for path in pages.site.requests if path.endswith(".gz")]
        assert await value(executor) == "2"
        await pages.until(lambda: executor.page.python.is_warm)
        assert len(tab.workers) <= 2 + 1 + 1  # those that wait, and one that has just ended
        await executor.close()


async def test_programs_at_once_each_have_their_own_python(shared):
    source = "import asyncio\nglobals()['x'] = await it.echo(a={0})\nawait asyncio.sleep(0.05)\nx['a']"
    found = await asyncio.gather(*(value(shared, source.format(number)) for number in range(3)))
    assert found == ["0", "1", "2"]


async def test_a_program_that_never_ends_is_ended_and_the_next_one_runs(shared):
    started = time.monotonic()
    end, _ = await run(shared, "while True:\n    pass", timeout=0.3)
    assert end.kind == "timeout"
    assert time.monotonic() - started < 10
    running = asyncio.create_task(run(shared, "await it.echo()\nwhile True:\n    pass"))
    await shared._channel.until(lambda: shared._runs)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await value(shared) == "2"
    assert (await Kernel("() => 'js'").run(shared)).value == '"js"'


async def test_a_pause_is_resumed_by_replay(shared):
    source = "import random\nx = random.random()\nanswer = await it.gated(x=x)\n[answer, 0 < x < 1]"
    kernel = Kernel(source, language="python")
    assert (await kernel.run(shared)).kind == "paused"
    kernel.approve()
    assert (await kernel.run(shared)).value == '["approved",true]'


async def test_a_program_that_wrecks_its_interpreter_wrecks_no_other(shared):
    end, _ = await run(shared, "import os\nos._exit(3)", timeout=20)
    assert end.kind != "completed"
    assert await value(shared) == "2"


async def test_nothing_of_a_program_reaches_the_next(shared):
    await value(shared, "import builtins, json\nbuiltins.stolen = 1\njson.stolen = 1\nopen('/tmp/x', 'w').write('1')")
    source = (
        "import builtins, json, os\n[hasattr(builtins, 'stolen'), hasattr(json, 'stolen'), os.path.exists('/tmp/x')]"
    )
    assert await value(shared, source) == "[false,false,false]"
