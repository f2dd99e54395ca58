"""The inbox in a cell: what has arrived, live, and the cards of the runs that wait, with their buttons.

Owns: following the inbox, and the badge below a cell. Never does: layout, or keeping what arrived.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from codemode_jupyter.notebook.card.element import Element
from codemode_jupyter.notebook.card.inbox_layout import badge_layout, inbox_layout
from codemode_jupyter.notebook.card.outputs import Output, current_place, static_bundle
from codemode_jupyter.notebook.card.text import to_text
from codemode_jupyter.notebook.card.view import RunView
from codemode_jupyter.notebook.card.widget import Action, CardWidget
from codemode_jupyter.notebook.inbox import Inbox
from codemode_jupyter.runtime.runtime import Runtime

MAX_CARDS = 20
"""Most cards of waiting runs in one inbox."""


class InboxView:
    """Shows the inbox in the cell that is running now, and follows it until the kernel ends."""

    def __init__(self, runtime: Runtime, inbox: Inbox) -> None:
        self._runtime = runtime
        self._inbox = inbox
        self._widget: CardWidget | None = None
        self._output: Output | None = None
        self._waiting = 0
        self._drawing: asyncio.Task[None] | None = None

    async def show(self) -> None:
        """Make the outputs; must be awaited in the cell. Where nobody can click, what is shown counts as seen."""
        waiting = await self._waiting_runs()
        self._waiting = len(waiting)
        place = current_place()
        if place == "page":
            loop = asyncio.get_running_loop()
            self._widget = CardWidget(self._tree(live=True), self._on_action, loop)
            self._output = Output(self._widget.bundle(self._tree(live=False)))
            self._inbox.subscribe(self._changed)
            self._runtime.subscribe(lambda _: self._changed())
        else:
            tree = self._tree(live=False)
            if place == "terminal":
                print(to_text(tree))  # noqa: T201  a terminal's output
            else:
                Output(static_bundle(tree))
            for exit_ in self._inbox.unseen:
                self._inbox.see(exit_.id)
        for execution_id in waiting[:MAX_CARDS]:
            view = RunView(self._runtime)
            view.show()
            view.attach(execution_id)
            await view.settle()

    async def _waiting_runs(self) -> list[str]:
        return list(dict.fromkeys(call.execution_id for call in await self._runtime.pending()))

    def _tree(self, *, live: bool) -> Element:
        return inbox_layout(self._inbox.unseen, self._waiting, live=live)

    def _changed(self) -> None:
        if self._drawing is None or self._drawing.done():
            self._drawing = asyncio.get_running_loop().create_task(self._draw())

    async def _draw(self) -> None:
        await asyncio.sleep(0.05)  # what changes together is drawn together
        self._waiting = len(await self._waiting_runs())
        if self._widget is not None and self._output is not None:
            self._widget.show(self._tree(live=True))
            self._output.replace(self._widget.bundle(self._tree(live=False)))

    def _on_action(self, action: Action) -> None:
        if action.name == "seen":
            ids = [action.execution_id] if action.execution_id else [exit_.id for exit_ in self._inbox.unseen]
            for exit_id in ids:
                self._inbox.see(exit_id)


class Badge:
    """Says below a cell, once for each, that runs have ended in the background meanwhile."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._said: set[str] = set()

    def said(self, ids: Iterable[str]) -> None:
        """Keep in mind that a person has been told of these exits."""
        self._said.update(ids)

    def show(self) -> None:
        """Show the badge in the current cell if something arrived of which nobody was told."""
        unseen = {exit_.id for exit_ in self._inbox.unseen}
        if not unseen - self._said:
            return
        self.said(unseen)
        tree = badge_layout(len(unseen))
        if current_place() == "terminal":
            print(to_text(tree))  # noqa: T201  a terminal's output
        else:
            Output(static_bundle(tree))
