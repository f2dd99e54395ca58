"""The whole in Firefox: a smoke test, since everything else is tested in Chromium."""

import asyncio
import json
import threading
from contextlib import contextmanager

import pytest

from codemode_jupyter.sandbox.python.assets import find_assets
from tests.e2e.firefox import FirefoxTab, find_firefox, running_firefox
from tests.e2e.notebooks import GATED, QUICK, SETUP, write_notebook
from tests.e2e.waiting import until
from tests.sandbox.escapes.attempt import program, worked
from tests.sandbox.escapes.listeners import listening
from tests.sandbox.escapes.ways import REQUESTS, WAYS

LOOP = "%%codemode\nwhile (true) {}"
PYTHON = "%%codemode -l python\nimport sys\nf'{sys.platform} {await world.read(number=8)}'"
FROM_A_PAGE = {name: REQUESTS[name] for name in ("fetch", "EventSource", "WebSocket", "sendBeacon")}


class Ears:
    """Listeners for the ways out, on a loop of their own: the test waits for the browser meanwhile."""

    def __init__(self, folder):
        self._folder = folder
        self._ready, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._listen()))

    async def _listen(self):
        async with listening(self._folder) as self.listeners:
            self._loop = asyncio.get_running_loop()
            self.targets = self.listeners.targets(WAYS)
            self._ready.set()
            await asyncio.to_thread(self._over.wait)

    @contextmanager
    def open(self):
        self._thread.start()
        assert self._ready.wait(20)
        try:
            yield self
        finally:
            self._over.set()
            self._thread.join()

    def worked(self, taken):
        """Return the ways that worked."""
        return asyncio.run_coroutine_threadsafe(worked(self.listeners, WAYS, taken), self._loop).result(20)


@pytest.fixture(scope="module")
def firefox():
    find_firefox()
    with running_firefox() as running:
        yield running


@pytest.fixture
def folder(server):
    place = server.root / "firefox"
    place.mkdir()
    yield place
    server.end_kernels()


def test_in_firefox_programs_run_wait_are_approved_and_stopped_and_do_not_get_out(firefox, server, folder, tmp_path):
    assert firefox.version.startswith("firefox/")
    with Ears(tmp_path).open() as ears:
        escape = f"%%codemode -o taken\n{program(ears.targets, WAYS)}"
        say = "import json; _ = Path('taken.json').write_text(json.dumps(taken))"
        write_notebook(folder / "notebook.ipynb", SETUP, QUICK, GATED, LOOP, "%codemode doctor", escape, say, PYTHON)
        tab = FirefoxTab(firefox, server, "firefox/notebook.ipynb")

        tab.run(0, 1)
        tab.shows(1, "Completed", "42")

        tab.run(2)
        tab.shows(2, "Waiting for you", "world.act")
        tab.press(2, "Approve")
        tab.shows(2, "Completed", "seven")
        assert (folder / "effects.txt").read_text().split("\n") == ["read 7", "act seven", ""]

        tab.begin(3)
        tab.shows(3, "Running")
        tab.interrupt()
        tab.ended(3)
        tab.shows(3, "Stopped")
        tab.run(1)
        tab.shows(1, "Completed", "42")

        tab.run(4)
        tab.shows(4, "Programs run in the page.", "1 open (visible)", "JupyterLab; ", "Firefox/", "allows the sandbox")

        if find_assets() is not None:  # they cannot be made without a registry
            for _ in range(2):
                tab.run(7)
                tab.shows(7, "Completed", "emscripten 8")

        tab.run(5, 6)
        tab.shows(5, "Completed")
        file = folder / "taken.json"
        until(file.exists, "what the ways took is written")
        assert ears.worked(json.loads(file.read_text())) == {}
        tab.evaluate(program(ears.targets, FROM_A_PAGE))
        assert set(ears.worked({})) == set(FROM_A_PAGE), "where nothing holds them, they do work"
