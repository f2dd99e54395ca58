"""Which of the open pages hosts the sandbox.

Owns: the list of pages that said hello, and the choice of one. Never does: talk to them, or wait.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from codemode_jupyter.sandbox.page_python import PythonInPage


@dataclass(slots=True, eq=False)
class Page:
    """One open page of the notebook, as it introduced itself.

    ``path`` is the path of its address (never the query, which may hold a token); ``heard_at`` is the loop's time when
    it was last heard, ``heard`` is set then, and ``unanswered`` counts the pings since; ``is_prepared`` says that its
    sandbox is up, ``is_served`` that its frame came from the server as a file, ``fault`` why there can be none;
    ``python`` is what is known of Python there.
    """

    id: str
    agent: str = ""
    path: str = ""
    is_visible: bool = True
    unanswered: int = 0
    heard_at: float = 0.0
    heard: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    is_prepared: bool = False
    is_served: bool = False
    fault: str | None = None
    python: PythonInPage = field(default_factory=PythonInPage, repr=False)


class Election:
    """The pages that are there, one of them elected.

    The elected page stays elected until it leaves: a second tab does not take over. Then the page that said hello last
    follows it, one without a fault before one with.
    """

    def __init__(self) -> None:
        self._pages: dict[str, Page] = {}
        self._elected: Page | None = None

    @property
    def elected(self) -> Page | None:
        """The page that hosts the sandbox, or ``None`` when no page is there."""
        return self._elected

    def __len__(self) -> int:
        return len(self._pages)

    def get(self, page_id: str) -> Page | None:
        """Return the page with that id, or ``None`` when it never said hello or has left."""
        return self._pages.get(page_id)

    def join(self, page: Page) -> None:
        """Add a page that said hello; it is elected when no usable page is."""
        self._pages[page.id] = page
        self._elect()

    def leave(self, page_id: str) -> Page | None:
        """Remove a page and return it, or ``None`` when it was not there."""
        page = self._pages.pop(page_id, None)
        if page is not None and page is self._elected:
            self._elected = None
            self._elect()
        return page

    def fail(self, page: Page, fault: str) -> None:
        """Note that no sandbox can be made in ``page``; another page is elected if there is a better one."""
        page.is_prepared = False
        page.fault = fault
        self._elect()

    def _elect(self) -> None:
        if self._elected is not None and self._elected.fault is None:
            return
        candidates = list(reversed(self._pages.values()))
        usable = [page for page in candidates if page.fault is None]
        self._elected = next(iter(usable or candidates), None)
