"""Values written for people: readable, bounded, and cheap whatever they are."""

import math
import time
from datetime import UTC, datetime

import pytest

from codemode_jupyter.notebook.card.html import markup
from codemode_jupyter.notebook.card.result import value_layout
from codemode_jupyter.notebook.card.text import to_text
from codemode_jupyter.notebook.card.value_text import in_words, pretty, preview


def nested(levels):
    value = "end"
    for level in range(levels):
        value = {"down": value} if level % 2 else [value]
    return value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        ("it's", '"it\'s"'),
        ("line\nbreak", '"line\\nbreak"'),
        (3, "3"),
        (3.0, "3"),
        (-0.0, "-0"),
        (0.1, "0.1"),
        (math.nan, "NaN"),
        (-math.inf, "-Infinity"),
        (2**80, "1208925819614629174706176"),
        (b"ab", "<2 bytes: 61 62>"),
        (datetime(2015, 12, 1, 8, 30, tzinfo=UTC), "2015-12-01 08:30:00+00:00"),
        ({}, "{}"),
        ([], "[]"),
        ({"city": "Seattle", "two words": [1, None]}, '{city: "Seattle", "two words": [1, null]}'),
        ({1: "a"}, '{[1]: "a"}'),
        ((1, 2), "[1, 2]"),
        ({7}, "[7]"),
    ],
)
def test_a_preview_writes_values_as_a_program_would(value, text):
    assert preview(value) == text


def test_a_preview_says_that_it_was_cut():
    assert preview({"text": "x" * 500}, 20) == '{text: "xxxxxxxxxxx…'
    assert len(preview(list(range(10_000)), 60)) == 60


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([{"day": 1}] * 365, "365 rows"),
        ([{"day": 1}], "1 row"),
        ([], "[] 0 items"),
        ([1, 2], "[…] 2 items"),
        ({"id": 12}, "{id: 12}"),
        ({f"key {n}": n for n in range(40)}, "{…} 40 keys"),
        (b"12", "2 bytes"),
        (None, "null"),
        ("done", '"done"'),
    ],
)
def test_a_result_is_told_in_a_few_words(value, words):
    assert in_words(value) == words


def test_the_pretty_form_holds_everything_and_breaks_long_lines():
    value = {"title": "Rain", "labels": ["a", "b"], "rows": [{"text": "x" * 60, "n": n} for n in range(2)]}
    written = pretty(value)
    assert written.complete
    assert written.text.splitlines() == [
        "{",
        '  title: "Rain",',
        '  labels: ["a", "b"],',
        "  rows: [",
        "    {",
        f'      text: "{"x" * 60}",',
        "      n: 0",
        "    },",
        "    {",
        f'      text: "{"x" * 60}",',
        "      n: 1",
        "    }",
        "  ]",
        "}",
    ]


def test_a_bounded_pretty_form_says_that_it_is_not_complete():
    written = pretty({f"key{n}": "x" * 50 for n in range(10_000)}, 1_000)
    assert not written.complete
    assert len(written.text) == 1_000


@pytest.mark.parametrize(
    "value",
    [
        nested(5_000),
        {f"key {n}": n for n in range(100_000)},
        [{f"column {n}": n for n in range(2_000)}] * 500,
        "x" * 5_000_000,
        list(range(1_000_000)),
        bytes(5_000_000),
        [[[[[0] * 20] * 20] * 20] * 20] * 20,
        10**20_000,
    ],
    ids=["5,000 levels", "100,000 keys", "wide rows", "long text", "long list", "bytes", "bushy", "digits"],
)
def test_a_huge_value_is_shown_in_bounded_size_and_time(value):
    start = time.perf_counter()
    html = markup(value_layout(value))
    assert len(html) < 400_000
    assert time.perf_counter() - start < 3
    assert "not shown" in html or "…" in html or "bits" in html


def test_a_table_says_how_many_rows_and_columns_it_leaves_out():
    rows = [{f"column {n}": n for n in range(30)} for _ in range(120)]
    assert "70 of 120 rows and 18 of 30 columns not shown" in to_text(value_layout(rows))


def test_a_table_has_the_columns_of_all_its_rows_in_order():
    text = to_text(value_layout([{"a": 1, "b": "x"}, {"b": None, "c": {"d": 2}}]))
    assert text.splitlines() == ["a  b     c", "1  x", "   null  {d: 2}"]


def test_a_list_that_is_not_of_objects_is_no_table():
    assert "<table" not in markup(value_layout([{"a": 1}, 2]))
    assert "<table" not in markup(value_layout([{}, {}]))


def test_a_tree_says_how_many_entries_it_leaves_out():
    assert "900 of 1,000 keys not shown" in to_text(value_layout({f"key{n}": "x" * 50 for n in range(1_000)}))


def test_text_keeps_its_lines_and_says_what_is_cut():
    assert to_text(value_layout("first\n  second")) == "first\n  second"
    assert "80,000 characters of 100,000 not shown" in to_text(value_layout("x" * 100_000))
    assert to_text(value_layout("")) == "An empty text."


def test_bytes_are_counted_and_their_beginning_is_shown():
    text = to_text(value_layout(b"\x89PNG" + bytes(500)))
    assert "504 bytes" in text
    assert "89 50 4e 47" in text
    assert "376 bytes not shown" in text
