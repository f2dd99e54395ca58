"""Executions in every state that a card can show, with the shapes of values and texts that spoil cards."""

from codemode_jupyter.connectors.question_form import form_of
from codemode_jupyter.connectors.questions import Question, QuestionField
from codemode_jupyter.notebook.card.controls import controls_layout, done_layout
from codemode_jupyter.notebook.card.layout import CardState, card_layout
from codemode_jupyter.runtime.records import (
    CallRecord,
    ConsoleRecord,
    ErrorDetail,
    ExecutionRecord,
    PendingCall,
    Progress,
)

ID = "exec_0001700000000000_0f8e2c1a-52b1-4c1e-9d57-6a1b2c3d7f3a"
NOON = 1_700_000_000.0
CODE = """async () => {
  const months = await weather.monthly({year: 2051});
  const wettest = months.sort(byRain)[0];
  return wettest.mm;
}"""

HOSTILE = {
    "$x^2$ and \\(y\\)": '<img src=x onerror=alert(1)><script>alert(2)</script> & "quotes"',
    "reversed": "pay \u202eecila\u202c and \u200bnothing\ufeff hidden",
    "p\u0430ypal": "Your p\u0430ypal account at \u0440\u0430\u0443\u0440\u0430l.com (Cyrillic letters)",
    "__proto__": "\x1b[31mred\x1b[0m \x00 \x07",
    "hebrew": "שלום 123 עולם",
    "pile": "Z\u0301\u0302\u0303\u0304\u0305algo",
    "tags": "hello\U000e0068\U000e0069",
    "mathjax": "\\begin{align} x &= 1 \\end{align} $$E=mc^2$$ \\[z\\]",
    "link": "https://example.org/?q=1 and javascript:alert(1)",
    "spaces": " padded ",
    "number": "42",
    "lone": "half \ud83d surrogate",
}


def call(seq=0, connector="weather", method="daily", args=None, state="applied", **changes):
    fields = {
        "has_result": state in ("applied", "reverted"),
        "started_at": NOON + seq,
        "duration": 0.006,
        "requires_approval": False,
    }
    fields.update(changes)
    return CallRecord(
        seq=seq, connector=connector, method=method, args=args if args is not None else {}, state=state, **fields
    )


DAILY = call(0, args={"city": "Seattle", "year": 2015}, result=[{"day": day, "mm": 1.5} for day in range(365)])
FIND = call(1, "tracker", "find", {"label": "forecast"}, result=[], duration=0.002)
CREATE_ARGS = {
    "title": "Rain on 144 days in 2015",
    "body": "Wettest month: December (284 mm). Checked against the daily series; two days have no value.",
    "labels": ["forecast", "report"],
}
CREATED = call(
    2,
    "tracker",
    "create_issue",
    CREATE_ARGS,
    result={"id": 12},
    requires_approval=True,
    decided_at=NOON + 60,
    started_at=NOON + 60,
    can_revert=True,
)


def record(status="completed", calls=(DAILY, FIND), **changes):
    fields = {
        "code": CODE,
        "language": "javascript",
        "connectors": ("weather", "tracker"),
        "created_at": NOON,
        "updated_at": NOON + 1,
        "passes": 1,
        "running_time": 0.041,
        "has_result": status == "completed",
    }
    fields.update(changes)
    return ExecutionRecord(id=ID, status=status, calls=tuple(calls), **fields)


def waiting(seq, args, method="create_issue", description="Create an issue."):
    return PendingCall(ID, seq, "tracker", method, args, digest=f"digest-{seq}", description=description)


def doubtful(seq, args, method="create_issue", description="Create an issue."):
    return PendingCall(
        ID, seq, "tracker", method, args, f"digest-{seq}", description, kind="in_doubt", call_id=f"{ID}:{seq}"
    )


def paused(*pending, **changes):
    states = {"approval": "pending", "in_doubt": "in_doubt"}
    calls = [
        DAILY,
        FIND,
        *(call(p.seq, p.connector, p.method, p.args, states[p.kind], requires_approval=True) for p in pending),
    ]
    return CardState(record("paused", calls), pending, live=True, **changes)


def completed(result, **changes):
    calls = [DAILY, CREATED]
    return CardState(record("completed", calls, passes=2, running_time=0.058, result=result, **changes))


MONTHS = [{"month": "November", "mm": 212.6, "days": 20}, {"month": "December", "mm": 284.5, "days": 26}]
TREE = {
    "city": "Seattle",
    "years": [{"year": 2014 + i, "mm": 900 + 10 * i, "months": list(range(12))} for i in range(3)],
    "station": {"id": "KSEA", "position": {"lat": 47.45, "lon": -122.31, "note": "at the airport, " * 12}},
    "empty": {},
    "none": None,
    "checked": True,
}
PROGRAM_ERROR = ErrorDetail(
    "program_error",
    "TypeError: Cannot read properties of undefined (reading 'mm')",
    "TypeError",
    4,
    18,
    "return wettest.mm;\n^",
)
CONSOLE = (
    ConsoleRecord("log", "144 days with rain"),
    ConsoleRecord("info", "reading 2015"),
    ConsoleRecord("debug", "{ city: 'Seattle',\n  year: 2015 }"),
    ConsoleRecord("warn", "two days have no value"),
    ConsoleRecord("error", "the second station did not answer"),
)

STATES = {
    "running": CardState(
        record("running", [DAILY, call(1, "tracker", "find", {"label": "forecast"}, "executing", has_result=False)]),
        live=True,
    ),
    "running-first": CardState(record("running", []), live=True),
    "waiting-one": paused(waiting(2, CREATE_ARGS)),
    "waiting-several": paused(
        waiting(2, CREATE_ARGS),
        waiting(3, {"title": "Second", "body": "Short."}),
        waiting(4, {"id": 3}, "close_issue", "Close an issue."),
    ),
    "waiting-approving": paused(
        waiting(2, CREATE_ARGS), waiting(3, {"title": "Second", "body": "Short."}), deciding={2: "approve"}
    ),
    "waiting-stale": paused(
        waiting(2, CREATE_ARGS),
        notices=["Call 2 is not waiting for a decision (any more). Look at what is pending now; nothing was changed."],
    ),
    "waiting-long": paused(
        waiting(
            2,
            {
                "title": "A long one",
                "body": "\n".join(f"line {i}: " + "lorem ipsum " * 8 for i in range(400)) + "\nTHE TAIL",
                "data": {f"key {i}": {"value": i, "list": list(range(i % 30))} for i in range(500)},
                "one_line": "x" * 5_000 + "END",
            },
        )
    ),
    "waiting-hostile": paused(waiting(2, HOSTILE, "create_issue", "Ignore <b>everything</b> $x$ \u202eabove.")),
    "waiting-no-arguments": paused(waiting(2, {}, "purge", "Delete every closed issue.")),
    "doubt-one": paused(doubtful(2, CREATE_ARGS)),
    "doubt-and-waiting": paused(doubtful(2, CREATE_ARGS), waiting(3, {"title": "Second", "body": "Short."})),
    "doubt-refused": paused(
        doubtful(2, {"id": 3}, "close_issue", "Close an issue."),
        notices=["The result is not JSON at character 1; nothing was changed. A text stands in quotation marks."],
    ),
    "doubt-static": CardState(record("paused", [DAILY]), (doubtful(2, CREATE_ARGS),)),
    "cut-off": CardState(
        record("running", [DAILY, call(1, "tracker", "close_issue", {"id": 3}, "executing", has_result=False)]),
        stale=True,
    ),
    "waiting-static": CardState(record("paused", [DAILY]), (waiting(2, CREATE_ARGS),)),
    "completed-text": completed("Rain fell on 144 days.\n\n  December was the wettest month."),
    "completed-tree": completed(TREE),
    "completed-table": completed(MONTHS, logs=CONSOLE[:2]),
    "completed-wide-table": completed(
        [{f"column_{c}": c * r if c % 2 else f"text {c} {r}" for c in range(30)} for r in range(120)]
    ),
    "completed-bytes": completed(bytes(range(256)) * 4),
    "completed-undefined": completed(None, has_result=False),
    "completed-null": completed(None),
    "completed-number": completed(144),
    "completed-list": completed([3, 1, 2]),
    "failed-excerpt": CardState(record("error", error=PROGRAM_ERROR)),
    "failed-call": CardState(
        record(
            "error",
            [
                DAILY,
                call(
                    1,
                    "tracker",
                    "find",
                    {"label": 3},
                    "failed",
                    error=ErrorDetail("invalid_arguments", "label: Input should be a valid string"),
                ),
            ],
            error=ErrorDetail(
                "invalid_arguments", "label: Input should be a valid string", hint="Pass text.", line=2, column=26
            ),
            logs=CONSOLE,
        )
    ),
    "timed-out": CardState(
        record("error", error=ErrorDetail("timeout", "Execution timed out.", hint="Give the run a longer `timeout`."))
    ),
    "stopped": CardState(record("error", error=ErrorDetail("stopped", "The run was stopped."))),
    "syntax-error": CardState(
        record(
            "error",
            [],
            code="const a = 1;\nreturn a +;",
            error=ErrorDetail("syntax_error", "Unexpected token", "SyntaxError", 2, 11),
            running_time=0.0,
        )
    ),
    "rejected": CardState(
        record(
            "rejected",
            [
                DAILY,
                call(
                    2, "tracker", "create_issue", CREATE_ARGS, "rejected", requires_approval=True, decided_at=NOON + 60
                ),
            ],
            error=ErrorDetail("rejected", "Action tracker.create_issue rejected by user: the numbers look wrong"),
        )
    ),
    "rolled-back": CardState(
        record(
            "rolled_back",
            [DAILY, call(2, "tracker", "create_issue", CREATE_ARGS, "reverted", result={"id": 12})],
            result=MONTHS,
            has_result=True,
        )
    ),
    "partly-rolled-back": CardState(
        record(
            "partly_rolled_back",
            [
                DAILY,
                call(2, "tracker", "create_issue", CREATE_ARGS, "reverted", result={"id": 12}),
                call(3, "tracker", "create_issue", {"title": "Second"}, result={"id": 13}, can_revert=True),
            ],
            result=MONTHS,
            has_result=True,
        )
    ),
    "console": CardState(record("completed", [], result=144, logs=CONSOLE)),
    "many-calls": CardState(
        record(
            "completed",
            [
                call(i, args={"day": i}, result={"mm": i / 10})
                if i % 97
                else call(i, args={"day": i}, state="failed", error=ErrorDetail("tool_error", "no such day"))
                for i in range(1200)
            ],
            result=144,
        )
    ),
    "hostile": CardState(
        record(
            "completed",
            [call(0, "weather", "<b>daily</b>", HOSTILE, result=HOSTILE)],
            result=HOSTILE,
            logs=(ConsoleRecord("log", "<script>alert(3)</script> $x$ \x1b[31mred \u202ereversed"),),
        )
    ),
}

FORM = Question(
    "Which ship is it? Her berth is held for an hour.",
    (
        QuestionField("name", title="Name of the ship", required=True, minimum=2),
        QuestionField("length", "number", "Length", "In metres", required=True, minimum=1),
        QuestionField("tanker", "boolean", "Tanker", default=False),
        QuestionField("side", "choice", "Side", options=(("p", "Port"), ("s", "Starboard")), default="s"),
        QuestionField("days", "choices", "Days", options=(("mon", "Monday"), ("tue", "Tuesday"))),
    ),
    source="harbour",
)
HOSTILE_FORM = Question(
    HOSTILE["$x^2$ and \\(y\\)"],
    (
        QuestionField("__proto__", title=HOSTILE["reversed"], required=True, default='"><img src=x>'),
        QuestionField("x", "choice", options=((HOSTILE["mathjax"], "<b>bold</b>"), ("two", HOSTILE["lone"]))),
    ),
    source="</code><script>",
)
VISIT = Question("Sign in, then come back.", url="https://login.example.com/start?state=1", source="harbour")
TRICK = Question("Sign in.", url="https://bank.example@evil.test\\@bank.example/", source="harbour")


def asking(question, **changes):
    """A running call that asks."""
    running = call(2, "harbour", "reserve", {"hours": 1}, "executing", duration=None)
    asked = PendingCall(
        ID, 2, "harbour", "reserve", {"hours": 1}, "digest-q", "Reserve a berth.", kind="question", question=question
    )
    return CardState(record("running", [DAILY, running]), (asked,), live=True, **changes)


def kept(payload, schema, **changes):
    """A run that waits for the answer to a question that a tool asks in its middle."""
    message = payload if isinstance(payload, str) else ""
    asked = PendingCall(
        ID, 2, "hotel", "book", {"nights": 1}, "digest-k", kind="interrupt", call_id=f"{ID}:2:0", payload=payload,
        question=form_of(message, schema, "hotel.book"),
    )  # fmt: skip
    waiting = call(2, "hotel", "book", {"nights": 1}, "waiting", duration=None)
    return CardState(record("paused", [DAILY, waiting]), (asked,), live=True, **changes)


BOOKING = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name of the guest", "minLength": 2},
        "from": {"type": "string", "format": "date", "title": "First night"},
        "room": {"enum": ["single", "double"], "title": "Room", "description": "Both have a view"},
        "guests": {"type": "array", "items": {"type": "string"}, "title": "Other guests"},
    },
    "required": ["name", "from"],
}
HOSTILE_SCHEMA = {"type": "object", "properties": {"<img src=x>": {"enum": ["<b>a</b>", 1, None], "title": "<script>"}}}
FROM_A_SERVER = (
    ConsoleRecord("log", "asking the harbour"),
    ConsoleRecord("warn", "low tide <b>now</b>", "harbour"),
)
QUESTIONS = {
    "question-form": asking(FORM),
    "question-form-sending": asking(FORM, deciding={2: "accept"}),
    "question-hostile": asking(HOSTILE_FORM),
    "question-kept": kept({"house": "Seaview", "free rooms": 3}, BOOKING),
    "question-kept-faults": kept(
        {"house": "Seaview"}, BOOKING, faults={"digest-k": [("name", "is needed"), ("guests[0]", "must be string")]}
    ),
    "question-kept-words": kept("What shall the card on the table say?", None),
    "question-kept-hostile": kept(HOSTILE, HOSTILE_SCHEMA),
    "question-address": asking(VISIT),
    "question-address-trick": asking(TRICK),
    "progress": CardState(
        record(
            "running",
            [DAILY, call(2, "harbour", "survey", {"bay": 3}, "executing", duration=None)],
            progress={2: Progress(3, 10, "sounding the bay")},
            logs=FROM_A_SERVER,
        ),
        live=True,
    ),
}
TREES = {name: card_layout(state) for name, state in STATES.items()}
for name, state in QUESTIONS.items():
    TREES[name] = card_layout(state)
TREES["controls"] = controls_layout(record("completed", [DAILY, CREATED]))
TREES["controls-existing-name"] = controls_layout(
    record("completed", [DAILY, CREATED]),
    ['A snippet named "rain" exists (Wet days). Replace it, or choose another name.'],
    replacing="rain",
)
TREES["controls-used"] = done_layout('Saved as snippet "rain".', record("completed"))
