"""Requests of programs: to the allowed servers and no further, whatever an address or a redirect says."""

import builtins
import socket

import pytest

from codemode_jupyter import CodemodeError, Outbound, OutboundRequest, OutboundResponse
from codemode_jupyter.connectors.http.outbound import METHODS, fetch_tools
from codemode_jupyter.connectors.tool import ToolContext
from tests.connectors.web import serve

CONTEXT = ToolContext("execution", 0, "key")


@pytest.fixture
def server():
    with serve() as made:
        yield made


@pytest.fixture
def other():
    with serve() as made:
        yield made


def tool_of(outbound, method="GET"):
    return {tool.name: tool for tool in fetch_tools(outbound)}[method]


async def request(outbound, url, method="GET", **arguments):
    tool = tool_of(outbound, method)
    return await tool.call(tool.validate({"url": url, **arguments}), CONTEXT)


async def refusal(outbound, url, method="GET", **arguments):
    with pytest.raises(CodemodeError) as caught:
        await request(outbound, url, method, **arguments)
    return caught.value


async def test_a_request_to_an_allowed_origin_is_made(server):
    server.pages["/a?b=c"] = (201, {"X-One": "1", "Set-Cookie": "secret=1"}, "ü".encode())
    outbound = Outbound([server.origin])
    value = await request(outbound, f"{server.origin}/a?b=c", "POST", headers={"X-Two": "2"}, body="ä")
    headers = value.pop("headers")
    assert value == {
        "status": 201,
        "statusText": "Created",
        "url": f"{server.origin}/a?b=c",
        "redirected": False,
        "body": "ü",
    }
    assert headers["x-one"] == "1"
    assert "set-cookie" not in headers
    [(method, path, sent, body)] = server.asked
    assert (method, path, sent["x-two"], body) == ("POST", "/a?b=c", "2", "ä".encode())


@pytest.mark.parametrize("method", METHODS)
async def test_every_method_arrives_as_itself(server, method):
    value = await request(Outbound([server.origin]), f"{server.origin}/", method)
    assert value["body"] == ("" if method == "HEAD" else "hello")
    assert [asked[0] for asked in server.asked] == [method]


async def test_a_body_that_is_no_text_stays_bytes(server):
    server.pages["/"] = (200, {}, b"\xff\x00")
    value = await request(Outbound([server.origin]), f"{server.origin}/", "PUT", body=b"\xfe")
    assert value["body"] == b"\xff\x00"
    assert server.asked[0][3] == b"\xfe"


async def test_any_other_origin_is_refused_before_anything_is_sent(server, other):
    outbound = Outbound([server.origin])
    port = server.origin.rsplit(":", 1)[1]
    for url in (
        other.origin,
        f"{server.origin}@{other.origin.removeprefix('http://')}/",
        f"{server.origin}.evil.test/",
        f"https://127.0.0.1:{port}/",
        f"http://localhost:{port}/",
        f"http://127.0.0.1:{port}0/",
        f"http://127.1:{port}/",
        f"http://0x7f000001:{port}/",
        "http://127.0.0.1/",
        "file:///etc/passwd",
        f"http://[::ffff:127.0.0.1]:{port}/",
    ):
        error = await refusal(outbound, url)
        assert error.code == "outbound_refused", url
        assert server.origin in error.message, url
    assert server.asked == other.asked == []


async def test_redirects_are_followed_within_the_allowed_origins(server, other):
    server.pages["/start"] = (302, {"location": "/next"}, b"")
    server.pages["/next"] = (307, {"location": f"{other.origin}/end"}, b"")
    outbound = Outbound([server.origin, other.origin])
    headers = {"Authorization": "secret", "Cookie": "secret", "X-Kept": "1", "Content-Type": "text/plain"}
    value = await request(outbound, f"{server.origin}/start", "POST", headers=headers, body="x")
    assert (value["url"], value["redirected"], value["body"]) == (f"{other.origin}/end", True, "hello")
    assert [(asked[0], asked[3]) for asked in server.asked] == [("POST", b"x"), ("GET", b"")]
    assert server.asked[1][2]["authorization"] == "secret"
    [(method, _, sent, _)] = other.asked
    assert method == "GET"
    assert sent["x-kept"] == "1"
    assert not {"authorization", "cookie", "content-type"} & sent.keys()


@pytest.mark.parametrize(
    "target", ["http://evil.test/", "//evil.test/", "http://127.0.0.1@evil.test/", "file:///etc/x"]
)
async def test_a_redirect_out_of_the_allowed_origins_is_refused(server, target):
    server.pages["/start"] = (302, {"location": target}, b"")
    error = await refusal(Outbound([server.origin]), f"{server.origin}/start")
    assert error.code == "outbound_refused"
    assert server.origin in error.message
    assert len(server.asked) == 1


async def test_a_circle_of_redirects_ends(server):
    server.pages["/"] = (302, {"location": "/"}, b"")
    error = await refusal(Outbound([server.origin]), f"{server.origin}/")
    assert error.code == "outbound_failed"
    assert len(server.asked) == 21


async def test_a_response_that_cannot_be_recorded_is_not_read_to_its_end(server):
    server.pages["/"] = (200, {}, b"x" * 3_000_000)
    error = await refusal(Outbound([server.origin]), f"{server.origin}/")
    assert error.code == "too_large"
    assert server.asked[0][2]["accept-encoding"] == "identity"


async def test_a_server_that_is_not_there_is_said():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        origin = f"http://127.0.0.1:{closed.getsockname()[1]}"
    error = await refusal(Outbound([origin]), f"{origin}/")
    assert error.code == "outbound_failed"
    assert f"GET {origin}/ failed" in error.message


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Host": "evil.test"}, "outbound_refused"),
        ({"Content-Length": "5"}, "outbound_refused"),
        ({"transfer-encoding": "chunked"}, "outbound_refused"),
        ({"Proxy-Authorization": "x"}, "outbound_refused"),
        ({"X-HTTP-Method-Override": "DELETE"}, "outbound_refused"),
        ({"X-Method-Override": "DELETE"}, "outbound_refused"),
        ({"a": "b\r\nc: d"}, "invalid_arguments"),
        ({"a b": "c"}, "invalid_arguments"),
        ({"a": "\u2028"}, "invalid_arguments"),
        ({"a": 1}, "invalid_arguments"),
        ("a: b", "invalid_arguments"),
    ],
)
async def test_headers_that_would_change_the_connection_or_the_method_are_refused(server, headers, code):
    assert (await refusal(Outbound([server.origin]), f"{server.origin}/", headers=headers)).code == code
    assert server.asked == []


async def test_a_function_gets_the_request_in_its_plain_form_and_alone_decides():
    seen = []

    async def send(request):
        seen.append(request)
        return OutboundResponse(200, b"x", {"Content-Type": "text/plain"}, reason="Fine")

    value = await request(Outbound(send), "HTTPS://Any.Example:443/a#b", "PATCH", body="x", headers={"A": "b"})
    assert seen == [OutboundRequest("PATCH", "https://any.example/a", {"a": "b"}, b"x")]
    assert (value["status"], value["statusText"], value["body"]) == (200, "Fine", "x")
    assert value["headers"] == {"content-type": "text/plain"}
    assert (await refusal(Outbound(send), "ftp://any.example/")).code == "outbound_refused"


async def test_a_function_that_returns_something_else_is_told_so():
    async def send(request):
        return {"status": 200}

    error = await refusal(Outbound(send), "https://a.test/")
    assert (error.code, "OutboundResponse" in error.hint) == ("invalid_response", True)


@pytest.mark.parametrize(
    ("approve", "asked"),
    [("writes", ["POST", "PUT", "PATCH", "DELETE"]), ("never", []), ("always", list(METHODS))],
)
def test_a_person_is_asked_about_writes_unless_the_user_says_otherwise(approve, asked):
    tools = fetch_tools(Outbound([], approve=approve))
    assert [tool.name for tool in tools if tool.requires_approval] == asked


@pytest.mark.parametrize(
    "make",
    [
        lambda: Outbound("https://a.test"),
        lambda: Outbound(7),
        lambda: Outbound(["https://a.test/path"]),
        lambda: Outbound([], approve="sometimes"),
    ],
)
def test_options_that_mean_nothing_are_refused(make):
    with pytest.raises(CodemodeError) as caught:
        make()
    assert caught.value.code == "invalid_option"
    assert caught.value.hint


def test_a_list_of_origins_without_httpx_names_the_extra_and_a_function_needs_none(monkeypatch):
    real = builtins.__import__

    def without_httpx(name, *arguments, **keywords):
        if name == "httpx":
            raise ImportError(name)
        return real(name, *arguments, **keywords)

    async def send(request):
        return OutboundResponse(204)

    monkeypatch.setattr(builtins, "__import__", without_httpx)
    with pytest.raises(CodemodeError) as caught:
        Outbound(["https://a.test"])
    assert caught.value.code == "missing_extra"
    assert "codemode-jupyter[outbound]" in caught.value.hint
    assert Outbound(send).origins is None
