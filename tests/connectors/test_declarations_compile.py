"""Every tool of every real document, and of hostile ones, has declarations that TypeScript and mypy take."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from codemode_jupyter.connectors.base import load_tools
from codemode_jupyter.connectors.catalogue import Catalogue, CatalogueEntry
from codemode_jupyter.connectors.declarations.python import generate_stubs
from codemode_jupyter.connectors.declarations.typescript import generate_types
from codemode_jupyter.connectors.openapi.connector import OpenApiConnector
from codemode_jupyter.connectors.tool import Tool

ROOT = Path(__file__).parents[2]
REAL = ROOT.parent / "shared" / "real"
TSC = ROOT / "node_modules" / "typescript" / "bin" / "tsc"
DOCUMENTS = {"github": "github-openapi.json", "figma": "figma-openapi.json", "jupyter": "jupyter-server-swagger2.json"}
SERVERS = {"everything": "mcp-everything.json", "filesystem": "mcp-filesystem.json"}

HOSTILE_TEXTS = (
    '*/ } alert(1) /* \u2028 \u2029 \u202e \x00 "',
    'ends with """',
    '"""',
    "ends with \\",
    '\\"""\\',
    "type: ignore\nmypy: ignore-errors\n-*- coding: latin-1 -*-",
    "<!-- --> ${x} `y` {z} %s \r\n\x0b\x85 next",
)
HOSTILE_NAMES = (
    *("__proto__", "constructor", "class", "def", "None", "str", "list", "dict", "Any", "Literal", "NotRequired"),
    *("await", "self", "__init__", "with space", "1st", "", 'quo"te', "back\\slash", "new\nline", "größe", "$ok", "*/"),
    *("\u2028", "\ud800", "emoji🦊", "x-y", "HostileInput", "hostile", "in", "not", "type", "print", "tuple"),
)


def chain(depth: int, key: str) -> dict[str, Any]:
    """Return definitions of which each has the next one twice: written out, 2 to the power of ``depth`` parts."""
    parts = {f"D{i}": {key: [{"$ref": f"#/$defs/D{i + 1}"}] * 2} for i in range(depth)}
    return {"$ref": "#/$defs/D0", "$defs": {**parts, f"D{depth}": {"type": "object", "properties": {"a": {}}}}}


def deep(depth: int, key: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {key: {"x": schema}} if key == "properties" else {key: [schema]}
    return schema


HOSTILE = {
    "names": {
        "type": "object",
        "properties": {
            name: {"type": "object", "properties": {key: {"type": ["string", "integer"]} for key in HOSTILE_NAMES}}
            for name in HOSTILE_NAMES
        },
    },
    "texts": {
        "type": "object",
        "properties": {
            f"p{i}": {"enum": [text, i], "description": text, "default": text, "pattern": text, "format": text}
            for i, text in enumerate(HOSTILE_TEXTS)
        },
        "additionalProperties": {"const": {"*/": ['"""', None, 1.5, True]}},
    },
    "definitions": {
        "properties": {name: {"$ref": f"#/$defs/{name}"} for name in ("Any", "str", "*~1", "self", "wheel", "circle")},
        "$defs": {
            "Any": {"type": "object", "properties": {"again": {"$ref": "#/$defs/Any"}, "str": {"$ref": "#/$defs/str"}}},
            "str": {"type": "array", "items": {"$ref": "#/$defs/str"}},
            "*/": {"type": "object", "properties": {"root": {"$ref": "#"}}},
            "self": {"$ref": "#/$defs/self"},
            "circle": {"allOf": [{"$ref": "#/$defs/wheel"}]},
            "wheel": {"anyOf": [{"$ref": "#/$defs/circle"}, {"type": "null"}]},
        },
    },
    "broken": {
        "type": "object",
        "properties": {
            "a": {"type": 5, "properties": [], "required": "x", "enum": "x", "anyOf": {}, "items": 7},
            "b": None,
            "c": {"$ref": "#/$defs/nowhere"},
            "d": {"$ref": 7},
            "e": {"type": ["string", {}, 3]},
            "f": {"prefixItems": [None, True], "minItems": -3, "type": "array"},
            "g": {"type": "array", "items": [{"type": "string"}, {"type": "null"}], "minItems": 1},
            "h": {"enum": []},
        },
        "required": ["a", 7, None],
    },
    "decimal": {
        "type": "object",
        "properties": {
            f"p{i}": {"type": kind, "x-python": said}
            for i, (kind, said) in enumerate(
                itertools.product(
                    ("string", "array", "object", "null", 7),
                    ("decimal.Decimal", "datetime.date", "set", "dict[int]", "os.system", "*/", [], None),
                )
            )
        },
    },
    "anyOf": chain(200, "anyOf"),
    "allOf": chain(200, "allOf"),
    "oneOf": chain(60, "oneOf"),
    "depth": deep(3000, "properties"),
    "depth_of_any": deep(3000, "anyOf"),
    "width": {"type": "object", "properties": {f"property_{i}": {"type": "string"} for i in range(20_000)}},
    "choices": {"enum": [f"choice {i}" for i in range(50_000)]},
    "length": {"type": "object", "properties": {"text": {"type": "string", "description": "long " * 2_000_000}}},
    "references": {
        "$ref": "#/$defs/N0",
        "$defs": {
            f"N{i}": {"type": "object", "properties": {"next": {"$ref": f"#/$defs/N{(i * 7 + 1) % 5000}"}}}
            for i in range(5000)
        },
    },
}


def tool(name: str, given: Any, result: Any = None, description: str = "") -> Tool:
    return Tool(name, print, description, given, result)  # type: ignore[arg-type]


def hostile_tools() -> list[Tool]:
    named = [name for name in HOSTILE_NAMES if name.isidentifier() and not name.startswith("__")]
    return [
        *(tool(name, schema, schema) for name, schema in HOSTILE.items()),
        *(tool(f"text_{i}", HOSTILE["texts"], None, text) for i, text in enumerate(HOSTILE_TEXTS)),
        *(tool(name, HOSTILE["names"]) for name in named if name not in ("class", "def", "None", "await", "in", "not")),
        tool("constructor2", True, False),
    ]


async def connectors() -> dict[str, list[Tool]]:
    """Return the tools of all real documents, and the hostile ones."""
    found = {"hostile": hostile_tools()}
    if REAL.exists():
        for name, file in DOCUMENTS.items():
            found[name] = list((await load_tools(OpenApiConnector(name, REAL / file))).values())
        for name, file in SERVERS.items():
            listed = json.loads((REAL / file).read_text(encoding="utf-8"))
            listed = listed if isinstance(listed, list) else listed["tools"]
            found[name] = [
                tool(one["name"].replace("-", "_"), one["inputSchema"], one.get("outputSchema"), one.get("description"))
                for one in listed
            ]
    return found


def said_by(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=folder)
    return "" if done.returncode == 0 else f"{done.stdout[-3000:]}{done.stderr[-3000:]}" or "failed"


async def test_every_tool_of_every_real_document_and_of_hostile_ones_compiles(tmp_path: Path) -> None:
    if shutil.which("node") is None or not TSC.exists():
        pytest.skip("the TypeScript compiler is not installed (make test installs it)")
    given = await connectors()
    if REAL.exists():
        assert {name: len(tools) > 10 for name, tools in given.items()} == dict.fromkeys(given, True)
        assert len(given["github"]) > 1200
    declared = [tmp_path / f"{name}.d.ts" for name in given]
    stubs = [tmp_path / f"{name}.pyi" for name in given]
    for (name, tools), declaration, stub in zip(given.items(), declared, stubs, strict=True):
        declaration.write_text(f"export {{}};\n{generate_types(tools, name)}\n", encoding="utf-8")
        stub.write_text(generate_stubs(tools, name), encoding="utf-8")
    told = Catalogue([CatalogueEntry("told", "\n".join(HOSTILE_TEXTS), {"one": tool("one", HOSTILE["texts"])})])
    declared.append(tmp_path / "told.d.ts")
    declared[-1].write_text(f"export {{}};\n{told.describe('told').types}\n", encoding="utf-8")
    stubs.append(tmp_path / "told.pyi")
    stubs[-1].write_text(told.describe("told", language="python").types, encoding="utf-8")
    options = ["--noEmit", "--strict", "--target", "es2023"]
    assert said_by(["node", str(TSC), *options, *map(str, declared)], tmp_path) == ""
    assert said_by([sys.executable, "-m", "mypy", "--strict", "--config-file=", *map(str, stubs)], tmp_path) == ""


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("language", ["javascript", "python"])
def test_a_hostile_schema_costs_bounded_time_and_space(name: str, language: Any) -> None:
    catalogue = Catalogue([CatalogueEntry("x", "", {name: tool(name, HOSTILE[name], HOSTILE[name])})])
    begun = time.process_time()
    types = catalogue.describe(f"x.{name}", language=language).types
    assert time.process_time() - begun < 5
    assert len(types) < 1_000_000


def test_ten_megabytes_of_schema_are_described_in_seconds() -> None:
    part = {"type": "object", "properties": {f"p{i}": {"type": "string", "description": "x" * 80} for i in range(50)}}
    schema = {"type": "object", "properties": {f"q{i}": {"allOf": [part, part]} for i in range(2000)}}
    assert len(json.dumps(schema)) > 10_000_000
    begun = time.process_time()
    for made in (generate_types([tool("big", schema)]), generate_stubs([tool("big", schema)])):
        assert len(made) < 2_000_000
    assert time.process_time() - begun < 10
