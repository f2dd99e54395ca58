"""The reference's 122 programs, compared by the value they evaluate to; every difference is listed with its reason."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.program.engine import run_programs

VECTORS = Path(__file__).parents[3] / "shared" / "vectors" / "normalize.json"
UNDEFINED = {"$js": "undefined"}
SEMICOLON = "a semicolon after a function does not make it another program"
CALLED = "a program that is only a function is called, however it is written"
DEFAULT = "a default export is the program's value"
FENCE = "a fence may name any language, hold attributes and stand on one line"
TYPES = "types are erased"

DIFFERENT: dict[str, tuple[Any, str]] = {
    "arrow with trailing semicolon": (5, SEMICOLON),
    "arrow with two trailing semicolons": (6, SEMICOLON),
    "parenthesised arrow with semicolon": (81, SEMICOLON),
    "arrow with semicolon and trailing comment": (11, SEMICOLON),
    "directive then arrow": ("strict arrow", "a function as the last expression is called; as a value it is of no use"),
    "label on expression": (42, "a label does not take the value of the last expression away"),
    "last expression then semicolons": (9, "empty statements do not take the value of the last expression away"),
    "helper + main, main not called": (48, "of declarations alone, the last function nothing refers to is called"),
    "function expression in parentheses": (53, CALLED),
    "async function expression in parentheses": (54, CALLED),
    "anonymous function declaration (syntax error)": (55, CALLED),
    "anonymous async function declaration (syntax error)": (56, CALLED),
    "export default anonymous class": ({"$js": "class"}, "the class, which gets a name here"),
    "export default named class": ({"$js": "class", "name": "Kite"}, DEFAULT),
    "export default object literal": ({"a": 67, "b": 1}, DEFAULT),
    "export default after a helper": (69, DEFAULT),
    "export named function": (71, "other exports are plain declarations, and a function alone is called"),
    "export list": (UNDEFINED, "other exports are plain declarations"),
    "fence tag 'JS'": ("tag JS", FENCE),
    "fence tag 'mjs'": ("tag mjs", FENCE),
    "fence tag 'json'": ("tag json", FENCE),
    "fence tag 'python'": ("tag python", FENCE),
    "fence tag 'js title=\"a.js\"'": ("tag js title=a.js", FENCE),
    "fence tag 'javascript {1,3}'": ("tag javascript {1,3}", FENCE),
    "fence on a single line": (83, FENCE),
    "two fences": (87, "several fences are one program"),
    "closing fence only": (89, "a fence that was never opened still ends the program"),
    "inline code ticks": (93, "a function in single backticks is inline code"),
    "TS const annotation": (101, TYPES),
    "TS as cast": ({"n": 102}, TYPES),
    "TS interface": (103, TYPES),
    "TS non-null": (104, TYPES),
    "hashbang": (120, "a hashbang is a comment in a program of its own"),
    "closing injection attempt, wrapper-shaped": (None, "text never closes the wrapper: refused as a syntax error"),
}

if not VECTORS.exists():
    pytest.skip("the vectors are not beside this checkout", allow_module_level=True)

CASES: dict[str, dict[str, Any]] = {case["name"]: case for case in json.loads(VECTORS.read_text())["cases"]}


@cache
def outcomes() -> dict[str, dict[str, Any]]:
    return dict(zip(CASES, run_programs([case["input"] for case in CASES.values()]), strict=True))


@pytest.mark.parametrize("name", [name for name in CASES if name not in DIFFERENT])
def test_a_program_means_what_it_means_to_the_reference(name: str):
    expected, outcome = CASES[name]["expected"], outcomes()[name]
    assert outcome["outcome"] == expected["outcome"], outcome
    assert outcome.get("value") == expected.get("value")
    assert outcome.get("thrown") == expected.get("thrown")
    if expected["outcome"] != "syntax_error":
        assert outcome["calls"] == expected.get("calls", [])
        assert outcome["logs"] == expected.get("logs", [])


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_program_is_read_better_than_by_the_reference(name: str):
    expected, outcome = DIFFERENT[name][0], outcomes()[name]
    if expected is None:
        assert outcome["outcome"] == "syntax_error", outcome
        return
    value = outcome["value"]
    if isinstance(expected, dict) and "name" not in expected and "$js" in expected:
        value = {"$js": value["$js"]}
    assert value == expected
    assert value != CASES[name]["expected"].get("value", "not a value") or name == "export default anonymous class"


def test_every_case_the_reference_gets_wrong_is_read_better():
    noted = {name for name, case in CASES.items() if "WRONG" in case.get("note", "") and "throws" not in name}
    assert noted <= DIFFERENT.keys()
