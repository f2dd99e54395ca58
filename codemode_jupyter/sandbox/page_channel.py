"""What a page channel is: messages to and from every page that has the notebook open.

Owns: the ``PageChannel`` protocol and the text of the module that the page runs. Never does: widgets; the notebook room
implements the channel with one. What is said over it is written down in ``js/page/messages.js``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Protocol, TypeAlias

Content: TypeAlias = dict[str, Any]
"""One JSON-like message."""

MessageCallback: TypeAlias = Callable[[Content, Sequence[bytes]], None]
"""Called with a page's message and its buffers, on the event loop."""

_MODULE_PARTS = ("outbox.js", "sandbox_frame.js", "sandboxes.js", "python_files.js", "host.js")


class PageChannel(Protocol):
    """A way to every page that has the notebook open. What is sent while no page listens is lost."""

    def send(self, content: Content, buffers: Sequence[bytes] | None = None) -> None:
        """Send ``content`` to every page; must be called on the event loop."""

    def on_message(self, callback: MessageCallback) -> Callable[[], None]:
        """Have ``callback`` called for every message of every page; the returned function ends that (twice is once)."""


def _script(name: str) -> str:
    return (files("codemode_jupyter.sandbox") / "js" / "page" / name).read_text(encoding="utf-8")


@cache
def page_module() -> str:
    """Return the ES module that a page runs: the scripts of ``js/page`` joined, the one with the export last."""
    return "\n".join(_script(name) for name in _MODULE_PARTS)
