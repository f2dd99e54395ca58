"""Where a failure happened and what kind it is, told by the real engine and mapped to what the author wrote."""

import pytest

from codemode_jupyter import FunctionConnector, Runtime
from codemode_jupyter.sandbox.deno import DenoExecutor


@pytest.fixture(scope="module")
def executor():
    return DenoExecutor()


@pytest.fixture
async def runtime(tmp_path, executor):
    runtime = Runtime(executor=executor, path=tmp_path / "store.sqlite3")
    yield runtime
    await runtime.close()


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    ("code", "line", "column"),
    [
        ("const x: number = 5;\nmissing(x)", 2, 1),
        ("const a = null;\nconst b = a.b;\nreturn b", 2, 13),
        ("enum E { A, B } const a = null; a.b", 1, 35),
        ("Text before.\n```js\nconst a = {};\na.b.c\n```\nText after.", 4, 5),
        ("async () => {\n  throw new Error('boom');\n}", 2, 9),
    ],
)
async def test_a_failure_is_placed_where_the_author_wrote_it(runtime, code, line, column):
    outcome = await runtime.execute(code)
    assert (outcome.error.line, outcome.error.column) == (line, column)
    assert outcome.error.excerpt.splitlines()[-1].endswith("^")


async def test_what_the_sandbox_found_keeps_its_code(runtime):
    outcome = await runtime.execute("await new Promise(() => {})")
    assert outcome.error.code == "unsettled"


async def test_a_program_cannot_claim_a_code_of_the_runtime(runtime):
    outcome = await runtime.execute("throw Object.assign(new Error('x'), {data: {code: 'in_doubt'}})")
    assert outcome.error.code == "program_error"


async def test_a_misspelt_connector_is_answered_with_the_nearest_names(tmp_path, executor):
    runtime = Runtime([FunctionConnector("tracker", [])], executor=executor, path=tmp_path / "store.sqlite3")
    outcome = await runtime.execute("traker.list()")
    assert "tracker, codemode" in outcome.error.message
    assert outcome.error.hint == "Did you mean tracker?"
    await runtime.close()
