"""Places are those of the text as it was written, also where the engine reports them."""

from __future__ import annotations

import pytest

from codemode_jupyter.program import line_excerpt, normalize_code, prepare_program
from tests.program.engine import run_sources


def test_an_excerpt_shows_the_line_before_and_a_caret():
    assert line_excerpt("a\nb c\nd", 2, 3) == "1 | a\n2 | b c\n  |   ^"


def test_an_excerpt_keeps_tabs_and_the_width_of_characters():
    assert line_excerpt("\tx 数🦊e\u0301 y", 1, 9) == "1 | \tx 数🦊e\u0301 y\n  | \t       ^"


def test_an_excerpt_shows_no_control_or_direction_characters():
    excerpt = line_excerpt("a\u202eb\x1b[31m\u200b", 1, 2)
    assert excerpt == "1 | a\ufffdb\ufffd[31m\ufffd\n  |  ^"


def test_an_excerpt_of_a_long_line_is_cut_around_the_place():
    excerpt = line_excerpt("x" * 5000 + "HERE" + "y" * 5000, 1, 5001)
    line, caret = excerpt.split("\n")
    assert len(line) < 140
    assert line[caret.index("^")] == "H"


def test_there_is_no_excerpt_of_a_line_that_does_not_exist():
    assert line_excerpt("a", 2, 1) == ""
    assert line_excerpt("a", 0, 1) == ""


@pytest.mark.parametrize(
    "code",
    [
        "HERE",
        "async () => {\n  const a = 1;\n  HERE\n}",
        "const a = 1\n  HERE",
        "const a = 1; // x\n\n  /* y */ HERE",
        "const a = 1; HERE",
        "const a = 1; const b = '🦊'; HERE",
        "Text\n```ts\nconst a: number = 1;\n  HERE\n```",
        "let a: number = 1 as any; HERE",
        "enum E { A, B } HERE",
        "enum E {\n  A, B } const b = 2; HERE",
        "export default async () => HERE",
        "export default () => k;\nconst k = HERE",
        "function f() { HERE }\nfunction g() { f() }",
        "a: HERE",
        "{ const a = 1; HERE }",
        "class A { constructor(private a: number) { HERE } }\nnew A(1)",
        "\ufeff#!/bin/node\nHERE",
        "'use strict';\r\nHERE\r\n",
        "'a';\rHERE",
    ],
)
def test_an_error_of_the_engine_leads_back_to_what_was_written(code: str):
    code = code.replace("HERE", "null.x")
    program = prepare_program(code)
    [outcome] = run_sources([program.source])
    assert outcome["outcome"] == "throws"
    line, column = outcome["at"]
    line -= program.line_offset
    before = code[: code.index("null.x")].replace("\r\n", "\n").replace("\r", "\n")
    expected = before.count("\n") + 1
    assert line == expected
    start = before.rsplit("\n", 1)[-1]
    dot = len(start.encode("utf-16-le")) // 2 + len("null.") + 1
    assert program.written_column(line, column) == dot


def test_a_return_stands_on_the_line_of_its_expression():
    program = prepare_program("const a = 1\na.b.c")
    line = program.source.split("\n")[2]
    assert line == "return (a.b.c);"
    assert program.written_column(2, 1 + line.index("b")) == 3


def test_the_normalised_code_is_the_source():
    assert normalize_code("1 + 1") == prepare_program("1 + 1").source


def test_preparing_twice_gives_the_same_source():
    code = "const a: number = 1;\nexport default async () => a"
    assert prepare_program(code) == prepare_program(code)
