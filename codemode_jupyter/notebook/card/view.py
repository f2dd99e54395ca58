"""A run in its cell: the live card while it runs or waits, the static card when it has ended, the controls below.

Owns: following an execution, and which output shows what when. Never does: layout (``layout.py``), or what a button
does (``clicks.py``, ``controls.py``).
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.notebook.card.clicks import Clicks
from codemode_jupyter.notebook.card.controls import Controls, newest_controls
from codemode_jupyter.notebook.card.element import Element
from codemode_jupyter.notebook.card.layout import CardState, bare_layout, card_layout
from codemode_jupyter.notebook.card.outputs import CellOutputs, static_bundle
from codemode_jupyter.notebook.card.shown import shown_executions
from codemode_jupyter.notebook.card.status import Status, is_final
from codemode_jupyter.notebook.card.text import to_text
from codemode_jupyter.notebook.card.widget import Action, CardWidget
from codemode_jupyter.runtime.records import ExecutionRecord, PendingCall
from codemode_jupyter.runtime.runtime import Runtime

INTERVAL = 0.05
"""Seconds between two updates, at least."""

SHARE = 10
"""An update that took long makes the next one wait this many times as long: a card must not slow its run down."""

LONGEST_INTERVAL = 1.0
"""Most seconds between a change and its update: an update also takes long when something else holds the kernel up."""

LIVE_AFTER = 0.2
"""Seconds after which a running card gets a widget: what ends sooner needs none."""


class RunView:
    """Shows one execution in the cell that is running now, or in the outputs of an earlier one that are given.

    ``show`` in the cell, then ``attach`` on the event loop; from then on it follows ``runtime.subscribe`` until the
    kernel ends. Where outputs cannot be replaced afterwards (a terminal, ``nbclient``), await ``settle`` before the
    cell ends.
    """

    def __init__(self, runtime: Runtime, cell: CellOutputs | None = None) -> None:
        self._runtime = runtime
        self._cell = cell or CellOutputs()
        # What tools print after a click belongs to the cell as well, not to the page's message with the click.
        self._context = contextvars.copy_context()
        self._widget: CardWidget | None = None
        self._execution_id: str | None = None
        self._record: ExecutionRecord | None = None
        self._behind = False
        self._following = False
        self._drawing = asyncio.Lock()
        self._drawn: Element | None = None
        self._kept: object = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._clicks: Clicks | None = None
        self._live_from = 0.0
        self._unsubscribe: Callable[[], None] | None = None

    def show(self) -> None:
        """Make the outputs; must be called in the cell."""
        self._cell.show(bare_layout(Status("Running", "running")))

    def attach(self, execution_id: str) -> None:
        """Follow ``execution_id`` from now on; must be called on the loop. An earlier run's controls are withdrawn."""
        newest_controls.withdraw()
        self._execution_id = execution_id
        self._clicks = Clicks(self._runtime, execution_id, self._waiting, self._refresh)
        shown_executions.add(execution_id, self._cell.number)
        loop = asyncio.get_running_loop()
        self._live_from = loop.time() + LIVE_AFTER
        self._unsubscribe = self._runtime.subscribe(self._on_change)
        self._on_change(execution_id)

    async def settle(self) -> None:
        """Draw the execution as it is now. In a terminal this prints it."""
        if self._execution_id is None:
            return
        await self._refresh()
        if self._cell.place == "terminal" and self._drawn is not None:
            print(to_text(self._drawn))  # noqa: T201  a terminal's output
        if self._cell.place != "page":
            self._end()

    def _on_change(self, execution_id: str) -> None:
        if execution_id != self._execution_id:
            return
        self._behind = True
        if self._cell.place == "file":
            self._start(self._turn_questions_away())
        if self._cell.place == "page" and not self._following:
            self._following = True
            self._start(self._follow())

    async def _turn_questions_away(self) -> None:
        """Cancel what a tool asks where there is nobody: it would wait for ever."""
        if self._execution_id is not None:
            for call in await self._runtime.pending(self._execution_id):
                if call.kind == "question":
                    await self._runtime.respond(call.call_id, "cancel", digest=call.digest)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work, context=self._context)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _end(self) -> None:
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None

    # ---- drawing

    async def _follow(self) -> None:
        """Draw until what is drawn is what is; between changes there is no task."""
        loop = asyncio.get_running_loop()
        try:
            while self._behind:
                self._behind = False
                began = loop.time()
                await self._refresh()
                if self._record is None:
                    self._end()
                    return
                await asyncio.sleep(min(LONGEST_INTERVAL, max(INTERVAL, SHARE * (loop.time() - began))))
        finally:
            self._following = False

    async def _refresh(self) -> None:
        """Read the execution and draw it. What goes wrong is said in the card: a background task has no other place."""
        async with self._drawing:
            assert self._execution_id is not None  # noqa: S101  attach came first
            try:
                record = await self._runtime.execution(self._execution_id)
                pending = [] if is_final(record) else await self._runtime.pending(self._execution_id)
                stale = record.status == "running" and record.id in {row.id for row in await self._runtime.stale()}
                self._record = record
                self._draw(record, pending, stale=stale)
            except CodemodeError as error:  # deleted, or the store is gone
                self._record = None
                self._replace(bare_layout(Status("Not available", "quiet"), str(error)))
            except Exception as error:  # noqa: BLE001  a fault of the card must not stay unseen, nor end the run
                self._replace(bare_layout(Status("Card failed", "bad"), f"{type(error).__name__}: {error}"))

    def _draw(self, record: ExecutionRecord, pending: list[PendingCall], *, stale: bool) -> None:
        program = record.code.strip() not in self._cell.source
        notices = self._clicks.notices if self._clicks is not None else ()
        faults = self._clicks.faults if self._clicks is not None else {}
        state = CardState(record, tuple(pending), stale=stale, notices=notices, program=program, faults=faults)
        if is_final(record):
            self._replace(card_layout(state))
            self._offer_controls(record)
        elif stale or self._cell.place != "page":
            self._replace(card_layout(state))
        else:
            self._draw_live(record, state)

    def _draw_live(self, record: ExecutionRecord, state: CardState) -> None:
        """Show the widget in the card's output, which is written anew only when what waits has changed.

        A saved notebook holds that static card.
        """
        wait = self._live_from - asyncio.get_running_loop().time()
        if self._widget is None and record.status == "running" and wait > 0:
            asyncio.get_running_loop().call_later(wait, self._on_change, record.id)
            return
        deciding = dict(self._clicks.deciding) if self._clicks is not None else {}
        live = card_layout(replace(state, live=True, deciding=deciding))
        if self._widget is None or self._widget.comm is None:
            self._widget = CardWidget(live, self._on_action, asyncio.get_running_loop())
            self._kept = None
        else:
            self._widget.show(live)
        keep = (record.status, tuple((call.seq, call.kind, call.digest) for call in state.pending))
        if self._cell.card is not None and keep != self._kept:
            self._kept = keep
            self._cell.card.replace(self._widget.bundle(card_layout(state)))
        self._drawn = None

    def _replace(self, tree: Element) -> None:
        """Show a static tree; the widget shows the same, for pages whose link to the output is gone."""
        if tree == self._drawn:
            return
        self._drawn, self._kept = tree, None
        if self._cell.card is not None:
            self._cell.card.replace(static_bundle(tree))
        if self._widget is not None:
            self._widget.show_last(tree)

    def _offer_controls(self, record: ExecutionRecord) -> None:
        if self._cell.place == "page" and self._cell.controls is not None:
            output, self._cell.controls = self._cell.controls, None
            newest_controls.offer(Controls(self._runtime, record, output))

    # ---- clicks

    def _on_action(self, action: Action) -> None:
        if self._clicks is not None:
            self._start(self._clicks.take(action))

    def _waiting(self) -> list[int]:
        return [call.seq for call in self._record.calls if call.state == "pending"] if self._record is not None else []


async def show_execution(runtime: Runtime, execution_id: str) -> None:
    """Show an execution in the current cell: its card, live while it runs or waits, and its controls.

    Raises
    ------
    CodemodeError
        Code ``unknown_execution``.
    """
    await runtime.execution(execution_id)
    view = RunView(runtime)
    view.show()
    view.attach(execution_id)
    await view.settle()
