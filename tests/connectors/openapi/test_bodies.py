"""Bodies of requests in each media type, and what responses become."""

from __future__ import annotations

import io
import json

import pytest
from werkzeug.formparser import FormDataParser
from werkzeug.http import parse_options_header

from codemode_jupyter.connectors.declarations.typescript import generate_types
from codemode_jupyter.connectors.http.outbound_messages import OutboundResponse
from tests.connectors.openapi.service import Recorder, Validator, call, document, operation, received, refusal, tools_of

ORIGIN = "http://127.0.0.1:8999"


def body(content: dict, **more) -> dict:
    return document({"/x": {"post": operation(requestBody={"content": content, "required": True})}}, **more)


async def sent(description: dict, arguments: dict):
    recorder = Recorder()
    tools = await tools_of(description, base_url=ORIGIN, send=recorder)
    await call(tools["call"], arguments)
    return recorder.requests[0]


def parts(request) -> list[tuple[str, str | None, bytes, str | None]]:
    """Return name, file name, content and type of each part, as another library reads them."""
    kind, options = parse_options_header(request.headers["content-type"])
    _, fields, files = FormDataParser().parse(io.BytesIO(request.body), kind, len(request.body), options)
    found = [(name, None, value.encode(), None) for name, value in fields.items(multi=True)]
    return found + [(name, file.filename, file.read(), file.content_type) for name, file in files.items(multi=True)]


PETS = {
    "Pet": {
        "type": "object",
        "required": ["name", "id"],
        "properties": {
            "name": {"type": "string"},
            "id": {"type": "integer", "readOnly": True},
            "parent": {"$ref": "#/components/schemas/Pet"},
        },
    }
}


async def test_a_json_body_is_checked_with_its_recursion_and_sent():
    description = body(
        {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}, components={"schemas": PETS}
    )
    request = await sent(description, {"body": {"name": "ä", "parent": {"name": "b"}}})
    assert (request.headers["content-type"], request.body) == (
        "application/json",
        '{"name":"ä","parent":{"name":"b"}}'.encode(),
    )
    assert Validator(description, ORIGIN).faults(received(request)) == ""
    tools = await tools_of(description, base_url=ORIGIN)
    error = await refusal(tools["call"], {"body": {"parent": {"name": 5}}})
    assert {fault["path"] for fault in error.data["faults"]} == {"body.name", "body.parent.name"}
    assert (await refusal(tools["call"])).data["faults"] == [{"path": "body", "message": "is missing"}]


async def test_a_form_is_encoded_field_by_field():
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "many": {"type": "array", "items": {"type": "integer"}},
            "few": {"type": "array", "items": {"type": "integer"}},
            "object": {"type": "object"},
            "deep": {"type": "object"},
        },
    }
    encoding = {"few": {"explode": False}, "deep": {"style": "deepObject"}}
    request = await sent(
        body({"application/x-www-form-urlencoded": {"schema": schema, "encoding": encoding}}),
        {"body": {"a": "x y&z", "many": [1, 2], "few": [1, 2], "object": {"b": 1}, "deep": {"c": 2}}},
    )
    assert request.headers["content-type"] == "application/x-www-form-urlencoded"
    assert request.body == b"a=x%20y%26z&many=1&many=2&few=1,2&object=%7B%22b%22%3A1%7D&deep%5Bc%5D=2"


async def test_multipart_takes_files_as_bytes_with_or_without_a_name():
    schema = {
        "type": "object",
        "required": ["file"],
        "properties": {
            "file": {"type": "string", "format": "binary"},
            "more": {"type": "array", "items": {"type": "string", "format": "binary"}},
            "note": {"type": "string"},
            "meta": {"type": "object"},
        },
    }
    description = body({"multipart/form-data": {"schema": schema, "encoding": {"file": {"contentType": "image/png"}}}})
    request = await sent(
        description,
        {
            "body": {
                "file": b"\x89PNG\r\n--\x00",
                "more": [b"1", {"content": b"2", "filename": 'b"\r\n.csv', "contentType": "text/csv"}],
                "note": "ä",
                "meta": {"k": 1},
            }
        },
    )
    note, meta, file, first, second = parts(request)
    assert note == ("note", None, "ä".encode(), None)
    assert meta == ("meta", None, b'{"k":1}', None)
    assert file == ("file", "file", b"\x89PNG\r\n--\x00", "image/png")
    assert first == ("more", "more", b"1", "application/octet-stream")
    assert (second[0], second[2], second[3]) == ("more", b"2", "text/csv")
    assert second[1].endswith(".csv")
    assert b"Content-Type: application/json" in request.body
    assert b'b"\r\n' not in request.body  # a file name cannot end its header
    tools = await tools_of(description, base_url=ORIGIN, send=Recorder())
    error = await refusal(tools["call"], {"body": {"file": {"content": b"", "contentType": "text/plain\r\nX-Evil: 1"}}})
    assert error.code == "invalid_arguments"
    assert "Uint8Array" in generate_types([tools["call"]])


async def test_openapi_3_1_says_bytes_without_a_type():
    schema = {"type": "object", "properties": {"file": {"contentMediaType": "image/png"}, "other": {}}}
    media = {"schema": schema, "encoding": {"other": {"contentType": "application/pdf"}}}
    request = await sent(
        {**body({"multipart/form-data": media}), "openapi": "3.1.0"}, {"body": {"file": b"\xff", "other": b"\xfe"}}
    )
    assert [part[2] for part in parts(request)] == [b"\xff", b"\xfe"]


@pytest.mark.parametrize(
    ("media_type", "value", "expected"),
    [
        ("application/octet-stream", b"\x00\xff", (b"\x00\xff", "application/octet-stream")),
        ("application/octet-stream", "ä", ("ä".encode(), "application/octet-stream")),
        ("text/plain", "ä", ("ä".encode(), "text/plain")),
        ("text/csv", "a,b\n", (b"a,b\n", "text/csv")),
        ("application/xml", "<a/>", (b"<a/>", "application/xml")),
        ("application/vnd.api+json", {"a": [1]}, (b'{"a":[1]}', "application/vnd.api+json")),
        ("*/*", {"a": 1}, (b'{"a":1}', "application/json")),
        ("image/*", b"\x01", (b"\x01", "application/octet-stream")),
    ],
)
async def test_other_types_are_sent_as_they_are(media_type, value, expected):
    request = await sent(body({media_type: {"schema": {}}}), {"body": value})
    assert (request.body, request.headers["content-type"]) == expected


async def test_where_there_are_several_types_the_call_may_choose():
    description = body({"text/plain": {}, "application/json": {"schema": {"type": "object"}}, "image/*": {}})
    assert (await sent(description, {"body": {"a": 1}})).headers["content-type"] == "application/json"
    chosen = await sent(description, {"body": b"\x01", "contentType": "image/png"})
    assert (chosen.headers["content-type"], chosen.body) == ("image/png", b"\x01")
    chosen = await sent(description, {"body": "x", "contentType": "text/plain"})
    assert (chosen.headers["content-type"], chosen.body) == ("text/plain", b"x")
    tools = await tools_of(description, base_url=ORIGIN, send=Recorder())
    error = await refusal(tools["call"], {"body": "x", "contentType": "text/plain\r\nX-Evil: 1"})
    assert error.code == "invalid_arguments"


@pytest.mark.parametrize(
    ("headers", "data", "expected"),
    [
        ({"content-type": "application/json"}, b'{"a": [1, "\xc3\xa4"]}', {"a": [1, "ä"]}),
        ({"Content-Type": "application/problem+json; charset=utf-8"}, b'"42"', "42"),
        ({"content-type": "application/json"}, b"not json", "not json"),
        ({"content-type": "text/plain; charset=latin-1"}, b"\xe4", "ä"),
        ({"content-type": "text/plain; charset=no-such"}, b"\xe4", b"\xe4"),
        ({"content-type": "text/html"}, "<b>ä".encode(), "<b>ä"),
        ({"content-type": "image/png"}, b"\x89", b"\x89"),
        ({}, b"text", "text"),
        ({}, b"\xff", b"\xff"),
        ({"content-type": "application/json"}, b"", None),
    ],
)
async def test_a_response_becomes_data_text_or_bytes(headers, data, expected):
    recorder = Recorder(OutboundResponse(200, data, headers))
    tools = await tools_of(document({"/x": {"get": operation()}}), base_url=ORIGIN, send=recorder)
    assert await call(tools["call"]) == expected


async def test_response_types_are_declared():
    def answers(**responses) -> dict:
        return operation(id="x", responses=responses)

    pet = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}}
    paths = {
        "/pet": {"get": {**answers(**{"200": pet}), "operationId": "pet"}},
        "/maybe": {"get": {**answers(**{"2XX": pet, "204": {"description": ""}}), "operationId": "maybe"}},
        "/other": {"get": {**answers(default=pet), "operationId": "other"}},
        "/none": {"delete": {**answers(**{"204": {"description": ""}}), "operationId": "none"}},
        "/file": {"get": {**answers(**{"200": {"content": {"application/zip": {}}}}), "operationId": "file"}},
        "/text": {"get": {**answers(**{"200": {"content": {"text/csv": {}}}}), "operationId": "text"}},
        "/head": {"head": {**answers(**{"200": pet}), "operationId": "head"}},
        "/secret": {"get": {**answers(**{"404": pet}), "operationId": "unsaid"}},
    }
    tools = await tools_of(document(paths, components={"schemas": PETS}), base_url=ORIGIN)
    types = generate_types(tools, "api")
    assert tools["pet"].output_schema["$ref"] == "#/$defs/Pet"
    assert tools["pet"].output_schema["$defs"]["Pet"]["required"] == ["name", "id"]
    assert tools["maybe"].output_schema["anyOf"] == [{"$ref": "#/$defs/Pet"}, {"type": "null"}]
    assert tools["other"].output_schema["$ref"] == "#/$defs/Pet"
    assert tools["none"].output_schema == {"type": "null"}
    assert tools["file"].output_schema == {"type": "string", "format": "binary"}
    assert tools["text"].output_schema == {"type": "string"}
    assert set(tools["head"].output_schema["properties"]) == {"status", "headers"}
    assert tools["unsaid"].output_schema is None
    assert "parent?: Pet" in types
    assert "type FileOutput = Uint8Array" in types


async def test_the_type_of_the_response_can_be_chosen_where_there_are_several():
    content = {"application/vnd.diff": {}, "application/json": {"schema": {"type": "object"}}}
    recorder = Recorder()
    tools = await tools_of(
        document({"/x": {"get": operation(responses={"200": {"content": content}})}}), base_url=ORIGIN, send=recorder
    )
    await call(tools["call"])
    await call(tools["call"], {"accept": "application/vnd.diff"})
    sent = [request.headers["accept"] for request in recorder.requests]
    assert sent == ["application/json, */*;q=0.1", "application/vnd.diff"]
    assert json.dumps(tools["call"].input_schema["properties"]["accept"]["enum"]).count("diff") == 1
