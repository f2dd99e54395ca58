"""One connection to a server, from its first message to its end, in a task of its own.

Owns: the SDK's client, entered and left in one task (anyio asks for that), and learning of its end. Never does:
connect a second time (``keeper.py``), or know of tools.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Self

import anyio
import mcp_types as types
from mcp import Client, ClientSession, MCPError
from mcp.client.session import ElicitationFnT, LoggingFnT
from mcp.shared.message import SessionMessage
from mcp_types import METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from codemode_jupyter.connectors.mcp.mending import mended
from codemode_jupyter.connectors.mcp.sdk_log import keep_values_out
from codemode_jupyter.connectors.mcp.transport import Server, Streams

CLOSE_SECONDS = 8.0
"""How long the end of a connection is waited for."""

_CLIENT = types.Implementation(name="codemode-jupyter", version="0.1.0")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Callbacks:
    """What a server tells and asks by itself."""

    elicit: ElicitationFnT
    log: LoggingFnT
    tools_changed: Callable[[], None]


class Connection:
    """A connection that is being made, is up, or is over. Made on the loop where it lives."""

    def __init__(self, server: Server, callbacks: Callbacks) -> None:
        self._server = server
        self._callbacks = callbacks
        self._closing = asyncio.Event()
        keep_values_out()
        self._ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        # No call's context: what the connection does belongs to none.
        self._task = asyncio.create_task(self._live(), name=f"MCP: {server.name}", context=contextvars.Context())

    @property
    def is_over(self) -> bool:
        """Whether it is of no more use."""
        return self._task.done() or self._closing.is_set()

    async def session(self, seconds: float) -> ClientSession:
        """Return the session once it is up.

        Raises
        ------
        TimeoutError
            It was not up in time; the connection is closed.
        Exception
            Whatever kept it from coming up.
        """
        try:
            async with asyncio.timeout(seconds):
                return (await asyncio.shield(self._ready)).session
        except TimeoutError:
            self._task.cancel()
            raise

    def end(self) -> None:
        """Have it end soon."""
        self._closing.set()

    async def close(self) -> None:
        """End it and wait until it has."""
        self.end()
        if not self._ready.done():
            self._task.cancel()
        done, _ = await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)
        if not done:
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)

    async def _live(self) -> None:
        try:
            try:
                await self._hold("legacy")
            except Exception as error:
                if self._ready.done() or not _is_of_another_age(error):
                    raise
                self._closing.clear()
                await self._hold("auto")
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001  whoever waits for the session is told; afterwards it is only an end
            if not self._ready.done():
                self._ready.set_exception(error)
            else:
                _log.info("The connection to %s ended: %s", self._server.name, type(error).__name__)
        finally:
            self._closing.set()
            if not self._ready.done():
                self._ready.set_exception(ConnectionError("the connection ended before it was up"))
            self._ready.exception()  # seen, also when nobody waits for the session any more

    async def _hold(self, mode: str) -> None:
        """Connect, and stay connected until the end.

        The handshake of the revisions up to 2025-11-25 is tried first: there servers can ask and tell at any time.
        """
        async with self._client(mode) as client, anyio.create_task_group() as beside:
            await self._subscribe(client, beside)
            self._ready.set_result(client)
            await self._closing.wait()
            beside.cancel_scope.cancel()

    def _client(self, mode: str) -> Client:
        return Client(
            _watched(self._server.open, self.end),
            mode=mode,
            cache=None,
            client_info=_CLIENT,
            elicitation_callback=self._callbacks.elicit,
            logging_callback=self._callbacks.log,
            log_level="info",
            message_handler=self._on_message,
        )

    async def _on_message(self, message: types.ServerNotification | Exception) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._callbacks.tools_changed()

    async def _subscribe(self, client: Client, beside: anyio.abc.TaskGroup) -> None:
        """Ask for changes of the list of tools and for messages, as the revision of the protocol has it."""
        capabilities = client.server_capabilities
        if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
            if capabilities.tools is not None and capabilities.tools.list_changed:
                beside.start_soon(self._hear_changes, client)
        elif capabilities.logging is not None:
            with suppress(MCPError):
                level = types.SetLevelRequest(params=types.SetLevelRequestParams(level="info"))
                await client.session.send_request(level, types.EmptyResult)

    async def _hear_changes(self, client: Client) -> None:
        with suppress(MCPError, RuntimeError):
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self._callbacks.tools_changed()


def leaves(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors of a group, however deep; an error that is no group is its own leaf."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves(inner)
    else:
        yield error


def _is_of_another_age(error: BaseException) -> bool:
    """Tell whether a server refused the handshake because it knows only newer revisions, which have none."""
    codes = (METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION)
    return any(isinstance(leaf, MCPError) and leaf.code in codes for leaf in leaves(error))


@asynccontextmanager
async def _watched(
    open_: Callable[[], AbstractAsyncContextManager[Streams]], on_end: Callable[[], None]
) -> AsyncIterator[Streams]:
    async with open_() as (read, write):
        yield _WatchedStream(read, on_end), write


class _WatchedStream:
    """A stream of messages that tells its end, and mends what it can; the SDK asks for ``last_context``."""

    def __init__(self, stream: Any, on_end: Callable[[], None]) -> None:
        self._stream = stream
        self._on_end = on_end

    @property
    def last_context(self) -> contextvars.Context | None:
        context = getattr(self._stream, "last_context", None)
        return context if isinstance(context, contextvars.Context) else None

    async def receive(self) -> SessionMessage | Exception:
        try:
            received: SessionMessage | Exception = await self._stream.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            self._on_end()
            raise
        if isinstance(received, SessionMessage):
            received.message = mended(received.message)
        return received

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> _WatchedStream:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
