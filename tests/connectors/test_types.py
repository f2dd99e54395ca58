"""Schemas become TypeScript that means the same, and that compiles whatever a document holds."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from codemode_jupyter.connectors.declarations.comments import comment
from codemode_jupyter.connectors.declarations.python import generate_stubs
from codemode_jupyter.connectors.declarations.typescript import generate_types
from codemode_jupyter.connectors.declarations.typescript_types import json_schema_to_type
from codemode_jupyter.connectors.functions.function import function_tool, tool
from codemode_jupyter.connectors.names import sanitize_name
from codemode_jupyter.connectors.tool import Tool

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"
TSC = ROOT / "node_modules" / "typescript" / "bin" / "tsc"

HOSTILE = {
    "closes */ the comment": {"type": "string", "description": "*/ } alert(1) /* \u2028 */ \u202e x \x00"},
    '"; alert(1); "': {"enum": ['"', "`${1}`", "\u2028", "\ud800", "\\"]},
    "__proto__": {"type": "object", "properties": {"constructor": {"$ref": "#/$defs/nowhere"}}},
    "default": {"type": "string", "default": "*/"},
    "self": {"$ref": "#"},
    "circle": {"$ref": "#/$defs/circle"},
    "wheel": {"$ref": "#/$defs/wheel"},
    "tree": {"type": "array", "items": {"$ref": "#/$defs/Record"}},
    "broken": {"type": 5, "properties": [], "required": "x", "enum": "x", "anyOf": {}, "items": 7},
}
HOSTILE_SCHEMA = {
    "type": "object",
    "properties": HOSTILE,
    "$defs": {
        "circle": {"$ref": "#/$defs/circle"},
        "wheel": {"anyOf": [{"$ref": "#/$defs/spoke"}, {"type": "string"}]},
        "spoke": {"allOf": [{"$ref": "#/$defs/wheel"}, {"type": "string"}]},
        "Record": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Record"}},
    },
}


class Node(BaseModel):
    """A node."""

    name: str
    children: list[Node] = []


def compiled(text: str, folder: Path) -> str:
    """Return what the TypeScript compiler says of some declarations."""
    if shutil.which("node") is None or not TSC.exists():
        pytest.skip("the TypeScript compiler is not installed (make test installs it)")
    file = folder / "types.d.ts"
    file.write_text(f"export {{}};\n{text}\n", encoding="utf-8")
    command = ["node", str(TSC), "--noEmit", "--strict", "--target", "es2023", str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=folder).stdout


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "array", "items": {"type": ["string", "number"]}}, "(string | number)[]"),
        ({"allOf": [{"enum": ["x", 1]}, {"type": ["string", "null"]}]}, '("x" | 1) & (string | null)'),
        ({"type": "string", "nullable": True}, "string | null"),
        ({"type": ["array", "null"], "items": {"type": "string"}}, "string[] | null"),
        ({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "number"}}, "[string, ...number[]]"),
        ({"type": "array", "prefixItems": [{}, {"type": "null"}], "minItems": 1}, "[unknown, null?]"),
        ({"type": "array", "items": [{"type": "string"}], "additionalItems": {"type": "null"}}, "[string, ...null[]]"),
        ({"anyOf": []}, "never"),
        ({"enum": ["a", None, 1.5, True]}, '"a" | null | 1.5 | true'),
        ({"const": {"a": [1, None]}}, "{ a: [1, null] }"),
        ({"type": "object", "additionalProperties": False}, "Record<string, never>"),
        ({"type": "object"}, "Record<string, unknown>"),
        ({"type": "object", "additionalProperties": {"type": ["string", "null"]}}, "{ [key: string]: string | null }"),
        ({"type": "object", "patternProperties": {"^x": {"type": "number"}}}, "{ [key: string]: number }"),
        ({"type": "string", "format": "binary"}, "Uint8Array"),
        ({"type": "string", "oneOf": [{"const": "a"}, {"const": "b"}]}, '"a" | "b"'),
        ({"$ref": "#/$defs/gone"}, "unknown"),
        ({"$ref": "https://example.org/schema.json"}, "unknown"),
        (True, "unknown"),
        (False, "never"),
        (None, "unknown"),
        ({"type": "date"}, "unknown"),
    ],
)
def test_a_schema_becomes_the_type_that_means_the_same(schema: Any, expected: str) -> None:
    assert json_schema_to_type(schema) == f"type T = {expected}"


def test_properties_carry_their_notes_and_are_quoted_where_they_must_be() -> None:
    schema = {
        "type": "object",
        "properties": {
            "day": {"type": "string", "format": "date", "description": "The day.\nNot before 2000."},
            "x-y": {"type": "integer", "minimum": 0, "default": 3, "deprecated": True},
            "größe": {"type": "number"},
        },
        "required": ["day"],
        "additionalProperties": {"type": "string"},
    }
    assert json_schema_to_type(schema, "list-all.items").splitlines() == (
        [
            "type ListAllItems = {",
            "    /**",
            "     * The day.",
            "     * Not before 2000.",
            "     * @format date",
            "     */",
            "    day: string;",
            "    /**",
            "     * @default 3",
            "     * @minimum 0",
            "     * @deprecated",
            "     */",
            '    "x-y"?: number;',
            '    "größe"?: number;',
            "    /** Others are string */",
            "    [key: string]: unknown;",
            "}",
        ]
    )


def test_recursion_and_shared_objects_become_named_types() -> None:
    assert json_schema_to_type(Node.model_json_schema(), "Tree").splitlines() == (
        [
            "type Tree = Node",
            "/** A node. */",
            "type Node = {",
            "    name: string;",
            "    /** @default [] */",
            "    children?: Node[];",
            "}",
        ]
    )


def test_a_comment_cannot_be_closed_by_what_is_in_it() -> None:
    text = "\n".join(comment(["a */ b", "\u2028c*/", "\u202ed\x00"], ""))
    assert text.count("*/") == 1
    assert text.endswith("*/")
    assert "\u2028" not in text
    assert "\u202e" not in text


def test_a_schema_nested_beyond_reason_costs_only_its_own_type() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(5000):
        deep = {"type": "array", "items": deep}
    tools = [Tool("deep", print, input_schema=deep), Tool("fine", print, input_schema={"type": "string"})]  # type: ignore[arg-type]
    text = generate_types(tools)
    assert f"type DeepInput = unknown{'[]' * 41}\n" in text
    assert "type FineInput = string" in text


def test_hostile_schemas_compile(tmp_path: Path) -> None:
    tools = [
        Tool(name, print, '*/ alert("x") /* \u2028', HOSTILE_SCHEMA, HOSTILE_SCHEMA)  # type: ignore[arg-type]
        for name in ("one", "constructor", "One", "delete")
    ]
    assert compiled(generate_types(tools, "hostile"), tmp_path) == ""


def test_functions_are_declared_as_they_are_called(tmp_path: Path) -> None:
    @tool(requires_approval=True)
    def grow(node: Node, times: int = 1) -> Node:
        """Grow a tree."""
        return node

    def nothing() -> None: ...

    def anything(a: int = 0) -> Any: ...

    text = generate_types([function_tool(grow), function_tool(nothing), function_tool(anything)], "trees")
    assert "    /**\n     * Grow a tree.\n     * Needs approval by a person.\n     */" in text
    assert "    grow: (input: GrowInput) => Promise<GrowOutput>;" in text
    assert "    nothing: () => Promise<NothingOutput>;" in text
    assert "    anything: (input?: AnythingInput) => Promise<unknown>;" in text
    assert text.count("type Node = ") == 1  # shared by the two that mean the same
    assert compiled(text, tmp_path) == ""


# Where the reference's declaration is another one: what is better here. Layout apart, all others are the same.
DIFFERENT = {
    "object, empty properties, closed": "`{}` allows any value but null",
    "additionalProperties empty schema": "the same in one line",
    "patternProperties": "the reference drops them",
    "array of union": "the reference leaves out the parentheses",
    "array of enum": "the reference leaves out the parentheses",
    "array, items false": "only the empty list fits",
    "tuple with rest": "the reference drops the rest",
    "const object": "the same, as a type is written",
    "type list": "the union of unknown and anything is unknown",
    "type list object with properties": "the reference loses null",
    "type list array with items": "the reference loses the items",
    "empty type list": "the reference prints nothing",
    "allOf two objects": "merged into one object",
    "allOf of unions": "the reference leaves out the parentheses",
    "anyOf plus sibling properties": "the reference loses the properties",
    "anyOf empty": "the reference prints nothing; nothing fits",
    "$ref recursive def": "a named type instead of unknown",
    "mutual recursion": "named types instead of unknown",
    "$ref to false": "nothing fits",
    "prefixItems without array type": "the reference drops them",
    "required is not a list": "the reference throws",
    "property schema null": "the reference throws",
}


@pytest.mark.skipif(not SHARED.exists(), reason="the shared vectors are not beside this checkout")
def test_declarations_are_the_reference_s_or_better() -> None:
    cases = json.loads((SHARED / "vectors" / "types.json").read_text(encoding="utf-8"))["cases"]
    given = [case for case in cases if "schema" in case["input"]]
    assert len(given) > 60
    different = {
        case["name"]
        for case in given
        if json_schema_to_type(case["input"]["schema"], case["input"]["typeName"]) != case["expected"].get("text")
    }
    assert different == set(DIFFERENT)


@pytest.mark.skipif(not SHARED.exists(), reason="the shared vectors are not beside this checkout")
def test_tool_sets_declare_what_the_reference_declares() -> None:
    cases = json.loads((SHARED / "vectors" / "types.json").read_text(encoding="utf-8"))["cases"]
    given = [case for case in cases if "tools" in case["input"]]
    assert len(given) > 8
    for case in given:
        tools = [
            Tool(
                sanitize_name(name),
                print,
                one.get("description") or "",
                one.get("inputSchema", True),
                one.get("outputSchema"),
            )  # type: ignore[arg-type]
            for name, one in case["input"]["tools"].items()
        ]
        ours, theirs = generate_types(tools), case["expected"]["text"]
        assert re.findall(r"^\s+(\w+): \(", ours, re.MULTILINE) == re.findall(r"^\s+(\w+): \(", theirs, re.MULTILINE)
        for field in re.findall(r"^    \S.*;$", theirs, re.MULTILINE):
            assert field in ours


def test_all_of_becomes_one_object() -> None:
    base = {"type": "object", "properties": {"id": {"type": "integer"}, "tag": {"type": "string"}}}
    more = {"type": "object", "properties": {"tag": {"enum": ["a", "b"]}}, "required": ["tag"]}
    schema = {"allOf": [{"$ref": "#/$defs/Base"}, more], "required": ["id"], "$defs": {"Base": base}}
    assert json_schema_to_type(schema).splitlines() == (
        ["type T = {", "    id: number;", '    tag: string & ("a" | "b");', "}"]
    )


def test_a_deprecated_tool_is_marked() -> None:
    old = Tool("old", print, "Old way.", {"type": "object", "properties": {}, "deprecated": True})  # type: ignore[arg-type]
    assert "     * @deprecated\n" in generate_types([old])
    assert "@deprecated" in generate_stubs([old])


class Parcel(BaseModel):
    sent: date


@dataclass
class Letter:
    sent: date
    stamps: set[Decimal]


def test_python_stubs_say_which_results_are_more_than_json() -> None:
    def moments() -> dict[int, datetime | None]: ...
    def letter() -> tuple[Letter, timedelta]: ...
    def parcel() -> Parcel: ...

    tools = [function_tool(one) for one in (moments, letter, parcel)]
    stubs = generate_stubs(tools, "post")
    assert "async def moments() -> dict[int, datetime.datetime | None]:" in stubs
    assert "async def letter() -> tuple[LetterOutputItem, datetime.timedelta]:" in stubs
    assert "    sent: datetime.date" in stubs
    assert "    stamps: set[decimal.Decimal]" in stubs
    assert "class ParcelOutput(TypedDict):\n    #: @format date\n    sent: str" in stubs
    assert "import datetime\nimport decimal\n" in stubs
    types = generate_types(tools, "post")
    assert "type MomentsOutput = { [key: string]: string | null }" in types
    assert "datetime" not in types


def test_python_stubs_are_what_a_program_calls() -> None:
    @tool(requires_approval=True)
    def grow(node: Node, kind: Literal["fast", "slow"] = "slow", sizes: tuple[int, str] | None = None) -> Node:
        """Grow a tree.

        Parameters
        ----------
        kind
            How it grows.
        """
        return node

    def nothing() -> None: ...

    assert generate_stubs([function_tool(grow), function_tool(nothing)], "trees").splitlines() == (
        [
            "from typing import Literal, NotRequired, TypedDict",
            "",
            "#: A node.",
            "class Node(TypedDict):",
            "    name: str",
            "    #: @default []",
            "    children: NotRequired[list[Node]]",
            "",
            "class trees:",
            "    @staticmethod",
            "    async def grow(",
            "        *,",
            "        node: Node,",
            '        kind: Literal["fast", "slow"] = ...,',
            "        sizes: tuple[int, str] | None = ...,",
            "    ) -> Node:",
            '        """Grow a tree.',
            "        Needs approval by a person.",
            "        kind: How it grows.",
            '            @default "slow\\""""',
            "",
            "    @staticmethod",
            "    async def nothing() -> None:",
            "        ...",
        ]
    )
