"""A notebook in Firefox, as a person meets it. Chromium is driven by Playwright; a Firefox of the distribution by
puppeteer-core in a process of node, which takes one command a line.

Owns: that process, selectors, hand-like actions. Never does: calls into the kernel.
"""

import json
import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.lab import KERNEL_IS_IDLE
from tests.e2e.waiting import until

ROOT = Path(__file__).resolve().parents[2]
_CELL = "document.querySelectorAll('.jp-Notebook .jp-Cell')[index]"


def find_firefox():
    """Return the path of a Firefox, or skip the test."""
    path = os.environ.get("CODEMODE_FIREFOX") or shutil.which("firefox-esr") or shutil.which("firefox")
    if path is None:
        pytest.skip(
            "there is no Firefox: install firefox-esr (`make test` does where apt may), or set CODEMODE_FIREFOX"
        )
    if not (ROOT / "node_modules" / "puppeteer-core").exists():
        pytest.skip("there is no puppeteer-core: say npm ci (`make test` does)")
    return path


class Firefox:
    """A headless Firefox with one tab."""

    def __init__(self, process):
        self._process = process
        self.version = self._answer()

    def do(self, command, value, *args):
        """Send a command and return what it came to."""
        self._process.stdin.write(json.dumps({"command": command, "value": value, "args": args}) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self):
        line = self._process.stdout.readline()
        assert line, "Firefox or node ended; see what they said above"
        answer = json.loads(line)
        assert "error" not in answer, answer["error"]
        return answer["value"]


@contextmanager
def running_firefox():
    """A Firefox until the block ends."""
    command = ["node", str(Path(__file__).with_suffix(".mjs")), find_firefox()]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield Firefox(process)
    finally:
        process.stdin.close()
        process.wait(timeout=30)


class FirefoxTab:
    """A notebook of JupyterLab in a Firefox; cells are named by their position."""

    def __init__(self, firefox, server, path):
        self.firefox = firefox
        firefox.do("goto", f"{server.url}/lab/workspaces/firefox/tree/{path}?token={server.token}")
        self.ready()

    def ready(self):
        """Wait until the notebook is there and its kernel idle."""
        until(lambda: self.evaluate(KERNEL_IS_IDLE), "the notebook is there", timeout=60)

    def evaluate(self, function, *args):
        return self.firefox.do("evaluate", function, *args)

    def reload(self):
        self.evaluate("() => void setTimeout(() => location.reload())")

    def begin(self, index):
        """Run a cell by keyboard; do not wait for its end."""
        before = self.prompt(index)
        self.firefox.do("click", f"(index) => {_CELL}.querySelector('.jp-InputArea-editor .cm-content')", index)
        self.firefox.do("press", "Control+Enter")
        until(lambda: self.prompt(index) != before, f"cell {index} starts")

    def run(self, *indices):
        """Run cells one after the other, each when the one before has ended."""
        for index in indices:
            self.begin(index)
            self.ended(index)

    def ended(self, index):
        until(lambda: "*" not in self.prompt(index), f"cell {index} ends")

    def prompt(self, index):
        return self.evaluate(f"(index) => {_CELL}?.querySelector('.jp-InputPrompt').innerText ?? ''", index)

    def text(self, index):
        return self.evaluate(f"(index) => {_CELL}?.querySelector('.jp-Cell-outputWrapper').innerText ?? ''", index)

    def shows(self, index, *texts):
        """Wait until every text stands in the cell's output."""
        for text in texts:
            until(lambda text=text: text in self.text(index), f"cell {index} shows {text!r}")

    def press(self, index, label):
        """Click a button of the cell's card."""
        self.firefox.do(
            "click",
            f"(index, label) => [...{_CELL}.querySelectorAll('button')].find((button) => button.innerText === label)",
            index,
            label,
        )

    def interrupt(self):
        """Press the toolbar's Stop button."""
        self.firefox.do("click", "() => document.querySelector('[data-jp-item-name=interrupt]')")
