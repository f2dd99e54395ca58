"""TypeScript in a program: types vanish without moving anything, enums and parameter properties run."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemode_jupyter.program import prepare_program
from codemode_jupyter.program.edits import apply_edits
from codemode_jupyter.program.erase import erasing_edits
from codemode_jupyter.program.parsing import parse_javascript, parse_typescript
from codemode_jupyter.program.positions import LINE_BREAK, utf16_length
from tests.program.engine import run_programs

ERASED: dict[str, tuple[str, Any]] = {
    "annotations": (
        "const f = (a: number, b?: string, ...c: any[]): number => a;\nlet x: string | null = null;\nf(1)",
        1,
    ),
    "generics": ("function id<T extends object = {}>(x: T): T { return x }\nid<{ a: number }>({ a: 2 })", {"a": 2}),
    "a generic arrow": ("const f = async <T,>(x: T): Promise<T> => x;\nf(3)", 3),
    "as and as const": ("const a = ({ n: 4 } as any).n as number;\n[a, 'x'] as const", [4, "x"]),
    "satisfies": ("const a = { n: 5 } satisfies Record<string, number>;\na.n", 5),
    "non-null": ("const m = new Map<string, number[]>([['a', [6]]]);\nm.get('a')![0]!", 6),
    "definite assignment": ("let v!: number;\nv = 7;\nv", 7),
    "an interface": ("interface A { n: number; f(): void }\nconst a: A = { n: 8, f() {} };\na.n", 8),
    "a type before a bracket": ("type A = { n: number }\n[9].map(n => n)[0]", 9),
    "an interface before a parenthesis": ("const a = 1\ninterface B {}\n(function () {})()\na", 1),
    "complex types": (
        """
type A<T> = T extends (infer U)[] ? U : never;
type B = { readonly [K in keyof A<string[]>]?: A<string[]>[K] };
type C = `x-${string}` | [a: string, b?: number] | typeof Math | keyof B;
const c: unique symbol | C = 'x-1'; c
""",
        "x-1",
    ),
    "guards": ("const g = (x: unknown): x is number => true;\nfunction h(x: any): asserts x {}\ng(1)", True),
    "overloads": (
        "function o(a: string): string;\nfunction o(a: number): number;\nfunction o(a: any) { return a }\no(10)",
        10,
    ),
    "exported overloads": (
        "export function o(a: string): string;\nexport function o(a: any): any { return a }\no('b')",
        "b",
    ),
    "declare": (
        "declare const items: any;\ndeclare function f(): void;\ndeclare module 'm' { const x: 1 }\ntypeof f",
        "undefined",
    ),
    "a this parameter": (
        "function f(this: Date, a: number) { return a }\nfunction g(this: any) { return 1 }\nf.call(null, 11)",
        11,
    ),
    "a catch annotation": ("try { throw 12 } catch (e: unknown) { return e }", 12),
    "a loop over a cast": ("for (const k of Object.keys({ a: 1 }) as string[]) return k", "a"),
    "import type": ("import type { A } from 'x';\nimport { type B } from 'x';\nexport type { A };\n13", 13),
    "a generic call on its own": ("return (await codemode.pick<{ n: number }>({ n: 14 })).n", 14),
    "a generic call with names of types": ("const f = (x) => x;\nreturn f<string, number>(15)", 15),
    "comparisons are not generics": ("const a = 1, b = 2, c = 3, d = 4;\n[a < b, c > (d)]", [True, False]),
    "comparisons in a row": ("const a = 3, b = 2;\nreturn [a > b, a < b > a]", [True, False]),
    "a class": (
        """
abstract class Shape<T> implements Iterable<T> {
  private readonly sides: number = 4;
  static count = 0;
  declare label: string;
  protected abstract area(): number;
  [key: string]: any;
  name!: string; note?: string;
  get: number
  size() { return this.sides }
  public get half(): number { return this.sides / 2 }
  private *[Symbol.iterator](): any { yield 1 as number }
}
class Square extends Shape<number> { override area(): number { return this.size() * this.half } }
new Square().area()
""",
        8,
    ),
    "modifiers before brackets": (
        "class A {\n  a = 1\n  private ['b'] = 2\n  readonly [Symbol.iterator] = 3\n}\nnew A().b",
        2,
    ),
    "a modifier before a star": ("class A {\n  a = 1\n  private *g() { yield 16 }\n}\n[...new A().g()]", [16]),
    "a cast before a parenthesis": ("const y = 17 as any\n(function () { })()\ny", 17),
    "a cast before a bracket": ("const y = [18] as const\n;[1].length\ny[0]", 18),
    "a return type over lines": ("const f = (a: number):\n  Promise<\n  number> => a;\nf(19)", 19),
    "type parameters over lines": ("const f = () => { return <\n  T,\n>(x: T) => x };\nf()(20)", 20),
    "async type parameters over lines": ("const f = async <\n  T,\n>(x: T):\n T => x;\nf(21)", 21),
    "a fence of TypeScript": (
        "Sure:\n```ts\nconst n: number = 22;\nexport default async (): Promise<number> => n;\n```",
        22,
    ),
    "methods of objects": (
        "const o = { m<T>(x: T): T { return x }, async *g(): AsyncGenerator<number> {} };\no.m<number>(23)",
        23,
    ),
    "an optional call": ("const a = { b: (x: any) => x };\na?.b<string>(24)", 24),
    "an instantiation": ("const f = (x: any) => x;\nconst g = f<number>;\ng(25)", 25),
    "letters outside ASCII": ("const größe: Array<'数' | '🦊'> = ['🦊']; größe[0]", "🦊"),
    "return types of functions": (
        "async function main(input?: { n: number }): Promise<Record<string, unknown>> { return { n: 26 } }",
        {"n": 26},
    ),
    "abstract with a constructor": (
        "class A { protected constructor() {} static make(): A { return new A() } }\ntypeof A.make()",
        "object",
    ),
    "a default type argument": (
        "class Box<T = string> { constructor() { this.v = 27 } v: any }\nnew Box<number>().v",
        27,
    ),
    "a cast at the end of a line before a template": ("const s = 'x' as string;\n`t`.length", 1),
    "export an interface": ("export interface A { a: 1 }\nexport default async () => 28", 28),
    "export default interface": ("export default interface A { a: 1 }\n29", 29),
}

TRANSFORMED: dict[str, tuple[str, Any]] = {
    "a numeric enum": (
        "enum Color { Red, Green = 5, Blue }\nreturn [Color.Red, Color.Blue, Color[6], Color['Green']]",
        [0, 6, "Blue", 5],
    ),
    "a text enum": (
        "enum State { Open = 'open', Closed = \"closed\" }\nObject.entries(State)",
        [["Open", "open"], ["Closed", "closed"]],
    ),
    "a const enum": ("const enum Flag { A = 1 << 0, B = 1 << 1, AB = A | B }\nFlag.AB", 3),
    "an enum of computed members": (
        "const n = 4;\nenum E { A = 'xyz'.length, B = n * 2, C = E.A + 1 }\n[E.A, E.B, E.C, E[8]]",
        [3, 8, 4, "B"],
    ),
    "an enum with odd names": (
        "enum E { 'my-key' = 3, next, default, ['c'] = 9 }\n[E['my-key'], E.next, E.default, E.c, E[9]]",
        [3, 4, 5, 9, "c"],
    ),
    "an enum over lines": ("enum E {\n  // one\n  A = 1, // first\n\n  B /* two */,\n}\nE.B", 2),
    "an enum said twice": ("enum E { A }\nenum E { B = 1 }\n[E.A, E.B]", [0, 1]),
    "an enum in a function": ("const f = () => { enum E { A = 7 } return E.A };\nf()", 7),
    "an exported enum": ("export enum E { A = 'a' }\nexport default () => E.A", "a"),
    "a declared enum is only a type": ("declare enum E { A }\ntypeof E", "undefined"),
    "an enum member named as the enum": ("enum A { A = 2, B }\n[A.A, A.B]", [2, 3]),
    "an enum with casts": ("enum E { A = (1 as number), B = A as any }\nE.B", 1),
    "parameter properties": (
        """
class P {
  constructor(private readonly x: number, public y = 2, z?: string) { }
  sum() { return this.x + this.y }
}
const p = new P(1);
[p.sum(), 'z' in p]
""",
        [3, False],
    ),
    "parameter properties after super": (
        """
class A { constructor(public a: string) {} }
class B extends A {
  constructor(a: string, private b: number) {
    super(a)
    this.c = this.b
  }
  c: number
}
const b = new B('q', 5);
b.a + b.c
""",
        "q5",
    ),
    "parameter properties after a directive": (
        "class A { constructor(readonly a: number) { 'use strict'; this.b = a } b: any }\nnew A(6).b",
        6,
    ),
    "parameter properties over lines": (
        "class A {\n  constructor(\n    private a: number,\n    override b = 2,\n  ) {}\n}\nnew A(1)",
        None,
    ),
}


@cache
def outcomes() -> dict[str, dict[str, Any]]:
    cases = ERASED | TRANSFORMED
    return dict(zip(cases, run_programs([code for code, _ in cases.values()]), strict=True))


@pytest.mark.parametrize("name", [*ERASED, *TRANSFORMED])
def test_typescript_has_the_value_it_means(name: str):
    expected = (ERASED | TRANSFORMED)[name][1]
    outcome = outcomes()[name]
    assert outcome["outcome"] == "value", outcome
    if expected is not None:
        assert outcome["value"] == expected


def erased(code: str) -> str:
    data = code.encode()
    root = parse_typescript(data).root_node
    assert not root.has_error
    return apply_edits(code, erasing_edits(data, root)).text


def assert_only_blanks_differ(before: str, after: str) -> None:
    """Every character stands where it stood, or a mark of a moved or added bracket or semicolon does."""
    lines_before, lines_after = LINE_BREAK.split(before), LINE_BREAK.split(after)
    assert len(lines_before) == len(lines_after)
    for line_before, line_after in zip(lines_before, lines_after, strict=True):
        assert utf16_length(line_before) == utf16_length(line_after)
        units_before, units_after = (line.encode("utf-16-le") for line in (line_before, line_after))
        for index in range(0, len(units_before), 2):
            kept = units_after[index : index + 2]
            assert kept in (units_before[index : index + 2], b" \0", b";\0", b"(\0", b")\0")


@pytest.mark.parametrize("name", [name for name in ERASED if "fence" not in name])
def test_erasing_keeps_every_position(name: str):
    code = ERASED[name][0]
    if parse_javascript(code.encode()).root_node.has_error:
        after = erased(code)
        assert_only_blanks_differ(code, after)
        assert not parse_javascript(after.encode()).root_node.has_error


@given(
    st.lists(
        st.sampled_from([code for name, (code, _) in ERASED.items() if "fence" not in name]), min_size=1, max_size=6
    )
)
def test_erasing_keeps_every_position_of_any_combination(codes: list[str]):
    code = "\n".join(
        f"{{ {code}\n}}" if "port " not in code and "declare module" not in code else code for code in codes
    )
    data = code.encode()
    if not parse_typescript(data).root_node.has_error:
        assert_only_blanks_differ(code, erased(code))


@pytest.mark.parametrize("name", [name for name, (code, _) in TRANSFORMED.items() if "declare" not in code])
def test_transforming_keeps_the_lines(name: str):
    code = TRANSFORMED[name][0]
    program = prepare_program(code)
    assert program.source.count("\n") == code.count("\n") + 2


def test_columns_lead_back_through_an_enum_and_a_return():
    code = "enum E { A = 1 } const a = E.A; a.b.c"
    program = prepare_program(code)
    line = program.source.split("\n")[program.line_offset]
    assert program.written_column(1, line.index("const a") + 1) == code.index("const a") + 1
    assert program.written_column(1, line.index("a.b.c") + 1) == code.index("a.b.c") + 1
