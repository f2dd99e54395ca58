"""What Python costs in a page of a real Chromium: its start with and without the snapshot, runs, calls, replays.

Prints a table; asserts only what a loaded machine keeps.
"""

import gzip
import hashlib
import sys
import time
from dataclasses import replace

import pytest

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox import page_python
from codemode_jupyter.sandbox.browser import BrowserExecutor
from codemode_jupyter.sandbox.deno_binary import find_deno
from codemode_jupyter.sandbox.python.making import ensure_assets
from codemode_jupyter.sandbox.worker_source import worker_source
from tests.bench.table import Table
from tests.sandbox.kernel import Kernel
from tests.sandbox.real_page import chromium, open_pages

pytestmark = pytest.mark.alone

PLAIN, STORED, WARM = "ready: no snapshot, in a reloaded page", "ready: reloaded page", "ready: the next Worker"
KILLED = "ready: after a program was killed"
FIRST, SECOND, SCRIPT = "first run ever", "a run that finds a Worker", "the same in JavaScript"
CALLS, SCRIPT_CALLS = "a call, of 1,000 one by one", "the same call in JavaScript"
REPLAY, SCRIPT_REPLAY = "replay of 1,000 calls", "the same replay in JavaScript"

ROWS = [
    (PLAIN, None, "was 3,900"),
    (STORED, PLAIN, "-"),
    (WARM, PLAIN, "600"),
    (KILLED, PLAIN, "-"),
    (FIRST, None, "-"),
    (SECOND, SCRIPT, "20 more"),
    (SCRIPT, None, "-"),
    (CALLS, SCRIPT_CALLS, "-"),
    (SCRIPT_CALLS, None, "-"),
    (REPLAY, SCRIPT_REPLAY, "-"),
    (SCRIPT_REPLAY, None, "-"),
]
ROUNDS = 2
TOOLS = {"it.echo": lambda arguments: arguments}
MANY = {
    "python": ("for i in range(1000):\n    await it.echo(i=i)\nawait it.gated()", CALLS, REPLAY),
    "javascript": (
        "async () => { for (let i = 0; i < 1000; i++) await it.echo({ i }); return it.gated() }",
        SCRIPT_CALLS,
        SCRIPT_REPLAY,
    ),
}


async def ready(executor, table, name):
    """Note how long it takes until a Worker waits for a program."""
    await executor.ready()
    await executor._python.find(lambda _: None)
    with table.time(name):
        async with executor._python.turn(executor.page, lambda _: None) as is_there:
            assert is_there


async def run(executor, source, language="python", limit=60):
    kernel = Kernel(source, TOOLS, language=language, timeout=limit)
    return kernel, await kernel.run(executor)


async def many(executor, table, language):
    """Note what a live call costs, and the replay of all of them."""
    source, calls, replay = MANY[language]
    with table.time(calls, each=1000):
        kernel, end = await run(executor, source, language)
    assert end.kind == "paused", end
    kernel.approve()
    await until_warm(executor)
    with table.time(replay):
        end = await kernel.run(executor)
    assert (end.kind, kernel.batches) == ("completed", 0), end


async def until_warm(executor):
    await executor._channel.until(lambda: executor.page.python.is_warm)


async def without_snapshot(pages, table, monkeypatch):
    """Load Pyodide as it comes; no program could run in it, since the sandbox's own package is in the snapshot."""
    nothing = gzip.compress(b"-")
    parts, packed = page_python.python_worker_parts(), page_python.packed_files
    digest = hashlib.sha256(nothing).hexdigest()

    def without(assets):
        return tuple(
            replace(file, data=nothing, size=len(nothing), sha256=digest) if file.name == "snapshot.bin" else file
            for file in packed(assets)
        )

    assert parts[1].count("snapshot === null") == 1
    with monkeypatch.context() as changes:
        changes.setattr(page_python, "packed_files", without)
        changed = (parts[0], parts[1].replace("snapshot === null", "snapshot.length < 9"))
        changes.setattr(page_python, "python_worker_parts", lambda: changed)
        executor = BrowserExecutor(pages)
        await ready(executor, table, PLAIN)
        await executor.close()


async def test_python_in_the_page(capsys, monkeypatch):
    try:
        ensure_assets(find_deno() or "deno")
    except CodemodeError as error:
        pytest.skip(str(error))
    table = Table()
    async with chromium() as browser, open_pages(browser, worker_source()) as pages:
        executor = BrowserExecutor(pages)
        await executor.ready()
        with table.time(FIRST):
            assert (await run(executor, "1 + 1"))[1].value == "2"
        for _ in range(ROUNDS):
            await pages.load(pages.tabs[0])
            await without_snapshot(pages, table, monkeypatch)
            await pages.load(pages.tabs[0])
            await ready(executor, table, STORED)
            started = time.perf_counter()
            assert (await run(executor, "1 + 1"))[1].value == "2"
            await until_warm(executor)
            table.add(WARM, (time.perf_counter() - started) * 1000)
            await many(executor, table, "python")
            await many(executor, table, "javascript")
            for _ in range(3):
                await until_warm(executor)
                with table.time(SECOND):
                    assert (await run(executor, "1 + 1"))[1].value == "2"
                await until_warm(executor)
                with table.time(SCRIPT):
                    assert (await run(executor, "() => 1 + 1", "javascript"))[1].value == "2"
            assert (await run(executor, "while True: pass", limit=0.1))[1].kind == "timeout"
            await ready(executor, table, KILLED)
        await executor.close()
    with capsys.disabled():
        sys.stdout.write("\n" + "\n".join(table.lines("Python in the page", ROWS)) + "\n")
    least = {name: min(times) for name, times in table.wall.items()}
    assert least[STORED] < least[PLAIN]
    assert least[WARM] < least[PLAIN]
    assert least[SECOND] < least[SCRIPT] + 60
