"""Modules and the imports of programs: what is accepted, what is refused, and where."""

import pytest

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.program import ModuleSet, normalize_code, prepare_program

STOCK = {
    "math": "export const pi = 3\nexport function twice(x) { return 2 * x }\nexport default class Shape {}",
    "more": 'export * from "math"\nexport { twice as double, default } from "math"\nexport * as math from "math"',
    "executor.js": "export default 1",
    "node:fs": "export const readFileSync = () => 'not a file'",
    "__proto__": "export { a as __proto__ }; const a = 1",
    "only effects": "globalThis.x",
}


def test_a_module_says_what_it_exports():
    modules = ModuleSet(STOCK)
    assert {module.name: module.exports for module in modules} == {
        "math": ("pi", "twice", "default"),
        "more": ("pi", "twice", "double", "default", "math"),
        "executor.js": ("default",),
        "node:fs": ("readFileSync",),
        "__proto__": ("__proto__",),
        "only effects": (),
    }


@pytest.mark.parametrize(
    ("text", "exports"),
    [
        ("export const a = 1, { b, c: [d, ...e], f = 2 } = x", ["a", "b", "d", "e", "f"]),
        ("export let a; export var b; export async function c() {}; export function* d() {}", ["a", "b", "c", "d"]),
        ("export default function () {}", ["default"]),
        ("export default function named() {}", ["default"]),
        ("export default async () => 1", ["default"]),
        ("export default class {}", ["default"]),
        ("export default 1 + 1", ["default"]),
        ('const a = 1; export { a, a as b, a as default, a as "c-d" }', ["a", "b", "default", "c-d"]),
        ("export {}", []),
        ("export interface A { x: number }\nexport const a: number = 1; export type B = A", ["a"]),
        ("export enum Size { S, M }", ["Size"]),
    ],
)
def test_every_form_of_an_export_counts(text, exports):
    [module] = ModuleSet({"m": text})
    assert sorted(module.exports) == sorted(exports)


@pytest.mark.parametrize(
    ("text", "code", "place", "said"),
    [
        ("const a = ;", "syntax_error", (1, 11), "cannot stand here"),
        ("\nreturn 1", "syntax_error", (2, 1), "cannot return"),
        ("export const a = 1\nexport { a }", "syntax_error", (2, 1), "exported twice"),
        ("export default 1; export default 2", "syntax_error", (1, 19), "exported twice"),
        ("export function then() {}", "invalid_module", (1, 1), "promise"),
        ('\n  import "fs"', "import_not_available", (2, 3), 'import of "fs"'),
        ('import { x } from "stock"', "import_not_available", (1, 1), "does not export `x`"),
        ('export { x } from "stock"', "import_not_available", (1, 1), "does not export `x`"),
        ('export * from "nothing"', "import_not_available", (1, 1), "not available"),
        ('import { y } from "stock"; let y', "syntax_error", (1, 32), "declared twice"),
        ('import "stock" with { type: "json" }', "syntax_error", (1, 16), "attributes"),
        ('export * from "stock"; export * from "other"', "invalid_module", (1, 24), "Two modules export `y`"),
        ("import.meta.url", "syntax_error", (1, 1), "import.meta"),
    ],
)
def test_a_module_that_cannot_be_one_is_refused_with_its_name_and_place(text, code, place, said):
    with pytest.raises(CodemodeError) as caught:
        ModuleSet({"bad": text, "stock": "export const y = 1", "other": "export const y = 2"})
    error = caught.value
    assert (error.code, error.data["line"], error.data["column"], error.data["module"]) == (code, *place, "bad")
    assert f'Module "bad", line {place[0]}, column {place[1]}:' in error.message
    assert said in error.message


def test_a_fault_of_an_imported_module_names_that_module():
    with pytest.raises(CodemodeError, match='Module "b", line 1') as caught:
        ModuleSet({"a": 'import "b"', "b": "let ="})
    assert caught.value.data["module"] == "b"


def test_a_circle_of_modules_is_refused():
    with pytest.raises(CodemodeError, match='"b" → "c" → "b"') as caught:
        ModuleSet({"a": 'import "b"', "b": 'import "c"', "c": 'export * from "b"'})
    assert caught.value.code == "invalid_module"


@pytest.mark.parametrize("modules", [["a"], {"": "1"}, {"a\n": "1"}, {7: "1"}, {"a": b"1"}, {"a": None}])
def test_what_is_no_mapping_of_names_to_texts_is_refused(modules):
    with pytest.raises(CodemodeError) as caught:
        ModuleSet(modules)
    assert caught.value.code == "invalid_option"


@pytest.mark.parametrize(
    ("program", "place"),
    [
        ('\n  import fs from "fs"\n1', (2, 3)),
        ('import "Math"', (1, 1)),
        ('import "math "', (1, 1)),
        ('import "\\x6dath"', (1, 1)),
        ('import "https://evil.test/x.js"', (1, 1)),
        ('import "constructor"', (1, 1)),
        ('import "node:os"', (1, 1)),
        ("import { nothing } from 'math'", (1, 1)),
        ("import { 'a-b' as x } from 'math'", (1, 1)),
    ],
)
def test_a_program_imports_only_what_there_is(program, place):
    with pytest.raises(CodemodeError) as caught:
        prepare_program(program, ModuleSet(STOCK))
    error = caught.value
    assert (error.code, error.data["line"], error.data["column"]) == ("import_not_available", *place)
    assert '"executor.js"' in (error.hint or "") or "it exports" in error.message


def test_a_program_that_imports_nothing_is_prepared_as_ever():
    program = "async () => [1, 2].map((x) => x + 1)"
    assert prepare_program(program, ModuleSet(STOCK)) == prepare_program(program)
    assert prepare_program(program).source == normalize_code(program)


def test_no_import_is_left_for_an_engine_to_load():
    program = 'import a, { pi as b } from "math"\nimport * as c from "more"; import "only effects"\nimport("math"); b'
    source = prepare_program(program, ModuleSet(STOCK)).source
    assert "import " not in source
    assert "import(" not in source
    assert source.splitlines()[1].strip() == ";"


def test_places_stay_those_that_were_written():
    program = prepare_program(
        'import { pi } from "math"; const a = pi\nawait import("math"), nothing', ModuleSet(STOCK)
    )
    lines = program.source.splitlines()
    assert lines[1].index("const a") == 27
    assert program.written_column(2, lines[2].index("nothing") + 1) == 23
