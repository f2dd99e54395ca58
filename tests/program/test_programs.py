"""What models and people really send, and the value it must have in a real engine."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import pytest

from tests.program.engine import run_programs

UNDEFINED = {"$js": "undefined"}


class Case(NamedTuple):
    name: str
    code: str
    value: Any
    given: Any = None


def fenced(info: str, code: str, mark: str = "```") -> str:
    return f"{mark}{info}\n{code}\n{mark}"


CASES = [
    # Functions
    Case("an arrow with a semicolon", "async () => { return 5 };", 5),
    Case("an arrow with semicolons and comments", "async () => 6; /* six */ ; // done", 6),
    Case("a plain arrow", "() => 7", 7),
    Case("an arrow that takes the input", "async (input) => input.n + 1", 5, {"n": 4}),
    Case("an arrow with a destructured input", "async ({ n, m = 2 }) => n * m", 8, {"n": 4}),
    Case("an arrow with one bare parameter", "async input => input", [1], [1]),
    Case("a parenthesised arrow with a semicolon", "(async () => 8);", 8),
    Case("an arrow called at once", "(async () => { return 9 })();", 9),
    Case("an arrow called at once without a semicolon", "(async () => 10)()", 10),
    Case("an arrow after its helpers", "const twice = n => 2 * n;\n\nasync () => twice(4)", 8),
    Case("an anonymous function", "async function () { return 11 }", 11),
    Case("a named function", "async function main(input) { return input }", "x", "x"),
    Case("a generator consumed", "function* g() { yield 1; yield 2 }\nreturn [...g()]", [1, 2]),
    Case("helper, then main", "function helper() { return 12 }\nasync function main() { return helper() }", 12),
    Case("main, then helper", "async function main() { return helper() }\nfunction helper() { return 13 }", 13),
    Case("two functions, neither uses the other", "function a() { return 1 }\nfunction b() { return 2 }", 2),
    Case("main as a constant", "const main = async () => 14;", 14),
    Case("main as a constant, with a constant it uses", "const n = 15;\nconst main = async () => n;", 15),
    Case("main called before it is declared", "main();\nasync function main() { return 16 }", 16),
    Case(
        "main called in a declaration is not called again",
        "let n = 0;\nconst r = f();\nfunction f() { n++ }",
        UNDEFINED,
    ),
    Case("a name of a function at the end", "const main = async () => 17;\nmain", 17),
    Case("a function that returns a function", "() => () => 1", {"$js": "function", "name": ""}),
    # Statements
    Case("a top-level return", "const a = 1;\nreturn a + 1;", 2),
    Case("a return in a branch, then an expression", "if (input) return 'early';\n'late'", "late", 0),
    Case("a return in a branch", "if (input) return 'early';\n'late'", "early", 1),
    Case("an expression last", "const a = 3\na * 2", 6),
    Case("an expression last, on the same line", "const a = 3; a * 3", 9),
    Case("an expression and semicolons", "const a = 4; a;;;", 4),
    Case("an expression after an empty statement", "const a = 5;;\na", 5),
    Case("an expression over lines", "const a = [1, 2]\na\n  .map(n => n + 1)\n  .join('-')", "2-3"),
    Case("an awaited expression last", "const r = codemode.pick({ n: 3 });\nawait r", {"n": 3}),
    Case("an unawaited promise last", "codemode.pick({ n: 4 })", {"n": 4}),
    Case("await for", "let t = 0;\nfor await (const n of [1, 2]) t += n;\nt", 3),
    Case("an assignment last", "let a;\na = 5", 5),
    Case("a template last", "const n = 2;\n`${n} things`", "2 things"),
    Case("a regular expression last", "const a = 1;\n/b/.test('abc')", True),
    Case("an array on a line after a semicolon", "const a = 1;\n[a, 2]", [1, 2]),
    Case("the input of statements", "input.a", 1, {"a": 1}),
    Case("the input shadowed", "const input = 3;\ninput", 3),
    Case("the input declared again by var", "var input = input ?? 4;\ninput", 4),
    Case("a last line that is a comment", "const a = 6;\na // the value\n// the end", 6),
    Case("a directive first", "'use strict';\nconst a = 7;\na", 7),
    Case("only declarations", "const a = 3;\nlet b = 4;", UNDEFINED),
    Case("nothing", "", UNDEFINED),
    Case("only blanks", " \n\t\r\n", UNDEFINED),
    Case("only comments", "// later\n/* or\nnever */", UNDEFINED),
    Case("carriage returns", "const a = 1;\r\nconst b = 2;\r\na + b\r\n", 3),
    Case("old carriage returns", "const a = 1;\rconst b = 2;\ra + b", 3),
    Case("a byte order mark", "\ufeffconst a = 8\na", 8),
    Case("a hashbang", "#!/usr/bin/env node\nreturn 9", 9),
    Case("a labelled loop", "outer: for (;;) { for (;;) break outer }\n10", 10),
    Case("goes to", "let n = 3, s = 0\nwhile (n --> 0) s++\ns", 3),
    Case("division and expressions", "const a = 8, b = 2, g = 1\na / b / g", 4),
    Case(
        "functions of one name in a function",
        "async () => { function f() { return 1 } function f() { return 2 } return f() }",
        2,
    ),
    # Objects and blocks
    Case("an object alone", "{ a: 1, b: [2] }", {"a": 1, "b": [2]}),
    Case("an object of one member", "{ a: 1 }", {"a": 1}),
    Case("an object in parentheses", "({ a: 2 })", {"a": 2}),
    Case("an object of names", "const a = 1, b = 2;\n{ a, b }", {"a": 1, "b": 2}),
    Case("an object with a spread", "const a = { x: 1 };\n({ ...a, y: 2 })", {"x": 1, "y": 2}),
    Case("a block", "{ const a = 3; a }", 3),
    Case("a block with a return", "{ const a = 4; return a }", 4),
    Case("a block of a call", "{ String(5) }", "5"),
    Case("empty braces", "{}", UNDEFINED),
    # Modules
    Case("export default arrow", "export default async () => 20;", 20),
    Case("export default function", "export default async function () { return 21 }", 21),
    Case("export default named function", "export default async function main(input) { return input }", 22, 22),
    Case("export default after its helper", "const k = 23;\nexport default async () => k;", 23),
    Case("export default before its helper", "export default async () => k;\nconst k = 24;", 24),
    Case("export default over lines", "export default\n  async () => 25", 25),
    Case("export default object", "export default { a: 26 }", {"a": 26}),
    Case("export default name", "const main = async () => 27;\nexport default main;", 27),
    Case("export a function as default", "async function run() { return 28 }\nexport { run as default };", 28),
    Case("export a constant", "export const a = 29;\na", 29),
    Case("export a function", "export async function run() { return 30 }", 30),
    Case("export a list", "const a = 31;\nexport { a };\na", 31),
    Case("a dynamic import is left to the sandbox", "try { await import('nothing') } catch { return 32 }", 32),
    # Fences
    Case("a fence", fenced("js", "async () => 40"), 40),
    Case("a fence in a sentence", f"Here it is:\n\n{fenced('javascript', 'async () => 41;')}\n\nIt counts all.", 41),
    Case("a fence with attributes", fenced('js title="a.js" {1,3}', "42"), 42),
    Case("a fence with capitals", fenced("JavaScript", "43"), 43),
    Case("a fence in braces", fenced("{.js}", "44"), 44),
    Case("a fence without a language", fenced("", "45"), 45),
    Case("a fence that names another language", fenced("json", '{ "a": 46 }'), {"a": 46}),
    Case("tildes", fenced("js", "47", "~~~"), 47),
    Case("a longer fence", fenced("js", "48", "`````"), 48),
    Case("a fence with carriage returns", "Text\r\n```js\r\nreturn 49\r\n```\r\nMore", 49),
    Case("an indented fence", "- so:\n    ```js\n    return 50\n    ```", 50),
    Case("a fence that is never closed", "```js\nreturn 51", 51),
    Case("a fence that was never opened", "return 52\n```", 52),
    Case("a fence closed on the last line", "```js\nasync () => 53```", 53),
    Case("a fence on one line", "```js async () => 54 ```", 54),
    Case("a fence on one line without a language", "```async () => 55```", 55),
    Case("two fences", "First:\n```js\nconst a = 56\n```\nthen\n```js\na\n```", 56),
    Case("two fences that would join", "```js\nconst a = 57\n```\n```js\n[a].length\n```", 1),
    Case("a fence beside its output", '```js\nreturn 58\n```\nprints\n```json\n{"a": 1}\n```', 58),
    Case("a shell fence first", "```bash\nnpm i\n```\n```ts\nconst n: number = 59; n\n```", 59),
    Case("fences inside a template", "const md = `\n\\`\\`\\`js\n`;\nmd.length", 7),
    Case("a fence inside a comment", "/*\n```js\nf()\n```\n*/\nreturn 60", 60),
    Case("tildes inside a template", "const t = `\n~~~\nx\n~~~\n`;\nt.length", 11),
    Case("inline code", "`async () => 61`", 61),
    Case("a template that is a value", "`async`", "async"),
]


@cache
def outcomes() -> dict[str, dict[str, Any]]:
    results = run_programs([case.code for case in CASES], [case.given for case in CASES])
    return {case.name: result for case, result in zip(CASES, results, strict=True)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_program_has_the_value_its_author_means(case: Case):
    outcome = outcomes()[case.name]
    assert outcome["outcome"] == "value", outcome
    assert outcome["value"] == case.value


def test_names_of_cases_are_unique():
    assert len(outcomes()) == len(CASES)


def test_a_program_runs_its_calls_once():
    [outcome] = run_programs(
        ["await codemode.pick({ n: 1 });\nasync function more() { return codemode.pick({ n: 2 }) }"]
    )
    assert outcome["calls"] == [["pick", {"n": 1}]]
