"""The globals that a program calls: one object for each connector, and ``codemode``.

Owns: their shape, and the errors that failed calls raise. Never does: decide anything; a call goes to the Worker's
runtime, which numbers it, serves it from the log or asks the kernel.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
import keyword
from collections.abc import Callable, Coroutine
from typing import Any

from .values import decode, encode


class ToolError(Exception):
    """A call that failed: in the tool, or because it was refused.

    ``code`` is a word for programs or ``None``, ``data`` what the tool added, ``name`` the error's own name.
    """

    __module__ = "__main__"  # where programs find it, and how tracebacks call it

    def __init__(self, message: str, *, name: str = "Error", code: str | None = None, data: Any = None) -> None:
        super().__init__(message)
        self.name = name
        self.code = code
        self.data = data


class Calls:
    """The calls under way: numbers them for the bridge and hands each its outcome."""

    def __init__(self, bridge: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._bridge = bridge
        self._issue = bridge.call  # found once: every look at an object of JavaScript costs as much as a call
        self._loop = loop
        self._futures: dict[int, asyncio.Future[str]] = {}
        self._last = 0
        self._step_numbers: set[int] = set()
        self._steps: dict[int, Callable[[], Any]] = {}

    def call(self, connector: str, method: str, arguments: str) -> Coroutine[Any, Any, Any]:
        """Return the coroutine of a call, whose value is the call's."""
        return named(self._call(connector, method, arguments), f"{connector}.{method}")

    async def _call(self, connector: str, method: str, arguments: str) -> Any:
        return decode(await self._made(lambda number: self._issue(number, connector, method, arguments)))

    async def step(self, name: str, run: Callable[[], Any]) -> Any:
        """Have ``run`` run once, or its recorded value."""

        def begin(number: int) -> None:
            self._steps[number] = run
            self._step_numbers.add(number)
            self._bridge.step(number, name)

        return decode(await self._made(begin))

    async def run_javascript(self, snippet: str, given: str) -> Any:
        """Run a snippet in JavaScript; both are tagged texts."""
        return decode(await self._made(lambda number: self._bridge.runSnippet(number, snippet, given)))

    def function_of_step(self, number: int) -> Callable[[], Any]:
        """Return the function of a step that is to run now."""
        return self._steps.pop(number)

    async def _made(self, begin: Callable[[int], None]) -> str:
        self._last += 1
        future = self._futures[self._last] = self._loop.create_future()
        begin(self._last)
        return await future

    def deliver(self, number: int, text: str, failed: bool) -> None:  # noqa: FBT001  called from JavaScript
        """Hand a call its outcome."""
        future = self._futures.pop(number)
        if number in self._step_numbers:
            self._step_numbers.discard(number)
            # What a step left behind is garbage of one pass alone; the next collection is to come as in all others.
            gc.collect()
        if future.done():  # its task was cancelled
            return
        if failed:
            future.set_exception(tool_error(text))
        else:
            future.set_result(text)


def named(coroutine: Any, name: str) -> Coroutine[Any, Any, Any]:
    """Return a coroutine that is called ``name`` in what is said of it."""
    coroutine.__qualname__ = name
    return coroutine


def tool_error(text: str) -> ToolError:
    """Return the error that the tagged text of a failed call stands for."""
    fields = decode(text)
    if not isinstance(fields, dict):
        return ToolError(str(fields))
    data = fields.get("data")
    code = data.get("code") if isinstance(data, dict) else None
    return ToolError(str(fields.get("message", "")), name=str(fields.get("name", "Error")), code=code, data=data)


class Connector:
    """One connector: every attribute is a method, whose call the kernel judges."""

    def __init__(self, calls: Calls, name: str, methods: tuple[str, ...] = ()) -> None:
        self._calls = calls
        self._name = name
        self._methods = methods
        self._written = {name_in_python(method): method for method in methods}

    def __getattr__(self, method: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        if method.startswith(("__", "_repr_", "_ipython_")):
            raise AttributeError(method)
        return self[self._written.get(method, method)]

    def __getitem__(self, method: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        calls, connector = self._calls, self._name

        def call(*values: Any, **keywords: Any) -> Coroutine[Any, Any, Any]:
            text = encode_arguments(values, keywords, f"{connector}.{method}")
            return calls.call(connector, method, text)

        call.__name__ = call.__qualname__ = method
        return call

    def __dir__(self) -> list[str]:
        return list(self._written)

    def __repr__(self) -> str:
        return f"<connector {self._name}: {', '.join(self._methods)}>"


def name_in_python(name: str) -> str:
    """Return how a name that JavaScript takes is written in Python, as the stubs say it."""
    written = name.replace("$", "_")
    return f"{written}_" if keyword.iskeyword(written) else written


def encode_arguments(values: tuple[Any, ...], keywords: dict[str, Any], name: str) -> str:
    """Return the text of a call's arguments: one dict or keywords are an object, several values a list."""
    what = f"What was passed to {name}"
    if keywords:
        if len(values) == 1 and isinstance(values[0], dict):
            if twice := values[0].keys() & keywords.keys():
                raise TypeError(
                    f"{name} was given {', '.join(map(repr, sorted(twice)))} twice: in the dict, and by keyword"
                )
            values = ({**values[0], **keywords},)
        elif values:
            raise TypeError(f"{name} takes keywords or values, not both: write {name}(name=value, …)")
        else:
            values = (keywords,)
    while values and values[-1] is None:
        values = values[:-1]
    if not values:
        return "{}"
    if len(values) == 1:
        return encode(values[0], what)
    return f'{{"$type":"arguments","value":{encode(list(values), what)}}}'


class Codemode(Connector):
    """The built-in operations: ``search``, ``describe``, ``step``, ``run``."""

    def __init__(self, calls: Calls, run_snippet: Callable[[str, Any], Coroutine[Any, Any, Any]]) -> None:
        super().__init__(calls, "codemode", ("search", "describe", "step", "run"))
        self._run_snippet = run_snippet

    def search(self, query: str, limit: int | None = None) -> Coroutine[Any, Any, Any]:
        """Find methods and snippets by words."""
        given: tuple[Any, ...] = (query,) if limit is None else (query, {"limit": limit})
        return self._calls.call("codemode", "search", encode_arguments(given, {}, "codemode.search"))

    def describe(self, target: str) -> Coroutine[Any, Any, Any]:
        """Say how a connector, a method or a snippet is used."""
        return self._calls.call("codemode", "describe", encode_arguments((target, "python"), {}, "codemode.describe"))

    def step(self, name: str, function: Callable[[], Any]) -> Coroutine[Any, Any, Any]:
        """Run a function once; every pass gets the value it had."""
        if not isinstance(name, str) or not name or not callable(function):
            if inspect.iscoroutine(function):
                function.close()  # nobody will await it, and this says why
            raise TypeError(
                "codemode.step takes a name (text) and a function, not what it returns: codemode.step(name, function)"
            )
        return named(self._calls.step(name, function), "codemode.step")

    def run(self, name: str, input: Any = None) -> Coroutine[Any, Any, Any]:  # noqa: A002  as in JavaScript
        """Run a saved snippet inside this program."""
        return named(self._run_snippet(name, input), "codemode.run")
