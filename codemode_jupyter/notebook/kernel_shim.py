"""Comm messages during a running cell, for kernels that do not deliver them: ipykernel 6.29+ and 7.0 to 7.3.

Owns: a callback that stands in front of the kernel's shell stream. It takes the messages a page needs while an
``async`` cell awaits, and dispatches them on the kernel's loop; everything else goes on to the kernel untouched.
Never does: anything where the kernel has that branch itself (7.4 and later), or anything to messages for a subshell.

The kernel is told apart by its features, not by its version. All comms are taken, not only ours: with fewer, the
widgets of a page that is reloaded during a cell are not restored. The two requests are what such a page asks first.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import Any, Protocol

COMM_MESSAGES = frozenset({"comm_open", "comm_msg", "comm_close"})
"""Their handlers are synchronous and reply nothing: no status is published for them while a cell runs, which would cost
more than the message (measured: 55 ms a round trip instead of 3)."""

REQUESTS = frozenset({"comm_info_request", "kernel_info_request"})
"""Their handlers reply; front ends wait for the status that follows the reply."""


class CommShim:
    """Delivers comm messages to ``kernel`` at once, cell or no cell. Made by ``install``."""

    def __init__(self, kernel: Any, original: Callable[[Any], Any], loop: asyncio.AbstractEventLoop) -> None:
        self._kernel = kernel
        self._original = original
        self._loop = loop
        self._execute_request = kernel.shell_handlers["execute_request"]
        # The extension is loaded by a cell, and no one has seen that cell begin.
        self._cell_runs = True
        # 7.x keeps the request that is handled in a context variable, which the thread that reads the stream lacks.
        self._cell_context = copy_context()
        self._tasks: set[asyncio.Task[None]] = set()

    def install(self) -> None:
        """Stand in front of the shell stream."""
        self._kernel.shell_handlers["execute_request"] = self._execute
        self._kernel.shell.events.register("post_run_cell", self._loading_cell_ended)
        self._receive_by(self._take)

    def uninstall(self) -> None:
        """Give the shell stream back to the kernel."""
        self._receive_by(self._original)
        if self._kernel.shell_handlers["execute_request"] == self._execute:
            self._kernel.shell_handlers["execute_request"] = self._execute_request
        self._loading_cell_ended()

    def _receive_by(self, callback: Callable[[Any], Any]) -> None:
        """Set the callback of the shell stream, in the thread that reads it."""
        stream = self._kernel.shell_stream
        thread = getattr(self._kernel, "shell_channel_thread", None)
        if thread is None:
            stream.on_recv(callback, copy=False)
        else:
            thread.io_loop.add_callback(partial(stream.on_recv, callback, copy=False))

    def _loading_cell_ended(self, *_: Any) -> None:
        callbacks = self._kernel.shell.events
        if self._loading_cell_ended in callbacks.callbacks["post_run_cell"]:
            callbacks.unregister("post_run_cell", self._loading_cell_ended)
            self._cell_runs = False

    async def _execute(self, stream: Any, ident: Any, parent: Any) -> None:
        """Handle ``execute_request`` as the kernel does, and know from begin to end that a cell runs."""
        on_main_thread = threading.current_thread() is threading.main_thread()  # subshells have cells of their own
        if on_main_thread:
            self._cell_runs = True
            self._cell_context = copy_context()
        try:
            await self._execute_request(stream, ident, parent)
        finally:
            if on_main_thread:
                self._cell_runs = False

    def _take(self, message: Any) -> Any:
        """Receive one message of the shell stream, in the thread that reads it."""
        try:
            _, frames = self._kernel.session.feed_identities(message, copy=False)
            header = self._kernel.session.deserialize(frames, content=False, copy=False)["header"]
            ours = header["msg_type"] in COMM_MESSAGES | REQUESTS and not header.get("subshell_id")
        except Exception:  # noqa: BLE001  whatever is wrong with the message is for the kernel to say
            ours = False
        if not ours:
            return self._original(message)
        self._loop.call_soon_threadsafe(self._begin_dispatch, message, context=self._cell_context)
        return None

    def _begin_dispatch(self, message: Any) -> None:
        task = self._loop.create_task(self._dispatch(message))  # tasks begin in the order in which they were made
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _dispatch(self, message: Any) -> None:
        if self._cell_runs:
            await self._dispatch_beside_cell(message)
        else:
            await self._kernel.dispatch_shell(message)

    async def _dispatch_beside_cell(self, frames: Any) -> None:
        """Run the handler of one message, and leave the running cell its parent, interrupt handler and status."""
        kernel = self._kernel
        cell_ident, cell_parent = kernel._parent_ident["shell"], kernel.get_parent("shell")  # noqa: SLF001  no public way
        try:
            ident, frames = kernel.session.feed_identities(frames, copy=False)
            message = kernel.session.deserialize(frames, content=True, copy=False)
            message_type = message["header"]["msg_type"]
            kernel.set_parent(ident, message, channel="shell")
            if message_type in REQUESTS:
                kernel._publish_status("busy", "shell")  # noqa: SLF001  as the kernel itself does for every message
            result = kernel.shell_handlers[message_type](self._reply_stream(), ident, message)
            if inspect.isawaitable(result):
                await result
            if message_type in REQUESTS:
                kernel._publish_status("idle", "shell")  # noqa: SLF001
        except Exception:
            kernel.log.exception("Exception in message handler:")
        finally:
            kernel.set_parent(cell_ident, cell_parent, channel="shell")

    def _reply_stream(self) -> Any:
        thread = getattr(self._kernel, "shell_channel_thread", None)
        return thread.manager.get_subshell_to_shell_channel_socket(None) if thread else self._kernel.shell_stream


class Installed(Protocol):
    """What `install` returns."""

    def uninstall(self) -> None:
        """Undo the installation."""


def needs_shim(kernel: Any) -> bool:
    """Tell whether ``kernel`` is an ipykernel that holds comm messages back while a cell awaits."""
    return (
        hasattr(kernel, "shell_handlers")
        and getattr(kernel, "shell_stream", None) is not None
        and "concurrent" not in inspect.signature(kernel.dispatch_shell).parameters
    )


def is_installed(kernel: Any) -> bool:
    """Tell whether a shim stands in front of ``kernel``."""
    handler = getattr(kernel, "shell_handlers", {}).get("execute_request")
    return isinstance(getattr(handler, "__self__", None), CommShim)


def install(kernel: Any) -> Installed | None:
    """Install the shim on the running loop, where ``kernel`` needs it.

    Returns
    -------
    CommShim or None
        ``None`` where nothing was needed or nothing fits: the kernel then works as it did.
    """
    if not needs_shim(kernel):
        return None
    if getattr(kernel, "shell_channel_thread", None) is not None:  # 7.x: a thread reads the stream
        original: Callable[[Any], Any] = kernel.shell_channel_thread_main
    elif hasattr(kernel, "schedule_dispatch"):  # 6.x: one queue for all messages
        original = partial(kernel.schedule_dispatch, kernel.dispatch_shell)
    else:
        return None
    shim = CommShim(kernel, original, asyncio.get_running_loop())
    shim.install()
    return shim
