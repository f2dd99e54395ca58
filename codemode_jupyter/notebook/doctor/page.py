"""The doctor's look at the pages: which are open, how far away they are, and whether a program runs there.

Owns: its own short conversation with the pages, under an id of its own, so that the runs of others are not disturbed.
Never does: elect a page; the executor has.
"""

from __future__ import annotations

import asyncio
import secrets
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from codemode_jupyter.notebook.doctor.report import Finding
from codemode_jupyter.notebook.doctor.threads import in_thread
from codemode_jupyter.notebook.doctor.trial import first_and_next
from codemode_jupyter.notebook.environment import LONG_WAIT, NotebookEnvironment
from codemode_jupyter.sandbox.page_channel import Content, PageChannel
from codemode_jupyter.sandbox.python.assets import assets_folder, is_complete, shipped_assets

if TYPE_CHECKING:
    from codemode_jupyter.sandbox.browser import BrowserExecutor
    from codemode_jupyter.sandbox.election import Page

_ROLL_CALL = 0.4
"""Seconds in which every open page says that it is there."""

_MOST_PATIENCE = 6.0
_ROUND_TRIPS = 5
_MEGABYTE = 1_000_000
_SLOW = 0.2
"""Seconds of a round trip from which on a person notices."""

_OPEN = "Open this notebook in JupyterLab or Notebook 7, or reload its page if it is open."


class PageChecks:
    """The checks of the page, in the order of the methods."""

    def __init__(self, environment: NotebookEnvironment) -> None:
        self._environment = environment
        self._executor: BrowserExecutor | None = None
        self._channel: PageChannel | None = None

    async def check_front_end(self) -> Finding:
        """Wait for a page, and tell what shows it."""
        executor = self._executor = self._environment.page_executor()
        if executor is None:
            return Finding("absent", "none is expected: nobody sits at this kernel or script")
        from codemode_jupyter.notebook.page import page_channel  # noqa: PLC0415  imports widgets

        self._channel = page_channel()
        patience = self._environment.patience()
        await executor.ready(min(patience, _MOST_PATIENCE))
        page = executor.page
        if page is None:
            mend = _OPEN if patience == LONG_WAIT else ""
            return Finding("absent", "no page of this notebook answered", mend=mend)
        return Finding("ok", f"{front_end(page.path, page.agent)}; {page.agent}")

    async def check_page(self) -> Finding:
        """Count the pages that are open; one is elected to run programs."""
        if self._channel is None or self._executor is None or self._executor.page is None:
            return Finding("absent", "no page")
        there = await _roll_call(self._channel)
        page = self._executor.page
        if page is None:
            return Finding("absent", "the page has just gone", mend=_OPEN)
        where = f"{len(there)} open, one of them elected" if len(there) > 1 else "1 open"
        return Finding("ok", f"{where} ({'visible' if page.is_visible else 'in the background'})")

    async def check_round_trip(self) -> Finding:
        """Measure how long a word to the elected page and back takes."""
        if self._channel is None or self._executor is None or self._executor.page is None:
            return Finding("absent", "no page")
        seconds = await _round_trip(self._channel, self._executor.page.id)
        found = f"{1000 * seconds:.1f} ms to the page and back (median of {_ROUND_TRIPS})"
        mend = "The network or the server is slow; runs with many calls one after the other will be, too."
        return Finding("ok", found, mend=mend if seconds > _SLOW else "")

    async def check_policy(self) -> Finding:
        """Have the page make its sandbox, and tell whether its Content-Security-Policy allows one."""
        executor = self._executor
        if executor is None or executor.page is None:
            return Finding("absent", "no page")
        if await executor.ready(_MOST_PATIENCE):
            return Finding("ok", f"{_way(executor.page)}")
        if executor.page is None or executor.page.fault is None:
            return Finding("wrong", _LATE, mend=f"{_OPEN} If it stays so, report this table.")
        return Finding("wrong", executor.page.fault, mend=_ALLOW)

    async def check_sandbox(self) -> Finding:
        """Run a program in the page's sandbox."""
        executor = self._executor
        if executor is None or executor.page is None or not executor.page.is_prepared:
            return Finding("absent", "no page that has a sandbox")
        return Finding("ok", await first_and_next(executor))

    async def check_python(self) -> Finding:
        """Run a program in Python in the page's sandbox, and tell how Python came there.

        Files that are not there yet are not made for that: it takes long.
        """
        executor = self._executor
        if executor is None or executor.page is None or not executor.page.is_prepared:
            return Finding("absent", "no page that has a sandbox")
        if not await in_thread(_has_python):
            return Finding("absent", "nothing to load yet; see below")
        python = executor.page.python
        times = await first_and_next(executor, in_python=True)
        sizes = " and ".join(f"{size / _MEGABYTE:.0f} MB from {way}" for way, size in python.ways.items())
        return Finding("ok", f"{times}; it came as {sizes} in {python.seconds:.1f} s")


def _has_python() -> bool:
    return shipped_assets() is not None or is_complete(assets_folder())


_LATE = "the page did not make a sandbox in time"
_ALLOW = (
    "Install this version of codemode-jupyter where the Jupyter server runs as well, so that it serves the sandbox "
    "as a file; with it a Content-Security-Policy has to allow script-src 'self' 'unsafe-eval', worker-src blob: and "
    "frame-src 'self'. Ask whoever runs the server, or run programs without the page: "
    "pip install 'codemode-jupyter[headless]'."
)


def _way(page: Page | None) -> str:
    if page is not None and page.is_served:
        return "forbids the sandbox in the page: it is loaded from the server as a file"
    return "allows the sandbox in the page"


def front_end(path: str, agent: str) -> str:
    """Return the name of the front end that serves a page at ``path``, as far as that can be told."""
    parts = path.split("/")
    if "Code/" in agent:
        return "VS Code"
    if "lab" in parts or "doc" in parts:
        return "JupyterLab"
    return "Notebook 7" if "notebooks" in parts else "an unknown front end"


async def _roll_call(channel: PageChannel) -> set[str]:
    """Return the ids of the pages that are open now."""
    there: set[str] = set()
    with _listening(channel) as heard:
        _say(channel, "*", "who")
        deadline = time.monotonic() + _ROLL_CALL
        while (left := deadline - time.monotonic()) > 0:
            try:
                content = await asyncio.wait_for(heard.get(), left)
            except TimeoutError:
                break
            if content.get("type") == "hello":
                there.add(str(content.get("from")))
    return there


async def _round_trip(channel: PageChannel, page_id: str) -> float:
    """Return the median time in seconds that a page takes to answer."""
    times = []
    with _listening(channel) as heard:
        for _ in range(_ROUND_TRIPS):
            began = time.perf_counter()
            _say(channel, page_id, "ping", runs=[])
            while (content := await heard.get()) and (content.get("from"), content.get("type")) != (page_id, "pong"):
                pass
            times.append(time.perf_counter() - began)
    return statistics.median(times)


@contextmanager
def _listening(channel: PageChannel) -> Iterator[asyncio.Queue[Content]]:
    heard: asyncio.Queue[Content] = asyncio.Queue()

    def hear(content: Content, _buffers: Sequence[bytes]) -> None:
        heard.put_nowait(content)

    stop = channel.on_message(hear)
    try:
        yield heard
    finally:
        stop()


_OWNER = secrets.token_hex(8)


def _say(channel: PageChannel, to: str, kind: str, **fields: object) -> None:
    channel.send({"to": to, "owner": _OWNER, "type": kind, **fields})
