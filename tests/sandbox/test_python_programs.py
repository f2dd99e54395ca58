"""Programs in Python: the language, calls, values, errors, and that they replay."""

import json

import pytest
import pytest_asyncio

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.browser import BrowserExecutor
from codemode_jupyter.sandbox.deno import find_deno
from codemode_jupyter.sandbox.python.making import ensure_assets
from codemode_jupyter.sandbox.worker_source import worker_source
from tests.sandbox.conftest import make_deno
from tests.sandbox.kernel import GATED, Fails, Kernel, evaluate, failure
from tests.sandbox.real_page import chromium, open_pages

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["deno", "chromium"])
async def python(request):
    """Each sandbox in turn, with Python in it."""
    try:
        ensure_assets(find_deno() or "deno")
    except CodemodeError as error:
        pytest.skip(str(error))
    if request.param == "deno":
        executor = make_deno()
        yield executor
        await executor.close()
        return
    async with chromium() as browser, open_pages(browser, worker_source()) as pages:
        executor = BrowserExecutor(pages)
        yield executor
        await executor.close()


async def value_of(executor, source, **options):
    return await evaluate(executor, source, language="python", **options)


async def test_a_program_calls_waits_and_gathers(python):
    source = """
import asyncio
last = (await asyncio.gather(*[it.later(ms=m) for m in (20, 1)]))[0]["ms"]
async with asyncio.TaskGroup() as group:
    a = group.create_task(it.echo(a=1))
    b = group.create_task(it.echo({"b": "é"}))
async def slow():
    await asyncio.sleep(5)
try:
    await asyncio.wait_for(slow(), 0.02)
except TimeoutError:
    late = True
for i in range(9):
    if i == 3:
        return [last, a.result() | b.result(), late, i]
"""
    assert await value_of(python, source) == [20, {"a": 1, "b": "é"}, True, 3]


async def test_no_time_passes_for_a_program_while_a_person_thinks(python):
    source = "import asyncio\nasync with asyncio.timeout(5):\n    await it.gated()"
    assert (await Kernel(source, language="python").run(python)).kind == "paused"


async def test_values_come_back_as_they_went_out(python):
    source = """
import datetime
from decimal import Decimal
sent = [2**60, 1.0, 0.5, float("nan"), -0.0, b"ab", (1, True), {3}, {1: "a"}, {"$type": 1}, Decimal("1.10"), None,
        "é🦊\\ud800", datetime.datetime(2024, 5, 1, 12), datetime.datetime(2024, 5, 1, tzinfo=datetime.UTC)]
got = await it.echo(v=sent)
repr(got["v"]) == repr(sent)
"""
    assert await value_of(python, source) is True


async def test_what_is_printed_warned_and_logged_are_console_lines(python):
    source = (
        "import sys, logging, warnings\nprint('a', 1)\nprint('b', end='')\nprint('c')\nprint('err', file=sys.stderr)\n"
        "logging.warning('careful')\nit.echo()\nprint('end', end='')"
    )
    kernel = Kernel(source, language="python")
    await kernel.run(python)
    assert kernel.lines[:4] == [("log", "a 1"), ("log", "bc"), ("error", "err"), ("warn", "careful")]
    assert kernel.lines[4] == (
        "warn",
        "RuntimeWarning: it.echo() was never awaited: write `await it.echo(…)` (line 7)",
    )
    assert kernel.lines[5] == ("log", "end")
    assert kernel.asked == []


FORGOTTEN = """
import asyncio, logging
logging.basicConfig(level=logging.INFO)
logging.info("begins")
async def fails():
    raise KeyError("lost")
async def waits():
    await asyncio.Event().wait()
kept = [it.echo(), asyncio.create_task(fails()), asyncio.create_task(waits())]
await asyncio.sleep(0)
1
"""


async def test_what_nobody_waited_for_is_told_when_a_program_ends(python):
    kernel = Kernel(FORGOTTEN, language="python")
    assert (await kernel.run(python)).value == "1"
    (level, first), *warned, (last_level, lost) = sorted(
        kernel.lines, key=lambda line: ("info", "warn", "error").index(line[0])
    )
    assert (level, first) == ("info", "begins")
    assert {text.split(":")[1] + text[-9:] for _, text in warned} == {
        " it.echo() was never awaited (line 9)",
        " waits() was still running when the program ended (line 9)",
    }
    assert last_level == "error"
    assert "never retrieved" in lost
    assert 'File "program.py", line 6, in fails' in lost


TRACEBACKS = """
import json, traceback
def outer(text):
    return inner(text)
def inner(text):
    return json.loads(text)
try:
    outer("{")
except ValueError:
    print(traceback.format_exc(), end="")
async def main():
    try:
        await it.fails(message="no")
    except ToolError as error:
        raise RuntimeError("é: it failed") from error
x = {"é": await main()}
"""


async def test_tracebacks_show_the_lines_of_the_program_alone(python):
    kernel = Kernel(TRACEBACKS, language="python")
    end = await kernel.run(python)
    (_, printed), (level, told) = kernel.lines
    assert [line for line in printed.splitlines() if "File" in line] == [
        f'  File "program.py", line {line}, in {name}' for line, name in ((8, "<module>"), (4, "outer"), (6, "inner"))
    ]
    assert "return json.loads(text)" in printed
    assert level == "error"
    assert "ToolError: no\n\nThe above exception was the direct cause" in told
    assert told.endswith("RuntimeError: é: it failed")
    assert "codemode_guest" not in printed + told
    assert (end.line, end.column) == (15, 9)


async def test_of_several_errors_the_place_of_the_first_is_told(python):
    source = (
        "import asyncio\nasync def bad(n):\n    raise ValueError(n)\n"
        "async with asyncio.TaskGroup() as group:\n    group.create_task(bad(1))\n    group.create_task(bad(2))"
    )
    error, end = await failure(python, source, language="python")
    assert "ValueError: 1; ValueError: 2" in error["message"]
    assert (end.line, end.column) == (3, 5)


REFUSED = """
import asyncio, multiprocessing, os, queue, socket, subprocess, sys, threading, time, urllib.request
from concurrent.futures import ThreadPoolExecutor
def tried(work):
    try:
        return work()
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
[tried(work) for work in (
    lambda: input("who? "), lambda: threading.Thread(target=print).start(), lambda: subprocess.run(["ls"]),
    lambda: sys.exit(3), lambda: time.sleep(1), lambda: asyncio.get_running_loop().run_in_executor(None, print),
    lambda: sys.stdin.read(), lambda: breakpoint(), lambda: ThreadPoolExecutor().submit(print),
    lambda: multiprocessing.Process(target=print).start(), lambda: os.system("ls"), lambda: os.fork(),
    lambda: os._exit(2), lambda: socket.create_connection(("127.0.0.1", 1)), lambda: asyncio.new_event_loop(),
    lambda: urllib.request.urlopen("http://127.0.0.1:1/"), lambda: asyncio.run(it.echo()), lambda: exit(),
    lambda: queue.Queue().get(), lambda: threading.Event().wait(1), lambda: threading.Event().wait(0))]
"""


async def test_what_a_sandbox_cannot_have_is_refused_with_a_word(python):
    refused = await value_of(python, REFUSED)
    words = (
        *("not available", "no threads", "no other programs", "SystemExit", "asyncio.sleep", "no threads"),
        *("nobody is asked", "nobody is asked", "no threads"),
        *("no other programs", "no other programs", "no other programs"),
        *("return", "no network", "runs already", "no network", "runs already", "SystemExit"),
        *("no threads", "no threads"),
    )
    for text, word in zip(refused[:-1], words, strict=True):
        assert word in text
    assert refused[-1] is False


@pytest.mark.parametrize("source", ["exit(4)", "async def f():\n    exit(4)\nawait asyncio.create_task(f())"])
async def test_a_program_that_exits_ends_with_a_sentence(python, source):
    error, _ = await failure(python, f"import asyncio\n{source}", language="python")
    assert error["name"] == "SystemExit"
    assert error["message"].startswith("The program called exit(4), which ends it without a result.")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(d):\n    return d['é']['k']\nf({'é': {}})", ("KeyError", "'k'", 2, 12)),
        ("x = (1 +\ny = 2", ("SyntaxError", "'(' was never closed", 1, 5)),
        ("x = 'é'; y = {}['é']", ("KeyError", "'é'", 1, 14)),
        ("raise SystemError", ("SystemError", "no message", 1, 1)),
        ("(n for n in range(3))", ("NotStorableError", "is an iterator (generator)", None, None)),
        ("await it.fails(message='nope')", ("Error", "nope", 1, 1)),
        ("await it.echo(f=object())", ("NotStorableError", "at ['f'] is of type object", 1, 7)),
        ("def f():\n    f()\nf()", ("RecursionError", "recursion", 2, 5)),
    ],
)
async def test_an_error_names_what_happened_and_the_place_in_the_program(python, source, expected):
    name, message, line, column = expected
    error, end = await failure(python, source, language="python")
    assert error["name"] == name
    assert message in error["message"]
    assert (end.line, end.column) == (line, column)
    assert "codemode_guest" not in json.dumps(error)


async def test_a_pause_cannot_be_caught(python):
    source = (
        "try:\n    x = await it.gated()\nexcept BaseException:\n    await it.echo(caught=True)\n"
        "finally:\n    print('over')\nx"
    )
    kernel = Kernel(source, language="python")
    assert (await kernel.run(python)).kind == "paused"
    assert kernel.lines == []
    kernel.approve()
    assert json.loads((await kernel.run(python)).value) == "approved"


SAME = """
import asyncio, random, uuid, secrets, os, time, datetime
async def work(n):
    await asyncio.sleep(random.random() / 100)
    got = await it.later(ms=n)
    await asyncio.sleep(0)
    return [got["ms"], random.random()]
tasks = [asyncio.create_task(work(n)) for n in (9, 2, 5)]
done = []
for task in asyncio.as_completed(tasks):
    done.append(await task)
async def real():
    return [random.random(), secrets.token_hex(4)]
step = await codemode.step("draw", real)
[done, step, random.getrandbits(64), str(uuid.uuid4()), str(uuid.uuid1()), secrets.token_hex(8), os.urandom(4).hex(),
 time.time(), time.monotonic(), datetime.datetime.now().isoformat(), hash("a"), list({"x", "y", "z"}),
 await it.gated()]
"""


async def test_a_program_takes_the_same_way_in_every_pass(python):
    kernel = Kernel(SAME, language="python")
    first = await kernel.run(python)
    assert first.kind == "paused"
    asked = [(call.method, call.arguments) for call in kernel.asked]
    kernel.approve()
    ends = [await kernel.run(python) for _ in range(2)]
    assert [end.kind for end in ends] == ["completed", "completed"], ends
    assert ends[0].value == ends[1].value
    assert kernel.asked == []
    assert [method for method, _ in asked].count("later") == 3
    assert kernel.steps == ["draw"]
    other = await Kernel(SAME.replace("await it.gated()", "0"), language="python").run(python)
    assert json.loads(other.value)[2:4] == json.loads(ends[0].value)[2:4]


async def test_time_zones_are_there_whatever_the_system_has(python):
    source = """
import datetime, zoneinfo
noon = datetime.datetime(2026, 7, 1, 12, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"))
there = noon.astimezone(zoneinfo.ZoneInfo("America/New_York"))
[noon.isoformat(), str(there), len(zoneinfo.available_timezones()) > 500]
"""
    assert await value_of(python, source) == ["2026-07-01T12:00:00+02:00", "2026-07-01 06:00:00-04:00", True]


SOURCES = """
import datetime, email.utils, os, platform, random, tempfile, time, uuid
print(time.perf_counter(), time.process_time(), time.monotonic_ns(), time.time_ns(), os.times()[:4], time.ctime())
print(os.getpid(), tempfile.mkstemp()[1], uuid.getnode(), random.SystemRandom().random(), random.Random().random())
print(datetime.datetime.now().astimezone(), datetime.date.today(), time.localtime(), email.utils.make_msgid())
open("/tmp/a", "w").write("x")
print(os.stat("/tmp/a").st_mtime, os.listdir("/tmp"), platform.platform())
print({1.5, "a", (1, 2), frozenset([3]), None, b"x"}, set(dir(str)).pop(), hash("a"))
await codemode.step("s", lambda: [time.time(), random.random(), uuid.uuid4().hex])
await it.later(ms=3)
print(time.time(), random.random(), uuid.uuid4(), time.perf_counter())
await it.gated()
"""


async def test_all_that_could_tell_one_pass_from_another_is_the_same_in_both(python):
    kernel = Kernel(SOURCES, language="python")
    assert (await kernel.run(python)).kind == "paused"
    first = list(kernel.lines)
    assert len(first) == 6
    kernel.approve()
    assert (await kernel.run(python)).kind == "completed"
    assert kernel.lines == first


KNOTS = """
import weakref
class Knot:
    def __init__(self, n):
        self.me = self
        weakref.finalize(self, print, "freed", n)
def draw():
    knots = [[] for _ in range(5_000)]
    for knot in knots:
        knot.append(knot)
for n in range(10):
    Knot(n)
print("before")
await codemode.step("draw", draw)
for n in range(40):
    junk = [[[]] for _ in range(97)]
    print(n)
await it.gated()
"""


async def test_garbage_is_collected_at_the_same_moments_in_every_pass(python):
    kernel = Kernel(KNOTS, language="python")
    await kernel.run(python)
    first = list(kernel.lines)
    kernel.approve()
    await kernel.run(python)
    assert kernel.lines == first
    assert ("log", "freed 3") in first


async def test_what_javascript_reaches_from_python_is_empty_handed(python):
    source = (
        "import js\nfound = [name for name in ('fetch', 'Deno', 'WebSocket', 'process') "
        "if hasattr(js, name)]\n"
        "from pyodide.code import run_js\n"
        "try:\n    run_js('1+1')\n    ran = True\nexcept Exception as error:\n    ran = False\n"
        "try:\n    js.Object.constructor('return this')()\nexcept Exception as error:\n    found.append('refused')\n"
        "import urllib.request\n"
        "try:\n    urllib.request.urlopen('http://127.0.0.1:1/')\n"
        "except Exception as error:\n    found.append(type(error).__name__)\n"
        "[found, ran]"
    )
    found, ran = await value_of(python, source)
    assert found == ["refused", "URLError"]
    assert ran is False


async def test_a_program_that_never_ends_is_ended(python):
    end = await Kernel("while True: pass", language="python", timeout=0.5).run(python)
    assert end.kind == "timeout"
    assert await value_of(python, "1") == 1


async def test_leaving_the_interpreter_ends_the_program_alone(python):
    kernel = Kernel("import json\nprint('on')\njson.loads('[' * 100_000)", language="python")
    error = json.loads((await kernel.run(python)).error)["value"]
    assert error["data"]["code"] == "interpreter_failed"
    assert [text for _, text in kernel.lines] == [
        "on",
        "Stack (most recent call first):",
        '  File "program.py", line 3 in <module>',
    ]
    assert await value_of(python, "2") == 2


async def test_a_failure_of_a_tool_keeps_its_code_and_data(python):
    tools = {"it.bad": lambda _: Fails("no such row", "KeyError", code="not_found", row=7), "it.gate": lambda _: GATED}
    source = "try:\n    await it.bad()\nexcept ToolError as e:\n    x = [e.name, e.code, e.data['row']]\nx"
    assert await value_of(python, source, tools=tools) == ["KeyError", "not_found", 7]


GRAPHS = """
import asyncio, random
trace = []
async def node(depth, name):
    kind = random.randrange(6)
    if kind == 0 or depth == 0:
        trace.append((await it.later(ms=random.randrange(4), name=name))["name"])
    elif kind == 1:
        await asyncio.sleep(random.random() / 200)
    elif kind == 2:
        try:
            async with asyncio.timeout(random.random() / 300):
                await it.later(ms=random.randrange(6), name=name)
        except TimeoutError:
            trace.append(f"late {name}")
    elif kind == 3:
        try:
            await it.fails(message=name)
        except ToolError as error:
            trace.append(str(error))
    else:
        async with asyncio.TaskGroup() as group:
            for index in range(1 + random.randrange(3)):
                group.create_task(node(depth - 1, f"{name}.{index}"))
    trace.append(random.getrandbits(16))
for round in range(ROUNDS):
    await asyncio.gather(*[node(3, f"{round}-{index}") for index in range(3)])
    await it.gated()
trace
"""


async def test_random_programs_replay_to_the_same_calls_and_result(python):
    kernel = Kernel(GRAPHS.replace("ROUNDS", "4"), language="python")
    end = await kernel.run_to_end(python)
    assert end.kind == "completed", end
    log = [(entry.method, entry.arguments) for entry in kernel.log.values()]
    assert len(log) > 20
    again = await kernel.run(python)
    assert again.value == end.value
    assert kernel.asked == []
    assert [(entry.method, entry.arguments) for entry in kernel.log.values()] == log
