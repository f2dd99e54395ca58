"""Programs that are refused before anything runs, with the place and a sentence that helps."""

from __future__ import annotations

import pytest

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.program import prepare_program
from tests.program.engine import run_programs

REFUSED = {
    # name: (code, line, column, part of the message)
    "a value is missing": ("const x = ;", 1, 11, "`;` cannot stand here"),
    "a brace too many": ("async () => { return 1 }}", 1, 25, "`}` cannot stand here"),
    "a parenthesis too few": ("foo(1, 2", 1, 4, "This `(` is never closed"),
    "a brace too few": ("async () => {\n  if (1) {\n  return 2\n}", 1, 13, "This `{` is never closed"),
    "a parenthesis of a condition": ("if (x { y }", 1, 7, "`)` is missing"),
    "a comma is missing": ("const a = {\n  b: 1\n  c: 2\n}", 3, 3, "`c` cannot stand here"),
    "a call that breaks off": ("async () => {\n  const x = await foo(;\n  return x;\n}", 2, 23, "`;`"),
    "a template without an end": ("const s = `abc", 1, 11, "This template is never closed"),
    "a text without an end": ('const a = 1\nconst s = "abc\nreturn s', 2, 11, "This text is never closed"),
    "a comment without an end": ("return 1 /* oops", 1, 10, "This comment is never closed"),
    "an apostrophe in a text": ("const s = 'it's'", 1, 16, "This text is never closed"),
    "python": ("def go():\n    return 1", 1, 5, "`go` cannot stand here"),
    "prose": ("Sorry, I cannot do that.", 1, 10, "`cannot` cannot stand here"),
    "inside a fence": ("Here:\n\n```js\nconst a = 1\nconst b = ;\n```", 5, 11, "`;` cannot stand here"),
    "after wide characters": ('const 数 = "🦊" 5', 1, 16, "`5` cannot stand here"),
    "JSX": ("const el = <div>hi</div>;\nel", 1, 12, "JSX"),
    "a decorator": ("class B {}\n@log class A {}", 2, 1, "Decorators"),
    "a decorator with types": ("const a: number = 1;\n@log class A {}", 2, 1, "Decorators"),
    "a namespace": ("namespace N { export const a = 1 }\nN.a", 1, 1, "namespace"),
    "an angle bracket assertion": ("const a = <string>foo;", 1, 11, "`value as T`"),
    "an accessor": ("class A {\n  accessor x: number = 1;\n}", 2, 3, "`accessor`"),
    "an import alias": ("import a = b.c;", 1, 1, "`const x = …`"),
    "an assigned export": ("const a: number = 1;\nexport = a;", 2, 1, "`export default …`"),
    "a function without a body": ("async function main(): Promise<void>\nreturn 1", 1, 1, "`main` has no body"),
    "a text member before one without a value": ("enum E { A = 'a', B }", 1, 1, "`B` needs a value"),
    "a parameter property without super": (
        "class B extends A { constructor(private a: number) { if (a) super() } }",
        1,
        21,
        "`super(…)`",
    ),
    "a constant declared twice": ("const a = 1;\nlet a = 2;", 2, 5, "`a` is declared twice"),
    "a constant and a var": ("const a = 1;\n{ var a = 2; }", 2, 7, "`a` is declared twice"),
    "a parameter declared again": ("async (a) => { const a = 1 }", 1, 22, "`a` is declared twice"),
    "a destructured name twice": ("const { a, b: [a] } = input", 1, 16, "`a` is declared twice"),
    "a class declared twice": ("class A {}\nclass A {}", 2, 7, "`A` is declared twice"),
    "a constant without a value": ("const a;", 1, 7, "`a` needs a value"),
    "await in a plain function": (
        "function f() {\n  return await g();\n}\nf()",
        2,
        10,
        "`await` needs an async function",
    ),
    "await in a plain callback": ("[1].map(n => await f(n))", 1, 14, "`await` needs an async function"),
    "for await in a plain function": ("() => { for await (const a of b) ; }", 1, 13, "`await` needs an async function"),
    "await in a static block": ("class A { static { await f() } }", 1, 20, "`await` needs an async function"),
    "yield outside a generator": ("const f = () => { yield 1 }", 1, 19, "`yield` needs a generator"),
    "break without a loop": ("if (1) break;", 1, 8, "`break` needs a loop"),
    "continue in a callback": ("for (const a of b) { c.map(() => { continue }) }", 1, 36, "`continue` needs a loop"),
    "a break to no label": ("for (;;) { break out }", 1, 18, "no label `out`"),
    "return in a static block": ("class A { static { return 1 } }", 1, 20, "static block"),
    "an octal number": ("return 017", 1, 8, "0o"),
    "with": ("with (Math) { max(1) }", 1, 1, "`with`"),
    "import.meta": ("return import.meta.url", 1, 8, "`import.meta`"),
    "an HTML-like comment": ("<!-- x\n1", 1, 1, "HTML-like comments"),
    "an HTML-like comment at the end": ("1\n--> x", 2, 1, "HTML-like comments"),
    "two default exports": ("export default 1;\nexport default 2;", 2, 8, "only one default export"),
    "NUL": ("return 'a\0b'", 1, 10, "NUL"),
    "half of a surrogate pair": ("return '\ud800'", 1, 9, "surrogate"),
}

ESCAPES = [
    "}); evil(",
    "} } evil(); async (input) => { {",
    "return 1 })(), (async () => { return 2",
    "1; } }), evil(), (async () => { {",
    "1 }; break; } } evil(); { {",
    ") } } evil( {{",
    "// } } )\n}} , evil(), async () => {{",
    "`${1}` }} , evil(), async () => {{ `",
    "*/ }} , evil(), async () => {{ /*",
    "-->\n}} , evil(), async () => {{",
    "\u2028}} , evil(), async () => {{",
    "function f(){ await /`/; } /* ` ; }}) , evil( */",
    "function f(){ yield /`/; } /* ` ; }}) , evil( */",
]


def refusal_of(code: str) -> CodemodeError:
    with pytest.raises(CodemodeError) as caught:
        prepare_program(code)
    return caught.value


@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_program_is_refused_with_its_place(name: str):
    code, line, column, part = REFUSED[name]
    error = refusal_of(code)
    assert error.code == "syntax_error"
    assert error.data is not None
    assert (error.data["line"], error.data["column"]) == (line, column), str(error)
    assert part in error.message
    assert error.data["excerpt"].endswith("^")
    assert f"Line {line}, column {column}: " in str(error)
    assert error.data["excerpt"] in str(error)


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ('import { z } from "zod";\nreturn 1', 1),
        ('const a = 1;\nimport "side-effect";', 2),
        ('const a: number = 1;\nimport fs, { type X } from "fs";', 2),
        ('import x = require("fs");', 1),
        ('export * from "a";', 1),
    ],
)
def test_a_static_import_is_refused_as_not_available(code: str, line: int):
    error = refusal_of(code)
    assert error.code == "import_not_available"
    assert error.data is not None
    assert error.data["line"] == line


@pytest.mark.parametrize("code", ESCAPES)
def test_text_never_closes_the_wrapper(code: str):
    [outcome] = run_programs([code])
    assert outcome["outcome"] in ("syntax_error", "engine_refuses")


def test_another_language_is_named():
    assert "Python" in (refusal_of("def go():\n    return 1").hint or "")


def test_what_is_left_to_the_engine_is_refused_by_it_before_the_first_line():
    codes = [
        "f(); 1 = 2",
        "f(); let let = 1",
        "f(); /(/.test('')",
        "f(); this.#a",
        "f(); super.a",
        "f(); new.target",
        "f(); class A { constructor() {} constructor() {} }",
        "f(); 1 ?? 2 || 3",
        "f(); delete f",
        "f(); eval = 1",
    ]
    outcomes = [outcome["outcome"] for outcome in run_programs(codes)]
    assert set(outcomes) <= {"engine_refuses", "syntax_error"}
