"""Documents come from a mapping, a file or an address, in three versions, and say where the service is."""

from __future__ import annotations

import json

import pytest

from codemode_jupyter import CodemodeError, OpenApiConnector
from codemode_jupyter.connectors.base import load_tools
from codemode_jupyter.connectors.openapi.servers import server_address
from tests.connectors.openapi.service import Recorder, call, document, operation, refusal, tools_of

ORIGIN = "http://127.0.0.1:8999"

YAML = """\
# A comment, so no JSON.
openapi: 3.0.3
info: {title: Harbour, version: 2020-01-01}
servers: [{url: "http://127.0.0.1:8999/v1"}]
paths:
  /berths/{id}:
    parameters:
      - &id {name: id, in: path, required: true, schema: {type: string, enum: [no, on, 012, 2020-01-01]}}
    get:
      operationId: readBerth
      parameters: [*id]
      responses:
        200: {description: Fine, content: {application/json: {schema: {type: object}}}}
"""


async def test_a_yaml_file_is_read_with_the_scalars_of_json(tmp_path):
    file = tmp_path / "harbour.yaml"
    file.write_text(YAML, encoding="utf-8")
    for source in (file, str(file)):
        recorder = Recorder()
        tools = await tools_of(source, send=recorder)
        schema = tools["readBerth"].input_schema["properties"]["id"]
        assert schema["enum"] == ["no", "on", 12, "2020-01-01"]
        assert tools["readBerth"].output_schema == {"type": "object"}
        await call(tools["readBerth"], {"id": "no"})
        assert recorder.requests[0].url == f"{ORIGIN}/v1/berths/no"


async def test_a_document_is_fetched_and_relative_servers_are_relative_to_it(server):
    text = json.dumps(document({"/x": {"get": operation()}}, servers=[{"url": "../v2"}]))
    server.pages["/docs/openapi.json"] = (200, {}, text.encode())
    server.pages["/moved"] = (302, {"location": "/docs/openapi.json"}, b"")
    tools = await tools_of(f"{server.origin}/moved")
    await call(tools["call"])
    assert [asked[1] for asked in server.asked] == ["/moved", "/docs/openapi.json", "/v2/x"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"{", "invalid_document"),
        (b"[" * 100_000, "invalid_document"),
        (b"a: [", "invalid_document"),
        (b"!!python/object/apply:os.system [echo]", "invalid_document"),
        (b"&a [*a]", "invalid_document"),
        (b"", "invalid_document"),
        (b"null", "invalid_document"),
        (b"openapi: 2.0", "invalid_document"),
        (b"swagger: 1.2", "invalid_document"),
        (b"\xff\xfe\x00", "invalid_document"),
    ],
)
async def test_what_is_no_document_is_refused(tmp_path, text, code):
    file = tmp_path / "document"
    file.write_bytes(text)
    with pytest.raises(CodemodeError) as caught:
        await tools_of(file)
    assert caught.value.code == code


async def test_a_document_that_cannot_be_read_is_named(tmp_path, server):
    server.pages["/gone"] = (404, {}, b"")
    for source in (tmp_path / "none.json", tmp_path, f"{server.origin}/gone", "http://[", "http://127.0.0.1:1/x"):
        with pytest.raises(CodemodeError) as caught:
            await tools_of(source)
        assert caught.value.code == "document_not_found"
        assert str(source) in caught.value.message
    for source in (None, 5, {}, {"openapi": "4.0.0"}, {"paths": {}}):
        with pytest.raises(CodemodeError) as caught:
            OpenApiConnector("api", source)
        assert caught.value.code == "invalid_document"


async def test_servers_with_variables_and_at_three_levels():
    description = document(
        {
            "/root": {"get": operation(id="root")},
            "/path": {"servers": [{"url": "https://path.example"}], "get": operation(id="path")},
            "/own": {
                "servers": [{"url": "https://path.example"}],
                "get": operation(id="own", servers=[{"url": "https://own.example/{v}/"}]),
            },
        },
        servers=[
            {
                "url": "https://{region}.example:{port}/{stage}/",
                "variables": {"region": {"default": "eu"}, "port": {"default": 8443}, "stage": {"default": "v1"}},
            }
        ],
    )
    recorder = Recorder()
    tools = await tools_of(description, server_variables={"stage": "v2"}, send=recorder)
    for name in ("root", "path", "own", "request"):
        await call(tools[name], {"path": "/any"} if name == "request" else {})
    assert [request.url for request in recorder.requests] == [
        "https://eu.example:8443/v2/root",
        "https://path.example/path",
        "https://own.example/own",
        "https://eu.example:8443/v2/any",
    ]
    based = await tools_of(description, base_url="https://mine.example/base/", send=recorder)
    for name in ("root", "own"):
        await call(based[name])
    assert [request.url for request in recorder.requests[4:]] == [
        "https://mine.example/base/root",
        "https://mine.example/base/own",
    ]


@pytest.mark.parametrize(
    "url", ["/", "relative", "ftp://a.example", "file:///etc", "https://u:p@a.example", "https://a.example?x=1", "//"]
)
async def test_a_server_that_requests_cannot_go_to_costs_a_call_and_says_what_to_do(url):
    tools = await tools_of(document({"/x": {"get": operation()}}, servers=[{"url": url}]))
    error = await refusal(tools["call"])
    assert (error.code, "base_url" in error.hint) == ("no_server", True)
    with pytest.raises(CodemodeError) as caught:
        OpenApiConnector("api", document({}), base_url=url)
    assert caught.value.code == "invalid_option"


SWAGGER = {
    "swagger": "2.0",
    "info": {"title": "Harbour", "version": "1"},
    "host": "127.0.0.1:8999",
    "basePath": "/v1",
    "schemes": ["http", "wss"],
    "consumes": ["application/json"],
    "produces": ["application/json"],
    "securityDefinitions": {
        "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
        "login": {"type": "basic"},
        "app": {"type": "oauth2", "flow": "application", "tokenUrl": "http://127.0.0.1:8999/token", "scopes": {}},
    },
    "security": [{"key": []}],
    "parameters": {"Id": {"name": "id", "in": "path", "required": True, "type": "integer", "minimum": 1}},
    "definitions": {"Berth": {"type": "object", "required": ["pier"], "properties": {"pier": {"type": "string"}}}},
    "paths": {
        "/berths/{id}": {
            "parameters": [{"$ref": "#/parameters/Id"}],
            "get": {
                "operationId": "read",
                "parameters": [
                    {
                        "name": name,
                        "in": "query",
                        "type": "array",
                        "items": {"type": "string"},
                        "collectionFormat": kind,
                    }
                    for name, kind in (("c", "csv"), ("s", "ssv"), ("t", "tsv"), ("p", "pipes"), ("m", "multi"))
                ],
                "responses": {"200": {"description": "", "schema": {"$ref": "#/definitions/Berth"}}},
            },
            "put": {
                "operationId": "write",
                "parameters": [
                    {"name": "berth", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Berth"}}
                ],
                "responses": {"204": {"description": ""}},
            },
            "post": {
                "operationId": "upload",
                "consumes": ["multipart/form-data"],
                "parameters": [
                    {"name": "plan", "in": "formData", "type": "file", "required": True},
                    {"name": "note", "in": "formData", "type": "string"},
                ],
                "responses": {"200": {"description": "", "schema": {"type": "file"}}},
            },
            "patch": {
                "operationId": "fill",
                "parameters": [
                    {"name": "a", "in": "formData", "type": "string"},
                    {
                        "name": "b",
                        "in": "formData",
                        "type": "array",
                        "items": {"type": "integer"},
                        "collectionFormat": "csv",
                    },
                ],
                "responses": {},
            },
        }
    },
}


async def test_swagger_2_says_the_same_in_other_places():
    recorder = Recorder()
    tools = await tools_of(SWAGGER, send=recorder, auth={"key": "k3y-secret", "login": ("a", "b")})
    assert list(tools) == ["request", "read", "write", "upload", "fill"]
    given = {name: ["x", "y,z"] for name in ("c", "s", "t", "p", "m")}
    await call(tools["read"], {"id": 1, **given})
    await call(tools["write"], {"id": 1, "body": {"pier": "a"}})
    await call(tools["upload"], {"id": 1, "body": {"plan": b"\x00\x01", "note": "n"}})
    await call(tools["fill"], {"id": 1, "body": {"a": "x", "b": [1, 2]}})
    read, write, upload, fill = recorder.requests
    assert read.url == f"{ORIGIN}/v1/berths/1?c=x,y%2Cz&s=x%20y%2Cz&t=x%09y%2Cz&p=x%7Cy%2Cz&m=x&m=y%2Cz"
    assert read.headers["x-key"] == "k3y-secret"
    assert (write.method, write.body) == ("PUT", b'{"pier":"a"}')
    assert upload.headers["content-type"].startswith("multipart/form-data; boundary=")
    assert b'filename="plan"' in upload.body
    assert b"\x00\x01" in upload.body
    assert (fill.headers["content-type"], fill.body) == ("application/x-www-form-urlencoded", b"a=x&b=1,2")
    assert tools["read"].output_schema["$ref"] == "#/$defs/Berth"
    faults = (await refusal(tools["write"], {"id": 0, "body": {}})).data["faults"]
    assert {fault["path"] for fault in faults} == {"id", "body.pier"}


async def test_what_openapi_3_0_says_in_its_own_words_becomes_json_schema():
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "nullable": True, "enum": ["x"]},
            "b": {"type": "integer", "minimum": 1, "exclusiveMinimum": True, "maximum": 5, "exclusiveMaximum": False},
            "c": {"nullable": True, "allOf": [{"$ref": "#/components/schemas/C"}], "description": "C or none"},
            "d": {"$ref": "#/components/schemas/C", "description": "beside"},
            "e": {"type": "string", "example": "x", "xml": {}, "x-own": 1, "externalDocs": {}, "discriminator": {}},
        },
    }
    body = {"content": {"application/json": {"schema": schema}}}
    description = document(
        {"/x": {"post": operation(requestBody=body)}}, components={"schemas": {"C": {"type": "integer"}}}
    )
    tools = await tools_of(description, base_url=ORIGIN, send=Recorder())
    assert tools["call"].input_schema["properties"]["body"]["properties"] == {
        "a": {"type": ["string", "null"], "enum": ["x", None]},
        "b": {"type": "integer", "exclusiveMinimum": 1, "maximum": 5},
        "c": {"anyOf": [{"allOf": [{"$ref": "#/$defs/C"}]}, {"type": "null"}], "description": "C or none"},
        "d": {"$ref": "#/$defs/C", "description": "beside"},
        "e": {"type": "string"},
    }
    await call(tools["call"], {"body": {"a": None, "b": 2, "c": None, "d": 1}})
    faults = (await refusal(tools["call"], {"body": {"a": "y", "b": 1, "c": "x", "d": None}})).data["faults"]
    assert {fault["path"] for fault in faults} == {"body.a", "body.b", "body.c", "body.d"}


async def test_references_to_other_documents_are_followed_only_when_asked_and_only_nearby(tmp_path, server, other):
    folder = tmp_path / "docs"
    folder.mkdir()
    (tmp_path / "outside.json").write_text('{"Secret": {"type": "boolean"}}')
    (folder / "parts.json").write_text('{"Id": {"type": "integer"}, "Deep": {"$ref": "sub/more.yaml#/Deep"}}')
    (folder / "sub").mkdir()
    (folder / "sub" / "more.yaml").write_text('Deep: {type: array, items: {$ref: "../parts.json#/Id"}}')
    references = (
        "parts.json#/Id",
        "parts.json#/Deep",
        "../outside.json#/Secret",
        "/etc/passwd",
        f"{other.origin}/x#/a",
    )
    listed = [{"name": f"p{index}", "in": "query", "schema": {"$ref": one}} for index, one in enumerate(references)]
    description = document({"/x": {"get": operation(*listed)}})
    (folder / "openapi.json").write_text(json.dumps(description))
    closed = await tools_of(folder / "openapi.json")
    assert set(map(str, closed["call"].input_schema["properties"].values())) == {"{}"}
    opened = await tools_of(folder / "openapi.json", follow_references=True)
    schema = opened["call"].input_schema
    assert schema["properties"] == {
        "p0": {"$ref": "#/$defs/Id"},
        "p1": {"$ref": "#/$defs/Deep"},
        "p2": {},
        "p3": {},
        "p4": {},
    }
    assert schema["$defs"]["Id"] == {"type": "integer"}
    server.pages["/openapi.json"] = (200, {}, json.dumps(description).encode())
    server.pages["/parts.json"] = (200, {}, b'{"Id": {"type": "integer"}}')
    await tools_of(f"{server.origin}/openapi.json")
    assert [asked[1] for asked in server.asked] == ["/openapi.json"]
    opened = await tools_of(f"{server.origin}/openapi.json", follow_references=True)
    assert opened["call"].input_schema["properties"]["p0"] == {"$ref": "#/$defs/Id"}
    assert opened["call"].input_schema["properties"]["p4"] == {}
    assert other.asked == []


async def test_the_title_and_what_is_left_out_are_told(caplog):
    description = document(
        {"/x": {"get": operation(), "trace": operation(id="echo")}, "/gone": {"$ref": "#/nowhere"}, "x-own": {}}
    )
    connector = OpenApiConnector("api", description)
    tools = await load_tools(connector)
    assert list(tools) == ["request", "call"]
    assert connector.instructions().startswith("Harbour\n\nNot available: TRACE /x")
    assert connector.instructions().endswith("Not available: /gone (a reference that leads nowhere).")
    assert "TRACE /x" in caplog.text
    assert "/gone" in caplog.text
    told = OpenApiConnector("api", document({}), instructions="Ask first.")
    await load_tools(told)
    assert told.instructions() == "Ask first."


async def test_a_hook_decorates_derived_tools():
    from dataclasses import replace

    class Careful(OpenApiConnector):
        def tool(self, name, tool):
            return replace(tool, requires_approval=True) if name == "call" else None

    tools = await load_tools(Careful("api", document({"/x": {"get": operation()}})))
    assert [(name, tool.requires_approval) for name, tool in tools.items()] == [("call", True)]


@pytest.mark.parametrize(
    "host", ["localhost", "a.localhost", "127.0.0.1", "10.1.2.3", "169.254.169.254", "[::1]", "2130706433"]
)
def test_a_document_from_elsewhere_cannot_point_at_this_machine_or_its_network(host):
    with pytest.raises(CodemodeError) as caught:
        server_address({"url": f"http://{host}/"}, {}, "https://docs.example/openapi.json")
    assert caught.value.code == "no_server"
    assert server_address({"url": "http://127.0.0.1:8/a/"}, {}, "http://localhost:9/x").path == "/a"
    assert str(server_address({"url": "/v1"}, {}, "https://docs.example/openapi.json")) == "https://docs.example/v1"


async def test_a_free_choice_of_the_response_type_cannot_begin_another_header():
    content = {"image/*": {}, "application/json": {}}
    tools = await tools_of(
        document({"/x": {"get": operation(responses={"200": {"content": content}})}}), base_url=ORIGIN
    )
    assert (await refusal(tools["call"], {"accept": "image/png\r\nX-Evil: 1"})).code == "invalid_arguments"
