"""The body of a cell reaches the sandbox exactly as written, and our magics are awaited wherever await may stand."""

import pytest

NOTHING = ()


@pytest.fixture
def taken(shell):
    """What the two magics were called with, instead of what they do."""
    calls = []

    async def note(*arguments):
        calls.append(arguments)
        return "outcome"

    shell.register_magic_function(note, "cell", "codemode")
    shell.register_magic_function(note, "line", "codemode")
    return calls


def run(shell, cell):
    result = shell.run_cell(cell)
    result.raise_error()
    return result.result


BODIES = {
    "quotes": "return \"a\" + 'b' + `c` + '''d''' + \"\"\"e\"\"\";",
    "backslashes": r"return '\n\\u0041\x41' + /\d+\\/.source;",
    "prompts": ">>> a = 1\n... b\nIn [3]: c",
    "whitespace lines": "let a;\n   \n\t\n\nreturn a;\n\n",
    "indentation": "    if (a) {\n\treturn b;\n    }",
    "line separators": "return 'a\u2028b\u2029c\x0bd\x0ce\x85f';",
    "carriage returns": "return `a\r\nb`;",
    "our own first line": "%%codemode\nreturn '%%codemode -r x';\n%codemode pending",
    "other magics and questions": "!ls\n%time\nfoo?\n??bar\n; x\n/f y",
    "braces and dollars": "return `${a} {b} $c {{d}}`;",
    "a byte order mark and null": "return '\ufeff\x00';",
    "letters of all kinds": "return 'é 日本 🙂 \U0001f468\u200d\U0001f469';",
    "only a comment": "// nothing",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_the_body_stays_exactly_as_written(shell, taken, body):
    run(shell, f"%%codemode\n{body}\n")
    assert taken == [("", f"{body}\n")]


def test_the_value_of_the_cell_is_what_the_magic_returns(shell, taken):
    assert run(shell, "%%codemode\nx\n") == "outcome"
    assert shell.user_ns["_"] == "outcome"


@pytest.mark.parametrize(
    "options", ["", "-r tools", "--wait -o x", "  -o  x  ", "-r {tools} $x", "-r 'a b' \"c\"", "-o é"]
)
def test_the_options_stay_as_written(shell, taken, options):
    run(shell, f"%%codemode {options}\nx\n")
    assert taken == [(options.strip(), "x\n")]


@pytest.mark.parametrize("start", ["\n\n", "  \n", "\t\n\n"])
def test_blank_lines_may_stand_above_it(shell, taken, start):
    run(shell, f"{start}%%codemode -o x\nbody\n")
    assert taken == [("-o x", "body\n")]


def test_a_pasted_indented_cell_loses_its_common_indentation(shell, taken):
    run(shell, "    %%codemode\n    if (a) {\n        b;\n    }\n")
    assert taken == [("", "if (a) {\n    b;\n}\n")]


def test_a_pasted_cell_with_a_prompt_is_awaited_too(shell, taken):
    run(shell, "In [1]: %%codemode -o x\n   ...: body\n")
    assert taken == [("-o x", "body\n")]


@pytest.mark.parametrize("cell", ["%%codemodes\nx", "%%codemode-x\nx", "x = 1\n%%codemode\ny", "'''\n%%codemode\n'''"])
def test_other_cells_are_left_alone(shell, taken, cell):
    transform = shell.input_transformer_manager.cleanup_transforms[0]
    lines = cell.splitlines(keepends=True)
    assert transform(lines) == lines


def test_text_that_looks_like_a_magic_inside_a_string_is_left_alone(shell, taken):
    run(shell, 'text = """\n%%codemode\n%codemode pending\n"""')
    assert taken == []
    assert shell.user_ns["text"] == "\n%%codemode\n%codemode pending\n"


def test_an_empty_body_is_refused_by_ipython(shell, taken, capsys):
    assert not shell.run_cell("%%codemode\n").success
    assert "the cell body is empty" in capsys.readouterr().err


LINES = {
    "alone": ("%codemode pending", ["pending"]),
    "between statements": (
        "a = 1\n%codemode pending\nb = 'é 日本'; c = 2\n%codemode history\n",
        ["pending", "history"],
    ),
    "assigned": ("answer = %codemode show x", ["show x"]),
    "inside a block": ("if True:\n    for _ in range(2):\n        %codemode pending\n", ["pending", "pending"]),
    "inside try": ("try:\n    pass\nfinally:\n    %codemode pending\n", ["pending"]),
    "in an async function": ("async def f():\n    %codemode pending\nawait f()", ["pending"]),
    "with quotes": ("%codemode save 'a b' x -d \"c\"", ["save 'a b' x -d \"c\""]),
}


@pytest.mark.parametrize(("cell", "lines"), LINES.values(), ids=LINES)
def test_line_magics_are_awaited(shell, taken, cell, lines):
    run(shell, cell)
    assert taken == [(line,) for line in lines]


def test_an_assigned_line_magic_gives_its_value(shell, taken):
    run(shell, "answer = %codemode approve x")
    assert shell.user_ns["answer"] == "outcome"


def test_a_line_magic_in_a_plain_function_can_be_awaited_by_its_caller(shell, taken):
    run(shell, "def f():\n    found = %codemode pending\n    return found\nawait f()")
    assert taken == [("pending",)]


def test_with_awaiting_off_and_no_loop_the_magics_still_run(shell):
    shell.autoawait = False
    run(shell, "%codemode help")
    assert "await" not in shell.transform_cell("%%codemode\nx\n")


def test_half_typed_cells_are_judged_as_any_cell_magic(shell):
    assert shell.input_transformer_manager.check_complete("%%codemode\nreturn 1;")[0] == "incomplete"
    assert shell.input_transformer_manager.check_complete("%%codemode\nreturn 1;\n\n")[0] == "complete"
