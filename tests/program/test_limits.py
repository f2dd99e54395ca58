"""Large, deep and senseless texts: an answer in bounded time, and never the end of the process."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.program import parsing, prepare_program
from tests.program.engine import run_programs

SIZE = 200_000
BOUND = 20.0
"""Seconds of processor time; half a second is usual. What is not linear in the text needs minutes."""


def repeated(piece: str, size: int = SIZE) -> str:
    return piece * (size // len(piece.encode()))


LARGE = {
    "statements": repeated('g(1, "b", { c: 2 });\n'),
    "one function": "async () => {\n" + repeated('g(1, "b", { c: 2 });\n') + "}",
    "an error at the end": "async () => {\n" + repeated("g(1);\n") + " x y }",
    "types": "let q: number = 1;\n" + repeated("g<A>(1 as any, (x: number): string => y!);\n"),
    "a text": f'return "{repeated("x")}"',
    "a list": f"return [{repeated('1,')}]",
    "an enum": "enum E {" + ",".join(f"m{index}" for index in range(20_000)) + "}",
    "names": "".join(f"var v{index};" for index in range(16_000)),
    "functions": "".join(f"function f{index}(){{}}\n" for index in range(8_000)),
    "prose": repeated("This is a sentence, with words. "),
    "python": repeated("def go(x):\n    return [y for y in x]\n"),
    "fences": repeated("```js\nx\n```\n"),
    "fence marks": repeated("```\n"),
    "backticks": repeated("`"),
    "comparisons": repeated("a<"),
    "labels": repeated("a:") + "1",
    "comments": repeated("a/**/"),
    "blank lines": repeated("\r\n"),
}

DEEP = {
    "parentheses": repeated("("),
    "objects": repeated("{a:", 500_000),
    "labelled blocks": repeated("label:{", 1_000_000),
    "closed parentheses": "(" * 80_000 + "1" + ")" * 80_000,
    "blocks": "{" * 20_000 + "1" + "}" * 20_000,
    "functions": repeated("function f(){"),
    "conditions": repeated("a?"),
    "arrows": repeated("a=>"),
    "negations": repeated("!") + "1",
    "calls": "a" + repeated("()"),
    "sums": "a" + repeated("+a"),
}


def answer(code: str) -> None:
    try:
        prepare_program(code)
    except CodemodeError as error:
        assert error.code in ("syntax_error", "program_too_complex")  # noqa: PT017 -- either answer is one


@pytest.mark.parametrize("name", LARGE)
def test_a_large_text_is_answered_in_bounded_time(name: str):
    started = time.process_time()
    answer(LARGE[name])
    assert time.process_time() - started < BOUND


@pytest.mark.parametrize("name", DEEP)
def test_a_deep_text_does_not_end_the_process(name: str):
    """In a process of its own: the parser's C code would take this one along."""
    script = (
        "import sys; from codemode_jupyter.errors import CodemodeError\n"
        "from codemode_jupyter.program import prepare_program\n"
        "try: prepare_program(sys.stdin.read())\n"
        "except CodemodeError: pass\n"
    )
    done = subprocess.run([sys.executable, "-c", script], input=DEEP[name], text=True, timeout=300, check=False)
    assert done.returncode == 0


def test_five_thousand_parentheses_are_a_program():
    prepare_program("(" * 5_000 + "1" + ")" * 5_000)


def test_a_hundred_levels_have_their_value():
    deep = "return " + "[" * 100 + "1" + "]" * 100
    [outcome] = run_programs([deep + ".flat(Infinity)"])
    assert outcome["value"] == [1]


def test_a_parse_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parsing, "PARSE_SECONDS", -1.0)
    with pytest.raises(CodemodeError) as caught:
        prepare_program(repeated("g(1);\n", 1_000_000))
    assert caught.value.code == "program_too_complex"
