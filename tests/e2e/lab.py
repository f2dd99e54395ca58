"""The page objects: a notebook in JupyterLab or Notebook 7, its cells and their run cards, as a person meets them.

Owns: selectors and hand-like actions (mouse and keyboard). Never does: calls into the kernel, or waiting for a time.
"""

import re
import uuid
from urllib.parse import quote

import nbformat
from playwright.sync_api import expect

from tests.e2e.waiting import until

LAB, NOTEBOOK = "lab", "notebook"
DARK, LIGHT = "JupyterLab Dark", "JupyterLab Light"
SLOW = 30_000
"""Limit in milliseconds for what starts a kernel or loads a page."""


KERNEL_IS_IDLE = """() => {
  const session = window.jupyterapp?.shell.currentWidget?.sessionContext;
  const kernel = session?.isReady && session.session?.kernel;
  return kernel && kernel.connectionStatus === "connected" && kernel.status === "idle";
}"""


class Tab:
    """One browser tab with one notebook open. ``face`` is ``LAB`` or ``NOTEBOOK``."""

    def __init__(self, context, server, path, face=LAB):
        self.server, self.path, self.face = server, path, face
        self.page = context.new_page()
        self.console = []
        self.page.on("console", lambda message: self.console.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.console.append(f"pageerror: {error}"))
        # Leaving a page with unsaved changes asks; a person who reloads says yes.
        self.page.on("dialog", lambda dialog: dialog.accept())
        where = f"lab/workspaces/{uuid.uuid4().hex}/tree" if face == LAB else "notebooks"
        self.page.goto(f"{server.url}/{where}/{quote(path)}?token={server.token}")
        self._ready()

    def _ready(self):
        self.page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=SLOW)
        self.idle()

    def idle(self):
        """Wait until the kernel is connected and does nothing."""
        # The indicator in the toolbar says "idle" before there is a connection, and a cell run then is not run at all.
        self.page.wait_for_function(KERNEL_IS_IDLE, timeout=SLOW)

    def cell(self, index):
        return Cell(self, index)

    @property
    def cells(self):
        return [Cell(self, index) for index in range(self.page.locator(".jp-Notebook .jp-Cell").count())]

    @property
    def code_cells(self):
        return [cell for cell in self.cells if cell.is_code]

    def run(self, *indices):
        """Run cells one after the other, each when the one before has ended."""
        for index in indices:
            self.cell(index).run().finished()
        return self.cell(indices[-1])

    def menu(self, *names):
        """Click through the menu bar."""
        self.page.locator(".lm-MenuBar-itemLabel", has_text=re.compile(f"^{names[0]}$")).click()
        for name in names[1:]:
            item = self.page.locator(".lm-Menu-itemLabel", has_text=re.compile(f"^{re.escape(name)}$"))
            item.last.click()

    def run_all(self):
        self.menu("Run", "Run All Cells")

    def interrupt(self):
        """Press the toolbar's Stop button."""
        self.page.locator('[data-jp-item-name="interrupt"]').click()

    def restart_kernel(self):
        """Press the toolbar's Restart button and confirm."""
        self.page.locator('[data-jp-item-name="restart"]').click()
        with self.page.expect_response(lambda answer: answer.url.split("?")[0].endswith("/restart"), timeout=SLOW):
            self.page.locator(".jp-Dialog .jp-mod-accept").click()
        self.idle()

    def save(self):
        """Save by keyboard and wait until the file is written."""
        self.page.locator(".jp-Notebook .jp-Cell").first.locator(".jp-InputPrompt").click()
        with self.page.expect_response(
            lambda answer: answer.request.method == "PUT" and "/api/contents/" in answer.url
        ):
            self.page.keyboard.press("Control+s")
        return self.saved()

    def saved(self):
        """The notebook as it stands in the file."""
        return nbformat.read(self.server.root / self.path, as_version=4)

    def reload(self):
        self.page.reload()
        self._ready()

    def reload_while_busy(self):
        """Reload without waiting for the kernel, which runs a cell."""
        self.page.reload()
        self.page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=SLOW)

    def theme(self, name):
        self.page.evaluate("name => jupyterapp.commands.execute('apputils:change-theme', {theme: name})", name)
        light = "true" if name == LIGHT else "false"
        self.page.locator(f'body[data-jp-theme-light="{light}"][data-jp-theme-name="{name}"]').wait_for(
            state="attached", timeout=SLOW
        )

    def close(self):
        self.page.close(run_before_unload=False)


class Cell:
    """A cell of a tab's notebook by its position."""

    def __init__(self, tab, index):
        self.tab, self.page = tab, tab.page
        self.element = tab.page.locator(".jp-Notebook .jp-Cell").nth(index)

    @property
    def is_code(self):
        return "jp-CodeCell" in self.element.get_attribute("class")

    def select(self):
        self.element.locator(".jp-InputArea-editor .cm-content").first.click()
        return self

    def write(self, text):
        """Replace what the cell says."""
        self.select()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)
        return self

    def run(self):
        """Click into the cell and press Control+Enter; do not wait for its end."""
        self.select()
        before = self.prompt
        self.page.keyboard.press("Control+Enter")
        until(lambda: self.prompt != before, f"the cell with prompt {before} starts")
        return self

    @property
    def prompt(self):
        return self.element.locator(".jp-InputPrompt").inner_text().strip()

    @property
    def runs(self):
        return self.prompt == "[*]:"

    def finished(self, timeout=30.0):
        """Wait until the cell has a number."""
        until(
            lambda: re.fullmatch(r"\[\d+\]:", self.prompt),
            f"the cell ends (its prompt is {self.prompt})",
            timeout=timeout,
        )
        return self

    @property
    def output(self):
        return self.element.locator(".jp-Cell-outputWrapper")

    @property
    def text(self):
        return self.output.inner_text()

    def shows(self, *texts, timeout=15.0):
        """Wait until every text stands in the cell's output."""
        for text in texts:
            expect(self.output).to_contain_text(text, use_inner_text=True, timeout=timeout * 1000)
        return self

    def lacks(self, *texts, timeout=15.0):
        """Wait until none of the texts stands in the cell's output."""
        for text in texts:
            expect(self.output).not_to_contain_text(text, use_inner_text=True, timeout=timeout * 1000)
        return self

    def button(self, label):
        """The buttons (or openers) that read ``label``, with or without an ellipsis."""
        text = re.compile(rf"^{re.escape(label)}…?$")
        return self.output.locator("button:visible, summary:visible").filter(has_text=text)

    def press(self, label, number=0):
        """Click a button of the cell's card or controls."""
        self.button(label).nth(number).click()
        return self

    def field(self, label):
        return self.output.get_by_label(label).and_(self.output.locator("input, select, textarea")).first

    def picture(self, path):
        """Take a screenshot of what the cell shows."""
        self.output.scroll_into_view_if_needed()
        self.page.mouse.move(0, 0)  # nothing is shown as hovered
        self.output.screenshot(path=path, animations="disabled")
        return path
