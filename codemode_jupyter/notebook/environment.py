"""The environment of runtimes made in a notebook: the database beside it, the sandbox in its page.

Owns: deciding which executor a pass gets, and how long to wait for a page. Never does: talking to the page.

Nobody can ask whether a page is open; it has to answer. Without a kernel there is none. A client that neither takes
input nor names the session (nbclient) has none either, most likely. Anything else may have one that is still loading.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.notebook.inbox import Inbox
from codemode_jupyter.notebook.location import database_path
from codemode_jupyter.sandbox.deno import DenoExecutor, find_deno
from codemode_jupyter.sandbox.protocol import Executor

if TYPE_CHECKING:  # imported when they are needed: loading the extension must stay quick
    from codemode_jupyter.runtime.detached_exit import ExitHook
    from codemode_jupyter.sandbox.browser import BrowserExecutor

SHORT_WAIT = 1.0
"""Seconds to wait for a page where none is expected, or where none came when it was waited for."""

LONG_WAIT = 15.0
"""Seconds to wait for a page that may be loading."""

_WITHOUT_PAGE = "run `pip install 'codemode-jupyter[headless]'` to do without a page"


class NotebookEnvironment:
    """What the notebook of ``shell`` offers to the runtimes made in it. Made when the extension is loaded."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._browser: BrowserExecutor | None = None
        self._headless: WeakKeyDictionary[asyncio.AbstractEventLoop, DenoExecutor] = WeakKeyDictionary()
        self._waited_in_vain = False
        self._closing: set[asyncio.Task[None]] = set()
        self.inbox = Inbox()

    def database_path(self) -> Path:
        """Return the file beside the notebook; see ``location.database_path``."""
        return database_path(self._shell.user_ns)

    def exit_hook(self) -> ExitHook:
        """Return the inbox, which keeps how a detached run ended until somebody has seen it."""
        return self.inbox.arrive

    def prepare(self) -> None:
        """Make the page ready for a first run, where one is expected; must be called on the kernel's event loop."""
        if self._may_have_page():
            self._browser_executor()

    async def executor(self) -> Executor:
        """Return the browser's executor when a page answers, else the headless one.

        Every call asks the page again, since one may have been opened; only a page that may still be loading is waited
        for long, and that once.

        Raises
        ------
        CodemodeError
            ``no_page`` or ``no_sandbox``: no page answered, or the page cannot make a sandbox, and the headless sandbox
            is not installed; names the fix.
        """
        browser = None
        has_headless = find_deno() is not None
        if self._has_kernel() and (self._may_have_page() or not has_headless):
            browser = self._browser_executor()
            self._waited_in_vain = not await browser.ready(self.patience())
            if not self._waited_in_vain:
                return browser
        if has_headless:
            return self._headless_executor()
        if browser is not None and browser.page is not None and browser.page.fault is not None:
            raise CodemodeError(
                "no_sandbox",
                f"The page cannot run programs. {browser.page.fault}",
                hint=f"Ask whoever runs this hub to allow it, or {_WITHOUT_PAGE}.",
            )
        what = "There is no notebook page here" if browser is None else "No page of this notebook answered"
        raise CodemodeError(
            "no_page",
            f"{what}, so the program was not run.",
            hint=f"Open the notebook in JupyterLab or Notebook 7 (reload the page if it is open), or {_WITHOUT_PAGE}.",
        )

    def page_executor(self) -> BrowserExecutor | None:
        """Return the executor of the page, whether or not one answers; ``None`` where no page is expected.

        Must be called on the kernel's event loop.
        """
        return self._browser_executor() if self._may_have_page() else None

    def patience(self) -> float:
        """Return how many seconds it makes sense to wait for a page."""
        return SHORT_WAIT if self._waited_in_vain or not self._may_have_page() else LONG_WAIT

    def close(self) -> None:
        """Give up both executors; passes that run in them end as lost."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return  # no loop runs: the shell is ending, and takes its sandboxes with it
        browser, headless = self._browser, self._headless.pop(loop, None)
        self._browser = None
        if browser is not None:
            from codemode_jupyter.notebook.page import close_page_channel  # noqa: PLC0415  imports widgets

            close_page_channel()  # at once: whoever loads the extension again makes a new one

        async def close_all() -> None:
            for executor in (browser, headless):
                if executor is not None:
                    await executor.close()

        task = loop.create_task(close_all())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def _has_kernel(self) -> bool:
        return getattr(self._shell, "kernel", None) is not None

    def _may_have_page(self) -> bool:
        """Tell whether a page is likely, by the request that is being handled and what the server told the kernel."""
        if not self._has_kernel():
            return False
        if self._browser is not None and self._browser.page is not None:
            return True
        request = self._shell.kernel.get_parent("shell").get("content", {})
        return bool(request.get("allow_stdin", True) or os.environ.get("JPY_SESSION_NAME"))

    def _browser_executor(self) -> BrowserExecutor:
        if self._browser is None:
            from codemode_jupyter.notebook.page import page_channel  # noqa: PLC0415  imports widgets
            from codemode_jupyter.sandbox.browser import BrowserExecutor  # noqa: PLC0415  not needed without a page

            self._browser = BrowserExecutor(page_channel(), page_timeout=SHORT_WAIT)
        return self._browser

    def _headless_executor(self) -> DenoExecutor:
        loop = asyncio.get_running_loop()
        if loop not in self._headless:
            self._headless[loop] = DenoExecutor()
        return self._headless[loop]
