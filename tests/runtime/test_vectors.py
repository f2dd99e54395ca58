"""The reference's scenarios on the real sandbox: the same facts, or a reason in the table of differences."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from codemode_jupyter.sandbox.browser import BrowserExecutor
from codemode_jupyter.sandbox.deno import DenoExecutor
from codemode_jupyter.sandbox.protocol import Executor
from codemode_jupyter.sandbox.worker_source import worker_source
from tests.runtime.differences import DIFFERENCES, ELSEWHERE
from tests.runtime.vectors import CORPUS, Teller, comparable, programs_in_python
from tests.sandbox.conftest import require_python
from tests.sandbox.real_page import chromium, open_pages

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


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["deno", "chromium"])
async def python(request: pytest.FixtureRequest, deno: DenoExecutor) -> AsyncIterator[Executor]:
    """Each sandbox in turn, with Python in it."""
    require_python()
    if request.param == "deno":
        yield deno
        return
    async with chromium() as browser, open_pages(browser, worker_source()) as pages:
        executor = BrowserExecutor(pages)
        yield executor
        await executor.close()


PROGRAMS = programs_in_python()
HERE = [case for case in CASES if case["name"] not in ELSEWHERE]


@pytest.mark.parametrize("case", HERE, ids=lambda case: case["name"])
async def test_a_scenario_gives_the_references_facts_or_ours_that_are_in_the_table(case, deno, tmp_path):
    await play(case, Teller(tmp_path, deno))


@pytest.mark.parametrize("case", HERE, ids=lambda case: case["name"])
async def test_a_scenario_in_python_gives_the_same_facts(case, python, tmp_path):
    teller = Teller(tmp_path, python, PROGRAMS.get(case["name"], []))
    await play(case, teller)


async def play(case, teller):
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
        assert " ".join(statuses) == DIFFERENCES[case["name"]][0], differing
        assert differing, "this scenario agrees: take it out of the table"
    else:
        assert not differing


async def test_the_tables_name_scenarios_that_exist():
    assert {*DIFFERENCES, *ELSEWHERE, *PROGRAMS} <= {case["name"] for case in CASES}


async def test_every_program_of_a_scenario_has_one_in_python():
    for case in HERE:
        programs = PROGRAMS.get(case["name"], [])
        assert len(programs) == sum(step["op"] == "exec" for step in case["steps"]), case["name"]
