"""The live view: a widget that shows a tree and passes on what people click.

Owns: the trait with the tree, the place in the output where it shows, the check of incoming messages, the hop to the
event loop, and closing the widget once no page shows it. Never does: layout or decisions. The page sends custom
messages only, never traits.

The widget is never displayed itself: a saved notebook would hold a view of a widget, and show an error in its place
once the kernel is gone. The output is static HTML with an element that the widget's model finds, in every page that has
it and again after a reload (``js/card.js``), and shows in as long as the kernel is there.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from codemode_jupyter.notebook.card.element import Element, element, to_wire
from codemode_jupyter.notebook.card.html import STYLE_FILE, markup, to_html
from codemode_jupyter.notebook.card.outputs import Bundle
from codemode_jupyter.notebook.card.text import to_text

_ACTIONS = """
approve approve_all reject run_again happened give_up accept decline cancel stop seen save replace rollback
"""
ACTIONS = frozenset(_ACTIONS.split())
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
    """Shows a tree in every page that has its output, which is made by ``bundle``.

    Parameters
    ----------
    tree : Element
        What to show first.
    on_action : callable
        Called on ``loop`` with each ``Action``.
    loop : asyncio.AbstractEventLoop
        Where ``on_action`` runs; a front end's messages may be handled on another thread.
    """

    _esm = Path(STYLE_FILE).with_name("card.js")
    _css = STYLE_FILE
    tree = traitlets.Any(default_value=[]).tag(sync=True)
    place = traitlets.Unicode().tag(sync=True)

    def __init__(self, tree: Element, on_action: Callable[[Action], None], loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._on_action = on_action
        self._views = 0
        self._was_shown = False
        self._done = False
        super().__init__(tree=to_wire(tree), place=f"codemode-place-{secrets.token_hex(8)}")
        self.on_msg(self._hand_over)

    def bundle(self, static: Element | None = None) -> Bundle:
        """Return the output in which this widget shows; ``static`` is what it holds without the kernel."""
        place = element("div", static, class_=self.place)
        return {"text/html": to_html(place) if static else markup(place), "text/plain": to_text(place)}

    def show(self, tree: Element) -> None:
        """Show ``tree`` from now on."""
        self._done = False
        self._put(tree)

    def show_last(self, tree: Element) -> None:
        """Show ``tree`` for good: its output was replaced, so the widget closes as soon as no page shows it any more.

        A page that was reloaded still shows it (there the link to the output is gone), and it stays for that page.
        """
        self._put(tree)
        self._done = True
        self._close_if_unseen()

    def close_with(self, tree: Element) -> None:
        """Leave ``tree`` in the pages that still show this widget, and close it."""
        self._put(tree)
        self.close()

    def _put(self, tree: Element) -> None:
        if self.comm is not None:
            self.tree = to_wire(tree)

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
