"""The session of a connector: up when it is needed, made anew when it was lost.

Owns: one connection for each event loop, the pause after a failed try, and what is said when there is no connection.
Never does: repeat a call.
"""

from __future__ import annotations

import asyncio
import time
from typing import Protocol
from weakref import WeakKeyDictionary

from mcp import ClientSession, MCPError

from codemode_jupyter.connectors.mcp.connection import Callbacks, Connection, leaves
from codemode_jupyter.connectors.mcp.transport import Server
from codemode_jupyter.connectors.redaction import Redactor
from codemode_jupyter.errors import CodemodeError

RETRY_SECONDS = 1.0
"""After a failed try to connect, the next one is made this much later at the earliest."""

_LONGEST = 500


class Sessions(Protocol):
    """Where a connector gets its session."""

    name: str
    redaction: Redactor

    async def session(self) -> ClientSession:
        """Return the session, connected."""

    def lost(self) -> None:
        """Give the session up: the server does not know it any more."""

    async def close(self) -> None:
        """Let go of it."""


class SessionKeeper:
    """The session with a server that this connector connects to itself.

    ``connects`` counts the connections so far. ``seconds`` is how long connecting may take.
    """

    def __init__(self, connector: str, server: Server, callbacks: Callbacks, seconds: float) -> None:
        self._connector = connector
        self._server = server
        self._callbacks = callbacks
        self._seconds = seconds
        self._connections: WeakKeyDictionary[asyncio.AbstractEventLoop, Connection] = WeakKeyDictionary()
        self._failure: tuple[float, CodemodeError] | None = None
        self.name = server.name
        self.redaction = server.redaction
        self.connects = 0

    async def session(self) -> ClientSession:
        """Return the session, connected.

        Raises
        ------
        CodemodeError
            ``connector_failed``: the server cannot be reached. Nothing was called.
        """
        loop = asyncio.get_running_loop()
        connection = self._connections.get(loop)
        if connection is None or connection.is_over:
            if self._failure is not None and time.monotonic() - self._failure[0] < RETRY_SECONDS:
                raise self._failure[1]
            connection = self._connections[loop] = Connection(self._server, self._callbacks)
            self.connects += 1
        try:
            session = await connection.session(self._seconds)
        except Exception as error:  # noqa: BLE001  a server can fail in any way
            refusal = self._refusal(error)
            self._failure = (time.monotonic(), refusal)
            raise refusal from None  # the cause may name what is secret
        self._failure = None
        return session

    def lost(self) -> None:
        """Give the connection up."""
        connection = self._connections.pop(asyncio.get_running_loop(), None)
        if connection is not None:
            connection.end()

    async def close(self) -> None:
        """End the connection of this loop and wait until it has; those of other loops end soon."""
        here = asyncio.get_running_loop()
        for loop, connection in list(self._connections.items()):
            if loop is here:
                await connection.close()
            elif not loop.is_closed():
                loop.call_soon_threadsafe(connection.end)
        self._connections.clear()
        self._failure = None

    def _refusal(self, error: BaseException) -> CodemodeError:
        why = f"it did not answer within {self._seconds:g} s" if isinstance(error, TimeoutError) else _reason(error)
        words = self._server.last_words()
        said = f" It said: {words[-_LONGEST:]}" if words else ""
        return CodemodeError(
            "connector_failed",
            f'Connector "{self._connector}" cannot reach its MCP server ({self.name}): '
            f"{self.redaction.text(why)[:_LONGEST]}.{said}",
            hint="Check the command or address and that it runs; the next use connects anew.",
        )


class GivenSession:
    """A session that somebody else made, entered, and will leave."""

    def __init__(self, connector: str, session: ClientSession) -> None:
        self._connector = connector
        self._session = session
        self._starting = asyncio.Lock()
        self.name = "a session of your own"
        self.redaction = Redactor()

    async def session(self) -> ClientSession:
        """Return it, initialized.

        Raises
        ------
        CodemodeError
            ``connector_failed``
        """
        async with self._starting:
            if self._session.protocol_version is None:
                try:
                    await self._session.initialize()
                except Exception as error:
                    raise CodemodeError(
                        "connector_failed",
                        f'Connector "{self._connector}" cannot use the session it was given: {_reason(error)}.',
                        hint="Enter the session (`async with`) before the connector uses it.",
                    ) from error
        return self._session

    def lost(self) -> None:
        """Do nothing: it is its owner's."""

    async def close(self) -> None:
        """Do nothing: it is its owner's."""


def _reason(error: BaseException) -> str:
    """Return why connecting failed, in few words."""
    leaf = next(leaves(error))
    match leaf:
        case FileNotFoundError():
            return "there is no such command or working directory"
        case PermissionError():
            return "the command may not be run"
        case MCPError():
            return leaf.message.rstrip(".") or "it refused"
        case _:
            text = str(leaf).splitlines()
            return f"{type(leaf).__name__}: {text[0].rstrip('.')}" if text and text[0] else type(leaf).__name__
