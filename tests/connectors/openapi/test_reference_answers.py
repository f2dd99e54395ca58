"""The reference's answers: the same here, or another one that is listed with its reason.

Each difference is found by running the case; the lists below hold exactly these, so that none goes unnoticed.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from codemode_jupyter import CodemodeError
from codemode_jupyter.connectors.openapi.naming import tool_name
from codemode_jupyter.connectors.openapi.operations import Operation
from tests.connectors.openapi.service import SHARED, Recorder, call, tools_of

pytestmark = pytest.mark.skipif(not SHARED.exists(), reason="the shared vectors are not beside this checkout")

ORIGIN = "http://127.0.0.1:8999"

REFUSED = "what is missing, unknown, of another type or climbs to another path is refused; nothing is sent"

TOOLS = {
    "a parameter called body": "the parameter is `body`, the body `requestBody`: the reference has one value for both",
    "same parameter name in two places": "`id` and `id_query`: the reference has one value for both",
    "3.1 document": "an operation behind a path item's reference is a tool; a parameter with content keeps its schema",
    "path template oddities": "a placeholder that is not described is an argument, so that it can be filled",
    "degenerate: not an object": "refused with the reason, instead of a connector without operations",
    "degenerate: text document": "refused with the reason, instead of a connector without operations",
}

CALLS = {
    ("parameters", 0): "the cookie is sent",
    ("parameters", 1): REFUSED,
    ("parameters", 2): REFUSED,
    ("parameters", 3): REFUSED,
    ("parameters", 4): REFUSED,
    ("parameters", 5): REFUSED,
    ("parameters", 6): REFUSED,
    ("parameters", 7): REFUSED,
    ("parameters", 8): REFUSED,
    ("JSON bodies", 1): REFUSED,
    ("JSON bodies", 2): REFUSED,
    ("JSON bodies", 3): REFUSED,
    ("JSON bodies", 5): REFUSED,
    ("a parameter called body", 0): "the value goes into the path only",
    ("same parameter name in two places", 0): "the value goes into the path only",
    ("methods", 4): REFUSED,
    ("methods", 5): REFUSED,
    ("3.1 document", 0): "the object is JSON, null is left out",
    ("3.1 document", 1): "the operation is there",
    ("query arrays, objects, defaults", 0): "`style` and `explode` are obeyed",
    ("path template oddities", 0): "both places are filled",
    ("path template oddities", 1): "the placeholder is filled",
    ("path template oddities", 3): REFUSED,
    ("path template oddities", 4): REFUSED,
    ("path template oddities", 5): "`{?x}` stands for the query, which is sent as such",
}

NAMES = {
    "größe": "gr_e",  # what cannot stand in a name parts two words here; the reference glues them
    "naïve-call": "na_ve_call",
    "日本語": "get_p",  # nothing is left of it: the method and the path are its name
    "🦊": "get_p",
    "é": "get_p",
    "-": "get_p",
    ".": "get_p",
    "---": "get_p",
    "...": "get_p",
    "$": "get_p",
    "_": "get_p",
    "ns:tool": "ns_tool",
    "ns::tool": "ns_tool",
    "a\\b": "a_b",
    "a'b\"c": "a_b_c",
    "50%off": "_50_off",
    "x+y=z": "x_y_z",
    "d!elete": "d_elete",
    "zero\u200bwidth": "zero_width",
    "get_/pets/{petId}": "get__pets_petId",
    "GET /v1/orders/{id}:cancel": "GET__v1_orders_id_cancel",
    "repos/list-for-org": "repos_list_for_org",
    "async": "async_",  # a keyword of Python
    "then": "then_",  # a connector with a method `then` would pass for a promise
    "__proto__": "proto",  # such names belong to the languages
    "__dunder__": "dunder",
}


def cases(name: str) -> list[dict[str, Any]]:
    if not SHARED.exists():
        return []
    return json.loads((SHARED / "vectors" / name).read_text(encoding="utf-8"))["cases"]


def inlined(schema: Any, definitions: dict[str, Any]) -> Any:
    """Return a schema with its references replaced by what they mean, as the reference prints it."""
    if isinstance(schema, dict) and "$ref" in schema:
        return inlined(definitions[schema["$ref"].rsplit("/", 1)[-1]], definitions)
    if isinstance(schema, dict):
        return {key: inlined(value, definitions) for key, value in schema.items() if key != "$defs"}
    return [inlined(one, definitions) for one in schema] if isinstance(schema, list) else schema


async def derived(case: dict[str, Any]) -> list[dict[str, Any]] | str:
    """Return the tools as the vectors write them."""
    try:
        tools = await tools_of(case["input"], base_url=ORIGIN)
    except CodemodeError as error:
        return error.code
    rows = []
    for name, tool in tools.items():
        if name != "request":
            schema = inlined(tool.input_schema, tool.input_schema.get("$defs", {}))
            schema = {key: value for key, value in schema.items() if key not in ("additionalProperties", "deprecated")}
            line = tool.description.rsplit("\n\n", 1)
            description = (
                line[0].removesuffix("\n\nDeprecated.") if len(line) > 1 and line[0] != "Deprecated." else line[-1]
            )
            rows.append({"name": name, "description": description, "inputSchema": schema})
    return rows


def without_notes(rows: Any) -> Any:
    """Return tools without what only the reference drops or keeps: `$defs` of a schema, deprecations."""
    if isinstance(rows, dict):
        return {key: without_notes(value) for key, value in rows.items() if key not in ("$defs", "deprecated")}
    return [without_notes(one) for one in rows] if isinstance(rows, list) else rows


async def requested(tool: Any, arguments: Any, recorder: Recorder) -> dict[str, Any]:
    """Return the request of a call as the vectors write it."""
    await call(tool, arguments)
    request = recorder.requests.pop()
    address = urlsplit(request.url)
    headers = {name: value for name, value in request.headers.items() if name not in ("accept", "content-type")}
    query = dict(parse_qsl(address.query, keep_blank_values=True))
    made: dict[str, Any] = {"path": address.path, "method": request.method}
    if query:
        made["params"] = query
    if headers:
        made["headers"] = headers
    if request.body:
        made["body"] = json.loads(request.body)
    return made


def in_texts(request: dict[str, Any]) -> dict[str, Any]:
    """Return the reference's request as it is on the wire: query values as texts, header names in lower case."""
    made = {"method": "GET", **request}
    if "params" in made:
        made["params"] = {k: v if isinstance(v, str) else json.dumps(v) for k, v in made["params"].items()}
    if "headers" in made:
        made["headers"] = {name.lower(): value for name, value in made["headers"].items()}
    return made


async def test_tools_are_the_references_but_for_those_listed():
    different = set()
    for case in cases("openapi.json"):
        expected = case["expected"].get("tools")
        if expected is not None and without_notes(await derived(case)) != without_notes(expected):
            different.add(case["name"])
    assert different == set(TOOLS)
    assert len(cases("openapi.json")) >= 17


async def test_requests_are_the_references_but_for_those_listed():
    different = set()
    total = 0
    for case in cases("openapi.json"):
        calls = case["expected"].get("calls") or ()
        if not calls:
            continue
        recorder = Recorder()
        tools = await tools_of(case["input"], base_url=ORIGIN, send=recorder)
        for index, one in enumerate(calls):
            total += 1
            try:
                made: Any = await requested(tools[one["tool"]], one["args"], recorder) if one["tool"] in tools else {}
            except (CodemodeError, AttributeError, TypeError) as error:
                made = repr(error)
            wanted = in_texts(one["request"]) if "request" in one else {}
            if made != wanted:
                different.add((case["name"], index))
    assert different == set(CALLS)
    assert total > 30


def test_names_are_the_references_but_for_those_listed():
    different = {}
    for case in cases("sanitize.json"):
        operation = Operation("GET", "/p", case["input"], "", "", False, (), None, (), (), None)
        if (name := tool_name(operation)) != case["expected"]:
            different[case["input"]] = name
    assert different == NAMES


async def test_what_the_last_cases_say_holds():
    tools = await tools_of({"openapi": "3.0.3", "info": {}, "paths": {"/a": {"get": {"operationId": "a"}}}})
    assert list(tools) == [
        "request",
        "a",
    ]  # no tool `spec`: `codemode.describe` tells types, and a document may be large
