"""What the kernel and a sandbox say to each other: the types of one pass, and the executor's contract.

Owns: the shapes of every message of a pass and the ``Executor`` protocol.
Never does: approvals, storage, or trusting what a sandbox claims. The sandbox only *asks*; whoever
implements ``PassHandler`` (the runtime) decides.

The wire form
-------------
Every message is one JSON text. Values inside are themselves *tagged JSON texts* (strings holding
JSON), made once where the value lives and never re-encoded on the way. The tagged form is plain
JSON, except that an object with an own key ``$type`` is a tag::

    {"$type": "undefined"}
    {"$type": "number", "value": "NaN" | "Infinity" | "-Infinity" | "-0"}
    {"$type": "bigint", "value": "123"}
    {"$type": "date", "value": 1234.0 | null}            milliseconds since the epoch; null: an invalid Date
    {"$type": "map", "value": [[key, value], ...]}
    {"$type": "set", "value": [item, ...]}
    {"$type": "float", "value": "1.0"}                   from Python: a whole number that is a float
    {"$type": "tuple", "value": [item, ...]} / {"$type": "decimal", "value": "1.10"}           from Python
    {"$type": "datetime", "value": "2024-05-01T12:00:00.000001"}    from Python: what a Date cannot be
    {"$type": "python", "value": [kind, json, exact?]}   what only Python has a type for, and the JSON that others read:
        ["datetime" | "date" | "time" | "decimal" | "uuid", text], ["timedelta", ISO 8601 text, "<microseconds>"],
        ["tuple" | "set", [item, ...]], ["dict", {text: item, ...}, [key, ...]]
    {"$type": "bytes", "value": "<base64>"}              Uint8Array (other views arrive as their visible bytes)
    {"$type": "arraybuffer", "value": "<base64>"}
    {"$type": "regexp", "value": [source, flags]}
    {"$type": "error", "value": {"name", "message", "stack"?, "cause"?, "data"?}}
    {"$type": "function", "value": "<text>"} / {"$type": "symbol", "value": "<description>"}
    {"$type": "cycle"}                                   a reference to an ancestor
    {"$type": "object", "value": {...}}                  escape: a plain object that itself has a key "$type"

Sandbox to kernel::

    {"type": "calls", "calls": [{"seq", "connector", "method", "arguments"}], "replayed": int, "events": [...]}
    {"type": "step", "seq", "token", "value": text} or {"type": "step", "seq", "token", "error": text}
    {"type": "console", "lines": [[level, text], ...]}
    {"type": "done", "status": "completed" | "failed" | "paused" | "diverged" | "too_large" | "needs_python",
     "value": text | absent, "error": text | absent, "line"?, "column"?, "issued": int,
     "replayed": int, "events": [...], "lines": [...]}

Kernel to sandbox::

    {"type": "begin", "source", "line_offset", "namespaces": [[name, [method, ...]], ...],
     "calls": [[seq, connector, method, arguments, state, outcome text | null], ...], "events": [...],
     "clock": ms, "seed": hex, "language", "fetch": whether programs may make requests,
     "modules": [[name, source, line_offset], ...]}
    {"type": "replies", "replies": [{"seq", "state": "applied" | "failed" | "pending" | "run",
                                     "value"?, "error"?, "token"?}, ...]}

``arguments`` is the tagged text of the one argument; ``{}`` when there is none; and
``{"$type": "arguments", "value": [...]}`` when there are several.

``events`` is the order in which things happened to the program: ``["call", seq, clock]`` (the call's
promise settled) and ``["timer", id, clock]`` (a timer fired); clock in milliseconds. On replay they
happen again in that order, one per macrotask; of these a pass only tells how many did, ``replayed``,
each time before the new ones. In ``begin.calls`` the state is ``applied`` (outcome = value), ``failed``
(outcome = error) or ``open`` (no outcome yet: the sandbox asks the kernel again under the same
``seq``).

A step is a call to connector ``__step`` whose method is the step's name. The kernel answers ``run``
with a one-time token; the sandbox runs the function and sends ``step``; the kernel records it and
replies ``applied`` (the stored form) or ``failed``.
``codemode.search``, ``codemode.describe`` and ``codemode.run`` are calls to connector ``codemode``; the
value of ``run`` is ``{"source", "line_offset", "name"}`` of the snippet, and ``"language"`` where that is
not JavaScript; the sandbox evaluates it in the same program. A sandbox without Python that gets a snippet in it
ends its pass with ``needs_python``; the kernel repeats the pass in one that has both languages.

A request of ``fetch`` is a call to connector ``fetch`` whose method is the HTTP method; its argument is ``{"url",
"headers"?, "body"?}``, its value ``{"status", "statusText", "url", "redirected", "headers", "body"}``, with bodies as
text or bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol, TypeAlias

STEP_CONNECTOR = "__step"
"""Connector name under which steps are logged; no user connector may have it."""

CODEMODE_NAMESPACE = "codemode"
"""Connector name of the built-in operations: search, describe, run."""

FETCH_CONNECTOR = "fetch"
"""Connector name of requests; a global of JavaScript, so no user connector has it."""

Event: TypeAlias = tuple[Literal["call", "timer"], int, float]
"""(kind, seq of the call or id of the timer, program clock in milliseconds)."""

ConsoleLine: TypeAlias = tuple[Literal["log", "info", "debug", "warn", "error"], str]
"""(level, formatted text)."""


@dataclass(frozen=True, slots=True)
class Namespace:
    """One connector as the sandbox sees it: a global's name and the names of its methods."""

    name: str
    methods: tuple[str, ...]


class RecordedCall(NamedTuple):
    """A call of the log, handed to a pass so that it can be served without a round trip.

    A tuple in the order of ``begin.calls``, which can be thousands long.
    """

    seq: int
    connector: str
    method: str
    arguments: str
    state: Literal["applied", "failed", "open"]
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class ModuleText:
    """A module: ``source`` is an expression of a function that takes the importing function and gives the namespace."""

    name: str
    source: str
    line_offset: int


@dataclass(frozen=True, slots=True)
class PackageFile:
    """The file of a package that a program in Python may import: ``path`` is its place on the kernel's machine.

    ``place`` is where the sandbox unpacks it: ``site`` beside other packages, ``dynlib`` beside shared libraries.
    """

    name: str
    sha256: str
    path: str
    place: Literal["site", "dynlib"] = "site"


@dataclass(frozen=True, slots=True)
class PassRequest:
    """Everything a sandbox needs to run one pass from the first line.

    ``source`` is an expression that evaluates to a function, or, where ``language`` is ``python``, the program's text;
    line ``n`` of it is line ``n - line_offset`` of what the author wrote.
    ``clock`` is the program's start time in ms since the epoch, ``seed`` 32 hex digits,
    ``timeout`` the allowed running time in seconds (time spent waiting for the kernel's tools does not count).
    ``fetch`` says whether the program has one; the kernel answers its requests as calls to ``FETCH_CONNECTOR``. The
    program's function is called with nothing and with the function that imports: ``(name) => Promise`` of a namespace.
    ``has_python_snippets``: the recorded run goes through a snippet in Python. ``packages`` are handed to a sandbox
    that has Python before anything else, as bytes; it can fetch none.
    """

    execution_id: str
    source: str
    line_offset: int
    namespaces: tuple[Namespace, ...]
    clock: float
    seed: str
    timeout: float
    language: str = "javascript"
    calls: Sequence[RecordedCall] = ()
    events: Sequence[Event] = ()
    fetch: bool = False
    modules: Sequence[ModuleText] = ()
    has_python_snippets: bool = False
    packages: Sequence[PackageFile] = ()

    @property
    def needs_python(self) -> bool:
        """Whether the sandbox must have Python; one that has it runs JavaScript as well."""
        return self.language == "python" or self.has_python_snippets


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A call that the program issued. ``arguments`` is tagged JSON text (see the module's note)."""

    seq: int
    connector: str
    method: str
    arguments: str


@dataclass(frozen=True, slots=True)
class CallBatch:
    """Calls issued in one microtask, and what happened to the program before them.

    ``replayed`` is how many further events of the record happened again; ``events`` are those after them.
    """

    calls: tuple[CallRequest, ...]
    events: tuple[Event, ...]
    replayed: int = 0


@dataclass(frozen=True, slots=True)
class StepResult:
    """What a step's function returned (``value``) or threw (``error``), both as tagged JSON text."""

    seq: int
    token: str
    value: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """The kernel's answer to one call. ``pending``: it waits for a person and will not settle in this pass."""

    seq: int
    state: Literal["applied", "failed", "pending", "run"]
    value: str | None = None
    error: str | None = None
    token: str | None = None


PassEndKind: TypeAlias = Literal[
    "completed",
    "failed",
    "paused",
    "diverged",
    "needs_python",
    "timeout",
    "memory",
    "lost",
    "too_large",
    "protocol",
]


@dataclass(frozen=True, slots=True)
class PassEnd:
    """How a pass ended, as the sandbox (first five kinds) or the executor (the rest) says.

    ``error`` is tagged JSON text for ``failed`` and ``diverged``, plain text for the executor's own kinds; ``line``
    and ``column`` (from 1) point into what the author wrote; ``issued`` is how many calls the program issued;
    ``replayed`` and ``events`` as in ``CallBatch``; ``is_left`` says of a lost pass that a person left its page or that
    its connection broke: the program had no part in it.
    """

    kind: PassEndKind
    value: str | None = None
    error: str | None = None
    line: int | None = None
    column: int | None = None
    issued: int = 0
    replayed: int = 0
    events: tuple[Event, ...] = ()
    console: tuple[ConsoleLine, ...] = field(default=())
    is_left: bool = False


class PassLink(Protocol):
    """The way back into a running pass. Calls after the pass ended do nothing."""

    def reply(self, replies: Sequence[Reply]) -> None:
        """Send answers to the sandbox; may be batched with others of the same tick."""


class PassHandler(Protocol):
    """The kernel's side of a pass. Methods are called on the event loop, in order, and must return at once."""

    def preparing(self, what: str) -> None:
        """Take, before the pass has begun, what it waits for, in words for a person."""

    def started(self, link: PassLink) -> None:
        """Take the link of a pass whose sandbox has the program; it stays valid until the pass ends."""

    def calls(self, batch: CallBatch) -> None:
        """Take the calls that the program issued."""

    def step_result(self, result: StepResult) -> None:
        """Take what a step's function came to."""

    def console(self, lines: Sequence[ConsoleLine]) -> None:
        """Take what the program printed."""


class Executor(Protocol):
    """Runs one pass in a sandbox; keeps nothing of it.

    ``run_pass`` returns when the pass ended, for whatever reason; cancelling it kills the pass at once. It raises
    ``CodemodeError`` (code ``no_sandbox``, or ``no_page`` when no page answers) only when no sandbox can be had.
    """

    name: str

    async def run_pass(self, request: PassRequest, handler: PassHandler) -> PassEnd:
        """Run one pass to its end."""

    async def close(self) -> None:
        """Free what the executor holds; it may not be used afterwards."""
