"""Thousands of executions in one page and in one Deno process: memory stays where it is.

`CODEMODE_SOAK` sets how many; a Worker costs some 30 ms of processor time, so the suite runs fewer than a real soak.
"""

import asyncio
import gc
import os
import time

import psutil
import pytest

from codemode_jupyter import FunctionConnector, Runtime
from codemode_jupyter.sandbox.browser import BrowserExecutor
from codemode_jupyter.sandbox.worker_source import worker_source
from tests.sandbox.conftest import make_deno, require_python
from tests.sandbox.real_page import chromium, open_pages

pytestmark = pytest.mark.alone

COUNT = int(os.environ.get("CODEMODE_SOAK", "100"))
"""Executions in each sandbox, of which the first third warms up; 2,000 for a real soak."""

PYTHON_COUNT = COUNT // 10
"""Executions in Python, each in an interpreter of its own: ten times as much work."""

PROGRAMS = {
    "javascript": "const n = await it.echo({{ n: {n} }}); console.log(n); return n",
    "python": "n = await it.echo(n={n})\nprint(n)\nreturn n",
}

KEPT = 20
"""Finished executions that the store keeps: what is kept on purpose must not look like a leak."""

ALLOWED = 0.02
"""Megabytes that may be left of an execution. A Worker alone takes 5 to 10: one that stays would be seen at once."""

SLACK = 40
"""Megabytes by which two looks at the same processes may differ; engines tidy up when they please."""

PYTHON_SLACK = 200
"""The same where each Worker holds an interpreter of 60 MB and more: a few of them may still be going."""


async def echo(n: int) -> int:
    """The same number."""
    return n


def megabytes(processes):
    """The resident memory of processes, those that have ended left out."""
    total = 0
    for process in processes:
        try:
            total += process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total / 2**20


async def settled(processes):
    """The least memory of a few looks: what is not garbage."""
    looks = []
    for _ in range(6):
        gc.collect()
        looks.append(megabytes(processes()))
        await asyncio.sleep(0.2)
    return min(looks)


async def soak(executor, path, children, *, language="javascript", count=COUNT):
    """Run programs; return what the sandbox and the kernel gained since the first third of them, in megabytes."""
    runtime = Runtime([FunctionConnector("it", [echo])], executor=executor, path=path, max_executions=KEPT)
    kernel = psutil.Process()
    numbers = iter(range(count))

    async def work(until):
        for n in numbers:
            outcome = await runtime.execute(PROGRAMS[language].format(n=n), language=language)
            assert outcome.result == n
            if n >= until:
                return

    async def batch(until):
        await asyncio.gather(*(work(until) for _ in range(4)))

    began = time.monotonic()
    await batch(count // 3)
    first = (await settled(children), await settled(lambda: [kernel]))
    await batch(count)
    last = (await settled(children), await settled(lambda: [kernel]))
    seconds = time.monotonic() - began
    await runtime.close()
    print(  # noqa: T201  figures
        f"\n{executor.name}: {count} executions of {language} in {seconds:.1f} s; "
        f"sandbox {first[0]:.0f} -> {last[0]:.0f} MB, kernel {first[1]:.0f} -> {last[1]:.0f} MB"
    )
    return last[0] - first[0], last[1] - first[1]


def check(gains, slack=SLACK):
    for gain in gains:
        assert gain < slack + ALLOWED * COUNT


async def test_memory_stays_flat_in_one_page(tmp_path):
    async with chromium() as browser, open_pages(browser, worker_source()) as pages:
        executor = BrowserExecutor(pages)
        await executor.ready()
        [tab] = pages.tabs
        check(await soak(executor, tmp_path / "s.sqlite3", lambda: psutil.Process().children(recursive=True)))
        assert await tab.locator("iframe").count() == 1
        assert len({message["from"] for message in pages.heard}) == 1
        await executor.close()


async def test_memory_stays_flat_in_one_deno_process(tmp_path):
    executor = make_deno()
    await Runtime(executor=executor, path=tmp_path / "first.sqlite3").execute("1")
    [process] = executor._processes
    check(await soak(executor, tmp_path / "s.sqlite3", lambda: [psutil.Process(process.pid)]))
    assert executor._processes == [process]
    await executor.close()


async def test_memory_stays_flat_in_one_page_with_python(tmp_path):
    require_python()
    async with chromium() as browser, open_pages(browser, worker_source()) as pages:
        executor = BrowserExecutor(pages)
        await executor.ready()
        children = lambda: psutil.Process().children(recursive=True)  # noqa: E731
        check(
            await soak(executor, tmp_path / "s.sqlite3", children, language="python", count=PYTHON_COUNT), PYTHON_SLACK
        )
        await executor.close()


async def test_memory_stays_flat_in_one_deno_process_with_python(tmp_path):
    require_python()
    executor = make_deno()
    await Runtime(executor=executor, path=tmp_path / "first.sqlite3").execute("1", language="python")
    [process] = executor._processes
    children = lambda: [psutil.Process(process.pid)]  # noqa: E731
    check(await soak(executor, tmp_path / "s.sqlite3", children, language="python", count=PYTHON_COUNT), PYTHON_SLACK)
    assert executor._processes == [process]
    await executor.close()
