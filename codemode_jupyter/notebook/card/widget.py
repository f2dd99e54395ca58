"""The live view: a widget that shows a tree and passes on what people click.

Owns: the trait with the tree, the check of incoming messages, the hop to the event loop, and closing the widget once
no page shows it. Never does: layout or decisions. The page sends custom messages only, never traits.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from codemode_jupyter.notebook.card.element import Element, to_wire
from codemode_jupyter.notebook.card.html import STYLE_FILE
from codemode_jupyter.notebook.card.outputs import Bundle, static_bundle

ACTIONS = frozenset(
    "approve approve_all reject run_again happened give_up stop save replace rollback".split()  # noqa: SIM905  one a word
)
_FIELD = 100_000


@dataclass(frozen=True, slots=True)
class Action:
    """A click: what is asked, and what the page showed when it was."""

    name: str
    execution_id: str | None
    seq: int | None
    digest: str | None
    fields: Mapping[str, str]


class CardWidget(anywidget.AnyWidget):
    """Shows a tree in every page that has the output.

    Parameters
    ----------
    tree : Element
        What to show first.
    on_action : callable
        Called on ``loop`` with each ``Action``.
    loop : asyncio.AbstractEventLoop
        Where ``on_action`` runs; a front end's messages may be handled on another thread.
    place : str, default ""
        A class name: the widget shows in the page's elements of that class and is not displayed itself. A saved
        notebook then holds no view of a widget, which without its kernel would show as an error.
    """

    _esm = Path(STYLE_FILE).with_name("card.js")
    _css = STYLE_FILE
    tree = traitlets.Any(default_value=[]).tag(sync=True)
    place = traitlets.Unicode().tag(sync=True)

    def __init__(
        self,
        tree: Element,
        on_action: Callable[[Action], None],
        loop: asyncio.AbstractEventLoop,
        place: str = "",
    ) -> None:
        self._loop = loop
        self._on_action = on_action
        self._views = 0
        self._was_shown = False
        self._done = False
        super().__init__(tree=to_wire(tree), place=place)
        self.on_msg(self._hand_over)

    def show(self, tree: Element) -> None:
        """Show ``tree`` from now on."""
        if self.comm is not None:
            self.tree = to_wire(tree)

    def bundle(self, static: Element) -> tuple[Bundle, dict[str, Any]]:
        """Return the output that shows this widget, and ``static`` where no widget can be shown."""
        shown = self._repr_mimebundle_()
        data, metadata = shown if shown is not None else ({}, {})
        return {**data, **static_bundle(static)}, metadata

    def close_when_unseen(self) -> None:
        """Close the widget as soon as no page shows it any more: its output was replaced.

        A page that was reloaded still shows it (there the link to the output is gone), and it stays for that page.
        """
        self._done = True
        self._close_if_unseen()

    def _close_if_unseen(self) -> None:
        if self._done and self._was_shown and self._views <= 0:
            self.close()

    def _hand_over(self, _widget: object, content: Any, _buffers: object) -> None:
        """Do the one thing that is safe on any thread: pass the message on to the loop."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: the kernel is going down
            self._loop.call_soon_threadsafe(self._dispatch, content)

    def _dispatch(self, content: Any) -> None:
        if not isinstance(content, dict):
            return
        match content.get("action"):
            case "shown":
                self._views += 1
                self._was_shown = True
            case "hidden":
                self._views -= 1
                self._close_if_unseen()
            case str() as name if name in ACTIONS:
                self._on_action(_action(name, content))


def _action(name: str, content: Mapping[str, Any]) -> Action:
    execution_id, seq, digest, fields = (content.get(key) for key in ("execution", "seq", "digest", "fields"))
    return Action(
        name=name,
        execution_id=execution_id if isinstance(execution_id, str) else None,
        seq=seq if isinstance(seq, int) and not isinstance(seq, bool) else None,
        digest=digest if isinstance(digest, str) else None,
        fields={key: value[:_FIELD] for key, value in fields.items() if isinstance(key, str) and isinstance(value, str)}
        if isinstance(fields, dict)
        else {},
    )
