"""What a program costs in JupyterLab, as ratios against the bare round trip of a comm in the same page.

Prints a table; asserts only bounds that a loaded machine keeps. Budgets are what to approach; a call's does not count
the durable commit before its tool runs, which is measured as well.
"""

import json
import sys

import pytest

pytestmark = pytest.mark.alone

MEASURE = '''
import asyncio, json, sqlite3, time
from statistics import median

import anywidget
from codemode_jupyter import FunctionConnector, Runtime, tool


class Echo(anywidget.AnyWidget):
    """Sends back what it gets; never displayed, like the page of the sandbox."""

    _esm = """export default {
      initialize({ model }) { model.on("msg:custom", (message) => model.send(message)); }
    };"""


async def ping() -> int:
    """Answer."""
    return 1


@tool(requires_approval=True)
async def ask() -> int:
    """Answer when approved."""
    return 1


runtime = Runtime(connectors=[FunctionConnector("bench", [ping, ask])], timeout=120)
echo = Echo()


async def round_trip(patience=5):
    loop = asyncio.get_running_loop()
    back = loop.create_future()

    def answer(*_):
        loop.call_soon_threadsafe(lambda: back.done() or back.set_result(None))

    echo.on_msg(answer)
    try:
        echo.send({"ping": 1})
        await asyncio.wait_for(back, patience)
    finally:
        echo.on_msg(answer, remove=True)


async def until_there():
    for _ in range(30):
        try:
            return await round_trip(1)
        except TimeoutError:
            pass


async def timed(work):
    start = time.perf_counter()
    await work
    return (time.perf_counter() - start) * 1000


async def run(code):
    outcome = await runtime.execute(code)
    assert outcome.status != "error", outcome
    return outcome


async def spaced(code, count):
    """Milliseconds of each of ``count`` runs that find a sandbox ready, as a person's do."""
    times = []
    for _ in range(count):
        await asyncio.sleep(0.3)
        times.append(await timed(run(code)))
    return median(times)


async def replay(count):
    """Milliseconds from the approval to the end of a run that has recorded ``count`` calls."""
    program = f"for (let i = 0; i < {count}; i++) await bench.ping(); return await bench.ask();"
    paused = await run(program)
    assert paused.status == "paused", paused
    return await timed(runtime.approve(paused.execution_id))


def commit():
    """Milliseconds of a bare commit that survives a power cut, beside the runtime's store."""
    connection = sqlite3.connect("bare.sqlite3", isolation_level=None)
    connection.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE IF NOT EXISTS t (x)")
    times = []
    for _ in range(20):
        start = time.perf_counter()
        connection.execute("INSERT INTO t VALUES (1)")
        times.append((time.perf_counter() - start) * 1000)
    connection.close()
    return median(times)


async def measure():
    await until_there()
    for _ in range(5):
        await round_trip()
        await run("return 1")
    bare = median([await timed(round_trip()) for _ in range(40)])
    trivial = await spaced("return 1", 15)
    row = median([await timed(run("return 1")) for _ in range(15)])
    one = await spaced("return await bench.ping()", 10)
    many = await spaced("for (let i = 0; i < 51; i++) await bench.ping();", 3)
    parallel = "return await Promise.all(Array.from({length: 100}, () => bench.ping()))"
    together = await spaced(parallel, 5)
    short = min([await replay(1) for _ in range(3)])
    long = min([await replay(1000) for _ in range(2)])
    call, durable = (many - one) / 50, commit()
    return dict(
        bare=bare, trivial=trivial, row=row, commit=durable, call=call, rest=max(0, call - durable),
        parallel=together, replay=long - short,
    )
'''


def lines(measured):
    bare = measured["bare"]
    yield f"{'in JupyterLab':35} {'ms':>8} {'round trips':>12}  budget"
    yield f"{'a bare comm round trip':35} {bare:8.1f} {1:12.1f}"
    for name, what, budget in (
        ("trivial", "trivial program, warm", "3 round trips"),
        ("row", "the same, one right after the other", "-"),
        ("commit", "a bare durable commit", "-"),
        ("call", "a live connector call", "-"),
        ("rest", "the same, less the commit", "1.3 round trips"),
        ("parallel", "100 calls in Promise.all", "5 round trips"),
        ("replay", "replay of 1,000 recorded calls", "60 ms"),
    ):
        yield f"{what:35} {measured[name]:8.1f} {measured[name] / bare:12.1f}  {budget}"


def test_programs_cost_a_few_round_trips(desk, capsys):
    desk.write(f"%load_ext codemode_jupyter\n{MEASURE}", "print(json.dumps(await measure()))")
    tab = desk.open()
    tab.run(0)
    tab.cell(1).run().finished(timeout=120).shows('"bare"')
    measured = json.loads(tab.cell(1).text)
    with capsys.disabled():
        sys.stdout.write("\n" + "\n".join(lines(measured)) + "\n")
    assert measured["trivial"] < 30 * measured["bare"]
    assert measured["call"] < 15 * measured["bare"]
    assert measured["parallel"] < 100 * measured["bare"]
    assert measured["replay"] < max(60, 60 * measured["bare"])
