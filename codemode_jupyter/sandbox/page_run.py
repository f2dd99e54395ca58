"""One pass in one page, as the kernel sees it.

Owns: the run's id, the pieces of a text that is still arriving, and the words for the ends that the page or the
executor brings about. Never does: read what the text says; that is the session's work.
"""

from __future__ import annotations

import contextvars
import secrets
from typing import Literal, Protocol, TypeAlias

from codemode_jupyter.sandbox.election import Page
from codemode_jupyter.sandbox.protocol import PassEnd, PassEndKind, PassHandler, PassRequest
from codemode_jupyter.sandbox.session import PassSession

MAX_TEXT_LENGTH = 64 * 2**20
"""Longest text of a Worker that is put together from pieces, in characters; the page's own cap is lower."""

Cause: TypeAlias = Literal[
    "bye", "silent", "connection", "frame", "moved", "memory", "kernel", "unusable", "too_large", "protocol", "closed"
]

_ENDS: dict[Cause, tuple[PassEndKind, str]] = {
    "bye": ("lost", "The page was closed or reloaded while the program ran."),
    "silent": ("lost", "The page stopped answering while the program ran."),
    "connection": ("lost", "Messages got lost: the page's connection broke while the program ran."),
    "frame": ("lost", "The page's sandbox stopped answering while several programs ran in it."),
    "moved": ("lost", "The page had to make its sandbox in another way."),
    "memory": ("memory", "The sandbox stopped answering: most likely the program used too much memory."),
    "kernel": ("lost", "The page gave the program up because the kernel was silent for a minute."),
    "unusable": ("lost", "The page can no longer make a sandbox."),
    "too_large": ("too_large", "The program sent more data than one pass may."),
    "protocol": ("protocol", "The sandbox sent messages that no program can send by the means it is given."),
    "closed": ("lost", "The sandbox was closed while the program ran."),
}

LEFT_WHILE_LOADING = PassEnd("lost", error="The page was left while Python was loaded into it.", is_left=True)

_LEFT: frozenset[Cause] = frozenset({"bye", "connection", "kernel"})
"""Causes in which a program has no part."""


class Send(Protocol):
    """Sends one message to a page."""

    def __call__(self, to: str, kind: str, **fields: object) -> None:
        """Send a message of ``kind`` to the page with id ``to``."""


class PageRun:
    """One pass in one page."""

    def __init__(self, page: Page, request: PassRequest, handler: PassHandler, send: Send) -> None:
        self.id = secrets.token_hex(8)
        self.page = page
        self._language = "python" if request.needs_python else "javascript"
        self._packages = [
            {"name": one.name, "sha256": one.sha256, "place": one.place}
            for one in (request.packages if request.needs_python else ())
        ]
        self.execution_id = request.execution_id
        self.had_company = False
        """Whether other passes ran in the page at any moment of this one."""
        self._send = send
        self._pieces: list[str] = []
        self._length = 0
        self.pieces = 0
        """Pieces that arrived."""
        self.texts = 0
        """Texts that were sent to the page."""
        # Tools run for whoever started the pass, not for the page's message that asks for them: what they print belongs
        # to the cell.
        self._context = contextvars.copy_context()
        self.session = PassSession(request, handler, self._send_text)

    def take(self, piece: str, *, is_more_coming: bool) -> None:
        """Take one piece of a text; a complete one goes to the session."""
        self.pieces += 1
        self._length += len(piece)
        if self._length > MAX_TEXT_LENGTH:
            self.end("too_large")
            return
        self._pieces.append(piece)
        if not is_more_coming:
            text = "".join(self._pieces)
            self._pieces = []
            self._length = 0
            self._context.run(self.session.receive, text)

    def end(self, cause: Cause) -> None:
        """End the pass for a reason that the page or the executor has, not the program."""
        kind, message = _ENDS[cause]
        self.session.end(PassEnd(kind, error=message, is_left=cause in _LEFT))

    def _send_text(self, text: str) -> None:
        self.texts += 1
        if self.texts > 1:
            self._send(self.page.id, "text", run=self.id, text=text)
        else:
            packages = {"packages": self._packages} if self._packages else {}
            self._send(self.page.id, "start", run=self.id, text=text, language=self._language, **packages)
