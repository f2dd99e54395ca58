"""Names are refused where a program could not use them, and made of foreign names where it can."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codemode_jupyter.connectors.base import Connector
from codemode_jupyter.connectors.names import (
    check_connector_names,
    check_tool_name,
    did_you_mean,
    is_identifier,
    nearest_names,
    sanitize_name,
    sanitize_names,
)
from codemode_jupyter.errors import CodemodeError

VECTORS = Path(__file__).parents[3] / "shared" / "vectors" / "sanitize.json"
BETTER = {"async": "async_", "then": "then_"}  # Python's keyword; and a method `then` makes a promise of a namespace


@pytest.mark.skipif(not VECTORS.exists(), reason="the shared vectors are not beside this checkout")
def test_foreign_names_become_the_identifiers_of_the_reference() -> None:
    cases = json.loads(VECTORS.read_text(encoding="utf-8"))["cases"]
    wrong = {
        case["input"]: sanitize_name(case["input"])
        for case in cases
        if sanitize_name(case["input"]) != BETTER.get(case["input"], case["expected"])
    }
    assert wrong == {}
    assert len(cases) > 50
    for case in cases:
        assert is_identifier(sanitize_name(case["input"]))


@pytest.mark.parametrize("name", ["github", "a1", "_x", "GitHub", "größe", "license", "then", "delete_"])
def test_usual_names_are_taken(name: str) -> None:
    check_connector_names([name])


@pytest.mark.parametrize("name", ["", "a-b", "1a", "a b", "a.b", "a$", "\u200b", 5, None])
def test_what_is_no_identifier_is_refused(name: object) -> None:
    with pytest.raises(CodemodeError, match="not a valid JavaScript identifier") as refusal:
        check_connector_names([name])
    assert refusal.value.code == "invalid_name"


@pytest.mark.parametrize(
    "name",
    [
        *("class", "await", "let", "from", "None", "codemode", "__step", "__anything", "Promise", "console"),
        *("setTimeout", "fetch", "list", "print", "undefined", "globalThis"),
    ],
)
def test_words_that_mean_something_else_are_reserved(name: str) -> None:
    with pytest.raises(CodemodeError, match="is reserved") as refusal:
        Connector(name)
    assert refusal.value.code == "reserved_name"
    assert name in refusal.value.message


def test_a_duplicate_is_refused_and_names_both() -> None:
    with pytest.raises(CodemodeError, match='Duplicate connector name "state": connectors number 1 and 3') as refusal:
        check_connector_names(["state", "other", "state"])
    assert refusal.value.code == "duplicate_name"


def test_two_names_that_sanitise_to_one_are_both_named() -> None:
    assert sanitize_names("x", ["a-b", "c.d"]) == {"a-b": "a_b", "c.d": "c_d"}
    with pytest.raises(CodemodeError, match=r'"a-b" and "a\.b" of "x" both sanitize to "a_b"'):
        sanitize_names("x", ["a-b", "a.b"])
    with pytest.raises(CodemodeError, match='two tools named "a"'):
        sanitize_names("x", ["a", "a"])


@pytest.mark.parametrize("name", ["then", "__proto__", "from", "a b", ""])
def test_tool_names_that_no_program_can_reach_are_refused(name: str) -> None:
    with pytest.raises(CodemodeError, match="Tool name"):
        check_tool_name(name, "x")
    check_tool_name("delete", "x")
    check_tool_name("constructor", "x")


def test_the_nearest_names_are_suggested() -> None:
    known = ["create_issue", "close_issue", "list_issues"]
    assert nearest_names("creat_issue", known)[0] == "create_issue"
    assert nearest_names("CREATE_ISSUE", known)[0] == "create_issue"
    assert did_you_mean("zzz", known) == ""
    assert did_you_mean("list_issue", known).startswith("Did you mean list_issues")
