"""The widget that is never displayed: the kernel's way to every page that has the notebook open.

Owns: the one ``PageWidget`` of this kernel. Never does: decide anything, or write a trait after it was made (a trait
written by the page while a cell runs would be stuck for good, so both sides use custom messages only).

Every page runs the widget's ``initialize`` by itself, again after a reload, because front ends restore the models of
a running kernel whether or not they are displayed.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import anywidget
import traitlets

from codemode_jupyter.sandbox.frame import inline_frame, served_frame
from codemode_jupyter.sandbox.page_channel import Content, MessageCallback, page_module
from codemode_jupyter.sandbox.worker_source import worker_source


class PageWidget(anywidget.AnyWidget):
    """A ``PageChannel`` over the comm of a widget without a view.

    Parameters
    ----------
    loop : asyncio.AbstractEventLoop
        Where messages are dispatched. The front end's messages may be handled on another thread (a subshell's); a
        callback registered here still runs on this loop.
    """

    _esm = page_module()
    _inline_frame = traitlets.Unicode().tag(sync=True)
    _served_frame = traitlets.Unicode().tag(sync=True)
    _worker_source = traitlets.Unicode().tag(sync=True)

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        # ipykernel hands the page's answers to the subshell that the message was sent for, and tells the page when that
        # is busy and idle: small frames that make the next one wait 40 ms on its way (Nagle). A cell has no subshell.
        self._cell_context = contextvars.copy_context()
        self._callbacks: list[MessageCallback] = []
        self._arrived: deque[tuple[Any, Sequence[bytes]]] = deque()
        super().__init__(_inline_frame=inline_frame(), _served_frame=served_frame(), _worker_source=worker_source())
        self.on_msg(self._hand_over)

    def send(self, content: Content, buffers: Sequence[bytes] | None = None) -> None:
        """Send ``content`` to every page; lost when none listens."""
        if self.comm is not None:
            self._cell_context.run(super().send, content, buffers=list(buffers) if buffers else None)

    def on_message(self, callback: MessageCallback) -> Callable[[], None]:
        """Have ``callback`` called on the loop for every message of a page; the returned function ends that."""
        self._callbacks.append(callback)

        def unsubscribe() -> None:
            with contextlib.suppress(ValueError):
                self._callbacks.remove(callback)

        return unsubscribe

    def _hand_over(self, _widget: object, content: Any, buffers: Sequence[bytes]) -> None:
        """Take the message at once on the loop's own thread; on another one only hand it over to the loop."""
        self._arrived.append((content, buffers))
        if _is_running_here(self._loop):
            self._dispatch()
        else:
            with contextlib.suppress(RuntimeError):  # the loop is closed: the kernel is going down
                self._loop.call_soon_threadsafe(self._dispatch)

    def _dispatch(self) -> None:
        while self._arrived:
            content, buffers = self._arrived.popleft()
            if isinstance(content, dict):
                for callback in tuple(self._callbacks):
                    callback(content, buffers)


def _is_running_here(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False


_widget: PageWidget | None = None


def page_channel() -> PageWidget:
    """Return the page channel of this kernel, made on the first call; must be called on the kernel's event loop.

    Raises
    ------
    RuntimeError
        No event loop runs in this thread.
    """
    global _widget  # noqa: PLW0603  one kernel has one page channel, shared by all runtimes
    loop = asyncio.get_running_loop()
    if _widget is None or _widget.comm is None or _widget._loop is not loop:  # noqa: SLF001  our own class
        _widget = PageWidget(loop)
    return _widget


def close_page_channel() -> None:
    """Close the channel, if there is one: the pages take their sandboxes down."""
    global _widget  # noqa: PLW0603  see above
    if _widget is not None:
        _widget.close()
        _widget = None
