"""Fixtures: the server, the browser, and notebooks opened in it."""

import os
import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from tests.e2e.lab import LAB, Tab
from tests.e2e.notebooks import write_notebook
from tests.e2e.server import KERNELS, running_server
from tests.kernels import kernel6_python, write_kernel_spec

SCREENSHOTS = Path(__file__).resolve().parent.parent / "screenshots"
FLAGS = [
    "--no-sandbox",  # Chromium cannot make its own sandbox as root or in most containers
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
KERNEL6 = "codemode-kernel6"
VIEWPORT = {"width": 1280, "height": 1000}


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A Jupyter server for all tests of the session."""
    for old in SCREENSHOTS.glob("failed-*"):
        old.unlink(missing_ok=True)  # another process of the tests may be as quick
    folder = tmp_path_factory.mktemp("jupyter")
    if python := kernel6_python():
        write_kernel_spec(folder / KERNELS, python, name=KERNEL6)
    with running_server(folder) as running:
        yield running


# One per module, not per session: Playwright keeps an event loop on the thread, in the way of asynchronous tests.
@pytest.fixture(scope="module")
def browser():
    """A headless Chromium."""
    program = os.environ.get("CODEMODE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def context(browser):
    """A browser profile of its own."""
    profile = browser.new_context(viewport=VIEWPORT)
    yield profile
    profile.close()


class Desk:
    """Where one test works: a folder of its own on the server, and tabs on its notebooks."""

    def __init__(self, server, context, folder):
        self.server, self.context, self.folder = server, context, folder
        self.tabs = []

    @property
    def effects(self):
        """The lines that the tools of ``notebooks.SETUP`` left."""
        file = self.folder / "effects.txt"
        return file.read_text().splitlines() if file.exists() else []

    def write(self, *cells, name="notebook.ipynb", kernel="python3"):
        write_notebook(self.folder / name, *cells, kernel=kernel)

    def open(self, name="notebook.ipynb", face=LAB):
        path = (self.folder / name).relative_to(self.server.root).as_posix()
        self.tabs.append(Tab(self.context, self.server, path, face))
        return self.tabs[-1]


@pytest.fixture
def desk(server, context, request):
    """A folder and tabs for one test; its kernels end with it."""
    name = re.sub(r"\W+", "-", f"{request.module.__name__.split('.')[-1]}-{request.node.name}")[:110]
    place = Desk(server, context, server.root / name)
    place.folder.mkdir()
    yield place
    if request.node.stash.get(FAILED, False):
        for number, tab in enumerate(place.tabs):
            _keep_for_a_look(tab, f"failed-{name}-{number}")
    server.end_kernels()


FAILED = pytest.StashKey[bool]()


def _keep_for_a_look(tab, name):
    SCREENSHOTS.mkdir(exist_ok=True)
    if not tab.page.is_closed():
        tab.page.screenshot(path=SCREENSHOTS / f"{name}.png")
    (SCREENSHOTS / f"{name}.txt").write_text("\n".join(tab.console))


@pytest.fixture(scope="session")
def screenshots():
    """The folder for pictures that are looked at by people."""
    SCREENSHOTS.mkdir(exist_ok=True)
    return SCREENSHOTS
