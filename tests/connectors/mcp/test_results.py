"""What a result means to a program, beside the reference's answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codemode_jupyter.connectors.mcp.results import unwrap
from codemode_jupyter.errors import CodemodeError

VECTORS = Path(__file__).resolve().parents[4] / "shared" / "vectors" / "mcp.json"

BETTER = {
    "text JSON number": "42",
    "text true": "true",
    "text null": "null",
    "text large integer": "12345678901234567890",
    "empty content": None,
    "image only": {"content": [{"type": "image", "data": b"hi", "mimeType": "image/png"}]},
    "text and image": {
        "content": [{"type": "text", "text": "chart"}, {"type": "image", "data": b"hi", "mimeType": "image/png"}]
    },
    "audio": {"content": [{"type": "audio", "data": b"\x00", "mimeType": "audio/wav"}]},
}
"""Where the reference loses something: text stays text, nothing is nothing, bytes are bytes."""


def cases() -> list[Any]:
    if not VECTORS.exists():
        return [pytest.param({}, marks=pytest.mark.skip("the reference's answers are not beside this checkout"))]
    listed = json.loads(VECTORS.read_text())["cases"]
    return [pytest.param(case, id=case["name"]) for case in listed if "tools" not in case["input"]]


@pytest.mark.parametrize("case", cases())
def test_a_result_means_what_the_reference_says_or_something_better(case: dict[str, Any]) -> None:
    given = {key: value for key, value in case["input"].items() if value != {"$js": "undefined"}}
    expected = case["expected"]
    if "throws" in expected:
        with pytest.raises(CodemodeError, match=expected["throws"]) as refusal:
            unwrap(given, declared=False)
        assert refusal.value.code == "tool_failed"
    else:
        assert unwrap(given, declared=False) == BETTER.get(case["name"], expected["value"])


@pytest.mark.parametrize(
    ("text", "declared", "value"),
    [
        ("42", False, "42"),
        ("42", True, 42),
        ('{"a": [1]}', False, {"a": [1]}),
        (' [1, "x"]', False, [1, "x"]),
        ("{not json", False, "{not json"),
        ("plain", True, "plain"),
        ("[NaN, Infinity]", False, "[NaN, Infinity]"),
        ("[" * 100_000, False, "[" * 100_000),
        ('{"n": 12345678901234567890}', False, {"n": 12345678901234567890}),
    ],
)
def test_text_is_read_as_json_only_where_it_is_an_object_or_a_list_or_a_schema_says_so(
    text: str, declared: bool, value: object
) -> None:
    assert unwrap({"content": [{"type": "text", "text": text}]}, declared=declared) == value


def test_two_texts_stay_text_though_each_is_json() -> None:
    parts = [{"type": "text", "text": '{"a": 1}'}, {"type": "text", "text": '{"b": 2}'}]
    assert unwrap({"content": parts}, declared=False) == '{"a": 1}\n{"b": 2}'


def test_a_blob_becomes_bytes_and_one_that_is_no_base64_stays() -> None:
    blob = {"type": "resource", "resource": {"uri": "file:///x", "blob": "AAE="}}
    broken = {"type": "image", "data": "no base64!", "mimeType": "image/png"}
    assert unwrap({"content": [blob, broken]}, declared=False) == {
        "content": [{"type": "resource", "resource": {"uri": "file:///x", "blob": b"\x00\x01"}}, broken]
    }


def test_an_error_keeps_its_structured_content_and_says_what_else_came() -> None:
    result = {
        "content": [{"type": "text", "text": "no"}, {"type": "image", "data": "", "mimeType": "image/png"}],
        "structuredContent": {"code": 7},
        "isError": True,
    }
    with pytest.raises(CodemodeError, match=r"^no$") as refusal:
        unwrap(result, declared=True)
    assert refusal.value.data == {"structuredContent": {"code": 7}, "otherContent": ["image"]}
