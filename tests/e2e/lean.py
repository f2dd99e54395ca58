"""A kernel of the real server, its cells, and lean pages on it: the real page module without a JupyterLab around it.

Owns: the kernel's session, running its cells as a front end does, opening and losing pages. Never does: anything
inside the kernel. A lean page loads in a tenth of JupyterLab's time, so that a test can lose many.
"""

from contextlib import contextmanager

from jupyter_client import BlockingKernelClient

from tests.e2e.waiting import until
from tests.notebook.real_kernel import LONG, RealKernel


class LeanDesk:
    """A kernel whose working directory is ``folder``, and the pages that are open on it."""

    def __init__(self, server, context, folder, kernel_id, kernel):
        self.server, self.context, self.folder, self.kernel = server, context, folder, kernel
        self._address = f"{server.url}/static/lean.html#kernel={kernel_id}&token={server.token}"

    @property
    def effects(self):
        file = self.folder / "effects.txt"
        return file.read_text().splitlines() if file.exists() else []

    def open(self):
        """Open a page and wait until its code runs."""
        page = self.context.new_page()
        page.goto(self._address)
        self.there(page)
        return page

    @staticmethod
    def there(page):
        """Wait until the page's code runs."""
        page.locator("body[data-state=there]").wait_for(state="attached", timeout=30_000)

    def until_effects(self, count):
        until(lambda: len(self.effects) >= count, f"there are {count} effects")


@contextmanager
def lean_desk(server, context, folder):
    """A kernel for lean pages, until the block ends."""
    folder.mkdir()
    path = (folder / "notebook.ipynb").relative_to(server.root).as_posix()
    body = {"path": path, "name": "", "type": "notebook", "kernel": {"name": "python3"}}
    kernel_id = server.request("POST", "/api/sessions", body)["kernel"]["id"]
    client = BlockingKernelClient(connection_file=str(server.folder / "runtime" / f"kernel-{kernel_id}.json"))
    client.load_connection_file()
    client.start_channels(hb=False)  # a kernel that starts on a busy machine misses beats
    try:
        client.wait_for_ready(timeout=LONG)
        yield LeanDesk(server, context, folder, kernel_id, RealKernel(None, client, folder))
    finally:
        client.stop_channels()
        server.end_kernels()
