"""Random programs: whatever they do and however their approvals interleave, every pass repeats the ones before it."""

from __future__ import annotations

import asyncio
import itertools
import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codemode_jupyter.connectors.base import Connector
from codemode_jupyter.connectors.tool import Tool
from codemode_jupyter.runtime.runtime import Runtime
from tests.runtime.fake_sandbox import FakeExecutor, Program, ThrownError

CALLS = st.sampled_from(["read", "fail", "gated"]).map(lambda kind: ("call", kind))
NODES = st.recursive(
    CALLS | st.just(("step",)),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map(lambda nodes: ("sequence", nodes)),
        st.lists(inner, min_size=1, max_size=4).map(lambda nodes: ("parallel", nodes)),
        st.lists(inner, min_size=1, max_size=3).map(lambda nodes: ("race", nodes)),
    ),
    max_leaves=12,
)


class Tools(Connector):
    """Tools that take a random time and count how often each call was run."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__("it")
        self._chance = chance
        self.runs: Counter[int] = Counter()

    def tools(self) -> list[Tool]:
        async def read(arguments: Any, context: Any) -> Any:
            self.runs[context.seq] += 1
            for _ in range(self._chance.randrange(4)):
                await asyncio.sleep(0)
            return [arguments["path"], self._chance.random()]

        async def fail(arguments: Any, context: Any) -> Any:
            raise ValueError(f"failed {await read(arguments, context)}")

        return [Tool("read", read), Tool("fail", fail), Tool("gated", read, requires_approval=True)]


def program_of(tree: Any, traces: list[list[Any]]) -> Any:
    """Return a program that does what ``tree`` says and writes a trace of each pass."""

    async def program(p: Program) -> Any:
        trace: list[Any] = []
        traces.append(trace)

        async def run(node: Any, path: str) -> Any:
            if node[0] == "step":
                value = await p.step(path, random.random)
            elif node[0] == "call":
                trace.append(["issued", path])
                try:
                    value = await p.call(f"it.{node[1]}", {"path": path, "seen": len(trace)})
                except ThrownError as error:
                    value = error.message
            elif node[0] == "sequence":
                value = [await run(inner, f"{path}.{number}") for number, inner in enumerate(node[1])]
            elif node[0] == "parallel":
                value = await p.gather(*(run(inner, f"{path}.{number}") for number, inner in enumerate(node[1])))
            else:
                value = await p.first(*(run(inner, f"{path}.{number}") for number, inner in enumerate(node[1])))
            trace.append(["settled", path, value])
            return value

        return await run(tree, "0")

    return program


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tree=NODES,
    seed=st.integers(0, 2**32),
    lose=st.sampled_from(["never", "after each outcome", "after each batch"]),
)
def test_every_pass_repeats_the_ones_before_it(tree, seed, lose):
    asyncio.run(check(tree, random.Random(seed), lose))  # noqa: S311  chance that can be repeated


async def check(tree: Any, chance: random.Random, lose: Any) -> None:
    traces: list[list[Any]] = []
    sandbox, tools = FakeExecutor(lose), Tools(chance)
    with tempfile.TemporaryDirectory() as folder:
        runtime = Runtime([tools], executor=sandbox, path=Path(folder) / "store.sqlite3")
        outcome = await runtime.execute(sandbox.program(program_of(tree, traces)))
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
    for earlier, later in itertools.pairwise(traces):
        # What a lost pass saw after its last call reached nobody, so the next pass may see it in another order.
        told = max((index for index, entry in enumerate(earlier) if entry[0] == "issued"), default=-1) + 1
        common = min(len(earlier) if lose == "never" else told, len(later))
        assert later[:common] == earlier[:common]
