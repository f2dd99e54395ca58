"""A cell's outputs that can be replaced later, and what is known of the cell and the place that shows it.

Owns: the display handle, the bundle of MIME types, and the choice of a place. Never does: layout.
A task that began with a click has no cell of its own, so what it displays would show up nowhere: every output is made
in the cell and replaced through its display handle from then on. That link ends when the page is reloaded.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from IPython.core.getipython import get_ipython
from IPython.display import DisplayHandle, display

from codemode_jupyter.notebook.card.element import Element
from codemode_jupyter.notebook.card.html import to_html
from codemode_jupyter.notebook.card.text import to_text

Place: TypeAlias = Literal["page", "file", "terminal"]
"""``page``: a person looks at it and can click. ``file``: a kernel whose outputs are only kept (``nbclient``).
``terminal``: no kernel; text is printed once."""

Bundle: TypeAlias = dict[str, Any]

_EMPTY: Bundle = {"text/html": "", "text/plain": ""}


def current_place() -> Place:
    """Return where the outputs of the current cell go."""
    kernel = getattr(get_ipython(), "kernel", None)
    if kernel is None:
        return "terminal"
    content = (kernel.get_parent() or {}).get("content", {})
    return "page" if content.get("allow_stdin", True) else "file"


def current_source() -> str:
    """Return the text of the current cell, empty where it is not known."""
    kernel = getattr(get_ipython(), "kernel", None)
    source = ((kernel.get_parent() or {}).get("content", {}) if kernel is not None else {}).get("code", "")
    return source if isinstance(source, str) else ""


def current_number() -> int | None:
    """Return the number of the current cell, ``None`` without a shell."""
    return getattr(get_ipython(), "execution_count", None)


def static_bundle(tree: Element) -> Bundle:
    """Return a tree as HTML and text, for an output that needs no kernel."""
    return {"text/html": to_html(tree), "text/plain": to_text(tree)}


class Output:
    """One output of the current cell. Made empty or with a bundle; ``replace`` works from any task."""

    def __init__(self, bundle: Bundle | None = None) -> None:
        self._empty = bundle is None
        shown = display(bundle or _EMPTY, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        self._handle: DisplayHandle | None = shown

    def replace(self, bundle: Bundle) -> None:
        """Show ``bundle`` in place of what is shown."""
        self._empty = False
        if self._handle is not None:
            self._handle.update(bundle, raw=True)  # type: ignore[no-untyped-call]

    def clear(self) -> None:
        """Show nothing."""
        if not self._empty:
            self.replace(_EMPTY)
            self._empty = True


class CellOutputs:
    """The current cell, as a card needs it: where it is shown, its text, its number, and two outputs in it.

    ``card`` and ``controls`` are there after ``show``, which must be called in the cell; in a terminal never.
    """

    def __init__(self) -> None:
        self.place = current_place()
        self.source = current_source()
        self.number = current_number()
        self.card: Output | None = None
        self.controls: Output | None = None

    def show(self, tree: Element) -> None:
        """Make the outputs, the card's with a static tree in it."""
        if self.place != "terminal" and self.card is None:
            self.card = Output(static_bundle(tree))
            self.controls = Output()
