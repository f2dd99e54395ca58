"""Results cut to a budget: nothing is changed that fits, the shape stays, every loss is said."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemode_jupyter.program import truncate_response, truncate_result

VECTORS = Path(__file__).parents[3] / "shared" / "vectors" / "truncate.json"
MARKER = "--- TRUNCATED ---"
NOT_JSON_IN_PYTHON = {
    # No such values come out of a decoded program result, so these stand for JavaScript's own.
    "result: undefined",
    "result: nested bigint (not serialisable, unchanged)",
    "result: function",
    "cycle unchanged",
    "toJSON is honoured",
    "undefined members vanish when shrunk",
    "Map is lost when shrunk",
    "typed array over budget",
}
ONLY_A_NOTE = {
    # A bare {} or an unfinished marker would hide that something is missing; here a text says so.
    "object: budget 10",
    "result: one under",
}


def length(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def vector_cases() -> list[dict[str, Any]]:
    if not VECTORS.exists():
        return []
    return [case for case in json.loads(VECTORS.read_text())["cases"] if case["name"] not in NOT_JSON_IN_PYTHON]


@pytest.mark.parametrize("case", vector_cases(), ids=lambda case: case["name"])
def test_a_value_is_cut_as_by_the_reference_in_what_matters(case: dict[str, Any]):
    given_, expected = case["input"], case["expected"]
    names = {"maxChars": "max_chars", "maxTokens": "max_tokens"}
    options = {names[key]: value for key, value in (given_.get("options") or {}).items()}
    value = given_["value"]
    if given_["function"] == "truncateResponse":
        cut = truncate_response(value, **options)
        assert cut.split("\n\n---")[0] == expected["value"].split("\n\n---")[0]
        assert MARKER in cut
        return
    cut = truncate_result(value, **options)
    assert (cut is value) == expected["same_reference"]
    if cut is value:
        return
    assert MARKER in json.dumps(cut)
    if case["name"] in ONLY_A_NOTE:
        assert isinstance(cut, str)
        return
    assert type(cut) is type(expected["value"])
    if isinstance(cut, str):
        assert cut.split("\n\n---")[0] == expected["value"].split("\n\n---")[0]
    else:
        assert length(cut) <= options["max_chars"]


def test_what_fits_is_the_very_same_object():
    value = {"a": [1, 2, {"b": None}]}
    assert truncate_result(value, max_chars=length(value)) is value
    assert truncate_result(value) is value


def test_a_long_text_is_cut_and_says_how_long_it_was():
    assert truncate_result("x" * 100, max_chars=10).startswith("x" * 10 + f"\n\n{MARKER}\n")
    assert "25" in truncate_result("x" * 100, max_chars=10)


def test_the_default_budget_is_six_thousand_tokens_of_four_characters():
    assert truncate_response("x" * 24_000) == "x" * 24_000
    assert MARKER in truncate_response("x" * 24_001)


def test_the_largest_part_is_cut_first():
    value = {"id": 7, "body": "g" * 500, "tags": ["a", "b"], "ok": True}
    cut = truncate_result(value, max_chars=200)
    assert (cut["id"], cut["tags"], cut["ok"]) == (7, ["a", "b"], True)
    assert cut["body"].endswith(f"{MARKER} 500 chars")
    assert length(cut) <= 200


def test_dropped_items_and_keys_are_counted():
    assert truncate_result([{"i": index} for index in range(100)], max_chars=200)[-1].endswith("more items")
    cut = truncate_result({f"key_{index}": "v" * 30 for index in range(50)}, max_chars=500)
    kept = [key for key in cut if key != MARKER]
    assert cut[MARKER].startswith(f"{50 - len(kept)} keys omitted: key_{len(kept)}")


def test_a_marker_that_is_data_stays_data():
    cut = truncate_result({MARKER: "mine", **{f"key_{index}": "v" * 30 for index in range(50)}}, max_chars=500)
    assert cut[MARKER] == "mine"
    assert "keys omitted" in cut[MARKER + "-"]


def test_what_json_cannot_hold_is_returned_unchanged():
    cycle: list[Any] = ["x" * 100]
    cycle.append(cycle)
    for value in (cycle, {"a": {1, 2}}, {"a": b"x" * 100}):
        assert truncate_result(value, max_chars=10) is value


def test_a_deep_value_is_cut_without_a_crash():
    value: Any = "x" * 1000
    for _ in range(700):
        value = [value]
    assert MARKER in json.dumps(truncate_result(value, max_chars=500))


def test_a_negative_budget_is_refused():
    with pytest.raises(ValueError, match="negative"):
        truncate_response("x", max_chars=-1)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=200),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.text(max_size=30), inner, max_size=12),
    max_leaves=40,
)


@given(values, st.integers(0, 400))
def test_any_value_fits_keeps_its_shape_or_becomes_a_text_that_says_so(value: Any, budget: int):
    cut = truncate_result(value, max_chars=budget)
    if (length(value) <= budget and not isinstance(value, str)) or (isinstance(value, str) and len(value) <= budget):
        assert cut is value
    elif isinstance(cut, str):
        assert cut.count(f"\n\n{MARKER}\n") >= 1
        assert len(cut) <= budget + 100
    else:
        assert type(cut) is type(value)
        assert length(cut) <= budget
        assert MARKER in json.dumps(cut)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=200), st.integers(40, 300))
def test_a_list_keeps_its_first_items_and_the_count_adds_up(items: list[int], budget: int):
    cut = truncate_result(items, max_chars=budget)
    if cut is items or isinstance(cut, str):
        return
    *kept, mark = cut
    assert kept == items[: len(kept)]
    assert mark.split()[3] == str(len(items) - len(kept))


def test_numbers_that_json_lacks_survive():
    assert math.isnan(truncate_result({"a": math.nan, "b": "x" * 100}, max_chars=70)["a"])
