"""What a service answers: values, errors that a program catches, and waiting where it asks for it."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from codemode_jupyter import CodemodeError, OpenApiConnector, Runtime
from codemode_jupyter.connectors.http.outbound_messages import OutboundResponse
from tests.connectors.openapi.service import CONTEXT, Recorder, call, document, operation, refusal, tools_of

ORIGIN = "http://127.0.0.1:8999"
METHODS = ("get", "head", "options", "post", "put", "patch", "delete")
JSON = {"content-type": "application/json"}


class Channel:
    """Keeps what a tool tells the person."""

    def __init__(self) -> None:
        self.lines: list[tuple[float, float | None, str]] = []

    def progress(self, done: float, total: float | None, message: str) -> None:
        self.lines.append((done, total, message))


def every_method() -> dict:
    return document({"/x": {method: operation(id=f"{method}_x") for method in METHODS}})


async def answered(*answers: OutboundResponse, **options):
    recorder = Recorder(*answers)
    return recorder, await tools_of(every_method(), base_url=ORIGIN, send=recorder, **options)


async def test_an_answer_that_is_no_success_is_an_error_with_status_headers_and_body():
    body = b'{"message": "No such berth", "code": 7}'
    answer = OutboundResponse(404, body, {**JSON, "X-Request-Id": "r1", "Set-Cookie": "a=b"}, reason="Not Found")
    _, tools = await answered(answer)
    error = await refusal(tools["get_x"])
    assert error.code == "http_error"
    assert error.message == "api.get_x (GET /x) was answered 404 Not Found: No such berth"
    assert error.data == {
        "status": 404,
        "reason": "Not Found",
        "headers": {**JSON, "x-request-id": "r1"},
        "body": {"message": "No such berth", "code": 7},
    }


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (OutboundResponse(500, b""), "was answered 500 Internal Server Error."),
        (OutboundResponse(599, b""), "was answered 599."),
        (OutboundResponse(400, b"<html>no</html>", {"content-type": "text/html"}), "was answered 400 Bad Request."),
        (OutboundResponse(422, b'{"detail": "x"}', JSON), "422 Unprocessable Entity: x"),
        (OutboundResponse(400, b'{"error": {"deep": 1}}', JSON), "400 Bad Request."),
        (OutboundResponse(400, b"line\r\nline", {}), "400 Bad Request: line line"),
        (OutboundResponse(304, b""), "304 Not Modified."),
        (OutboundResponse(400, b"[" * 100_000, JSON), "400 Bad Request."),
    ],
)
async def test_the_message_says_what_the_service_said(answer, message):
    _, tools = await answered(answer)
    assert (await refusal(tools["get_x"])).message.endswith(message)


async def test_a_long_error_is_cut():
    _, tools = await answered(OutboundResponse(500, b"x" * 500_000, {"content-type": "text/plain"}))
    error = await refusal(tools["get_x"])
    assert len(error.message) < 500
    assert (len(error.data["body"]), error.data["bodyTruncated"]) == (100_000, True)


async def test_a_program_catches_it(server, tmp_path):
    server.pages["/x"] = (409, {"content-type": "application/json", "x-left": "3"}, b'{"title": "Taken"}')
    runtime = Runtime([OpenApiConnector("api", every_method(), base_url=server.origin)], path=tmp_path / "log.sqlite3")
    outcome = await runtime.execute(
        "async () => { try { return await api.get_x() } catch (error) {"
        " return [error.message, error.data.code, error.data.status, error.data.headers['x-left'], error.data.body] } }"
    )
    await runtime.close()
    assert outcome.result == [
        "api.get_x (GET /x) was answered 409 Conflict: Taken",
        "http_error",
        409,
        "3",
        {"title": "Taken"},
    ]


async def test_head_tells_status_and_headers(server):
    server.pages["/x"] = (200, {"x-count": "5"}, b"")
    tools = await tools_of(every_method(), base_url=server.origin)
    answer = await call(tools["head_x"])
    assert (answer["status"], answer["headers"]["x-count"]) == (200, "5")


@pytest.mark.parametrize("method", ["get", "head", "options", "put", "delete"])
async def test_an_idempotent_call_waits_as_the_service_asks_and_tries_again(method):
    recorder, tools = await answered(OutboundResponse(429, b"", {"Retry-After": "0"}), OutboundResponse(204))
    assert tools[f"{method}_x"].idempotent
    told = Channel()
    tool = tools[f"{method}_x"]
    await tool.call(tool.validate({}), replace(CONTEXT, channel=told))
    assert len(recorder.requests) == 2
    assert told.lines == [(1, 4, "Answered 429; waiting 0 s, then trying again")]


@pytest.mark.parametrize("method", ["post", "patch"])
async def test_a_call_that_is_not_idempotent_is_sent_once(method):
    recorder, tools = await answered(OutboundResponse(429, b"", {"retry-after": "0"}))
    assert not tools[f"{method}_x"].idempotent
    error = await refusal(tools[f"{method}_x"])
    assert (error.data["status"], error.data["retryAfter"], len(recorder.requests)) == (429, "0", 1)


async def test_waiting_is_bounded_in_number_and_by_the_limit_of_the_tool():
    recorder, tools = await answered(OutboundResponse(429, b"", {"retry-after": "0"}))
    assert (await refusal(tools["get_x"])).data["status"] == 429
    assert len(recorder.requests) == 4
    for asked in ("3600", format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True), "9" * 400, "soon"):
        recorder, tools = await answered(OutboundResponse(503, b"", {"retry-after": asked}))
        assert (await refusal(tools["get_x"])).data["retryAfter"] == asked
        assert len(recorder.requests) == 1
    recorder, tools = await answered(OutboundResponse(429), timeout=1.5)
    before = time.monotonic()
    await refusal(tools["get_x"])
    assert (len(recorder.requests), time.monotonic() - before < 1.5) == (1, True)


async def test_a_date_in_the_past_means_now_and_503_without_a_word_is_no_promise():
    past = format_datetime(datetime.now(UTC) - timedelta(hours=1), usegmt=True)
    recorder, tools = await answered(OutboundResponse(503, b"", {"retry-after": past}), OutboundResponse(204))
    await call(tools["get_x"])
    assert len(recorder.requests) == 2
    recorder, tools = await answered(OutboundResponse(503))
    await refusal(tools["get_x"])
    assert len(recorder.requests) == 1


async def test_a_response_that_cannot_be_recorded_is_not_read_to_its_end(server):
    server.pages["/x"] = (200, {}, b"x" * 3_000_000)
    tools = await tools_of(every_method(), base_url=server.origin)
    assert (await refusal(tools["get_x"])).code == "too_large"


async def test_a_call_that_takes_too_long_ends(tmp_path):
    async def never(request):
        await asyncio.Event().wait()

    connector = OpenApiConnector("api", every_method(), base_url=ORIGIN, send=never, timeout=0.2)
    runtime = Runtime([connector], path=tmp_path / "log.sqlite3")
    outcome = await runtime.execute(
        "async () => { try { await api.get_x() } catch (error) { return error.data.code } }"
    )
    await runtime.close()
    assert outcome.result == "tool_timeout"


@pytest.mark.parametrize(
    ("approve", "asked"),
    [
        ("writes", ["post_x", "put_x", "patch_x", "delete_x"]),
        ("destructive", ["put_x", "patch_x", "delete_x"]),
        ("never", []),
        (["get_x", "post_x"], ["get_x", "post_x"]),
        (lambda name: name.startswith("head"), ["head_x"]),
    ],
)
async def test_a_person_approves_what_changes_something_unless_told_otherwise(approve, asked):
    _, tools = await answered(approve=approve)
    assert [name for name, tool in tools.items() if tool.requires_approval is True] == asked


async def test_the_low_level_request_is_approved_by_its_method():
    for approve, asked in (("writes", "POST PUT PATCH DELETE"), ("destructive", "PUT PATCH DELETE")):
        _, tools = await answered(approve=approve)
        asks = tools["request"].requires_approval
        assert [method for method in METHODS if asks({"path": "/", "method": method})] == asked.lower().split()
        assert not asks({"path": "/"})
    _, tools = await answered(approve="never")
    assert tools["request"].requires_approval is False
    _, tools = await answered(approve=["request"])
    assert tools["request"].requires_approval is True


async def test_approve_that_means_nothing_is_refused():
    for approve in ("sometimes", 5):
        with pytest.raises(CodemodeError, match="approve"):
            OpenApiConnector("api", every_method(), approve=approve)
    with pytest.raises(CodemodeError, match="get_x"):
        await answered(approve=["get_y"])


async def test_the_low_level_request_reaches_what_no_tool_does(server):
    server.pages["/base/any/thing?a=1&tags=x&tags=y&deep%5Bk%5D=v"] = (201, {**JSON, "x-more": "1"}, b'{"made": true}')
    tools = await tools_of(every_method(), base_url=f"{server.origin}/base")
    answer = await call(
        tools["request"],
        {
            "path": "/any/thing?a=1",
            "method": "post",
            "params": {"tags": ["x", "y"], "deep": {"k": "v"}, "none": None},
            "body": {"b": 2},
            "headers": {"X-Own": "v"},
        },
    )
    assert (answer["status"], answer["headers"]["x-more"], answer["body"]) == (201, "1", {"made": True})
    [(method, _, headers, body)] = server.asked
    assert (method, headers["x-own"], headers["content-type"], body) == ("POST", "v", "application/json", b'{"b":2}')
    server.pages["/base/raw"] = (204, {}, b"")
    await call(tools["request"], {"path": "/raw", "method": "PUT", "body": b"\x00", "contentType": "image/png"})
    assert (server.asked[1][2]["content-type"], server.asked[1][3]) == ("image/png", b"\x00")
    await call(tools["request"], {"path": "/raw", "method": "PUT", "body": None})
    assert server.asked[2][3] == b"null"
    server.pages["/base/gone"] = (410, {}, b"")
    assert (await refusal(tools["request"], {"path": "/gone"})).data["status"] == 410


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"path": "x"},
        {"path": "http://evil.test/"},
        {"path": "/../admin"},
        {"path": "/a/%2e%2e/admin"},
        {"path": "/a\\..\\admin"},
        {"path": "/a#b"},
        {"path": "/a?b= c"},
        {"path": "/a?b\r\nX-Evil: 1"},
        {"path": "/", "method": "TRACE"},
        {"path": "/", "method": "GET\r\nX-Evil: 1"},
        {"path": "/", "method": "CONNECT"},
        {"path": "/", "body": 1},
        {"path": "/", "headers": {"Host": "evil.test"}},
        {"path": "/", "headers": {"a": "b\r\nc: d"}},
        {"path": "/", "headers": {"X-HTTP-Method-Override": "DELETE"}},
        {"path": "/", "method": "POST", "body": "x", "contentType": "text/plain\r\nX-Evil: 1"},
        {"path": "/", "more": 1},
    ],
)
async def test_the_low_level_request_stays_on_the_service(arguments):
    recorder, tools = await answered()
    assert (await refusal(tools["request"], arguments)).code == "invalid_arguments"
    assert recorder.requests == []


@pytest.mark.parametrize("path", ["//evil.test/x", "/@evil.test/", "/:80@evil.test", "/%0d%0aX: 1", "/ü ", "/"])
async def test_whatever_path_it_has_the_server_is_the_same(path):
    recorder, tools = await answered()
    await tools["request"].call(tools["request"].validate({"path": path}), CONTEXT)
    assert recorder.requests[0].url.startswith(f"{ORIGIN}/")
    assert recorder.requests[0].url.isascii()


async def test_a_function_of_send_that_returns_something_else_is_told_so():
    async def send(request):
        return 204

    tools = await tools_of(every_method(), base_url=ORIGIN, send=send)
    assert (await refusal(tools["get_x"])).code == "invalid_response"
