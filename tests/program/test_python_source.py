"""Which part of a text is the program in Python, and where its lines stand."""

import pytest

from codemode_jupyter.program.languages import prepare


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("x = 1", "x = 1"),
        ("```python\nx = 1\n```", "\nx = 1\n"),
        ("Here it is:\n```py\nx = 1\n```\nDone.", "\n\nx = 1\n\n"),
        ("```\nx = 1\n```", "\nx = 1\n"),
        ("```js\nlet x\n```\n```python\ny\n```", "\n\n\n\ny\n"),
        ("```python\nx = 1\n```\nthen\n```python\ny = 2\n```", "\nx = 1\n\n\n\ny = 2\n"),
        ("    x = 1\n    if x:\n        y = 2", "x = 1\nif x:\n    y = 2"),
        ('x = """\n```python\n1\n```\n"""', 'x = """\n```python\n1\n```\n"""'),
        ("  x = 1\ny = 2", "  x = 1\ny = 2"),
    ],
)
def test_the_program_keeps_its_lines(text, source):
    found = prepare(text, "python").source
    assert [line.rstrip() for line in found.split("\n")] == source.split("\n")


def test_columns_are_those_of_the_written_text():
    assert prepare("    x = 1\n    y", "python").written_column(2, 1) == 5
    assert prepare("x = 1\ny", "python").written_column(2, 1) == 1


def test_a_byte_order_mark_is_no_indentation():
    program = prepare("\ufeffx = 1\nx", "python")
    assert program.source == "x = 1\nx"
    assert (program.written_column(1, 1), program.written_column(2, 1)) == (2, 1)
