"""A small kernel for the tests of the sandbox: it keeps a log as the runtime does, and answers calls with functions."""

import asyncio
import json
import secrets
from dataclasses import dataclass, field

from codemode_jupyter.program import ModuleSet
from codemode_jupyter.sandbox.protocol import (
    STEP_CONNECTOR,
    ModuleText,
    Namespace,
    PassRequest,
    RecordedCall,
    Reply,
)

CLOCK = 1_700_000_000_000
SEED = "00112233445566778899aabbccddeeff"


class Later:
    """An answer that is given ``seconds`` after the call."""

    def __init__(self, seconds, value):
        self.seconds, self.value = seconds, value


class Fails:
    """An answer that makes the call fail."""

    def __init__(self, message, name="Error", **data):
        error = {"name": name, "message": message}
        self.text = json.dumps({"$type": "error", "value": error | ({"data": data} if data else {})})


class Text:
    """An answer that is given as its tagged text."""

    def __init__(self, text):
        self.text = text


GATED = object()
"""The answer to a call that waits for a person."""


@dataclass
class Entry:
    """One call of the log."""

    seq: int
    connector: str
    method: str
    arguments: str
    state: str = "open"
    outcome: str | None = None
    token: str | None = None


@dataclass
class Kernel:
    """One execution: run it with ``run``, approve what waits with ``approve``, run it again.

    ``tools`` maps "connector.method" to a function of the arguments; it returns a JSON value, or one of the answers
    above.
    """

    source: str
    tools: dict = field(default_factory=dict)
    line_offset: int = 0
    timeout: float = 10
    fetch: bool = False
    modules: dict = field(default_factory=dict)
    namespaces: tuple = (Namespace("it", ("echo", "gated", "later", "fails")),)
    log: dict = field(default_factory=dict)
    events: tuple = ()
    clock: float = CLOCK
    lines: list = field(default_factory=list)
    asked: list = field(default_factory=list)
    batches: int = 0
    steps: list = field(default_factory=list)
    passes: list = field(default_factory=list)
    prepared: list = field(default_factory=list)
    link: object = None
    waiting: int = 0
    all_answered: asyncio.Event = field(default_factory=asyncio.Event)
    on_calls: object = None
    language: str = "javascript"
    packages: tuple = ()

    async def run(self, executor):
        """Run one pass, and wait for the tools that it left running."""
        self.lines, self.asked, self.batches, self.link = [], [], 0, None
        calls = tuple(
            RecordedCall(e.seq, e.connector, e.method, e.arguments, e.state if e.outcome else "open", e.outcome)
            for e in sorted(self.log.values(), key=lambda entry: entry.seq)
        )
        request = PassRequest(
            "execution",
            self.source,
            self.line_offset,
            self.namespaces,
            self.clock,
            SEED,
            self.timeout,
            language=self.language,
            calls=calls,
            events=self.events,
            fetch=self.fetch,
            modules=[ModuleText(m.name, m.source, m.line_offset) for m in ModuleSet(self.modules)],
            packages=self.packages,
        )
        end = await executor.run_pass(request, self)
        if end.kind in ("completed", "failed", "paused"):
            self._tell(end)
            self.events = self.told
        self.lines.extend(end.console)
        self.passes.append(end)
        while self.waiting:
            self.all_answered.clear()
            await self.all_answered.wait()
        return end

    async def run_to_end(self, executor, *, passes=20):
        """Run, approving whatever waits, until the program ends."""
        for _ in range(passes):
            end = await self.run(executor)
            if end.kind != "paused":
                return end
            self.approve()
        raise AssertionError("the program pauses without end")

    def approve(self):
        """Let every call that waits be applied."""
        for entry in self.log.values():
            if entry.state == "pending":
                entry.state, entry.outcome = "applied", '"approved"'

    def approve_first(self):
        """Let the first call that waits be applied."""
        entry = next(entry for entry in self.log.values() if entry.state == "pending")
        entry.state, entry.outcome = "applied", '"approved"'

    def _tell(self, message):
        position = len(self.told)
        self.told = (*self.told, *self.events[position : position + message.replayed], *message.events)

    # The pass's handler.

    def preparing(self, what):
        self.prepared.append(what)

    def started(self, link):
        self.link, self.told = link, ()

    def calls(self, batch):
        self.batches += 1
        self._tell(batch)
        if self.on_calls is not None:
            self.on_calls(batch)
        self.link.reply([reply for call in batch.calls if (reply := self._answer(call)) is not None])

    def step_result(self, result):
        entry = self.log[result.seq]
        assert entry.token == result.token
        self.steps.append(entry.method)
        entry.state = "applied" if result.error is None else "failed"
        entry.outcome = result.value if result.error is None else result.error
        self.link.reply([self._reply(entry)])

    def console(self, lines):
        self.lines.extend(lines)

    def _answer(self, call):
        self.asked.append(call)
        entry = self.log.setdefault(call.seq, Entry(call.seq, call.connector, call.method, call.arguments))
        if entry.outcome is not None or entry.state == "pending":
            return self._reply(entry)
        if call.connector == STEP_CONNECTOR:
            entry.token = secrets.token_hex(8)
            return Reply(call.seq, "run", token=entry.token)
        answer = self._call(call)
        if answer is GATED:
            entry.state = "pending"
            return Reply(call.seq, "pending")
        if isinstance(answer, Later):
            self.waiting += 1
            asyncio.get_running_loop().call_later(answer.seconds, self._answer_late, entry, answer.value, self.link)
            return None
        self._record(entry, answer)
        return self._reply(entry)

    def _answer_late(self, entry, value, link):
        self.waiting -= 1
        self.all_answered.set()
        self._record(entry, value)
        link.reply([self._reply(entry)])

    def _call(self, call):
        arguments = json.loads(call.arguments)
        tool = self.tools.get(f"{call.connector}.{call.method}", _TOOLS.get(call.method))
        if tool is None:
            return Fails(f"Tool {call.method!r} not found on {call.connector}", code="unknown_tool")
        if tool is _TOOLS["echo"]:
            return Text(call.arguments)
        return tool(arguments)

    @staticmethod
    def _record(entry, answer):
        if isinstance(answer, Fails):
            entry.state, entry.outcome = "failed", answer.text
        else:
            entry.state = "applied"
            entry.outcome = answer.text if isinstance(answer, Text) else json.dumps(answer)

    @staticmethod
    def _reply(entry):
        if entry.state == "pending":
            return Reply(entry.seq, "pending")
        key = "value" if entry.state == "applied" else "error"
        return Reply(entry.seq, entry.state, **{key: entry.outcome})


_TOOLS = {
    "echo": lambda _: None,
    "gated": lambda _: GATED,
    "later": lambda arguments: Later(arguments["ms"] / 1000, arguments),
    "fails": lambda arguments: Fails(arguments.get("message", "boom"), arguments.get("name", "Error")),
}


async def evaluate(executor, source, **options):
    """Run a program and return its value as JSON data; fail the test when it does not complete."""
    kernel = Kernel(source, **options)
    end = await kernel.run(executor)
    assert end.kind == "completed", end
    return json.loads(end.value)


async def failure(executor, source, **options):
    """Run a program that fails and return (the fields of its error, the end)."""
    end = await Kernel(source, **options).run(executor)
    assert end.kind == "failed", end
    return json.loads(end.error)["value"], end
