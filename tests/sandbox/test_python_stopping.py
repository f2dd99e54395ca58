"""What a program in Python may do to never end, to take everything or to break its interpreter.

Each case ends with its own code and a sentence, and the next run works, in Python and in JavaScript. In the page its
timers are watched meanwhile.
"""

# ruff: noqa: E501  a table: one program, one line

import asyncio
import json

import pytest
import pytest_asyncio

from codemode_jupyter.sandbox.browser import BrowserExecutor
from codemode_jupyter.sandbox.worker_source import worker_source
from tests.sandbox.conftest import make_deno, require_python
from tests.sandbox.real_page import chromium, open_pages
from tests.sandbox.test_stopping_cases import LIMIT, MAX_GAP, PATIENT, TIMERS, Stand, gaps, make_runtime

pytestmark = [pytest.mark.alone, pytest.mark.asyncio(loop_scope="module")]

ENDLESS = {
    "loop": "while True: pass",
    "loop that catches all": "while True:\n    try:\n        while True: 1 / 0\n    except BaseException: pass",
    "turns of the loop": "import asyncio\nwhile True: await asyncio.sleep(0)",
    "timers": "import asyncio\nwhile True: await asyncio.sleep(0.001)",
    "callbacks": "import asyncio\nloop = asyncio.get_running_loop()\ndef again(): loop.call_soon(again)\nagain()\nawait asyncio.Future()",
    "regular expression": "import re\nre.match('(a+)+$', 'a' * 60 + 'b')",
    "long integer": "10 ** 10 ** 8",
    "sum": "sum(range(10 ** 12))",
    "key of a sort": "def key(n):\n    while True: pass\nsorted([3, 1], key=key)",
    "message of an error": "class A(Exception):\n    def __str__(self):\n        while True: pass\nraise A()",
    "items of the result": "class A(list):\n    def __iter__(self):\n        while True: pass\nA([1])",
    "finalizer": "class A:\n    def __del__(self):\n        while True: pass\nA()",
    "garbage": "import gc\nwhile True:\n    a = []\n    a.append(a)\n    gc.collect()",
    "clock": "import time\nend = time.time() + 1\nwhile time.time() < end: pass",
    "sleep of C": "import ctypes\nctypes.CDLL(None).sleep(1000)",
    "lock": "import threading\nl = threading.Lock()\nl.acquire()\nl.acquire()",
    "long sleep": "import asyncio\nawait asyncio.sleep(1e7)",
    "flood of lines": "while True: print('x' * 100)",
    "flood of the log": "import logging\nwhile True: logging.warning('x' * 100)",
    "flood below Python": "import os\nwhile True: os.write(1, b'x' * 100 + b'\\n')",
}  # fmt: skip

OTHER = {
    "future": ("import asyncio\nawait asyncio.Future()", "unsettled", "never happen"),
    "task of a group": ("import asyncio\nasync def f(): await asyncio.Event().wait()\nasync with asyncio.TaskGroup() as g:\n    g.create_task(f())", "unsettled", "never happen"),
    "recursion": ("def f(): return f()\nf()", "program_error", "recursion"),
    "recursion of a repr": ("class A:\n    def __repr__(self): return repr(self)\nrepr(A())", "interpreter_failed", "called itself"),
    "recursion of C": ("a = []\nfor _ in range(10**6): a = [a]\nrepr(a)", "interpreter_failed", "called itself"),
    "nested source": ("eval('(' * 10**5 + ')' * 10**5)", None, ""),
    "nested result": ("a = []\nfor _ in range(10**5): a = [a]\na", "not_storable", "levels deep"),
    "too large an integer": ("2 ** 100_000", "not_storable", "digits"),
    "20 MB of objects": ("[{'i': i, 'text': 'x' * 50} for i in range(200_000)]", "too_large", "8,000,000"),
    "20 MB as argument": ("await codemode.search('x' * 20_000_000)", "too_large", "1,000,000"),
    "10,000 lines": ("for i in range(10_000): print('line', i)", None, ""),
    "10,000 tasks": ("import asyncio\nawait asyncio.gather(*[asyncio.sleep(0) for _ in range(10_000)])\n1", None, ""),
    "exit": ("import sys\nsys.exit(3)", "program_error", "exit(3)"),
    "exit of a task": ("import asyncio, sys\nasync def f(): sys.exit(3)\nt = asyncio.ensure_future(f())\nawait asyncio.sleep(9)", "program_error", "exit(3)"),
    "exit of the system": ("import posix\nposix._exit(4)", "interpreter_failed", "exit code 4"),
    "exit of C": ("import ctypes\nctypes.CDLL(None).exit(5)", "interpreter_failed", "exit code 5"),
    "abort": ("import posix\nposix.abort()", "interpreter_failed", "broke down"),
    "segmentation fault": ("import faulthandler\nfaulthandler._sigsegv()", "interpreter_failed", "broke down"),
    "memory of others": ("import ctypes\nctypes.string_at(0xFFFFFFF0)", "interpreter_failed", "broke down"),
    "memory of its own": ("import ctypes\nctypes.memset(0, 255, 40_000_000)", "interpreter_failed", "broke down"),
    "function of nobody": ("import ctypes\nctypes.CFUNCTYPE(None)(12345678)()", "interpreter_failed", "broke down"),
    "kill": ("import signal\nsignal.raise_signal(signal.SIGKILL)", "interpreter_failed", "exit code 137"),
    "fault of Pyodide": ("import _pyodide_core\n_pyodide_core.trigger_fatal_error()", "interpreter_failed", "broke down"),
    "sleep": ("import time\ntime.sleep(1e9)", "program_error", "await asyncio.sleep"),
    "thread": ("import _thread\n_thread.start_new_thread(print, ())", "program_error", "thread"),
    "process": ("import subprocess\nsubprocess.run(['ls'])", "program_error", "no other programs"),
    "socket": ("import socket\nsocket.create_connection(('127.0.0.1', 9))", "program_error", "no network"),
    "input": ("input('?')", "program_error", "not available"),
    "standard input": ("import sys\nsys.stdin.readline()", "program_error", "not available"),
    "message of 100 MB": ("raise ValueError('x' * 100_000_000)", "program_error", "xxx"),
    "message that exits": ("class A(Exception):\n    def __str__(self): raise SystemExit(1)\nraise A()", "program_error", ""),
    "causes in a circle": ("a = ValueError('a'); b = ValueError('b'); a.__cause__ = b; b.__cause__ = a\nraise a", "program_error", "cause"),
    "groups of groups": ("e = ValueError('x')\nfor _ in range(5000): e = ExceptionGroup('g', [e])\nraise e", None, ""),
    "causes of causes": ("e = None\nfor i in range(20000):\n    n = ValueError(str(i)); n.__cause__ = e; e = n\nraise e", None, ""),
    "no builtins": ("import builtins\nbuiltins.__dict__.clear()\n1", "unsettled", ""),
}  # fmt: skip
"""By name: a program, the code of its end (``None``: whichever), and a word of its sentence."""

HUNGRY = {
    "lists": "a = []\nwhile True: a.append([0] * 1_000_000)",
    "bytes": "a = []\nwhile True: a.append(bytearray(10**8))",
    "text": "s = 'x'\nwhile True: s += s",
}

WATCHED = {
    "loop": ("while True: pass", LIMIT, "timeout"),
    "200 MB as result": ("'x' * 200_000_000", PATIENT, "too_large"),
    "200 MB in a line": ("print('x' * 200_000_000)\n1", PATIENT, None),
    "10,000 lines": ("for i in range(10_000): print('line', i)", PATIENT, None),
    "lists": (HUNGRY["lists"], PATIENT, "out_of_memory"),
    "recursion": ("def f(): return f()\nf()", PATIENT, "program_error"),
    "future": (OTHER["future"][0], PATIENT, "unsettled"),
    "abort": (OTHER["abort"][0], PATIENT, "interpreter_failed"),
}
"""By name: a program, its running time, and the code of its end."""


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["deno", "page"])
async def stand(request, tmp_path_factory):
    require_python()
    path = tmp_path_factory.mktemp("stopping") / "codemode.sqlite3"
    if request.param == "deno":
        executor = make_deno()
        yield Stand(executor, make_runtime(executor, path), None, None)
        await executor.close()
        return
    async with chromium(memory=4 * 2**30) as browser, open_pages(browser, worker_source()) as pages:
        executor = BrowserExecutor(pages)
        await executor.ready()
        empty_page = await pages.context.new_page()
        await empty_page.evaluate(TIMERS)
        yield Stand(executor, make_runtime(executor, path), pages, empty_page)
        await executor.close()


async def run(stand, source, limit):
    return await stand.runtime.execute(source, language="python", timeout=limit)


async def next_runs_work(stand):
    assert (await stand.runtime.execute("40 + 2", language="python")).result == 42
    assert (await stand.runtime.execute("40 + 2")).result == 42


def code_of(outcome):
    return outcome.error and outcome.error.code


@pytest.mark.parametrize("stand", ["deno"], indirect=True)
async def test_a_program_that_never_ends_is_ended(stand):
    outcomes = await asyncio.gather(*(run(stand, source, LIMIT) for source in ENDLESS.values()))
    assert dict(zip(ENDLESS, map(code_of, outcomes), strict=True)) == dict.fromkeys(ENDLESS, "timeout")
    await next_runs_work(stand)


@pytest.mark.parametrize("stand", ["deno"], indirect=True)
async def test_a_program_that_breaks_ends_with_its_own_code_and_a_sentence(stand):
    outcomes = await asyncio.gather(*(run(stand, source, PATIENT) for source, _, _ in OTHER.values()))
    for (name, (_, code, word)), outcome in zip(OTHER.items(), outcomes, strict=True):
        if code is None:
            assert outcome.status in {"completed", "error"}, name
            continue
        assert code_of(outcome) == code, (name, outcome)
        assert word in outcome.error.message, (name, outcome)
        assert "codemode_guest" not in json.dumps([outcome.error.message, *outcome.logs]), name
    await next_runs_work(stand)


@pytest.mark.parametrize("stand", ["deno"], indirect=True)
@pytest.mark.parametrize("name", list(HUNGRY))
async def test_a_program_that_takes_all_memory_is_ended(stand, name):
    assert code_of(await run(stand, HUNGRY[name], PATIENT)) == "out_of_memory"
    await next_runs_work(stand)


@pytest.mark.parametrize("stand", ["page"], indirect=True)
@pytest.mark.parametrize("name", list(WATCHED))
async def test_the_page_never_stands_still(stand, name):
    source, limit, code = WATCHED[name]
    more = []
    for _ in range(3):  # a busy machine holds a page up, too: the best of three counts
        await gaps(stand)
        outcome = await run(stand, source, limit)
        here, beside = await gaps(stand)
        more.append(here - beside)
        assert code_of(outcome) == code, outcome
        if more[-1] <= MAX_GAP:
            break
    print(f"\n{name}: the page's timers stood {here:.0f} ms, an empty page's {beside:.0f} ms")  # noqa: T201  figures
    assert min(more) <= MAX_GAP
    await next_runs_work(stand)
