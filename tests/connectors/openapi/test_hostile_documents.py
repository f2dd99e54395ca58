"""A fault in a document costs one tool's type, never another tool, and never the kernel."""

from __future__ import annotations

import asyncio
import copy
import json
import shutil
import subprocess
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from codemode_jupyter import CodemodeError, Runtime
from codemode_jupyter.connectors.base import load_tools
from codemode_jupyter.connectors.declarations.typescript import generate_types
from codemode_jupyter.connectors.openapi.connector import OpenApiConnector
from tests.connectors.openapi.service import Recorder, call, document, operation, refusal, tools_of
from tests.connectors.openapi.test_documents import SWAGGER

ORIGIN = "http://127.0.0.1:8999"
ROOT = Path(__file__).parents[3]
TSC = ROOT / "node_modules" / "typescript" / "bin" / "tsc"

FINE = {"/fine": {"get": operation({"name": "q", "in": "query", "schema": {"type": "integer"}}, id="fine")}}
CLOSING = "*/ } alert(1) /* \u2028 \u202e \x00 ``` \"\"\" '''"


def nested(depth: int, key: str = "items") -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {key: schema}
    return schema


def doubling(levels: int) -> dict[str, Any]:
    """Return one object that means 2**levels parts, as aliases of YAML can."""
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"allOf": [schema, schema]}
    return schema


def circle() -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    schema["properties"]["self"] = schema
    return schema


def body(schema: Any) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


BAD = {
    "broken reference": body({"$ref": "#/components/schemas/Nowhere"}),
    "reference to a file": body({"$ref": "file:///etc/passwd#/a"}),
    "reference to an address": body({"$ref": "http://127.0.0.1:1/x.json#/a"}),
    "reference to itself": body({"$ref": "#/components/schemas/Itself"}),
    "reference to a text": body({"$ref": "#/info/title"}),
    "reference with a bad fragment": body({"$ref": "#/%ZZ/~9"}),
    "reference with a bad address": body({"$ref": "http://[bad#/a"}),
    "reference that is no text": body({"$ref": 5}),
    "a body of references": {"$ref": "#/components/requestBodies/A"},
    "nested deeply": body(nested(5000)),
    "nested properties": body({"type": "object", "properties": nested(3000, "properties")}),
    "doubling": body(doubling(40)),
    "a circle of objects": body(circle()),
    "no schema": body("text"),
    "types that are none": body(
        {"type": "date", "properties": [], "required": "x", "enum": {}, "items": 7, "allOf": {}}
    ),
    "types in a list": body({"type": [5, None, {}], "required": [1, {}], "anyOf": [None, 5, "x", True, {}]}),
    "limits that are none": body({"type": "integer", "minimum": "x", "maximum": {}, "multipleOf": 0}),
    "evil pattern": body({"type": "string", "pattern": "(a+)+$"}),
    "broken pattern": body({"type": "string", "pattern": "([a-z"}),
    "evil names": body(
        {"type": "object", "patternProperties": {"(a+)+$": {"type": "integer"}}, "additionalProperties": False}
    ),
    "content that is none": {"content": {"application/json": None, 5: {}, "": {"schema": {}}}},
    "dynamic": body({"$id": "http://x.test/", "$dynamicRef": "#meta", "$anchor": "a", "$defs": {"a": {"$ref": "#/a"}}}),
}


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_schema_costs_its_own_type_and_the_operation_can_be_called(name):
    recorder = Recorder()
    description = document(
        {"/bad": {"post": operation(id="bad", requestBody=BAD[name], responses={"200": BAD[name]})}, **FINE},
        "3.1.0",
        components={
            "schemas": {
                "Itself": {"$ref": "#/components/schemas/Other"},
                "Other": {"$ref": "#/components/schemas/Itself"},
            },
            "requestBodies": {"A": {"$ref": "#/components/requestBodies/A"}},
        },
    )
    before = time.process_time()
    tools = await tools_of(description, base_url=ORIGIN, send=recorder)
    assert list(tools) == ["request", "bad", "fine"]
    assert (await refusal(tools["fine"], {"q": "x"})).data["faults"][0]["path"] == "q"
    await call(tools["fine"], {"q": 1})
    codes: set[str] = set()
    takes_body = "body" in tools["bad"].input_schema["properties"]
    if takes_body:
        try:
            await call(tools["bad"], {"body": "a" * 40 + "!"})
        except CodemodeError as error:  # a refusal in words is fine, anything else is not
            codes.add(error.code)
    assert codes <= {"invalid_arguments"}
    await call(tools["bad"])
    assert recorder.requests[-1].method == "POST"
    assert "bad: " in generate_types(tools, "api")
    assert time.process_time() - before < 10


async def test_nothing_that_is_malformed_costs_an_operation_that_is_not():
    description = document(
        {
            "/a": None,
            "/b": {"get": None, "post": "x", "put": []},
            "/c": {"$ref": "#/nowhere"},
            "/d": {"$ref": "#/paths/~1d"},
            5: {"get": operation(id="number")},
            "no-slash": {"get": operation(id="no_slash")},
            "/e": {
                "parameters": {"a": 1},
                "get": {
                    "operationId": 5,
                    "parameters": [
                        None,
                        {},
                        {"name": "", "in": "query"},
                        {"name": 5, "in": "query"},
                        {"name": "x", "in": "body"},
                        {"name": "ok", "in": "query"},
                    ],
                    "requestBody": 5,
                    "responses": [],
                    "servers": "x",
                    "security": 7,
                    "tags": 1,
                    "summary": {},
                    "description": [],
                },
            },
            "/f": {"get": {"responses": {200: {"content": []}, "2XX": None, "nonsense": {"content": {"a": 5}}}}},
            **FINE,
        },
        servers=[None, {"url": 5}],
        security={"a": 1},
        components=[],
        info=None,
    )
    tools = await tools_of(description, base_url=ORIGIN, send=Recorder())
    assert list(tools) == ["request", "number", "no_slash", "get_e", "get_f", "fine"]
    assert tools["get_e"].parameters == ("ok",)
    await call(tools["get_e"], {"ok": 1})


async def test_five_thousand_operations_with_one_name_all_get_their_own():
    paths = {f"/x/{index}": {"get": operation(id="same"), "post": operation(id="same")} for index in range(2500)}
    before = time.process_time()
    tools = await tools_of(document(paths), base_url=ORIGIN)
    assert time.process_time() - before < 5
    assert len(tools) == 5001
    assert list(tools)[1:4] == ["same", "same_post_x_0", "same_get_x_1"]
    clashing = {f"/{'-' * index}x": {"get": operation(id="same")} for index in range(1000)}
    tools = await tools_of(document(clashing), base_url=ORIGIN)
    assert len(tools) == 1001
    assert len({tool.description for tool in tools.values()}) == 1001


async def test_every_name_is_one_that_programs_can_write():
    ids = [
        "__proto__",
        "constructor",
        "then",
        "delete",
        "toString",
        "request",
        "größe",
        "日本語",
        "a/b",
        "a b",
        "1st",
        "",
        "$",
        "*/",
        "\u2028",
    ]
    paths = {f"/p{index}": {"get": operation(id=one)} for index, one in enumerate(ids)}
    tools = await tools_of(document(paths), base_url=ORIGIN)
    assert list(tools) == [
        *("request", "proto", "constructor", "then_", "delete_", "toString", "request_get_p5", "gr_e", "get_p7"),
        *("a_b", "a_b_get_p9", "_1st", "get_p11", "get_p12", "get_p13", "get_p14"),
    ]


async def test_ten_megabytes_are_read_in_time(tmp_path):
    schemas = {
        f"S{index}": {
            "type": "object",
            "description": "x" * 800,
            "properties": {
                f"p{number}": {"$ref": f"#/components/schemas/S{(index * 7 + number) % 9000}"} for number in range(9)
            },
        }
        for index in range(9000)
    }
    paths = {
        f"/x{index}": {"post": operation(id=f"op{index}", requestBody=body({"$ref": f"#/components/schemas/S{index}"}))}
        for index in range(20)
    }
    file = tmp_path / "large.json"
    file.write_text(json.dumps(document(paths, components={"schemas": schemas})))
    assert file.stat().st_size > 10_000_000
    before = time.process_time()
    tools = await load_tools(OpenApiConnector("api", file, base_url=ORIGIN, send=Recorder()))
    await call(tools["op0"], {"body": {"p0": {"p1": {}}}})
    assert (await refusal(tools["op0"], {"body": {"p0": {"p1": 5}}})).data["faults"][0]["path"] == "body.p0.p1"
    assert time.process_time() - before < 20


def hostile() -> dict[str, Any]:
    """Return a document in which every text tries to end where it stands."""
    schema = {
        "type": "object",
        "description": CLOSING,
        "required": ["__proto__", CLOSING],
        "properties": {
            "__proto__": {"type": "object", "description": CLOSING, "properties": {"constructor": {"type": "integer"}}},
            CLOSING: {"enum": [CLOSING, "`${1}`", "\ud800"], "default": CLOSING},
            "constructor": {"const": CLOSING},
        },
    }
    listed = [
        {"name": name, "in": "query", "description": CLOSING, "schema": {"$ref": f"#/components/schemas/{key}"}}
        for name, key in (("__proto__", "__proto__"), ("constructor", "constructor"), (CLOSING, "A~1b"))
    ]
    made = operation(*listed, id="hostile", summary=CLOSING, description=CLOSING, requestBody=body(schema))
    made["responses"] = {"200": {"description": CLOSING, **body({"$ref": "#/components/schemas/__proto__"})}}
    components = {
        "schemas": {"__proto__": schema, "constructor": {"type": "string", "description": CLOSING}, "A/b": schema}
    }
    return document({"/x": {"post": made}, **FINE}, components=components)


async def test_hostile_texts_become_types_that_compile(tmp_path):
    if shutil.which("node") is None or not TSC.exists():
        pytest.skip("the TypeScript compiler is not installed (make test installs it)")
    tools = await tools_of(hostile(), base_url=ORIGIN)
    text = generate_types(tools, "api")
    file = tmp_path / "types.d.ts"
    file.write_text(f"export {{}};\n{text}\n", encoding="utf-8")
    command = ["node", str(TSC), "--noEmit", "--strict", "--target", "es2023", str(file)]
    done = await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, check=False, timeout=300, cwd=tmp_path
    )
    assert done.stdout == ""


async def test_a_program_calls_a_hostile_document_as_any_other(tmp_path):
    recorder = Recorder()
    connector = OpenApiConnector("api", hostile(), base_url=ORIGIN, send=recorder, approve="never")
    runtime = Runtime([connector], path=tmp_path / "log.sqlite3")
    outcome = await runtime.execute(
        "async () => { const found = await codemode.describe('api.hostile');"
        ' const body = JSON.parse(\'{"__proto__": {"constructor": 1}}\');'
        " await api.hostile({ ['constructor']: 'a', body }).catch(String);"
        " return [typeof found.types, await api.fine({ q: 1 })] }"
    )
    await runtime.close()
    assert (outcome.status, outcome.result) == ("completed", ["string", None])
    assert recorder.requests[-1].url == f"{ORIGIN}/fine?q=1"


JUNK = [None, 5, 1.5, True, "", "x", "#/a", [], {}, [None], {"$ref": 5}, {"$ref": "#/paths"}, ["x", {}], "\ud800", b"x"]


def places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [one for key, item in items for one in [(*place, key), *places(item, (*place, key))]]


@pytest.mark.parametrize("seed", range(4))
async def test_junk_anywhere_in_a_document_is_never_an_accident(seed):
    random = Random(seed)  # noqa: S311  junk, no secret
    codes = set()
    for _ in range(60):
        description = copy.deepcopy(random.choice([SWAGGER, hostile()]))
        *way, last = random.choice([one for one in places(description) if one[0] not in ("openapi", "swagger")])
        holder: Any = description
        for key in way:
            holder = holder[key]
        holder[last] = copy.deepcopy(random.choice(JUNK))
        tools = await tools_of(description, base_url=ORIGIN, send=Recorder())
        assert "request: " in generate_types(tools, "api")
        for tool in tools.values():
            given = {name: copy.deepcopy(random.choice(JUNK)) for name in tool.input_schema["properties"]}
            try:
                await call(tool, given)
            except CodemodeError as error:
                codes.add(error.code)
    assert codes == {"invalid_arguments"}
