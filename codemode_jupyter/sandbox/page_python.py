"""Python in the page: its files' way there, and the waiting until a program finds it ready.

Owns: what a page is told of the files and hands over of them, and what is known of Python in each page. Never does:
make the files, or run a program. What a page does with them is written down in ``js/page/python_files.js``.

Neither the load nor the start of an interpreter is a program's running time: a pass begins when a Worker is ready for
it, which the page says. One is made for each pass that is about to begin, so passes begin one after the other.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.deno import find_deno
from codemode_jupyter.sandbox.page_channel import Content
from codemode_jupyter.sandbox.python.making import ensure_assets
from codemode_jupyter.sandbox.python.packed import PackedFile, packed_files
from codemode_jupyter.sandbox.worker_source import python_worker_parts

if TYPE_CHECKING:
    from codemode_jupyter.sandbox.election import Page
    from codemode_jupyter.sandbox.protocol import PackageFile
    from codemode_jupyter.sandbox.python.assets import PythonAssets

PIECE = 2**19
"""Bytes of a file in one message. Pings wait behind it: even on a slow line only for seconds."""

REMINDER = 5.0
"""Seconds of silence after which the page is asked again: messages get lost where a connection breaks."""

PATIENCE = 90.0
"""Seconds of silence after which the page counts as unable to have Python. Longer than the page waits for a piece."""

_MEGABYTE = 1_000_000
_WAYS = {"cache": "the page's store", "server": "the server", "kernel": "the kernel"}


class PythonInPage:
    """What is known of Python in one page."""

    def __init__(self) -> None:
        self.is_warm = False
        """Whether a Worker waits for a program."""
        self.ways: Mapping[str, int] = {}
        """How many bytes came by which way, once they have."""
        self.seconds = 0.0
        """How long that took."""
        self.packages: set[str] = set()
        """SHA-256 of the packages' files that are in the page."""
        self.turn = asyncio.Lock()
        self._has_news = asyncio.Event()
        self._news: dict[str, Any] = {}
        self._is_gone = False

    def hear(self, news: Any) -> None:
        """Take the page's news; see ``PythonNews`` in ``js/page/messages.js``."""
        if not isinstance(news, dict):
            return
        self._news = news
        if news.get("state") == "packages" and isinstance(files := news.get("files"), list):
            self.packages.update(one for one in files if isinstance(one, str))
        if news.get("state") == "warm":
            self.is_warm = True
            ways, seconds = news.get("ways"), news.get("seconds")
            if isinstance(ways, dict) and isinstance(seconds, int | float):
                self.ways = {_WAYS[way]: size for way, size in ways.items() if way in _WAYS and isinstance(size, int)}
                self.seconds = float(seconds)
        self._has_news.set()

    def come_back(self) -> None:
        """Note that the page has a sandbox, perhaps again."""
        self._is_gone = False

    def lose(self) -> None:
        """Note that the page is gone, or can run no programs."""
        self.is_warm = False
        self.packages.clear()
        self._is_gone = True
        self._has_news.set()

    async def wait(
        self, ask: Callable[[], None], tell: Callable[[str], None], packages: AbstractSet[str] = frozenset()
    ) -> bool:
        """Return whether a Worker waits for a program, and its packages are there, once that is so or the page is gone.

        Raises
        ------
        CodemodeError
            ``python_not_available``: the page says why, or says nothing.
        """
        asked_in_vain = 0.0
        self._news = {}
        if not (self._is_ready(packages) or self._is_gone):
            ask()
        while not (self._is_ready(packages) or self._is_gone):
            self._has_news.clear()
            try:
                await asyncio.wait_for(self._has_news.wait(), REMINDER)
            except TimeoutError:
                asked_in_vain += REMINDER
                if asked_in_vain >= PATIENCE:
                    raise _unavailable(f"the page has said nothing for {PATIENCE:g} s") from None
                ask()
                continue
            asked_in_vain = 0.0
            if self._news.get("state") == "cold":
                raise _unavailable(str(self._news.get("message", ""))[:500])
            tell(_in_words(self._news))
        return not self._is_gone

    def _is_ready(self, packages: AbstractSet[str]) -> bool:
        return self.is_warm and packages <= self.packages


@dataclass(frozen=True, slots=True)
class PythonFiles:
    """The files of one set, as pages are told of them and as they are handed over."""

    wire: Mapping[str, Any]
    packed: Mapping[str, PackedFile]

    @classmethod
    def of(cls, assets: PythonAssets) -> PythonFiles:
        """Return the files of a set; blocks."""
        packed = packed_files(assets)
        wire = {
            "digest": assets.folder.name,
            "parts": python_worker_parts(),
            "lock": (assets.folder / "lock.json").read_text(encoding="utf-8"),
            "files": [
                {"name": file.name, "size": file.size, "sha256": file.sha256, "path": file.path} for file in packed
            ],
        }
        return cls(wire, {file.name: file for file in packed})

    def piece(self, name: Any, start: Any) -> bytes | None:
        """Return a part of a file that a page asks for; ``None``: there is no such part."""
        file = self.packed.get(name) if isinstance(name, str) else None
        if file is None or not isinstance(start, int) or not 0 <= start < file.size:
            return None
        return file.data[start : start + PIECE]


class PythonForPages:
    """Python in the pages of one executor, whose id is ``owner`` and whose frames have ``policy``."""

    def __init__(self, owner: str, policy: str, send: Callable[[Content, Sequence[bytes] | None], None]) -> None:
        self._owner = owner
        self._policy = policy
        self._send = send
        self._files: PythonFiles | None = None
        self._packages: dict[str, PackageFile] = {}
        """What pages may ask for besides, by SHA-256."""

    async def find(self, tell: Callable[[str], None]) -> None:
        """Find the files, or have them made; at once but the first time.

        Raises
        ------
        CodemodeError
            ``python_not_available``: they can neither be found nor made.
        """
        if self._files is None:
            tell("Looking for Python…")
            assets = await asyncio.to_thread(ensure_assets, find_deno() or "deno")
            self._files = await asyncio.to_thread(PythonFiles.of, assets)

    @asynccontextmanager
    async def turn(
        self, page: Page, tell: Callable[[str], None], packages: Sequence[PackageFile] = ()
    ) -> AsyncIterator[bool]:
        """Wait until a Worker and ``packages`` are there for this pass, which begins in the block.

        ``False``: the page is gone.

        Raises
        ------
        CodemodeError
            ``python_not_available``
        """
        if page.python.turn.locked():
            tell("Starting Python…")
        async with page.python.turn:
            wanted = {one.sha256: one for one in packages}
            self._packages |= wanted

            def ask() -> None:
                self._ask(page)
                self._ask_for_packages(page, wanted)

            is_there = await page.python.wait(ask, tell, wanted.keys())
            page.python.is_warm = False
            yield is_there

    def hand_over(self, page: Page, content: Content) -> None:
        """Send a page the piece that it asks for, if it asks this executor."""
        name, start = content.get("file"), content.get("start")
        if self._files is None or content.get("of") != self._owner:
            return
        package = self._packages.get(name) if isinstance(name, str) else None
        piece = self._files.piece(name, start) if package is None else _piece_of(package, start)
        if piece is not None:
            self._say(page, "piece", [piece], file=name, start=start)

    def _ask(self, page: Page) -> None:
        if self._files is not None and not page.python.is_warm:
            self._say(page, "warm", None, policy=self._policy, files=self._files.wire)

    def _ask_for_packages(self, page: Page, packages: Mapping[str, PackageFile]) -> None:
        if missing := [packages[sha256] for sha256 in packages.keys() - page.python.packages]:
            files = [
                {"name": one.sha256, "size": Path(one.path).stat().st_size, "sha256": one.sha256} for one in missing
            ]
            self._say(page, "packages", None, policy=self._policy, files=files)

    def _say(self, page: Page, kind: str, buffers: Sequence[bytes] | None, **fields: object) -> None:
        self._send({"to": page.id, "owner": self._owner, "type": kind, **fields}, buffers)


def _piece_of(package: PackageFile, start: Any) -> bytes | None:
    """Return a part of a package's file; ``None``: there is no such part."""
    if not isinstance(start, int) or start < 0:
        return None
    with contextlib.suppress(OSError), Path(package.path).open("rb") as file:
        file.seek(start)
        return file.read(PIECE) or None
    return None


def _in_words(news: Mapping[str, Any]) -> str:
    with contextlib.suppress(KeyError, TypeError):
        if news["state"] == "loading":
            done, total = (size / _MEGABYTE for size in (news["done"], news["total"]))
            what = "packages" if news.get("what") == "packages" else "Python"
            return f"Loading {what}… {done:.0f} of {total:.0f} MB"
    return "Starting Python…"


def _unavailable(why: str) -> CodemodeError:
    return CodemodeError(
        "python_not_available",
        f"Python cannot be had in the page: {why}.",
        hint="Reload the page and run the program again; `%codemode doctor` tells more. "
        "DenoExecutor() runs programs in Python without the page.",
    )
