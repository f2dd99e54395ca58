"""Random programs in Python: however tools, timers and approvals interleave, every pass repeats the ones before it."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.runtime import Runtime
from codemode_jupyter.sandbox.deno import DenoExecutor, find_deno
from codemode_jupyter.sandbox.protocol import CallBatch, PassEnd, PassHandler, PassRequest
from codemode_jupyter.sandbox.python.making import ensure_assets
from tests.runtime.test_properties import Tools

LEAVES = st.sampled_from(["read", "fail", "gated", "step", "sleep", "chance", "garbage"]).map(lambda kind: [kind])
NODES = st.recursive(
    LEAVES,
    lambda inner: st.tuples(
        st.sampled_from(["sequence", "gather", "group", "first", "limited", "queue"]),
        st.lists(inner, min_size=1, max_size=3),
    ).map(list),
    max_leaves=10,
)
ALL = [
    "sequence",
    [["group", [["read"], ["step"], ["fail"]]], ["queue", [["chance"], ["sleep"]]], ["read"], ["garbage"]],
]

PROGRAM = """
import asyncio, datetime, gc, json, os, random, secrets, time, uuid, weakref

class Knot:
    "Refers to itself, so that only the collector frees it; that is told."
    def __init__(self):
        self.me = self
        weakref.finalize(self, print, "freed")

async def call(kind, path):
    print("issued", path)
    try:
        return await it[kind](path=path, seen=random.random())
    except ToolError as error:
        return str(error)

def draw():
    knots = [[] for _ in range(random.randrange(3_000))]
    for knot in knots:
        knot.append(knot)
    return [random.random(), time.time(), secrets.token_hex(2)]

async def leaf(kind, path):
    match kind:
        case "step":
            return await codemode.step(path, draw)
        case "sleep":
            await asyncio.sleep(random.random() / 200)
            return [time.monotonic(), asyncio.get_running_loop().time()]
        case "chance":
            return [str(uuid.uuid4()), str(uuid.uuid1()), secrets.token_hex(4), os.urandom(2).hex(), random.gauss(0, 1),
                    datetime.datetime.now().isoformat(), list({f"k{n}" for n in range(5)}), hash("x"), hash(1.5)]
        case "garbage":
            knots = [Knot() for _ in range(30)]
            junk = [[Knot, []] for _ in range(2_000)]
            return len(junk)
    return await call(kind, path)

async def run(node, path):
    kind, *rest = node
    if not rest:
        value = await leaf(kind, path)
        print("settled", path, value)
        return value
    inner = [run(one, f"{path}.{n}") for n, one in enumerate(rest[0])]
    match kind:
        case "sequence":
            value = [await one for one in inner]
        case "gather":
            value = await asyncio.gather(*inner)
        case "group":
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one) for one in inner]
            value = [task.result() for task in tasks]
        case "first":
            tasks = [asyncio.create_task(one) for one in inner]
            done, late = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            value = [task.result() for task in tasks if task in done]
            await asyncio.gather(*late)
        case "limited":
            value = []
            try:
                async with asyncio.timeout(random.random() / 100):
                    for one in inner:
                        value.append(await one)
            except TimeoutError:
                value.append("late")
            for one in inner:
                one.close()
        case "queue":
            queue = asyncio.Queue(1)
            async def produce():
                for one in inner:
                    await queue.put(await one)
            task = asyncio.create_task(produce())
            value = [await queue.get() for _ in inner]
            await task
    print("settled", path, len(value))
    return value

[await run(json.loads(TREE), "0"), random.getrandbits(32)]
"""


@pytest.fixture(scope="module")
def executor() -> Iterator[DenoExecutor]:
    deno = find_deno()
    if deno is None:
        pytest.skip("there is no Deno: pip install 'codemode-jupyter[python]'")
    try:
        ensure_assets(deno)
    except CodemodeError as error:
        pytest.skip(str(error))
    made = DenoExecutor()
    yield made
    asyncio.run(made.close())


class Watched:
    """An executor that keeps what each pass printed."""

    name = "watched"

    def __init__(self, executor: DenoExecutor) -> None:
        self._executor = executor
        self.passes: list[list[str]] = []

    async def run_pass(self, request: PassRequest, handler: PassHandler) -> PassEnd:
        lines: list[str] = []
        self.passes.append(lines)
        end = await self._executor.run_pass(request, _Keeping(handler, lines))
        lines += [text for _, text in end.console]
        return end

    async def close(self) -> None:
        pass


class _Keeping:
    def __init__(self, handler: PassHandler, lines: list[str]) -> None:
        self._handler = handler
        self._lines = lines
        self.started, self.step_result, self.calls = handler.started, handler.step_result, handler.calls

    def console(self, lines: Any) -> None:
        self._lines += [text for _, text in lines]
        self._handler.console(lines)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tree=NODES, seed=st.integers(0, 2**32))
def test_every_pass_repeats_the_ones_before_it(executor, tree, seed):
    asyncio.run(check(executor, tree, random.Random(seed)))  # noqa: S311  chance that can be repeated


async def check(executor: DenoExecutor, tree: Any, chance: random.Random) -> None:
    watched, tools = Watched(executor), Tools(chance)
    program = PROGRAM.replace("TREE", repr(json.dumps(tree)))
    with tempfile.TemporaryDirectory() as folder:
        runtime = Runtime([tools], executor=watched, path=Path(folder) / "store.sqlite3")
        outcome = await runtime.execute(program, language="python")
        log = [(call.connector, call.method, call.args) for call in outcome.calls]
        while outcome.status == "paused":
            waiting = [call.seq for call in outcome.pending]
            chosen = chance.sample(waiting, chance.randint(1, len(waiting)))
            outcome = await runtime.approve(outcome.execution_id, chosen)
            now = [(call.connector, call.method, call.args) for call in outcome.calls]
            assert now[: len(log)] == log
            log = now
        await runtime.close()
    assert outcome.status == "completed", outcome.error
    assert set(tools.runs.values()) <= {1}
    for earlier, later in itertools.pairwise(watched.passes):
        common = min(len(earlier), len(later))
        assert later[:common] == earlier[:common]


class Losing(Watched):
    """Loses every pass after the first calls of it that are not in the log."""

    async def run_pass(self, request: PassRequest, handler: PassHandler) -> PassEnd:
        lost = asyncio.Event()
        known = len(request.calls)

        def calls(batch: CallBatch) -> None:
            handler.calls(batch)
            if any(call.seq >= known for call in batch.calls):
                lost.set()

        keeping = _Keeping(handler, [])
        keeping.calls = calls
        running = asyncio.create_task(self._executor.run_pass(request, keeping))
        losing = asyncio.create_task(lost.wait())
        await asyncio.wait({running, losing}, return_when=asyncio.FIRST_COMPLETED)
        losing.cancel()
        self.passes.append([])
        if running.done():
            return running.result()
        running.cancel()
        await asyncio.wait({running})
        return PassEnd("lost", is_left=True)


async def test_a_program_whose_every_pass_is_lost_comes_to_the_same_end(executor, tmp_path):
    program = PROGRAM.replace("TREE", repr(json.dumps(ALL)))
    losing, tools = Losing(executor), Tools(random.Random(1))  # noqa: S311
    runtime = Runtime([tools], executor=losing, path=tmp_path / "store.sqlite3")
    outcome = await runtime.execute(program, language="python")
    assert outcome.status == "completed", outcome.error
    assert len(losing.passes) >= 3
    assert set(tools.runs.values()) == {1}
    await runtime.close()
