"""The event loop of a program: its callbacks run in the Worker's turns, its timers are the Worker's timers.

Owns: the order of callbacks. Never does: wait. The Worker settles one call or fires one timer in each turn, live as in
a replay; all callbacks that become ready run before the turn is over, first come, first served. So what a program does
next depends on that one event alone. The clock is the program's.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextvars import Context
from typing import Any, NoReturn
from weakref import WeakValueDictionary

from .refusals import NO_NETWORK, NO_PROCESSES, NO_THREADS, RUNS_ALREADY


async def _without_network(*_: object, **__: object) -> NoReturn:
    raise OSError(NO_NETWORK)


async def _without_processes(*_: object, **__: object) -> NoReturn:
    raise OSError(NO_PROCESSES)


class _Timer(asyncio.TimerHandle):
    number: int


class SandboxLoop(asyncio.AbstractEventLoop):
    """An event loop without files, sockets, threads and processes.

    Parameters
    ----------
    bridge : object
        The Worker's runtime; ``addTimer(id, milliseconds)`` has ``fire(id)`` called later.
    report : callable
        Takes the text of what went wrong where nobody awaits it.
    leave : callable
        Takes a ``SystemExit`` or ``KeyboardInterrupt`` of any task: the program is over.
    """

    def __init__(
        self,
        bridge: Any,
        report: Callable[[str, BaseException | None], None],
        leave: Callable[[BaseException], None],
    ) -> None:
        self._bridge = bridge
        self._report = report
        self._leave = leave
        self._ready: deque[asyncio.Handle] = deque()
        self._timers: dict[int, asyncio.TimerHandle] = {}
        self._last_timer = 0
        self._is_turning = False
        self._task_factory: Any = None
        self._generators: WeakValueDictionary[int, Any] = WeakValueDictionary()
        self._last_generator = 0
        self._closing: dict[asyncio.Task[Any], None] = {}  # no set, whose order differs from pass to pass

    def turn(self) -> None:
        """Run what is ready until nothing is."""
        if self._is_turning:
            return
        self._is_turning = True
        try:
            while self._ready:
                handle = self._ready.popleft()
                if not handle.cancelled():
                    handle._run()  # noqa: SLF001  how an event loop runs a handle
        except (SystemExit, KeyboardInterrupt) as error:
            self._leave(error)
        finally:
            self._is_turning = False

    def fire(self, timer: int) -> None:
        """Run the callback of a timer, and what becomes ready by it."""
        handle = self._timers.pop(timer, None)
        if handle is not None and not handle.cancelled():
            self._ready.append(handle)
        self.turn()

    # Asynchronous generators, which are closed where they are left, or at the end

    def watch_generators(self) -> None:
        """Close every asynchronous generator that the program leaves before its end."""
        sys.set_asyncgen_hooks(firstiter=self._begin_generator, finalizer=self._close_generator)

    def _begin_generator(self, generator: AsyncGenerator[Any, Any]) -> None:
        self._last_generator += 1
        self._generators[self._last_generator] = generator

    def _close_generator(self, generator: AsyncGenerator[Any, Any]) -> None:
        task = self.create_task(generator.aclose())
        self._closing[task] = None
        task.add_done_callback(lambda done: self._closing.pop(done, None))

    async def shutdown_asyncgens(self) -> None:
        for generator in list(self._generators.values()):
            if not generator.ag_running:
                self._close_generator(generator)
        while self._closing:
            await asyncio.wait(list(self._closing))

    # What asyncio asks of a loop

    def time(self) -> float:
        return time.time()

    def call_soon(self, callback: Any, *args: Any, context: Context | None = None) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_soon_threadsafe(self, callback: Any, *args: Any, context: Context | None = None) -> asyncio.Handle:
        return self.call_soon(callback, *args, context=context)

    def call_later(
        self, delay: float, callback: Any, *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(self, when: float, callback: Any, *args: Any, context: Context | None = None) -> asyncio.TimerHandle:
        self._last_timer += 1
        handle = _Timer(when, callback, args, self, context)
        handle.number = self._last_timer
        self._timers[self._last_timer] = handle
        self._bridge.addTimer(self._last_timer, max(0.0, 1000 * (when - self.time())))
        return handle

    def _timer_handle_cancelled(self, handle: Any) -> None:
        if self._timers.pop(handle.number, None) is not None:
            self._bridge.clearTimer(handle.number)

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(self, coro: Coroutine[Any, Any, Any], **options: Any) -> asyncio.Task[Any]:
        if self._task_factory is not None:
            return self._task_factory(self, coro, **options)
        return asyncio.Task(coro, loop=self, **options)

    def set_task_factory(self, factory: Any) -> None:
        self._task_factory = factory

    def get_task_factory(self) -> Any:
        return self._task_factory

    def get_debug(self) -> bool:
        return False

    def set_debug(self, enabled: bool) -> None:  # noqa: FBT001  asyncio's own signature
        pass

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False

    def stop(self) -> None:
        raise RuntimeError("The event loop of a program cannot be stopped: return instead.")

    def close(self) -> None:
        pass

    def run_forever(self) -> None:
        raise RuntimeError(RUNS_ALREADY)

    def run_until_complete(self, future: Any) -> Any:
        if asyncio.iscoroutine(future):
            future.close()
        raise RuntimeError(RUNS_ALREADY)

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:  # noqa: ARG002  asyncio's own signature
        raise RuntimeError(NO_THREADS)

    create_connection = create_datagram_endpoint = create_server = _without_network
    create_unix_connection = create_unix_server = getaddrinfo = getnameinfo = _without_network
    sock_connect = sock_accept = sock_recv = sock_sendall = _without_network
    subprocess_exec = subprocess_shell = _without_processes

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:  # noqa: ASYNC109
        pass

    def get_exception_handler(self) -> Any:
        return None

    def set_exception_handler(self, handler: Any) -> None:
        pass

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        self._report(context.get("message", "An error that nobody awaited"), context.get("exception"))

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        exception = context.get("exception")
        if isinstance(exception, SystemExit | KeyboardInterrupt):
            return
        self.default_exception_handler(context)
