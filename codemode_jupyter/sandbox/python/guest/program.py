"""One pass of a Python program: begin it, hand it what happens, say what came of it.

Owns: the program's globals, its main task, and snippets in Python, also those that a JavaScript program runs. The
Worker's runtime calls ``start`` or ``run_snippet``, then ``deliver``, ``fire`` and ``run_step``.
"""

from __future__ import annotations

import asyncio
import builtins
import gc
import importlib
import inspect
import json
import random
import sys
import types
from typing import Any

from . import console, failures, forgotten, tracebacks
from .connectors import Calls, Codemode, Connector, ToolError, encode_arguments
from .fetch import Fetch
from .loop import SandboxLoop
from .modules import GivenModules
from .refusals import install_refusals
from .source import compile_program
from .values import NOTHING, decode, encode


class Pass:
    """A program that runs; ``begun`` is JSON of its seed, namespaces and modules, and whether it has ``fetch``."""

    def __init__(self, bridge: Any, begun: str) -> None:
        self._bridge = bridge
        self._loop = SandboxLoop(bridge, self._report, self._fail)
        self._calls = Calls(bridge, self._loop)
        self._globals: dict[str, Any] = {"ToolError": ToolError}
        self._tasks: set[asyncio.Task[None]] = set()
        self._prepare(json.loads(begun))

    def _prepare(self, begun: dict[str, Any]) -> None:
        gc.freeze()  # what the snapshot holds is no garbage: only the program's own objects are looked at
        console.install_console(self._bridge)
        tracebacks.install_tracebacks()
        install_refusals()
        random.seed(int(begun["seed"], 16))
        asyncio.set_event_loop(self._loop)
        self._loop.watch_generators()
        asyncio._set_running_loop(self._loop)  # noqa: SLF001  the loop runs from here to the program's end
        for name, methods in begun["namespaces"]:
            self._globals[name] = Connector(self._calls, name, tuple(methods))
        self._globals["codemode"] = Codemode(self._calls, self._run_snippet)
        if begun["fetch"]:
            self._globals["fetch"] = Fetch(self._calls, self._bridge)
        GivenModules(dict(begun["modules"]), self._globals).install()

    def start(self, source: str) -> None:
        """Begin the program."""
        self._start(self._run_program(source))

    def run_snippet(self, number: int, source: str, name: str, given: str) -> None:
        """Run a snippet for a program in JavaScript; ``given`` is the tagged text of its input."""
        self._start(self._serve_snippet(number, source, name, given))

    def deliver(self, number: int, text: str, failed: bool) -> None:  # noqa: FBT001  called from JavaScript
        """Hand a call its outcome and let the program go on."""
        self._calls.deliver(number, text, failed)
        self._loop.turn()

    def fire(self, timer: int) -> None:
        """Let a timer fire and the program go on."""
        self._loop.fire(timer)

    def run_step(self, number: int) -> None:
        """Run the function of a step; it draws random numbers of its own, and nothing of the program is freed by it."""
        gc.disable()
        self._start(self._step(number, self._calls.function_of_step(number)))

    def _start(self, work: Any) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._loop.turn()

    async def _run_program(self, source: str) -> None:
        try:
            try:
                value = await self._evaluate(source, tracebacks.PROGRAM_FILE, None)
            finally:
                await self._loop.shutdown_asyncgens()
            text = encode(value, "The result")
        except BaseException as error:  # noqa: BLE001  whatever it was ends the program
            self._fail(error)
        else:
            forgotten.warn(self._loop, asyncio.current_task())
            console.flush_console()
            self._bridge.finish(text)

    def _fail(self, error: BaseException) -> None:
        console.flush_console()
        if (story := failures.story(error)) is not None:
            self._bridge.print("error", story)
        self._bridge.fail(failures.failure(error))

    async def _evaluate(self, source: str, filename: str, given: Any) -> Any:
        module = types.ModuleType("__main__")
        space = module.__dict__
        space["__builtins__"] = builtins
        space.update(self._globals)
        space["__import_all__"] = lambda name: _import_all(space, name)
        space["__value__"] = lambda value: _value(value, given)
        space["__call__"] = lambda value: _value(value, given)
        if filename != tracebacks.PROGRAM_FILE:
            space["input"] = given
        else:
            sys.modules["__main__"] = module  # where classes of the program say they come from
        tracebacks.remember(filename, source)
        return await types.FunctionType(compile_program(source, filename), space)()

    async def _run_snippet(self, name: str, given: Any) -> Any:
        text = encode_arguments((name, given), {}, "codemode.run")
        snippet = await self._calls.call("codemode", "run", text)
        # The input as the log has it, so that the snippet shares no object with its caller.
        given_text = NOTHING if given is None else encode(given, "The input")
        if snippet.get("language") != "python":
            return await self._calls.run_javascript(json.dumps(snippet), given_text)
        return await self._evaluate(snippet["source"], snippet_file(name), decode(given_text))

    async def _serve_snippet(self, number: int, source: str, name: str, given: str) -> None:
        try:
            value = await self._evaluate(source, snippet_file(name), decode(given))
            text = encode(value, f'What the snippet "{name}" returned')
        except BaseException as error:  # noqa: BLE001  whatever it was is the snippet's outcome
            console.flush_console()
            self._bridge.snippetFailed(number, json.loads(failures.failure(error))["error"])
        else:
            console.flush_console()
            self._bridge.snippetDone(number, text)

    async def _step(self, number: int, run: Any) -> None:
        state = random.getstate()
        random.seed()
        try:
            value = run()
            if inspect.isawaitable(value):
                value = await value
            text = encode(value, "The result of a step")
        except BaseException as error:  # noqa: BLE001  a step's error is its outcome
            gc.enable()
            random.setstate(state)
            self._bridge.stepFailed(number, json.loads(failures.failure(error))["error"])
        else:
            gc.enable()
            random.setstate(state)
            self._bridge.stepDone(number, text)

    def _report(self, message: str, error: BaseException | None) -> None:
        self._bridge.print("error", message if error is None else f"{message}:\n{tracebacks.told(error)}")


def snippet_file(name: str) -> str:
    """Return the name of a snippet's file in tracebacks."""
    return f"snippet-{''.join(one if one.isalnum() or one in '-_.' else '_' for one in name)}.py"


async def _value(value: Any, given: Any) -> Any:
    """Return what an expression comes to: functions are called with the input, coroutines awaited."""
    if inspect.isfunction(value):
        parameters = inspect.signature(value).parameters.values()
        required = [
            one
            for one in parameters
            if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
        ]
        if len(required) > 1:
            raise TypeError(
                f"{value.__name__}() takes {len(required)} arguments; a program is called with its input alone."
            )
        value = value(given) if required or (parameters and given is not None) else value()
    if inspect.isawaitable(value):
        value = await value
    return value


def _import_all(space: dict[str, Any], name: str) -> None:
    module = importlib.import_module(name)
    names = getattr(module, "__all__", None) or [one for one in vars(module) if not one.startswith("_")]
    space.update({one: getattr(module, one) for one in names})


def make(bridge: Any, begun: str) -> Pass:
    """Return a pass in which nothing runs yet."""
    return Pass(bridge, begun)
