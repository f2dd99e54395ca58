"""What programs cost on the headless sandbox, beside a bare pipe round trip and a bare commit of the same run.

Prints a table, and asserts what a loaded machine keeps: the least of several rounds, in processor time where that is
known, or against something bare of the same run.
"""

import asyncio
import sys
import time

import pytest

from codemode_jupyter import FunctionConnector, Runtime, tool
from codemode_jupyter.program import prepare_program
from codemode_jupyter.sandbox.deno import DenoExecutor, find_deno
from codemode_jupyter.sandbox.protocol import Namespace, PassRequest, Reply
from tests.bench.bare import bare_commits, bare_start, echo_of_streams, tightest_echo
from tests.bench.table import Table

pytestmark = pytest.mark.alone

ROUNDS = 5
SECONDS = 15
"""After which no further round begins: on a machine that does much else, fewer must do."""
TRIPS = 1_000
REPLAYS = 3
COMMITS = 300
PAUSE = 0.15
"""Seconds before each measurement: time for the next sandbox to be made ready, as between two programs of a person."""

ONE_BY_ONE = "for (let i = 0; i < {count}; i++) await bench.ping({{ number: i }});"
AT_ONCE = "await Promise.all(Array.from({ length: 1000 }, (_, i) => bench.ping({ number: i })));"
# Records its calls in the first pass; each approval then replays all of them and comes to the next question.
REPLAYED = """
for (let i = 0; i < {count}; i += 100) {{
  await Promise.all(Array.from({{ length: 100 }}, (_, k) => bench.ping({{ number: i + k }})));
}}
for (;;) await bench.ask();
"""

BARE, TIGHTEST, COMMIT = "bare pipe round trip (streams)", "bare pipe round trip (tightest)", "bare durable commit"
BARE_START, START = "bare start and end of a Deno process", "sandbox start and first program"
BESIDE_COMMIT = "the same, less the durable commit"
REPLAY = "replay of {:,} recorded calls"
REPLAY_BUDGET = {1_000: 60, 10_000: 400}
"""Milliseconds by calls."""
EARLY, LATE = "call 100 to 400 of a run, whole runtime", "call 1,200 to 1,500 of it"
ROWS = (
    (BARE, None, ""),
    (TIGHTEST, BARE, ""),
    (COMMIT, None, ""),
    (BARE_START, None, ""),
    (START, BARE_START, "150 ms"),
    ("trivial program, warm, executor alone", BARE, ""),
    ("trivial program, warm, whole runtime", COMMIT, ""),
    ("live call, executor alone", BARE, "2 round trips"),
    ("live call, whole runtime", COMMIT, "2 commits + 2 round trips"),
    (BESIDE_COMMIT, BARE, "2 round trips"),
    ("1,000 calls in Promise.all, executor alone", BARE, ""),
    ("1,000 calls in Promise.all, whole runtime", COMMIT, ""),
    ("replay of 100 recorded calls", None, ""),
    ("replay of 1,000 recorded calls", None, "60 ms"),
    ("replay of 10,000 recorded calls", None, "400 ms"),
    (EARLY, COMMIT, ""),
    (LATE, EARLY, "1"),
)


class Answers:
    """A kernel that records nothing and answers each call at once."""

    def started(self, link):
        self.link = link

    def calls(self, batch):
        self.link.reply([Reply(call.seq, "applied", value="1") for call in batch.calls])

    def step_result(self, result):
        raise AssertionError(result)

    def console(self, lines):
        raise AssertionError(lines)


async def ping(number: int) -> int:
    """Answer."""
    return number


@tool(requires_approval=True)
async def ask() -> int:
    """Answer when approved."""
    return 1


async def run_alone(executor, body):
    program = prepare_program(body)
    namespaces = (Namespace("bench", ("ping",)),)
    request = PassRequest("e", program.source, program.line_offset, namespaces, 1.7e12, "0" * 32, 120.0)
    end = await executor.run_pass(request, Answers())
    assert end.kind == "completed", end


async def run(runtime, body, status="completed"):
    outcome = await runtime.execute(body)
    assert outcome.status == status, outcome
    return outcome


async def measure(table, executor, runtime, folder):
    async def cost(name, work, each=1, pid=None):
        await asyncio.sleep(PAUSE)
        with table.time(name, each, [pid or executor._processes[0].pid]):
            await work()

    def alone(body):
        return lambda: run_alone(executor, body)

    def whole(body):
        return lambda: run(runtime, body)

    trips, recorded = ONE_BY_ONE.format(count=TRIPS), ONE_BY_ONE.format(count=COMMITS)
    waiting = {
        count: (await run(runtime, REPLAYED.format(count=count), "paused")).execution_id
        for count in (100, 1_000, 10_000)
    }
    async with echo_of_streams(folder) as streams, tightest_echo(folder) as tightest, bare_commits(folder) as commits:
        started = time.monotonic()
        for turn in range(ROUNDS):
            if turn > 0 and time.monotonic() - started > SECONDS:
                break
            await cost(BARE, lambda: streams(TRIPS), TRIPS, streams.pid)
            await cost("live call, executor alone", alone(trips), TRIPS)
            await cost(TIGHTEST, lambda: tightest(TRIPS), TRIPS, tightest.pid)
            await cost("live call, whole runtime", whole(recorded), COMMITS)
            await cost(COMMIT, lambda: commits(COMMITS), COMMITS)
            table.add(BESIDE_COMMIT, max(0.0, table.wall["live call, whole runtime"][-1] - table.wall[COMMIT][-1]))
            await cost(BARE_START, lambda: bare_start(folder))
            await cost(START, started_anew)
            await cost("trivial program, warm, executor alone", alone("return 1"))
            await cost("trivial program, warm, whole runtime", whole("return 1"))
            await cost("1,000 calls in Promise.all, executor alone", alone(AT_ONCE))
            await cost("1,000 calls in Promise.all, whole runtime", whole(AT_ONCE))
            for count, execution_id in waiting.items():
                for _ in range(REPLAYS):
                    await cost(REPLAY.format(count), lambda id_=execution_id: approve(runtime, id_))


async def started_anew():
    executor = DenoExecutor()
    await run_alone(executor, "return 1")
    await executor.close()


async def approve(runtime, execution_id):
    outcome = await runtime.approve(execution_id)
    assert outcome.status == "paused", outcome


async def grown(runtime, times):
    """Milliseconds that a call took at the beginning of a long run and at its end."""
    await run(runtime, ONE_BY_ONE.format(count=1_500).replace("ping", "clock"))
    early, late = times[100:400], times[-300:]
    return [(part[-1] - part[0]) * 1000 / (len(part) - 1) for part in (early, late)]


async def test_calls_and_replays_cost_what_they_must(tmp_path, capsys):
    if find_deno() is None:
        pytest.skip("there is no Deno: pip install 'codemode-jupyter[headless]'")
    times = []

    async def clock(number: int) -> None:
        """Note the time."""
        times.append(time.perf_counter())

    executor, table = DenoExecutor(), Table()
    tools = FunctionConnector("bench", [ping, ask, clock])
    runtime = Runtime([tools], executor=executor, path=tmp_path / "store.sqlite3", timeout=120)
    await measure(table, executor, runtime, tmp_path)
    for name, milliseconds in zip((EARLY, LATE), await grown(runtime, times), strict=True):
        table.add(name, milliseconds)
    await runtime.close()
    await executor.close()
    with capsys.disabled():
        sys.stdout.write("\n" + "\n".join(table.lines("headless", ROWS)) + "\n")
    assert min(table.wall[START]) < 20 * min(table.wall[BARE_START])
    assert table.least("live call, executor alone") < 10 * table.least(BARE)
    assert table["live call, whole runtime"] < 10 * (table[COMMIT] + 2 * table[BARE])
    assert table[LATE] < 5 * table[EARLY]
    for count, budget in REPLAY_BUDGET.items():
        # A machine that is slow or busy now is so for bare round trips as well.
        assert table.least(REPLAY.format(count)) < max(budget, (count + 1_000) * table.least(BARE))
