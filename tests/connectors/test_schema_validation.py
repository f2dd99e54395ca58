"""Arguments are checked against schemas that strangers wrote: every fault is told, and no schema does harm."""

from __future__ import annotations

import socket
import threading
import time
from typing import Any

import pytest

from codemode_jupyter.connectors.schemas import keywords as schema_keywords
from codemode_jupyter.connectors.schemas.validation import MOST_FAULTS, SchemaValidator
from codemode_jupyter.errors import CodemodeError


def faults(schema: Any, value: object) -> dict[str, str]:
    return {fault["path"]: fault["message"] for fault in SchemaValidator("act", schema).faults(value)}


ORDER = {
    "type": "object",
    "properties": {
        "count": {"type": "integer", "minimum": 1},
        "what": {
            "anyOf": [
                {"type": "string"},
                {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
            ]
        },
        "kind": {"enum": ["air", "sea"]},
        "lines": {"type": "array", "items": {"type": "object", "additionalProperties": False}},
    },
    "required": ["count", "what"],
    "additionalProperties": False,
}


def test_every_fault_is_listed_with_its_path() -> None:
    with pytest.raises(CodemodeError) as refusal:
        SchemaValidator("act", ORDER)({"count": 0, "kind": "land", "lines": [{}, {"a b": 1}, 5], "knd": 1})
    error = refusal.value
    assert error.code == "invalid_arguments"
    assert error.data is not None
    assert {fault["path"]: fault["message"] for fault in error.data["faults"]} == {
        "count": "must not be less than 1",
        "what": "is missing",
        "kind": "must be one of 'air', 'sea'",
        'lines[1]["a b"]': "unknown key",
        "lines[2]": "must be object, not integer",
        "knd": "unknown argument. Did you mean kind?",
    }
    assert "Arguments to act do not fit" in error.message
    assert "It takes: count, what, kind, lines." in str(error)


@pytest.mark.parametrize("said", ["number", "integer", ["number", "null"]])
@pytest.mark.parametrize(
    ("value", "name"), [(float("nan"), "NaN"), (float("inf"), "Infinity"), (float("-inf"), "Infinity")]
)
def test_what_json_has_no_number_for_is_no_number_and_passes_no_bound(said: Any, value: float, name: str) -> None:
    assert faults({"type": said}, value)[""].endswith(f", not {name}")
    assert faults({"type": said, "minimum": 0, "maximum": 100}, value)


def test_arguments_that_fit_are_returned_as_they_are() -> None:
    arguments = {"count": 1, "what": "x"}
    assert SchemaValidator("act", ORDER)(arguments) is arguments


def test_the_faults_of_alternatives_are_those_of_the_one_that_was_meant() -> None:
    assert faults(ORDER, {"count": 1, "what": {"id": "x"}}) == {"what.id": "must be integer, not string"}
    assert faults(ORDER, {"count": 1, "what": 5}) == {"what": "must be string or object, not integer"}


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"properties": {"a": {"const": None}}}, {"a": 1}, {"a": "must be None"}),
        ({"properties": {"a": {"type": "integer"}}}, {"a": True}, {"a": "must be integer, not boolean"}),
        ({"properties": {"a": {"type": "integer"}}}, {"a": 2.0}, {}),
        ({"properties": {"a": {"pattern": "^b$"}}}, {"a": "b\n"}, {"a": "must match '^b$'"}),
        ({"properties": {"a": {"pattern": r"^(?!x)[\w$]+\$$"}}}, {"a": "a$"}, {}),
        ({"patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": False}, {"x-a": "", "y": 1},
         {"y": "unknown argument"}),
        ({"properties": {"a": {"uniqueItems": True}}}, {"a": [{"b": 1}, {"b": 1}]}, {"a": "must not have equal items"}),
        ({"properties": {"a": False}}, {"a": 1}, {"a": "is not allowed here"}),
        # drafts before 2020-12
        ({"properties": {"a": {"items": [{"type": "string"}], "additionalItems": False}}}, {"a": ["x", 2]},
         {"a": "has too many items"}),
        ({"properties": {"a": {"minimum": 1, "exclusiveMinimum": True}}}, {"a": 1}, {"a": "must be greater than 1"}),
        ({"properties": {"a": {"type": "string", "nullable": True}}}, {"a": None}, {}),
        ({"dependencies": {"a": ["b"]}}, {"a": 1}, {"": "lacks properties that come with others"}),
        ({"$ref": "#/definitions/A", "definitions": {"A": {"required": ["q"]}}}, {}, {"q": "is missing"}),
        ({"$id": "urn:x", "$defs": {"t": {"type": "string"}},
          "properties": {"a": {"$ref": "urn:x#/$defs/t"}}}, {"a": 1}, {"a": "must be string, not integer"}),
        # bytes are text only where the schema says that its text is bytes
        ({"properties": {"a": {"type": "string", "format": "binary"}}}, {"a": b"x"}, {}),
        ({"properties": {"a": {"type": "string"}}}, {"a": b"x"}, {"a": "must be string, not bytes"}),
    ],
)  # fmt: skip
def test_a_schema_of_any_draft_asks_for_what_it_says(schema: Any, value: Any, expected: dict[str, str]) -> None:
    assert faults(schema, value) == expected


@pytest.mark.parametrize(
    "broken",
    [
        {"$ref": "#/nowhere"},
        {"$ref": "#/properties/broken"},
        {
            "$ref": 4,
            "$id": 5,
            "type": 7,
            "enum": 3,
            "anyOf": {},
            "minLength": "q",
            "multipleOf": 0,
            "properties": [],
            "required": "sound",
        },
        {"type": "bogus"},
        {"pattern": "("},
        {"pattern": "(" * 5000},
        {"anyOf": [5]},
        {"$schema": "http://nowhere.invalid/draft", "$dynamicRef": "#nothing"},
        5,
        None,
    ],
)
def test_a_part_that_cannot_be_read_asks_for_nothing_and_the_rest_still_holds(broken: Any) -> None:
    schema = {"properties": {"broken": broken, "sound": {"type": "string"}}, "required": ["sound"]}
    assert faults(schema, {"broken": "any", "sound": "x"}) == {}
    assert faults(schema, {"broken": "any", "sound": 1}) == {"sound": "must be string, not integer"}
    assert faults(broken, {"a": 1}) == {}


def test_what_a_schema_refers_to_is_never_fetched() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"
        assert (
            faults({"properties": {"a": {"$ref": address}, "b": {"$ref": "file:///etc/passwd"}}}, {"a": 1, "b": 2})
            == {}
        )
        with pytest.raises(TimeoutError):
            server.accept()


def test_patterns_that_take_for_ever_and_schemas_that_branch_without_end_are_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(schema_keywords, "SECONDS", 0.3)
    node = {"properties": {"next": {"anyOf": [{"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}]}, "v": {"type": "integer"}}}
    chain: dict[str, Any] = {"v": "x"}
    for _ in range(40):
        chain = {"next": chain}
    began = time.monotonic()
    too_large = {"": "too large to be checked against the schema"}
    assert faults({"properties": {"a": {"pattern": "^(a|aa)+$"}}}, {"a": "a" * 5000 + "b"}) == too_large
    nested = {"$schema": "http://json-schema.org/draft-07/schema#", "pattern": "^(a|aa)+$"}
    assert faults({"properties": {"a": nested}}, {"a": "a" * 5000 + "b"}) == too_large
    assert faults({"$ref": "#/$defs/n", "$defs": {"n": node}}, chain) == too_large
    assert time.monotonic() - began < 60  # without a limit: years


def test_values_that_are_deep_long_or_huge_are_told_without_a_crash() -> None:
    deep: dict[str, Any] = {}
    for _ in range(3000):
        deep = {"next": deep}
    recursive = {"$ref": "#/$defs/n", "$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}}}}}
    assert faults(recursive, deep) == {"": "nested too deeply"}
    many = SchemaValidator("act", {"properties": {"a": {"items": {"type": "integer"}}}}).faults({"a": ["x"] * 100_000})
    assert len(many) == MOST_FAULTS
    assert faults({"properties": {"a": {"multipleOf": 0.1}}}, {"a": 10**400}) != {}
    assert faults({"properties": {"a": {"uniqueItems": True}}}, {"a": [{"i": i} for i in range(50_000)]}) == {}
    schema: dict[str, Any] = {}
    for _ in range(5000):
        schema = {"properties": {"a": schema}}
    assert faults(schema, {"a": {}}) == {}


def test_one_validator_serves_several_threads() -> None:
    validator = SchemaValidator("act", ORDER)
    wrong: list[Any] = []

    def work() -> None:
        wrong.extend(one for _ in range(50) if len(one := validator.faults({"count": "x"})) != 2)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("kind", [5, None, {}, [], True, "widget", [5]])
def test_a_type_that_is_none_asks_for_nothing(kind: Any) -> None:
    schema = {
        "type": kind,
        "properties": {"a": {"anyOf": [{"type": kind}, {"type": "integer"}]}, "b": {"type": "null"}},
    }
    assert faults(schema, {"a": "x", "b": 1}) == {"b": "must be null, not integer"}


def test_an_alternative_that_is_simply_false_is_none() -> None:
    assert faults({"properties": {"a": {"oneOf": [False]}}}, {"a": 1}) == {"a": "is not allowed here"}
    assert faults({"properties": {"a": {"anyOf": [False, {"type": "string"}]}}}, {"a": "x"}) == {}


def test_dependencies_stand_beside_what_cannot_be_read() -> None:
    schema = {"dependencies": {"a": ["b"]}, "dependentRequired": [["a"]]}
    assert faults(schema, {"a": 1}) == {"": "lacks properties that come with others"}
