"""The page channel in a real JupyterLab: the widget that nobody displays, a round trip, a program, a reload."""

import re

from tests.e2e.waiting import until

SANDBOX = "body > iframe[sandbox='allow-scripts'][aria-hidden]"

OPEN = """
import asyncio, statistics, time
from codemode_jupyter.notebook.page import page_channel
from codemode_jupyter.sandbox.browser import BrowserExecutor
from codemode_jupyter.sandbox.protocol import Namespace, PassRequest, Reply


class Echo:
    def started(self, link):
        self.link = link

    def calls(self, batch):
        self.link.reply([Reply(call.seq, "applied", value=call.arguments) for call in batch.calls])

    def step_result(self, result):
        pass

    def console(self, lines):
        pass


def request(source):
    return PassRequest("execution", source, 0, (Namespace("world", ("echo",)),), 0.0, "0" * 32, 20.0)


executor = BrowserExecutor(page_channel())
"""

RUN = """
end = await executor.run_pass(request("async () => (await world.echo({number: 6})).number * 7"), Echo())
print(end.kind, end.value, executor.page.path)
"""

MEASURE = """
answered = asyncio.Event()


def hear(content, buffers):
    if content["type"] == "pong":
        answered.set()


stop = executor._channel.on_message(hear)
bare, warm = [], []
for _ in range(15):
    await asyncio.sleep(0.15)
    answered.clear()
    start = time.perf_counter()
    executor.send(executor.page.id, "ping", runs=[])
    await answered.wait()
    bare.append(1000 * (time.perf_counter() - start))
    await asyncio.sleep(0.15)
    start = time.perf_counter()
    await executor.run_pass(request("async () => 1"), Echo())
    warm.append(1000 * (time.perf_counter() - start))
stop()
print(f"bare {statistics.median(bare):.1f} ms, warm {statistics.median(warm):.1f} ms")
"""

LOST = """
from pathlib import Path
print("running")
end = await executor.run_pass(request("async () => new Promise(() => {})"), Echo())
again = await executor.run_pass(request("async () => 'after the reload'"), Echo())
_ = Path("lost.txt").write_text(f"{end.kind} {again.value}")  # the reloaded page shows no more of this cell
"""


def test_a_widget_that_is_never_displayed_runs_programs_in_the_page(desk):
    desk.write(OPEN, RUN, MEASURE, LOST)
    tab = desk.open()
    tab.run(0, 1)
    tab.cell(1).shows("completed 42 /lab/")
    assert tab.page.locator(SANDBOX).count() == 1
    measured = tab.run(2).text
    assert re.search(r"bare [\d.]+ ms, warm [\d.]+ ms", measured), measured

    tab.cell(3).run().shows("running")
    tab.page.reload()
    file = desk.folder / "lost.txt"
    until(lambda: file.exists() and file.read_text(), "the pass is lost and another one runs in the reloaded page")
    assert file.read_text() == 'lost "after the reload"'

    tab.idle()
    tab.restart_kernel()
    tab.run(0, 1)
    tab.cell(1).shows("completed 42 /lab/")
    assert tab.page.locator(SANDBOX).count() == 1  # the old kernel's is gone
