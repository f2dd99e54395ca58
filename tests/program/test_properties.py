"""What holds for any text whatever."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.program import Program, line_excerpt, prepare_program
from codemode_jupyter.program.positions import LINE_BREAK, blank, position_at, utf16_length
from codemode_jupyter.program.wrapper import wrapped
from tests.program.engine import run_sources

PIECES = (
    "{ } ( ) [ ] ; , . : ? ! ` ${ ' \" / // /* */ <!-- --> => = + - * < > & | ~ # @ \\ \n \r \r\n \u2028 \t "
    "```js ``` ~~~ "
    "a b input 1 0x1 'x' `t` /r/g async await function class extends return const let var if else for of in while do "
    "switch case default break continue try catch finally throw new typeof void yield import export from as static get "
    "enum interface type declare namespace abstract readonly private constructor super this null true label: "
    ": string <T> as const satisfies a? a! x=>x evil() }) ({ }; program_0 数 🦊 \ufeff \0 \ud800"
)
fragments = st.lists(st.sampled_from(PIECES.split(" ")), max_size=24).flatmap(
    lambda pieces: st.sampled_from(["", " "]).map(lambda gap: gap.join(pieces))
)
texts = st.one_of(fragments, st.text(max_size=60))


def prepared(code: str) -> Program | CodemodeError:
    try:
        return prepare_program(code)
    except CodemodeError as error:
        return error


@settings(max_examples=400, deadline=None)
@given(texts)
def test_any_text_is_a_program_or_a_refusal_with_a_place(code: str):
    result = prepared(code)
    if isinstance(result, Program):
        # A last carriage return and the wrapper's line feed are one line break.
        assert len(LINE_BREAK.split(result.source)) == len(LINE_BREAK.split(code + "\n")) + 1
        assert result.line_offset == 1
        return
    assert result.code in ("syntax_error", "import_not_available")
    assert result.data is not None
    line, column = result.data["line"], result.data["column"]
    lines = LINE_BREAK.split(code)
    assert 1 <= line <= len(lines)
    assert 1 <= column <= utf16_length(lines[line - 1]) + 1
    assert result.data["excerpt"] == line_excerpt(code, line, column)


@settings(max_examples=12, deadline=None)
@given(st.lists(fragments, min_size=40, max_size=60))
def test_an_accepted_program_does_nothing_until_it_is_called(codes: list[str]):
    """Whatever the engine makes of it, text stays inside the wrapper: evaluating it only makes a function."""
    sources = [result.source for code in codes if isinstance(result := prepared(code), Program)]
    for outcome in run_sources(sources, evaluate_only=True):
        assert outcome["outcome"] in ("function", "engine_refuses"), outcome


@settings(max_examples=12, deadline=None)
@given(st.lists(fragments, min_size=40, max_size=60))
def test_the_wrapper_holds_without_the_parser(codes: list[str]):
    sources = [wrapped(code, "input") for code in codes if "\ud800" not in code]
    for outcome in run_sources(sources, evaluate_only=True):
        assert outcome["outcome"] in ("function", "engine_refuses"), outcome


def test_a_text_that_closes_the_wrapper_is_refused_by_the_engine_without_the_parser():
    bodies = [
        "} } ), evil(), (async () => { {",
        "} }, evil(), async () => { {",
        "} } + evil() + async function () { {",
        "break; } program_0: { } } , evil() , async () => { program_0: {",
        "} } /* ",
        "} } //",
    ]
    for outcome in run_sources([wrapped(body, "input") for body in bodies], evaluate_only=True):
        assert outcome["outcome"] == "engine_refuses"


@given(st.text(), st.integers(0, 50))
def test_blanks_stand_for_every_character_but_line_breaks(text: str, index: int):
    blanks = blank(text)
    assert set(blanks) <= {" ", "\n", "\r", "\u2028", "\u2029"}
    assert utf16_length(blanks) == utf16_length(text)
    index = min(index, len(text))
    assert position_at(blanks, utf16_length(text[:index])) == position_at(text, index)


@given(st.text(), st.integers(-1, 6), st.integers(-1, 80))
def test_an_excerpt_of_any_text_shows_the_place_or_nothing(text: str, line: int, column: int):
    excerpt = line_excerpt(text, line, column)
    if 1 <= line <= len(LINE_BREAK.split(text)):
        assert excerpt.endswith("^")
        assert excerpt.count("\n") == (2 if line > 1 else 1)
    else:
        assert excerpt == ""
