"""A kernel of the real server, its cells, and lean pages on it: the real page module without a JupyterLab around it.

Owns: the kernel's session, running its cells as a front end does, opening and losing pages. Never does: anything
inside the kernel. A lean page loads in a tenth of JupyterLab's time, so that a test can lose many.
"""

import contextlib
import os
import queue
import signal
import time
from contextlib import contextmanager

from jupyter_client import BlockingKernelClient
from playwright.sync_api import Error

from tests.e2e.waiting import until
from tests.notebook.real_kernel import LONG, RealKernel


class LeanKernel:
    """A kernel whose working directory is ``folder``; ``cell`` runs cells, ``address`` is that of its pages."""

    def __init__(self, server, folder, kernel_id, client):
        self.server, self.folder, self.client = server, folder, client
        self.cell = RealKernel(None, client, folder)
        self.address = f"{server.url}/static/lean.html#kernel={kernel_id}&token={server.token}"

    def says(self, kind, count=1, *, timeout=LONG):
        """Wait until the kernel says ``kind`` to the pages, ``count`` times, from the last message that was read."""
        deadline = time.monotonic() + timeout
        while count > 0:
            content = self.client.get_iopub_msg(timeout=deadline - time.monotonic())["content"]
            count -= content.get("data", {}).get("content", {}).get("type") == kind

    def forget(self):
        """Skip the messages that are there already."""
        with contextlib.suppress(queue.Empty):
            while True:
                self.client.get_iopub_msg(timeout=0)


class LeanDesk:
    """Where one test works: the pages it opens in ``context``, and the effects of its programs."""

    def __init__(self, kernel, context):
        self.kernel, self.context = kernel, context
        for name in ("effects.txt", "open", "enough"):
            (kernel.folder / name).unlink(missing_ok=True)

    @property
    def effects(self):
        file = self.kernel.folder / "effects.txt"
        return file.read_text().splitlines() if file.exists() else []

    def touch(self, name):
        """Make the file that a tool waits for."""
        (self.kernel.folder / name).touch()

    def until_effects(self, count):
        until(lambda: len(self.effects) >= count, f"there are {count} effects")

    def open(self):
        """Open a page and wait until its code runs."""
        page = self.context.new_page()
        page.goto(self.kernel.address)
        page.locator("body[data-state=there]").wait_for(state="attached", timeout=30_000)
        return page

    @staticmethod
    def crash(page):
        """Have the process of the page crash."""
        with contextlib.suppress(Error):
            page.goto("chrome://crash")

    @contextmanager
    def asleep(self):
        """Stop every process of the browser until the block ends, as when a laptop is put to sleep."""
        session = self.context.browser.new_browser_cdp_session()
        processes = [process["id"] for process in session.send("SystemInfo.getProcessInfo")["processInfo"]]
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in processes:
                os.kill(process, signal.SIGCONT)


@contextmanager
def listening_to(server, kernel_id, folder):
    """A client of a kernel, which may be busy, until the block ends."""
    client = BlockingKernelClient(connection_file=str(server.folder / "runtime" / f"kernel-{kernel_id}.json"))
    client.load_connection_file()
    client.start_channels(hb=False)  # a kernel that starts on a busy machine misses beats
    try:
        yield LeanKernel(server, folder, kernel_id, client)
    finally:
        client.stop_channels()


@contextmanager
def lean_kernel(server, folder):
    """A kernel for lean pages, until the block ends."""
    folder.mkdir()
    path = (folder / "notebook.ipynb").relative_to(server.root).as_posix()
    body = {"path": path, "name": "", "type": "notebook", "kernel": {"name": "python3"}}
    kernel_id = server.request("POST", "/api/sessions", body)["kernel"]["id"]
    try:
        with listening_to(server, kernel_id, folder) as kernel:
            kernel.client.wait_for_ready(timeout=LONG)
            yield kernel
    finally:
        server.end_kernels()
