"""What a program in Python does to the runtime around it, to its own approvals and to the next program: nothing.

It reaches the bridge to the Worker's runtime, and may say by it whatever it wants: that ends its own pass at most.
"""

# ruff: noqa: E501  a table: one program, one line

import asyncio

import pytest
import pytest_asyncio

from codemode_jupyter import FunctionConnector, Runtime, tool
from codemode_jupyter.sandbox.browser import BrowserExecutor
from codemode_jupyter.sandbox.worker_source import worker_source
from tests.sandbox.conftest import make_deno, require_python
from tests.sandbox.real_page import chromium, open_pages

pytestmark = pytest.mark.asyncio(loop_scope="module")

effects: list[object] = []


@tool(requires_approval=True)
def pay(n: int) -> str:
    """Do what a person has to allow."""
    effects.append(n)
    return "paid"


def echo(value: object = None) -> object:
    """Return the same."""
    return value


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["deno", "page"])
async def runtime(request, tmp_path_factory):
    require_python()
    path = tmp_path_factory.mktemp("isolation") / "store.sqlite3"
    connectors = [FunctionConnector("it", [pay, echo])]
    if request.param == "deno":
        executor = make_deno()
        yield Runtime(connectors, executor=executor, path=path, timeout=60)
        await executor.close()
        return
    async with chromium() as browser, open_pages(browser, worker_source()) as pages:
        executor = BrowserExecutor(pages)
        yield Runtime(connectors, executor=executor, path=path, timeout=60)
        await executor.close()


async def run(runtime, source):
    return await runtime.execute(source, language="python")


REACH = """
import asyncio, json, sys
frame = sys._getframe()
while "self" not in frame.f_locals or not hasattr(frame.f_locals["self"], "_bridge"):
    frame = frame.f_back
own = frame.f_locals["self"]
bridge, calls, loop = own._bridge, own._calls, own._loop
"""

FORGED = {
    "arguments that are no JSON": ("bridge.call(1, 'it', 'echo', '{\"n\": 1')\nawait asyncio.sleep(9)", "protocol"),
    "arguments of another tool": ("bridge.call(1, 'it', 'pay', '{\"n\": [1]}')\nawait asyncio.sleep(9)", "interpreter_failed"),
    "a connector of the prototype": ("bridge.call(1, '__proto__', 'echo', '{}')\nawait asyncio.sleep(9)", "interpreter_failed"),
    "a step that was not handed out": ("bridge.stepDone(1, '1')\nbridge.stepFailed(2, '2')\n7", None),
    "a snippet of its own": ("bridge.runSnippet(1, json.dumps({'source': '() => 1', 'name': 'x', 'line_offset': 0}), '1')", "program_error"),
    "results of snippets": ("bridge.snippetDone(0, '1')\nbridge.snippetFailed(1, '{')\n7", None),
    "a result that is no JSON": ("bridge.finish('{')\nawait asyncio.sleep(9)", "protocol"),
    "a result that is too deep": ("bridge.finish('[' * 100000 + ']' * 100000)\nawait asyncio.sleep(9)", "protocol"),
    "a result that is too large": ("bridge.finish('\"' + 'x' * 9_000_000 + '\"')\nawait asyncio.sleep(9)", "too_large"),
    "a result with a line of the host": ("bridge.finish('1\\n0 text 0 {}')\nawait asyncio.sleep(9)", "protocol"),
    "two results": ("bridge.finish('7')\nbridge.finish('8')\nbridge.fail('{}')\n9", None),
    "a failure that is none": ("bridge.fail('{\"type\": \"calls\", \"status\": \"paused\"}')\nawait asyncio.sleep(9)", "protocol"),
    "a line of no level": ("bridge.print('none', 'x')\nawait asyncio.sleep(9)", "protocol"),
    "a line that is no text": ("bridge.print('log', sys)\n7", None),
    "timers that are none": ("bridge.addTimer(-1, float('nan'))\nbridge.addTimer('x', 'y')\n[bridge.clearTimer(n) for n in range(99)]\n7", None),
    "itself again": ("own.start('await it.echo(value=7)')\nawait asyncio.sleep(0.1)\n7", None),
}  # fmt: skip
"""By name: what a program does with the bridge, and the code of its end (``None``: it completes, with 7)."""


@pytest.mark.parametrize("runtime", ["deno"], indirect=True)  # all sandboxes are judged in one place
async def test_what_is_forged_by_the_bridge_ends_its_own_program_at_most(runtime):
    effects.clear()
    beside = asyncio.create_task(
        run(runtime, "import asyncio\nfor i in range(50):\n    await it.echo(value=i)\n'well'")
    )
    outcomes = await asyncio.gather(*(run(runtime, REACH + source) for source, _ in FORGED.values()))
    for (name, (_, code)), outcome in zip(FORGED.items(), outcomes, strict=True):
        if code is None:
            assert (outcome.status, outcome.result) == ("completed", 7), (name, outcome)
        else:
            assert outcome.error is not None, (name, outcome)
            assert outcome.error.code == code, (name, outcome.error)
    assert (await beside).result == "well"
    assert effects == []


ANSWERED = {
    "by its own delivery": "calls.deliver(calls._last, json.dumps('paid'), False)\nfound = await task",
    "by the call's future": "calls._futures[calls._last].set_result(json.dumps('paid'))\nfound = await task",
    "by a failure": "calls.deliver(calls._last, json.dumps({}), True)\nfound = await asyncio.gather(task, return_exceptions=True)",
    "by cancelling": "task.cancel()\nfound = await asyncio.gather(task, return_exceptions=True)",
    "by a result": "bridge.finish(json.dumps('paid'))\nawait asyncio.sleep(9)",
    "by exceptions": "try:\n    found = await task\nexcept BaseException:\n    found = 'caught'\nfinally:\n    print('over')",
    "by a profiler": "sys.setprofile(lambda *_: task.cancel())\nawait task",
    "by the loop": "loop._ready.clear()\nloop.call_soon(task.cancel)\nawait task",
}
"""How a program would answer its own call in the place of a person."""


async def test_nobody_but_a_person_answers_what_waits_for_one(runtime):
    effects.clear()
    before = REACH + "task = asyncio.ensure_future(it.pay(n=1))\nawait asyncio.sleep(0)\nawait it.echo(value=0)\n"
    sources = [before + source for source in ANSWERED.values()]
    outcomes = await asyncio.gather(*(run(runtime, source) for source in sources))
    for name, outcome in zip(ANSWERED, outcomes, strict=True):
        assert effects == [], name
        # It may harm itself, but never completes, and the call waits for a person or is given up.
        assert outcome.status in {"paused", "error"}, (name, outcome)
        assert [call.state for call in outcome.calls if call.method == "pay"] in (["pending"], ["cancelled"]), name
    rejected = [await runtime.reject(outcome.execution_id) for outcome in outcomes if outcome.status == "paused"]
    assert len(rejected) >= 1
    assert effects == []


POISON = """
import asyncio, builtins, codemode_guest, gc, json, os, sys, time, types
import js, pyodide_js
from codemode_guest import connectors, program, values

def tried(work):
    try:
        work()
    except BaseException:
        pass

os.makedirs("/home/program/left", exist_ok=True)
for path in ("/tmp/left", "/home/program/left/x", "/lib/python3.14/site-packages/left.py"):
    tried(lambda: open(path, "w").write("left = 1"))
os.environ["LEFT"] = "1"
builtins.left = 1
program.encode = values.encode = lambda *_: '"poisoned"'
connectors.Connector.__getattr__ = lambda *_: None
program.make = None
json.dumps = time.time = None
Object = js.constructor
Object_prototype = Object.getPrototypeOf(Object.new())
tried(lambda: setattr(Object_prototype, "left", 1))
tried(lambda: setattr(Object.getPrototypeOf(js.setTimeout), "left", 1))
tried(lambda: setattr(js, "left", 1))
tried(lambda: setattr(pyodide_js, "left", 1))
tried(lambda: setattr(js.TextDecoder.prototype, "decode", None))
tried(lambda: setattr(js.console, "log", None))
heap = pyodide_js._module.HEAPU8
tried(lambda: heap.fill(255, heap.length - 4_000_000))
for module in list(sys.modules.values()):
    if isinstance(module, types.ModuleType):
        tried(lambda: setattr(module, "left", 1))
await asyncio.sleep(0)
bridge = next(one for one in gc.get_objects() if isinstance(one, program.Pass))._bridge
bridge.finish('"poisoned"')
"""
"""Changes all that can be changed of its interpreter, the last of it beyond repair."""

FINGERPRINT = """
import builtins, gc, json, os, random, sys, types, js, pyodide_js
Object = js.constructor
files = sorted(os.path.join(folder, name) for top in ("/tmp", "/home", "/lib/python3.14") for folder, _, names in os.walk(top) for name in names)
changed = sorted(name for name, module in sys.modules.items() if hasattr(module, "left"))
[files, sorted(os.environ.items()), sorted(vars(builtins)), changed, sorted(sys.modules), random.random(),
 hasattr(js, "left"), hasattr(pyodide_js, "left"), hasattr(Object.new(), "left"), sorted(Object.keys(js)),
 json.dumps([1]), await it.echo(value="well")]
"""
"""What a program finds: the same in every one."""


async def test_what_a_program_changes_is_gone_with_it(runtime):
    first = await run(runtime, FINGERPRINT)
    assert first.status == "completed", first
    poisoned = await asyncio.gather(*(run(runtime, POISON) for _ in range(2)))
    assert {outcome.status for outcome in poisoned} <= {"completed", "error"}, poisoned
    following = [await run(runtime, FINGERPRINT) for _ in range(2)]
    # A replayed number is one of its execution; everything else is the same everywhere.
    assert [without_random(outcome.result) for outcome in following] == [without_random(first.result)] * 2


def without_random(result):
    assert isinstance(result, list), result
    return [*result[:5], *result[6:]]
