"""The executor that runs passes in the page of the notebook.

Owns: the conversation with the pages (hello, election, heartbeat) and the passes that run in the elected one. Never
does: trust a page's text; ``PassSession`` checks every word of a Worker. Keeps nothing of a pass that ended.

A page says hello when it opens, or when it is asked ``who``. The elected page is told to ``prepare`` its sandbox; from
then on a pass needs no further greeting. While passes run the page is pinged; when it leaves, falls silent, or turns
out to be gone as another page says hello, its passes end as ``lost`` at once, and the runtime may run them again, by
replay, on the page that is there then.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.election import Election, Page
from codemode_jupyter.sandbox.frame import inline_frame
from codemode_jupyter.sandbox.page_channel import Content, PageChannel
from codemode_jupyter.sandbox.page_python import PythonForPages
from codemode_jupyter.sandbox.page_run import LEFT_WHILE_LOADING, Cause, PageRun
from codemode_jupyter.sandbox.policy import frame_policy
from codemode_jupyter.sandbox.pool import MAX_PASSES, Pool
from codemode_jupyter.sandbox.protocol import PassEnd, PassHandler, PassRequest

PAGE_TIMEOUT = 15.0
"""Seconds to wait for a page: one that is loading takes up to that."""

_UNANSWERED = 5
"""Pings without a word after which a page counts as gone. Not seconds: a blocked kernel must not blame the page."""

_STALE = 10.0
"""Seconds without a word after which an idle page is asked whether it is there, before a program is sent to it."""

_OVER_DELAY = 0.1
"""Seconds after the end of a pass at which the page is told to free its Worker, unless the next start tells it before.

Not at once: the end is recorded meanwhile, and a small message holds back the next one until the page has answered
(Nagle's algorithm in the server's sockets).
"""

_PROBE_INTERVAL = 0.4
_PROBE_PINGS = 3
"""So many intervals in seconds a page that is asked has to speak up, such as when another one says hello."""

_OPEN = "Open the notebook in JupyterLab or Notebook 7 (reload the page if it is open)"
_HEADLESS = "the headless sandbox: `pip install 'codemode-jupyter[headless]'`"


class BrowserExecutor:
    """Runs each pass in a Worker of the elected page's sandbox; several at a time, the others wait for their turn.

    Must be made and used on the event loop on which ``channel`` calls back.

    Parameters
    ----------
    channel : PageChannel
        The way to the pages. Two executors on one channel do not disturb each other.
    page_timeout : float, default 15
        Seconds that a pass waits for a page when none is there.
    heartbeat : float, default 1
        Seconds between two pings of the page while passes run.
    max_passes : int, default 8
        How many passes run at once; a pass that waits for its turn has no running time.
    timeout : float or None, default None
        Longest running time in seconds of any pass, whatever its runtime allows; ``None``: no limit but the runtime's.
    csp : str or None, default None
        Directives that narrow or extend the Content-Security-Policy of the sandbox's frame, which is ``default-src
        'none'`` but for the sandbox's own script and Worker; see ``policy.frame_policy`` for what is refused. A program
        finds no more globals for it. Works only where the page itself allows scripts: the frame that a server serves as
        a file has the policy it was built with.

    Raises
    ------
    CodemodeError
        ``invalid_option``
    """

    name = "browser"

    def __init__(  # noqa: PLR0913  all but the channel are keywords with defaults
        self,
        channel: PageChannel,
        *,
        page_timeout: float = PAGE_TIMEOUT,
        heartbeat: float = 1.0,
        max_passes: int = MAX_PASSES,
        timeout: float | None = None,
        csp: str | None = None,
    ) -> None:
        if timeout is not None and (isinstance(timeout, bool | str) or not timeout > 0):
            hint = "Use a number of seconds above 0, or None."
            raise CodemodeError("invalid_option", f"`timeout` is {timeout!r}.", hint=hint)
        self._pool = Pool(max_passes)
        self._limit = math.inf if timeout is None else timeout
        policy = None if csp is None else frame_policy(csp)
        self._policy = policy or ""
        self._frame = {} if policy is None else {"frame": inline_frame(policy)}
        self._channel = channel
        self._page_timeout = page_timeout
        self._heartbeat = heartbeat
        self._owner = secrets.token_hex(8)
        self._election = Election()
        self._python = PythonForPages(self._owner, self._policy, channel.send)
        self._runs: dict[str, PageRun] = {}
        self._over: list[PageRun] = []
        self._suspects: set[str] = set()
        """Executions whose sandbox died while several passes ran in it: each of them runs alone next time."""
        self._waiting = 0
        self._settled = asyncio.Event()
        self._watcher: asyncio.Task[None] | None = None
        self._probe: asyncio.Task[None] | None = None
        self._unsubscribe = channel.on_message(self._receive)
        self.send("*", "who")

    @property
    def page(self) -> Page | None:
        """The page that hosts the sandbox now, or ``None``."""
        return self._election.elected

    async def ready(self, timeout: float | None = None) -> bool:  # noqa: ASYNC109  a wait for a person's page, not a cancellation
        """Tell whether a page with a working sandbox answers within ``timeout`` seconds (default: ``page_timeout``)."""
        await self._recheck()
        if not self._settled.is_set():
            self._waiting += 1
            self.send("*", "who")
            self._keep_watching()
            try:
                await asyncio.wait_for(self._settled.wait(), self._page_timeout if timeout is None else timeout)
            except TimeoutError:
                return False
            finally:
                self._waiting -= 1
        return self.page is not None and self.page.is_prepared

    async def run_pass(self, request: PassRequest, handler: PassHandler) -> PassEnd:
        """Run one pass to its end once it has its turn; cancelling it kills the pass at once.

        Raises
        ------
        CodemodeError
            Code ``no_page``: no page answered in time. Code ``no_sandbox``: the page cannot make one. Code
            ``python_not_available``: the program needs Python, whose files cannot be had.
        """
        await self._require_page()  # all that wait learn at the same time that there is none
        async with self._pool.place(alone=request.execution_id in self._suspects):
            end = await self._run_now(replace(request, timeout=min(request.timeout, self._limit)), handler)
        if end.kind != "lost":
            self._suspects.discard(request.execution_id)
        return end

    async def _run_now(self, request: PassRequest, handler: PassHandler) -> PassEnd:
        if request.needs_python:
            await self._python.find(handler.preparing)
        page = await self._require_page()
        if not request.needs_python:
            return await self._finish(self._begin(page, request, handler))
        self._waiting += 1
        self._keep_watching()
        try:
            async with self._python.turn(page, handler.preparing, request.packages) as is_there:
                run = self._begin(page, request, handler) if is_there else None
        finally:
            self._waiting -= 1
        return LEFT_WHILE_LOADING if run is None else await self._finish(run)

    def _begin(self, page: Page, request: PassRequest, handler: PassHandler) -> PageRun:
        run = PageRun(page, request, handler, self._send_for_run)
        for other in self._runs_of(page):
            run.had_company = other.had_company = True
        self._runs[run.id] = run
        self._keep_watching()
        run.session.start()
        return run

    async def _finish(self, run: PageRun) -> PassEnd:
        is_over = False
        try:
            end = await run.session.wait()
            is_over = end.kind in {"completed", "failed", "paused", "diverged", "needs_python"}
            return end
        finally:
            run.end("closed")  # when cancelled: what its calls still answer goes nowhere
            del self._runs[run.id]
            self._stop_watching()
            if is_over:
                self._over.append(run)
                asyncio.get_running_loop().call_later(_OVER_DELAY, self._tell_over)
            else:
                run.page.python.is_warm = False  # a frame of its own takes its place
                self.send(run.page.id, "kill", run=run.id)

    async def close(self) -> None:
        """End the passes that run as ``lost``, and stop listening to the pages."""
        self._unsubscribe()
        self._end(self._runs.values(), "closed")
        self._tell_over()
        for task in (self._watcher, self._probe):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task

    def send(self, to: str, kind: str, **fields: object) -> None:
        """Send one message to the page with id ``to``, or to every page for ``*``."""
        self._channel.send({"to": to, "owner": self._owner, "type": kind, **fields})

    def _send_for_run(self, to: str, kind: str, **fields: object) -> None:
        if kind == "start":
            fields["policy"] = self._policy
            fields["over"] = [run.id for run in self._over if run.page.id == to]
            self._over = [run for run in self._over if run.page.id != to]
        self.send(to, kind, **fields)

    def _prepare(self, page: Page) -> None:
        self.send(page.id, "prepare", policy=self._policy, **self._frame)

    def _tell_over(self) -> None:
        """Have the Workers freed whose passes are over."""
        over, self._over = self._over, []
        for page_id in dict.fromkeys(run.page.id for run in over):
            self.send(page_id, "end", runs=[run.id for run in over if run.page.id == page_id])

    # -- waiting ---------------------------------------------------------------------------------------------------

    async def _recheck(self) -> None:
        """Do not rely on what was true long ago: a page may be gone without a word, a fault may have been mended."""
        page = self.page
        if page is None:
            return
        if page.fault is not None:
            self._settled.clear()
            self._prepare(page)
        elif asyncio.get_running_loop().time() - page.heard_at > _STALE:
            await self._probe_page(page)

    async def _require_page(self) -> Page:
        if await self.ready() and self.page is not None:
            return self.page
        if self.page is not None and self.page.fault is not None:
            raise CodemodeError(
                "no_sandbox",
                f"The page cannot run programs. {self.page.fault}",
                hint=f"Ask whoever runs this server to allow it, or use {_HEADLESS}.",
            )
        raise CodemodeError(
            "no_page",
            f"No open page of this notebook answered within {self._page_timeout:g} seconds.",
            hint=f"{_OPEN}, or use {_HEADLESS}.",
        )

    def _settle(self) -> None:
        """Greet the elected page, and note whether it is known what a pass can expect."""
        page = self.page
        if page is not None and (page.is_prepared or page.fault is not None):
            self._settled.set()
            return
        self._settled.clear()
        if page is not None:
            self._prepare(page)

    # -- what pages say --------------------------------------------------------------------------------------------

    def _receive(self, content: Content, _buffers: Sequence[bytes]) -> None:
        page_id, kind = content.get("from"), content.get("type")
        if not isinstance(page_id, str) or not isinstance(kind, str):
            return
        page = self._election.get(page_id)
        if kind == "hello":
            self._hello(page_id, content)
        elif page is None:
            if kind != "bye":
                self.send(page_id, "who")  # it was given up for dead, or is older than this executor
        else:
            self._note_word(page)
            self._hear(page, kind, content)

    def _hello(self, page_id: str, content: Content) -> None:
        known = self._election.get(page_id)
        if known is not None:
            self._note_word(known)
            known.is_visible = content.get("visible") is True
            return
        old = self.page
        page = Page(
            page_id,
            agent=str(content.get("agent", "")),
            path=str(content.get("path", "")),
            is_visible=content.get("visible") is True,
        )
        self._note_word(page)
        self._election.join(page)
        if old is None or old is not self.page:
            self._settle()
        elif self._probe is None or self._probe.done():
            self._probe = asyncio.get_running_loop().create_task(self._probe_page(old))

    def _note_word(self, page: Page) -> None:
        page.unanswered = 0
        page.heard_at = asyncio.get_running_loop().time()
        page.heard.set()

    def _hear(self, page: Page, kind: str, content: Content) -> None:  # noqa: C901  one flat case for each kind
        match kind:
            case "bye":
                self._leave(page, "bye")
            case "prepared" | "unusable" | "python" if content.get("policy", "") != self._policy:
                pass  # the sandbox of another executor
            case "prepared":
                page.is_prepared, page.fault = True, None
                page.python.come_back()
                page.is_served = content.get("frame") == "src"
                self._settle()
            case "unusable":
                self._election.fail(page, str(content.get("message", "")))
                page.python.lose()
                self._end(self._runs_of(page), "unusable")
                self._settle()
            case "python":
                page.python.hear(content.get("news"))
            case "want":
                self._python.hand_over(page, content)
            case "texts":
                self._take_texts(page, content.get("texts"))
            case "pong":
                self._compare(page, content.get("runs"))
            case "cut":
                cause: Cause = "too_large" if content.get("kind") == "too_large" else "protocol"
                self._end(self._runs_of(page, [content.get("run")]), cause)
            case "lost":
                self._lose(page, content)

    def _take_texts(self, page: Page, texts: Any) -> None:
        for item in texts if isinstance(texts, list) else ():
            match item:
                case [str(run_id), str(piece), bool(is_more_coming)]:
                    for run in self._runs_of(page, [run_id]):
                        run.take(piece, is_more_coming=is_more_coming)

    def _compare(self, page: Page, counts: Any) -> None:
        """Find passes of which a message got lost, as when a connection breaks: they would wait for ever."""
        for item in counts if isinstance(counts, list) else ():
            match item:
                case [str(run_id), int(pieces)]:
                    runs = self._runs_of(page, [run_id])
                    self._end([run for run in runs if run.pieces != pieces], "connection")

    def _lose(self, page: Page, content: Content) -> None:
        run_ids = content.get("runs")
        runs = self._runs_of(page, run_ids if isinstance(run_ids, list) else [])
        page.python.is_warm = False
        reason = content.get("reason")
        if reason in ("kernel", "moved", "connection"):
            self._end(runs, reason)
        else:
            # Frames of a page may share a process. Where several passes did, nobody knows which one brought it down.
            for run in runs:
                if run.had_company:
                    self._suspects.add(run.execution_id)
                run.end("frame" if run.had_company else "memory")

    # -- pages that go ---------------------------------------------------------------------------------------------

    def _leave(self, page: Page, cause: Cause) -> None:
        page.python.lose()
        if self._election.leave(page.id) is not None:
            self._end(self._runs_of(page), cause)
            self._settle()

    def _runs_of(self, page: Page, run_ids: Iterable[object] | None = None) -> list[PageRun]:
        wanted = None if run_ids is None else {run_id for run_id in run_ids if isinstance(run_id, str)}
        return [run for run in self._runs.values() if run.page is page and (wanted is None or run.id in wanted)]

    def _end(self, runs: Iterable[PageRun], cause: Cause) -> None:
        for run in list(runs):
            run.end(cause)

    def _ping(self, page: Page) -> None:
        page.unanswered += 1
        runs = [*self._runs.values(), *self._over]
        self.send(page.id, "ping", runs=[run.id for run in runs], texts=[run.texts for run in runs])

    async def _probe_page(self, page: Page) -> None:
        """Find out whether the elected page is still there; it leaves when it is not."""
        page.heard.clear()
        for _ in range(_PROBE_PINGS):
            self._ping(page)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(page.heard.wait(), _PROBE_INTERVAL)
                return
        self._leave(page, "silent")

    def _keep_watching(self) -> None:
        if self._watcher is None or self._watcher.done():
            self._watcher = asyncio.get_running_loop().create_task(self._watch())

    def _stop_watching(self) -> None:
        """Nobody needs a page now; the next pass is watched from its own beginning."""
        if self._watcher is not None and not self._runs and not self._waiting:
            self._watcher.cancel()
            self._watcher = None

    async def _watch(self) -> None:
        """While somebody needs a page: ping the elected one, or look for one."""
        while self._runs or self._waiting:
            await asyncio.sleep(self._heartbeat)
            page = self.page
            if page is None:
                self.send("*", "who")
            elif page.unanswered >= _UNANSWERED:
                self._leave(page, "silent")
            else:
                self._ping(page)
                if not self._settled.is_set():
                    self._prepare(page)
