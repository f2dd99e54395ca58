"""Modules in a sandbox: imported by name, evaluated once, and nothing else is ever loaded."""

import json

import pytest

from codemode_jupyter.program import ModuleSet, prepare_program
from tests.sandbox.kernel import GATED, Kernel

pytestmark = pytest.mark.asyncio(loop_scope="module")

STOCK = {
    "math": "console.log('math'); export const pi = 3; export function twice(x) { return 2 * x }\nexport default 'm'",
    "more": 'console.log("more"); export * from "math"; export { twice as double, default } from "math"\n'
    'import * as all from "math"; export { all }',
    "counter": "export let count = 0; export const increase = () => { count += 1; return count }",
    "typed": "export const add = (a: number, b: number): number => a + b; export enum Size { S = 1, M }",
    "waits": "const first = await it.echo('waited'); export { first }",
    "breaks": "\n\nthrow new RangeError('broken')",
    "now": "export const at = Date.now(); export const chance = Math.random()",
    "executor.js": "export default 'just a name'",
    "node:fs": "export const readFileSync = () => 'no file'",
    "__proto__": "export { a as __proto__ }; const a = 'odd'",
    "uses": "export const made = async () => (await import('math')).pi",
}


def kernel_of(program, modules=None, **options):
    modules = STOCK if modules is None else modules
    prepared = prepare_program(program, ModuleSet(modules))
    return Kernel(prepared.source, modules=modules, line_offset=prepared.line_offset, **options)


async def run(sandbox, program, **options):
    end = await kernel_of(program, **options).run(sandbox)
    assert end.kind == "completed", end
    return json.loads(end.value)


@pytest.mark.parametrize(
    ("program", "value"),
    [
        ('import { pi, twice as double } from "math"; double(pi)', 6),
        ('import m from "math"\nasync () => m', "m"),
        ('import { default as m } from "math"; m', "m"),
        ('import m, * as all from "math"; [m, all.pi, Object.keys(all).sort()]', ["m", 3, ["default", "pi", "twice"]]),
        ('import * as all from "math"; Object.prototype.toString.call(all)', "[object Module]"),
        ('import "math"; 1', 1),
        ('import { double, pi, all } from "more"; [double(pi), all.pi]', [6, 3]),
        ('import { add, Size } from "typed"; [add(1, 2), Size.M]', [3, 2]),
        ('import { first } from "waits"; first', "waited"),
        ('import x from "executor.js"; x', "just a name"),
        ('import { readFileSync as read } from "node:fs"; read("/etc/passwd")', "no file"),
        ('import { __proto__ as odd } from "__proto__"; odd', "odd"),
        ('const value = twice(2);\nimport { twice } from "math"\nvalue', 4),
        ('const { pi } = await import("math"); pi', 3),
        ('const name = "ma" + "th"; (await import(name)).default', "m"),
        ('import { made } from "uses"; made()', 3),
        ('import * as a from "math"; (await import("math")) === a && (await import("more")).all === a', True),
        ("import { pi } from 'math'; export default () => pi", 3),
    ],
)
async def test_what_a_program_imports_is_there(sandbox, program, value):
    assert await run(sandbox, program) == value


async def test_modules_are_evaluated_once_and_before_the_program(sandbox):
    kernel = kernel_of('console.log("program")\nimport "more"; import "math"; await import("more")')
    await kernel.run(sandbox)
    assert kernel.lines == [("log", "math"), ("log", "more"), ("log", "program")]


async def test_a_module_that_nobody_imports_is_not_evaluated(sandbox):
    kernel = kernel_of("1", {"breaks": STOCK["breaks"]})
    assert (await kernel.run(sandbox)).value == "1"


async def test_imports_are_values_and_cannot_be_assigned(sandbox):
    program = """import { count, increase } from "counter"; import * as all from "counter";
      increase();
      const tries = [() => { count = 5 }, () => { all.count = 5 }, () => { delete all.count }];
      [count, all.count, tries.map((attempt) => { try { attempt(); return "done" } catch (e) { return e.name } })]"""
    assert await run(sandbox, program) == [0, 0, ["TypeError"] * 3]


@pytest.mark.parametrize(
    "name",
    ["fs", "node:os", "./math", "MATH", "", "constructor", "toString", "https://a.test/x.js", "data:text/javascript,1"],
)
async def test_nothing_else_can_be_imported(sandbox, name):
    program = "async () => { try { await import(NAME) } catch (e) { return [e.name, e.code, e.message] } }"
    program = program.replace("NAME", json.dumps(name))
    kind, code, message = await run(sandbox, program)
    assert (kind, code) == ("TypeError", "import_not_available")
    assert "math, more" in message


async def test_without_modules_an_import_says_that_there_is_nothing(sandbox):
    kernel = kernel_of("async () => {\n  await import('fs')\n}", {})
    end = await kernel.run(sandbox)
    error = json.loads(end.error)["value"]
    assert (end.kind, end.line, error["data"]["code"]) == ("failed", 2, "import_not_available")
    assert "nothing can be imported here" in error["message"]


async def test_a_fault_in_a_module_has_its_place_there(sandbox):
    end = await kernel_of('import "breaks"; 1').run(sandbox)
    error = json.loads(end.error)["value"]
    assert (error["name"], error["message"]) == ("RangeError", "broken")
    assert "module-breaks.js:3:7" in error["stack"]
    assert end.line is None


async def test_a_fault_in_a_module_can_be_caught_and_stays_the_same(sandbox):
    program = """const seen = [];
      for (const _ of [1, 2]) try { await import("breaks") } catch (e) { seen.push(e) }
      [seen.length, seen[0] === seen[1]]"""
    assert await run(sandbox, program) == [2, True]


async def test_modules_replay_like_the_program(sandbox):
    kernel = kernel_of(
        """import { first } from "waits"; import { at, chance } from "now";
        await it.gated({});
        [first, at, chance]""",
        tools={"it.gated": lambda _: GATED},
    )
    assert (await kernel.run(sandbox)).kind == "paused"
    assert [call.method for call in kernel.asked] == ["echo", "gated"]
    kernel.approve()
    end = await kernel.run(sandbox)
    assert kernel.asked == []
    first, at, chance = json.loads(end.value)
    again = json.loads((await kernel.run(sandbox)).value)
    assert (first, again) == ("waited", ["waited", at, chance])
