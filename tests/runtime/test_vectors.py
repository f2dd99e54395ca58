"""The reference's scenarios on the real sandbox: the same facts, or a reason in the table of differences."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from codemode_jupyter.sandbox.deno import DenoExecutor
from tests.runtime.differences import DIFFERENCES, ELSEWHERE
from tests.runtime.vectors import CORPUS, Teller, comparable

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(not CORPUS.exists(), reason="the corpus of the reference's answers is not beside the checkout"),
]

CASES = json.loads(CORPUS.read_text(encoding="utf-8"))["cases"] if CORPUS.exists() else []


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def deno() -> AsyncIterator[DenoExecutor]:
    executor = DenoExecutor()
    yield executor
    await executor.close()


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["name"] not in ELSEWHERE], ids=lambda case: case["name"]
)
async def test_a_scenario_gives_the_references_facts_or_ours_that_are_in_the_table(case, deno, tmp_path):
    teller = Teller(tmp_path, deno)
    statuses, differing = [], []
    for step in case["steps"]:
        got = await teller.play(step)
        if step["op"] in ("exec", "approve"):
            statuses.append(got["status"])
        theirs, ours = comparable(step["op"], step["output"]), comparable(step["op"], got)
        if theirs != ours:
            differing.append((step["op"], theirs, ours))
    await teller.runtime.close()
    if case["name"] in DIFFERENCES:
        assert " ".join(statuses) == DIFFERENCES[case["name"]][0]
        assert differing, "this scenario agrees: take it out of the table"
    else:
        assert not differing


async def test_the_tables_name_scenarios_that_exist():
    assert {*DIFFERENCES, *ELSEWHERE} <= {case["name"] for case in CASES}
