"""Parameters take the form that `style` and `explode` ask for, and none can change where a request goes."""

from __future__ import annotations

import pytest

from tests.connectors.openapi.service import Recorder, Validator, call, document, operation, received, refusal, tools_of

ORIGIN = "http://127.0.0.1:8999"
LIST = {"type": "array", "items": {"type": "string"}}
OBJECT = {"type": "object", "additionalProperties": {}}


def parameter(place: str, schema: dict | None = None, name: str = "color", **more) -> dict:
    return {"name": name, "in": place, "schema": schema or {}, "required": place == "path", **more}


async def sent(path: str, *parameters: dict, arguments: dict, base: str = ORIGIN):
    recorder = Recorder()
    description = document({path: {"get": operation(*parameters)}})
    tools = await tools_of(description, base_url=base, send=recorder)
    await call(tools["call"], arguments)
    return recorder.requests[0]


# OpenAPI 3.0.4, Style Examples: the values of its table, in the form of RFC 6570 where older versions of it erred.
BLACK = ["blue", "black", "brown"]
RGB = {"R": 100, "G": 200, "B": 150}


@pytest.mark.parametrize(
    ("style", "explode", "value", "expected"),
    [
        ("simple", False, "blue", "blue"),
        ("simple", False, BLACK, "blue,black,brown"),
        ("simple", True, BLACK, "blue,black,brown"),
        ("simple", False, RGB, "R,100,G,200,B,150"),
        ("simple", True, RGB, "R=100,G=200,B=150"),
        ("label", False, "blue", ".blue"),
        ("label", False, BLACK, ".blue,black,brown"),
        ("label", True, BLACK, ".blue.black.brown"),
        ("label", False, RGB, ".R,100,G,200,B,150"),
        ("label", True, RGB, ".R=100.G=200.B=150"),
        ("matrix", False, "blue", ";color=blue"),
        ("matrix", False, "", ";color"),
        ("matrix", False, BLACK, ";color=blue,black,brown"),
        ("matrix", True, BLACK, ";color=blue;color=black;color=brown"),
        ("matrix", False, RGB, ";color=R,100,G,200,B,150"),
        ("matrix", True, RGB, ";R=100;G=200;B=150"),
    ],
)
async def test_styles_of_the_path(style, explode, value, expected):
    request = await sent("/x/{color}/y", parameter("path", style=style, explode=explode), arguments={"color": value})
    assert request.url == f"{ORIGIN}/x/{expected}/y"


@pytest.mark.parametrize(
    ("style", "explode", "value", "expected"),
    [
        ("form", True, "blue", "color=blue"),
        ("form", True, "", "color="),
        ("form", True, BLACK, "color=blue&color=black&color=brown"),
        ("form", False, BLACK, "color=blue,black,brown"),
        ("form", True, RGB, "R=100&G=200&B=150"),
        ("form", False, RGB, "color=R,100,G,200,B,150"),
        ("spaceDelimited", False, BLACK, "color=blue%20black%20brown"),
        ("spaceDelimited", False, RGB, "color=R%20100%20G%20200%20B%20150"),
        ("pipeDelimited", False, BLACK, "color=blue%7Cblack%7Cbrown"),
        ("pipeDelimited", True, BLACK, "color=blue&color=black&color=brown"),
        ("deepObject", True, RGB, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
        ("deepObject", True, {"a": {"b": [1, 2]}}, "color%5Ba%5D%5Bb%5D=1&color%5Ba%5D%5Bb%5D=2"),
        ("form", True, [], ""),
        ("form", False, [], ""),
        ("form", True, True, "color=true"),
        ("form", True, 1.0, "color=1"),
        ("form", True, 1.5, "color=1.5"),
        ("form", True, 2**70, f"color={2**70}"),
        ("form", True, ["a,b", "c&d"], "color=a%2Cb&color=c%26d"),
        ("form", False, ["a,b", "c&d"], "color=a%2Cb,c%26d"),
        ("form", True, "größe #1+1", "color=gr%C3%B6%C3%9Fe%20%231%2B1"),
        ("form", True, [{"a": 1}], "color=%7B%22a%22%3A1%7D"),
        ("nonsense", True, BLACK, "color=blue&color=black&color=brown"),
    ],
)
async def test_styles_of_the_query(style, explode, value, expected):
    request = await sent("/x", parameter("query", style=style, explode=explode), arguments={"color": value})
    assert request.url == (f"{ORIGIN}/x?{expected}" if expected else f"{ORIGIN}/x")


async def test_reserved_characters_stay_where_the_document_allows_them_but_none_that_ends_the_value():
    request = await sent("/x", parameter("query", allowReserved=True), arguments={"color": "/a?b=c:d@e&f#g+h%"})
    assert request.url == f"{ORIGIN}/x?color=/a?b=c:d@e%26f%23g%2Bh%25"


async def test_headers_and_cookies_have_their_styles_too():
    request = await sent(
        "/x",
        parameter("header", name="X-List"),
        parameter("header", name="X-Map", explode=True),
        parameter("cookie", name="sid"),
        parameter("cookie", name="tags", explode=False),
        arguments={"X-List": BLACK, "X-Map": RGB, "sid": "a; b=c", "tags": [1, 2]},
    )
    assert request.headers["x-list"] == "blue,black,brown"
    assert request.headers["x-map"] == "R=100,G=200,B=150"
    assert request.headers["cookie"] == "sid=a%3B%20b%3Dc; tags=1,2"


async def test_a_parameter_with_content_is_a_document_of_its_type():
    content = {"application/json": {"schema": {"type": "object", "properties": {"a": {"type": "integer"}}}}}
    listed = {"name": "filter", "in": "query", "content": content}
    request = await sent("/x", listed, arguments={"filter": {"a": 1}})
    assert request.url == f"{ORIGIN}/x?filter=%7B%22a%22%3A1%7D"


async def test_an_independent_validator_reads_the_values_that_were_passed():
    listed = [
        parameter("path", {"type": "string", "enum": ["a/b c?d"]}, name="id"),
        parameter("query", {"type": "array", "items": {"enum": ["x,y", "z"]}}, name="tags"),
        parameter("query", {"type": "array", "items": {"type": "integer"}}, name="ids", explode=False),
        parameter(
            "query",
            {"type": "object", "properties": {"w": {"type": "integer"}}},
            name="box",
            style="deepObject",
            explode=True,
        ),
        parameter(
            "query", {"type": "array", "items": {"type": "string"}}, name="pipes", style="pipeDelimited", explode=False
        ),
        parameter("header", {"type": "integer"}, name="X-Count"),
        parameter("cookie", {"type": "boolean"}, name="on"),
    ]
    description = document({"/x/{id}": {"get": operation(*listed)}})
    recorder = Recorder()
    tools = await tools_of(description, base_url=ORIGIN, send=recorder)
    given = {
        "id": "a/b c?d",
        "tags": ["x,y", "z"],
        "ids": [1, 2],
        "box": {"w": 3},
        "pipes": ["p"],
        "X-Count": 4,
        "on": True,
    }
    await call(tools["call"], given)
    for one in description["paths"]["/x/{id}"]["get"]["parameters"]:
        if one["name"] == "id":
            one["schema"] = {"enum": ["a%2Fb c%3Fd"]}  # openapi-core leaves an encoded slash as it is
    assert Validator(description, ORIGIN).faults(received(recorder.requests[0])) == ""


async def test_parameters_stand_at_the_path_the_operation_and_behind_references():
    description = document(
        {
            "/x/{id}": {
                "parameters": [
                    {"$ref": "#/components/parameters/Id"},
                    parameter("query", name="q", description="path's"),
                ],
                "get": operation(
                    parameter("query", {"type": "integer"}, name="q", required=True),
                    {"$ref": "#/components/parameters/Trace"},
                ),
            },
            "/y": {"$ref": "#/components/pathItems/Y"},
        },
        "3.1.0",
        components={
            "parameters": {
                "Id": {"$ref": "#/components/parameters/RealId"},
                "RealId": parameter("path", {"$ref": "#/components/schemas/Id"}, name="id"),
                "Trace": parameter("header", name="X-Trace"),
            },
            "pathItems": {"Y": {"post": operation(id="why")}},
            "schemas": {"Id": {"type": "integer", "minimum": 1}},
        },
    )
    recorder = Recorder()
    tools = await tools_of(description, base_url=ORIGIN, send=recorder)
    schema = tools["call"].input_schema
    assert list(tools) == ["request", "call", "why"]
    assert tools["call"].parameters == ("id", "q", "X-Trace")
    assert schema["required"] == ["id", "q"]
    assert schema["properties"]["q"] == {"type": "integer"}
    assert schema["$defs"] == {"Id": {"type": "integer", "minimum": 1}}
    await call(tools["call"], {"id": 7, "q": 1, "X-Trace": "t"})
    assert recorder.requests[0].url == f"{ORIGIN}/x/7?q=1"
    assert (await refusal(tools["call"], {"id": 0, "q": "x"})).data["faults"][0]["path"] == "id"


async def test_names_in_two_places_are_two_arguments():
    listed = [parameter("path", name="id"), parameter("query", name="id"), parameter("header", name="body")]
    body = {"content": {"application/json": {"schema": {"type": "object"}}}, "required": True}
    recorder = Recorder()
    tools = await tools_of(
        document({"/v/{id}": {"put": operation(*listed, requestBody=body)}}), base_url=ORIGIN, send=recorder
    )
    assert set(tools["call"].parameters) == {"id", "id_query", "body", "requestBody"}
    await call(tools["call"], {"id": "a", "id_query": "b", "body": "c", "requestBody": {"d": 1}})
    [request] = recorder.requests
    assert request.url == f"{ORIGIN}/v/a?id=b"
    assert (request.headers["body"], request.body) == ("c", b'{"d":1}')


async def test_a_placeholder_that_is_not_described_or_comes_twice_is_filled():
    recorder = Recorder()
    description = document(
        {"/t/{a}/{b}/{a}{?q}": {"get": operation(parameter("path", name="a"), parameter("query", name="q"))}}
    )
    tools = await tools_of(description, base_url=ORIGIN, send=recorder)
    await call(tools["call"], {"a": "{b}", "b": "$&", "q": 1})
    assert recorder.requests[0].url == f"{ORIGIN}/t/%7Bb%7D/%24%26/%7Bb%7D?q=1"


@pytest.mark.parametrize(
    "value",
    ["..", ".", "../admin", "a/../../admin", "..\\admin", "%2e%2e", "a/./b", "", [], "x/%2e%2e/y", "\ud800"],
)
async def test_a_value_that_would_lead_to_another_path_is_refused_before_anything_is_sent(value):
    recorder = Recorder()
    description = document({"/users/{id}/files": {"get": operation(parameter("path", name="id"))}})
    tools = await tools_of(description, base_url=ORIGIN, send=recorder)
    assert (await refusal(tools["call"], {"id": value})).code == "invalid_arguments"
    assert recorder.requests == []


@pytest.mark.parametrize(
    "value", ["a?b=c", "a#b", "a/b", "//evil.test/", "@evil.test", "main...dev", "v1..2", "%2F", ";x", "a\r\nb"]
)
async def test_a_value_of_the_path_stays_one_segment(value):
    request = await sent("/users/{id}/files", parameter("path", name="id"), arguments={"id": value})
    path = request.url.removeprefix(ORIGIN)
    assert path.count("/") == 3
    assert path.startswith("/users/")
    assert path.endswith("/files")
    assert not set("?#\r\n") & set(path)


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "\x00", "\u2028", ["a", "b\r\n"], {"a\r\n": "b"}])
async def test_a_header_cannot_begin_another(value):
    description = document({"/x": {"get": operation(parameter("header", name="X-A"))}})
    tools = await tools_of(description, base_url=ORIGIN, send=Recorder())
    error = await refusal(tools["call"], {"X-A": value})
    assert error.code == "invalid_arguments"
    assert error.data["faults"][0]["path"] == '["X-A"]'


async def test_headers_of_the_connection_and_of_the_credentials_are_no_arguments():
    names = ["Host", "Content-Length", "Authorization", "Accept", "Content-Type", "X-HTTP-Method-Override", "X-Kept"]
    description = document({"/x": {"get": operation(*(parameter("header", name=name) for name in names))}})
    tools = await tools_of(description, base_url=ORIGIN)
    assert tools["call"].parameters == ("X-Kept",)


async def test_null_leaves_an_optional_parameter_out_and_nothing_else_is_lost():
    recorder = Recorder()
    description = document(
        {
            "/x/{id}": {
                "get": operation(parameter("path", name="id"), parameter("query", {"type": "integer"}, name="limit"))
            }
        }
    )
    tools = await tools_of(description, base_url=ORIGIN, send=recorder)
    await call(tools["call"], {"id": 1, "limit": None})
    assert recorder.requests[0].url == f"{ORIGIN}/x/1"
    error = await refusal(tools["call"], {"limt": 5, "limit": "x"})
    assert {fault["path"] for fault in error.data["faults"]} == {"id", "limt", "limit"}
    assert "limit" in next(fault["message"] for fault in error.data["faults"] if fault["path"] == "limt")


async def test_a_cookie_cannot_begin_another_even_where_reserved_characters_are_allowed():
    request = await sent("/x", parameter("cookie", name="a", allowReserved=True), arguments={"a": "1; admin=true"})
    assert request.headers["cookie"] == "a=1%3B%20admin%3Dtrue"


async def test_a_query_in_the_path_of_the_document_stays_the_query():
    request = await sent("/do?Action=List x#part", parameter("query", name="q"), arguments={"q": "a?b"})
    assert request.url == f"{ORIGIN}/do?Action=List%20x&q=a%3Fb"
    request = await sent("/do?id={id}", parameter("path", name="id"), arguments={"id": "a&b=c"})
    assert request.url == f"{ORIGIN}/do?id=a%26b%3Dc"
