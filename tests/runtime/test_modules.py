"""Modules of a runtime: programs import them, executions remember them."""

import pytest

from codemode_jupyter import CodemodeError, FunctionConnector, Runtime, tool
from codemode_jupyter.sandbox.deno import DenoExecutor, find_deno

pytestmark = pytest.mark.skipif(find_deno() is None, reason="no Deno: pip install 'codemode-jupyter[headless]'")

TAX = "export const rate = 0.19\nexport function gross(net: number): number { return net * (1 + rate) }"


@tool(requires_approval=True)
def book(amount: float) -> float:
    """Book an amount."""
    return amount


@pytest.fixture
async def make(tmp_path):
    """Make runtimes over one file, each with its own modules."""
    executor, made = DenoExecutor(), []

    def runtime(**options):
        bank = FunctionConnector("bank", [book])
        made.append(Runtime([bank], executor=executor, path=tmp_path / "store.sqlite3", **options))
        return made[-1]

    yield runtime
    for one in made:
        await one.close()
    await executor.close()


async def test_a_program_imports_a_module_by_name(make):
    outcome = await make(modules={"tax": TAX}).execute('import { gross } from "tax"\nMath.round(gross(100))')
    assert outcome.result == 119, outcome


async def test_an_import_of_anything_else_is_refused_with_place_and_names(make):
    outcome = await make(modules={"tax": TAX}).execute('const a = 1\nimport fs from "node:fs"\na')
    error = outcome.error
    assert (error.code, error.line, error.column) == ("import_not_available", 2, 1)
    assert '"tax"' in error.hint
    without = await make().execute('import fs from "node:fs"\n1')
    assert without.error.code == "import_not_available"


async def test_an_import_while_running_is_refused_with_its_code_and_place(make):
    outcome = await make(modules={"tax": TAX}).execute('async () => {\n  return await import("node:fs")\n}')
    assert (outcome.error.code, outcome.error.line) == ("import_not_available", 2)
    assert "tax" in outcome.error.message
    assert outcome.error.excerpt.splitlines()[-1].index("^") == outcome.error.excerpt.splitlines()[-2].index("import")


async def test_an_execution_goes_on_after_an_approval_with_the_same_modules(make):
    program = 'import { gross } from "tax"\nawait bank.book(Math.round(gross(100)))'
    paused = await make(modules={"tax": TAX}).execute(program)
    assert paused.status == "paused", paused
    done = await make(modules={"more": "export {}", "tax": TAX}).approve(paused.execution_id)
    assert done.result == 119, done


@pytest.mark.parametrize("modules", [{"tax": TAX.replace("0.19", "0.07")}, {}, None])
async def test_a_changed_or_missing_module_is_said_and_nothing_runs(make, modules):
    program = 'import { gross } from "tax"\nawait bank.book(Math.round(gross(100)))'
    first = make(modules={"tax": TAX})
    paused = await first.execute(program)
    refused = await make(modules=modules).approve(paused.execution_id)
    assert refused.error.code == "modules_changed", refused
    assert '"tax"' in refused.error.message
    assert (await first.approve(paused.execution_id)).result == 119


async def test_a_snippet_imports_what_its_runtime_has(make):
    runtime = make(modules={"tax": TAX})
    saved = await runtime.execute('import { gross } from "tax"\nasync (input) => Math.round(gross(input ?? 0))')
    await runtime.save_snippet("gross", execution_id=saved.execution_id)
    outcome = await runtime.execute('async () => codemode.run("gross", 200)')
    assert outcome.result == 238, outcome


async def test_a_model_is_told_what_it_can_import(make):
    assert '`import` finds only "tax".' in make(modules={"tax": TAX}).tool().description
    assert "`import` finds" not in make().tool().description


def test_a_module_that_is_none_is_refused_when_the_runtime_is_made():
    with pytest.raises(CodemodeError, match='Module "tax", line 2, column 11'):
        Runtime(modules={"tax": "const a = 1\nconst b = ;"})


async def test_a_program_in_python_imports_the_modules_whose_names_end_with_py(make):
    text = "rate = 0.19\nasync def book(net):\n    return await bank.book(amount=net * (1 + rate))\n"
    runtime = make(modules={"tax": TAX, "shop.py": text})
    paused = await runtime.execute(
        "import shop\nfrom shop import rate\n[rate, await shop.book(100)]", language="python"
    )
    assert paused.status == "paused", paused
    refused = await make(modules={"tax": TAX, "shop.py": text.replace("0.19", "0.07")}).approve(paused.execution_id)
    assert refused.error.code == "modules_changed", refused
    assert (await runtime.approve(paused.execution_id)).result == [0.19, 119.0]
    outcome = await runtime.execute("import tax", language="python")
    assert "No module named 'tax'" in outcome.error.message
    assert '"name.py"' in outcome.error.hint
    outcome = await runtime.execute("async () => import('shop.py')")
    assert outcome.error.code == "import_not_available"


def test_a_python_module_that_no_program_could_import_is_refused():
    with pytest.raises(CodemodeError, match="is no name in Python"):
        Runtime(modules={"my-shop.py": "x = 1"})
