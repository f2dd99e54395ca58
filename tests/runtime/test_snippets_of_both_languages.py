"""Snippets know their language, and a program in either one runs them: one log, one order, the same values."""

import asyncio
from datetime import UTC, datetime

import pytest

from codemode_jupyter import FunctionConnector, Runtime, tool
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.browser import BrowserExecutor
from codemode_jupyter.sandbox.deno import DenoExecutor, find_deno
from codemode_jupyter.sandbox.protocol import PassEnd, PassHandler, PassRequest
from codemode_jupyter.sandbox.python.making import ensure_assets
from codemode_jupyter.sandbox.worker_source import worker_source
from tests.sandbox.real_page import chromium, open_pages

pytestmark = pytest.mark.asyncio(loop_scope="module")
notes: list[str] = []
WHEN = datetime(2026, 1, 2, tzinfo=UTC)

PYTHON = """
import random
async def main(given=None):
    count = await desk.note(text=f"py {given}")
    return {"count": count, "step": await codemode.step("draw", lambda: 7), "pair": (1, 2.0), "chance": random.random()}
"""
JAVASCRIPT = """async (given = "nothing") => {
  const count = await desk.note({ text: `js ${given instanceof Date ? given.toISOString() : given}` });
  return { count, when: new Date(1767312000000), members: new Set([1]), chance: Math.random() };
}"""


@tool(requires_approval=True, revert=lambda arguments, _: notes.remove(arguments["text"]))
def note(text: str) -> int:
    """Write down."""
    notes.append(text)
    return len(notes)


async def slow() -> str:
    """Take a while."""
    await asyncio.sleep(0.01)
    return "slow"


@pytest.fixture(scope="module")
def executor():
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


@pytest.fixture
async def runtime(executor, tmp_path):
    notes.clear()
    made = Runtime([FunctionConnector("desk", [note, slow])], executor=executor, path=tmp_path / "store.sqlite3")
    await save(made, "py", PYTHON, "python")
    await save(made, "js", JAVASCRIPT, "javascript")
    yield made
    await made.close()


async def save(runtime, name, code, language):
    outcome = await runtime.execute(code, language=language)
    if outcome.status == "paused":
        await runtime.reject(outcome.execution_id, outcome.pending[0].seq)
    await runtime.save_snippet(name, execution_id=outcome.execution_id)


async def to_the_end(runtime, code, language):
    """Run a program, approve all it asks, and return the outcome and what it asked in turn."""
    outcome, asked = await runtime.execute(code, language=language), []
    while outcome.status == "paused":
        asked.append(sorted(call.args["text"] for call in outcome.pending))
        outcome = await runtime.approve(outcome.execution_id)
    return outcome, asked


async def test_a_javascript_program_runs_python_snippets_in_one_log_and_all_is_undone(runtime):
    code = """async () => {
      const one = await codemode.run("py", new Date(1767312000000));
      console.log("between");
      return [one, await codemode.run("js"), (await codemode.run("py")).chance];
    }"""
    outcome, asked = await to_the_end(runtime, code, "javascript")
    assert outcome.status == "completed", outcome.error
    first, second, third = outcome.result
    assert (first["count"], first["step"], first["pair"]) == (1, 7, [1, 2])
    assert (second["count"], second["when"], second["members"]) == (2, WHEN, {1})
    assert len({first["chance"], second["chance"], third}) == 3
    assert asked == [[f"py {WHEN}"], ["js nothing"], ["py None"]]
    assert outcome.logs == ("between",)
    log = [f"{call.connector}.{call.method}" for call in outcome.calls]
    assert log == ["codemode.run", "desk.note", "__step.draw"] + ["codemode.run", "desk.note"] * 2 + ["__step.draw"]
    await runtime.rollback(outcome.execution_id)
    assert notes == []


async def test_a_python_program_runs_javascript_snippets(runtime):
    code = (
        "import datetime\na = await codemode.run('js', datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC))\n"
        "b = await codemode.run('js')\n[a['count'], a['when'], a['members'], b['count']]"
    )
    outcome, asked = await to_the_end(runtime, code, "python")
    assert outcome.result == [1, WHEN, {1}, 2]
    assert asked == [["js 2026-01-02T00:00:00.000Z"], ["js nothing"]]


async def test_snippets_run_snippets_of_the_other_language_side_by_side(runtime):
    nested = "found = await codemode.run('js', 'nested')\nfound['count'] + await desk.note(text='last')"
    await save(runtime, "nest", nested, "python")
    code = "async () => Promise.all([codemode.run('nest'), desk.slow(), codemode.run('py', 1)])"
    outcome, asked = await to_the_end(runtime, code, "javascript")
    assert outcome.status == "completed", outcome.error
    assert outcome.result[1] == "slow"
    assert asked == [["js nested", "py 1"], ["last"]]


async def test_what_a_snippet_of_the_other_language_raises_can_be_caught(runtime):
    await save(runtime, "py", "def main():\n    print('begun', end='')\n    raise ValueError('no')", "python")
    await save(runtime, "js", "async () => { throw new RangeError('never') }", "javascript")
    code = """async () => {
      try { await codemode.run("py") } catch (error) { return [error instanceof Error, error.name, error.message] }
    }"""
    assert (await runtime.execute(code)).result == [True, "ValueError", "no"]
    code = "try:\n    await codemode.run('js')\nexcept ToolError as error:\n    found = [error.name, str(error)]\nfound"
    assert (await runtime.execute(code, language="python")).result == ["RangeError", "never"]
    outcome = await runtime.execute("async () => {\n  await codemode.run('py');\n}")
    assert (outcome.error.line, outcome.error.message) == (2, "ValueError: no")
    assert outcome.logs == ("begun",)


async def test_a_paused_run_goes_on_with_the_snippet_that_it_began_with(runtime):
    outcome = await runtime.execute("async () => (await codemode.run('py', 'x')).count")
    assert outcome.status == "paused"
    await save(runtime, "py", "'another'", "python")
    outcome = await runtime.approve(outcome.execution_id)
    assert (outcome.status, outcome.result) == ("completed", 1)


class Asking:
    """A sandbox that always asks for Python."""

    name = "asking"

    def __init__(self) -> None:
        self.asked = 0

    async def run_pass(self, request: PassRequest, handler: PassHandler) -> PassEnd:  # noqa: ARG002
        self.asked += 1
        return PassEnd("needs_python")

    async def close(self) -> None:
        pass


async def test_a_sandbox_that_asks_for_python_without_need_is_not_believed(tmp_path):
    sandbox = Asking()
    runtime = Runtime(executor=sandbox, path=tmp_path / "store.sqlite3")
    outcome = await runtime.execute("async () => 1")
    assert outcome.error.code == "protocol"
    assert sandbox.asked == 1
    await runtime.close()


async def test_a_snippet_keeps_its_language(runtime):
    assert {one.name: one.language for one in await runtime.snippets()} == {"py": "python", "js": "javascript"}
    assert "```python" in (await runtime.describe("py"))["types"]
    assert "```py" not in (await runtime.describe("js", language="python"))["types"]


async def test_snippets_of_both_languages_run_in_a_page(executor, tmp_path):
    notes.clear()
    async with chromium() as browser, open_pages(browser, worker_source()) as pages:
        page = BrowserExecutor(pages)
        made = Runtime([FunctionConnector("desk", [note, slow])], executor=page, path=tmp_path / "store.sqlite3")
        await save(made, "py", PYTHON, "python")
        await save(made, "js", JAVASCRIPT, "javascript")
        code = "async () => [(await codemode.run('py', 1)).count, (await codemode.run('js', 2)).count]"
        outcome, asked = await to_the_end(made, code, "javascript")
        assert (outcome.result, asked) == ([1, 2], [["py 1"], ["js 2"]]), outcome.error
        code = "[(await codemode.run('js', 3))['count'], (await codemode.run('py', 4))['count']]"
        outcome, asked = await to_the_end(made, code, "python")
        assert (outcome.result, asked) == ([3, 4], [["js 3"], ["py 4"]]), outcome.error
        await made.close()
        await page.close()
