"""Secrets reach the service, and nothing else: no program, no error, no other server."""

from __future__ import annotations

import base64
import json
import sys

import pytest

from codemode_jupyter import ClientCredentials, Runtime
from codemode_jupyter.connectors.declarations.typescript import generate_types
from codemode_jupyter.connectors.http.outbound_messages import OutboundResponse
from codemode_jupyter.connectors.openapi.connector import OpenApiConnector
from codemode_jupyter.errors import CodemodeError
from tests.connectors.openapi.service import Recorder, call, document, operation, refusal, tools_of

ORIGIN = "http://127.0.0.1:8999"
SECRET = "s3cr3t/key+with space"  # noqa: S105  of nothing
SCHEMES = {
    "inHeader": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "inQuery": {"type": "apiKey", "in": "query", "name": "api key"},
    "inCookie": {"type": "apiKey", "in": "cookie", "name": "sid"},
    "basic": {"type": "http", "scheme": "basic"},
    "bearer": {"type": "http", "scheme": "bearer"},
    "oauth": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": f"{ORIGIN}/token", "scopes": {}}}},
    "oidc": {"type": "openIdConnect", "openIdConnectUrl": "https://login.example"},
    "mutual": {"type": "mutualTLS"},
}


def secured(*security: dict, schemes: dict | None = None, **more) -> dict:
    components = {"securitySchemes": SCHEMES if schemes is None else schemes}
    return document({"/x": {"get": operation(security=list(security), **more)}}, components=components)


async def sent(description: dict, **options):
    recorder = Recorder()
    tools = await tools_of(description, base_url=ORIGIN, send=recorder, **options)
    await call(tools["call"])
    return recorder.requests[0]


async def test_each_scheme_has_its_place():
    async def token() -> str:
        return SECRET

    auth = {
        "inHeader": SECRET,
        "inQuery": SECRET,
        "inCookie": SECRET,
        "basic": ("me", SECRET),
        "bearer": token,
        "oidc": lambda: SECRET,
    }
    assert (await sent(secured({"inHeader": []}), auth=auth)).headers["x-key"] == SECRET
    assert (await sent(secured({"inQuery": []}), auth=auth)).url == f"{ORIGIN}/x?api%20key=s3cr3t%2Fkey%2Bwith%20space"
    assert (await sent(secured({"inCookie": []}), auth=auth)).headers["cookie"] == "sid=s3cr3t%2Fkey%2Bwith%20space"
    pair = base64.b64encode(f"me:{SECRET}".encode()).decode()
    assert (await sent(secured({"basic": []}), auth=auth)).headers["authorization"] == f"Basic {pair}"
    assert (await sent(secured({"bearer": []}), auth=auth)).headers["authorization"] == f"Bearer {SECRET}"
    assert (await sent(secured({"oidc": []}), auth=auth)).headers["authorization"] == f"Bearer {SECRET}"


async def test_the_first_alternative_that_can_be_met_is_taken_and_no_more_is_sent():
    auth = {"inHeader": SECRET, "bearer": "token-1"}
    request = await sent(
        secured({"oauth": []}, {"inHeader": [], "inCookie": []}, {"bearer": []}, {"inHeader": []}), auth=auth
    )
    assert request.headers["authorization"] == "Bearer token-1"
    assert "x-key" not in request.headers
    both = await sent(secured({"inHeader": [], "bearer": []}), auth=auth)
    assert (both.headers["x-key"], both.headers["authorization"]) == (SECRET, "Bearer token-1")
    optional = await sent(secured({}, {"bearer": []}), auth=auth)
    assert optional.headers["authorization"] == "Bearer token-1"
    public = await sent(secured(), auth=auth)
    assert not {"authorization", "x-key"} & public.headers.keys()


async def test_one_secret_is_enough_for_one_scheme():
    scheme = {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}
    request = await sent(secured({"key": []}, schemes=scheme), auth=SECRET)
    assert request.headers["x-key"] == SECRET
    unsaid = document({"/x": {"get": operation()}}, components={"securitySchemes": scheme})
    assert (await sent(unsaid, auth=SECRET)).headers["x-key"] == SECRET


@pytest.mark.parametrize(
    ("auth", "said"),
    [
        ({"nothing": "x"}, "nothing"),
        ({"inHedaer": "x"}, "inHeader"),
        ("x", "8 security schemes"),
        ({"basic": "x"}, "user name and password"),
        ({"bearer": ("a", "b")}, "a text"),
        ({"bearer": "a\r\nb"}, "stand in a header"),
        ({"mutual": "x"}, "cannot be sent"),
    ],
)
async def test_secrets_that_fit_no_scheme_are_refused_without_being_told(auth, said):
    with pytest.raises(CodemodeError) as caught:
        await tools_of(secured(), base_url=ORIGIN, auth=auth)
    assert caught.value.code == "invalid_option"
    assert said in str(caught.value)


async def test_a_program_neither_sees_nor_sets_what_a_secret_fills():
    own = [
        {"name": "X-Key", "in": "header", "required": True},
        {"name": "api key", "in": "query", "required": True},
        {"name": "kept", "in": "query"},
    ]
    description = secured({"inHeader": []})
    description["paths"]["/x"]["get"]["parameters"] = own
    recorder = Recorder()
    tools = await tools_of(description, base_url=ORIGIN, send=recorder, auth={"inHeader": SECRET, "inQuery": SECRET})
    assert tools["call"].parameters == ("kept",)
    assert SECRET not in generate_types(tools)
    for arguments in (
        {"headers": {"x-KEY": "mine"}},
        {"headers": {"Authorization": "mine"}},
        {"headers": {"Cookie": "mine"}},
        {"params": {"api key": "mine"}},
    ):
        assert (await refusal(tools["request"], {"path": "/x", **arguments})).code == "invalid_arguments"
    assert recorder.requests == []


async def test_a_service_that_repeats_a_secret_does_not_reveal_it():
    forms = [SECRET, "s3cr3t%2Fkey%2Bwith%20space", base64.b64encode(f"me:{SECRET}".encode()).decode()]
    body = json.dumps({"message": " ".join(forms), "ok": "harmless"}).encode()
    headers = {"content-type": "application/json", "x-echo": SECRET, "set-cookie": "session=1"}
    auth = {"inQuery": SECRET, "basic": ("me", SECRET)}
    description = secured({"inQuery": [], "basic": []})
    fine = await tools_of(description, base_url=ORIGIN, auth=auth, send=Recorder(OutboundResponse(200, body, headers)))
    answer = repr([await call(fine["call"]), await call(fine["request"], {"path": "/x"})])
    bad = await tools_of(description, base_url=ORIGIN, auth=auth, send=Recorder(OutboundResponse(400, body, headers)))
    error = await refusal(bad["call"])
    told = repr([answer, str(error), error.data, error.__cause__, error.__context__])
    assert "harmless" in told
    assert told.count("[secret]") >= 6
    assert not any(form in told for form in forms)
    assert "session=1" not in told


async def test_a_connection_that_fails_does_not_tell_the_key_in_its_address(server):
    server.shutdown()
    server.server_close()
    tools = await tools_of(secured({"inQuery": []}), base_url=server.origin, auth={"inQuery": SECRET})
    error = await refusal(tools["call"])
    assert error.code == "request_failed"
    assert server.origin in error.message
    assert "s3cr3t" not in repr([str(error), error.data, error.hint, error.__cause__])


async def test_a_redirect_to_another_server_takes_no_secret_there(server, other):
    server.pages["/x"] = (302, {"location": f"{other.origin}/caught"}, b"")
    auth = {"inHeader": SECRET, "bearer": "token-1"}
    description = secured({"inHeader": [], "bearer": []})
    tools = await tools_of(description, base_url=server.origin, auth=auth)
    error = await refusal(tools["call"])
    assert (error.code, "redirect_to" in error.hint) == ("redirect_refused", True)
    assert other.asked == []
    tools = await tools_of(description, base_url=server.origin, auth=auth, redirect_to=[other.origin])
    assert await call(tools["call"]) == "hello"
    [(_, path, headers, _)] = other.asked
    assert path == "/caught"
    assert not {"x-key", "authorization", "cookie"} & headers.keys()
    assert server.asked[-1][2]["x-key"] == SECRET


async def test_a_redirect_on_the_same_server_is_followed_with_the_secret(server):
    server.pages["/x"] = (307, {"location": "/y"}, b"")
    tools = await tools_of(secured({"inHeader": []}), base_url=server.origin, auth={"inHeader": SECRET})
    assert await call(tools["call"]) == "hello"
    assert [(asked[1], asked[2]["x-key"]) for asked in server.asked] == [("/x", SECRET), ("/y", SECRET)]


async def test_another_server_of_the_document_sees_the_secret_only_when_named(server, other):
    description = secured({"bearer": []}, servers=[{"url": other.origin}])
    description["servers"] = [{"url": server.origin}]
    other.pages["/x"] = (401, {}, b"")
    tools = await tools_of(description, auth={"bearer": SECRET})
    error = await refusal(tools["call"])
    assert (error.data["status"], "credentials_to" in error.hint) == (401, True)
    tools = await tools_of(description, auth={"bearer": SECRET}, credentials_to=[other.origin])
    await refusal(tools["call"])
    assert [asked[2].get("authorization") for asked in other.asked] == [None, f"Bearer {SECRET}"]


async def test_headers_for_every_request_are_secrets_too(server):
    server.pages["/x"] = (200, {"content-type": "text/plain", "x-echo": "token abc123"}, b"you are token abc123")
    tools = await tools_of(
        document({"/x": {"get": operation()}}), base_url=server.origin, headers={"Authorization": "token abc123"}
    )
    assert await call(tools["call"]) == "you are [secret]"
    assert server.asked[0][2]["authorization"] == "token abc123"


def token_answer(token: str, seconds: int = 3600) -> tuple[int, dict[str, str], bytes]:
    text = json.dumps({"access_token": token, "token_type": "bearer", "expires_in": seconds})
    return 200, {"content-type": "application/json"}, text.encode()


async def test_client_credentials_fetch_a_token_once_and_again_when_it_is_refused(server):
    server.pages["/token"] = token_answer("token-one")
    scheme = {"oauth": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": f"{server.origin}/token"}}}}
    client = ClientCredentials("me", SECRET, scopes=["read"])
    assert SECRET not in repr(client)
    tools = await tools_of(secured({"oauth": []}, schemes=scheme), base_url=server.origin, auth={"oauth": client})
    await call(tools["call"])
    await call(tools["call"])
    assert [asked[1] for asked in server.asked] == ["/token", "/x", "/x"]
    pair = base64.b64encode(f"me:{SECRET}".encode()).decode()
    assert server.asked[0][0] == "POST"
    assert server.asked[0][3] == b"grant_type=client_credentials&scope=read"
    assert server.asked[0][2]["authorization"].startswith("Basic ")
    assert server.asked[0][2]["authorization"] == f"Basic {pair}"
    assert server.asked[1][2]["authorization"] == "Bearer token-one"
    server.pages["/x"] = (401, {}, b"")
    server.pages["/token"] = token_answer("token-two")
    await refusal(tools["call"])
    assert [asked[1] for asked in server.asked[3:]] == ["/x", "/token", "/x"]
    assert server.asked[-1][2]["authorization"] == "Bearer token-two"


async def test_a_clients_secret_is_not_sent_where_only_the_document_says_so(server, other):
    scheme = {"oauth": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": f"{other.origin}/token"}}}}
    description = secured({"oauth": []}, schemes=scheme)
    tools = await tools_of(description, base_url=server.origin, auth={"oauth": ClientCredentials("me", SECRET)})
    error = await refusal(tools["call"])
    assert (error.code, other.asked, server.asked) == ("authorization_failed", [], [])
    other.pages["/token"] = (400, {}, f"no {SECRET}".encode())
    told = ClientCredentials("me", SECRET, token_url=f"{other.origin}/token")
    tools = await tools_of(description, base_url=server.origin, auth={"oauth": told})
    error = await refusal(tools["call"])
    assert (error.code, len(other.asked)) == ("authorization_failed", 1)
    assert SECRET not in repr([str(error), error.data])


async def test_neither_the_log_nor_the_outcome_of_a_run_holds_a_secret(server, tmp_path):
    server.pages["/x?api%20key=s3cr3t%2Fkey%2Bwith%20space"] = (403, {}, f"you sent {SECRET}".encode())
    path = tmp_path / "log.sqlite3"
    connector = OpenApiConnector("api", secured({"inQuery": []}), base_url=server.origin, auth={"inQuery": SECRET})
    runtime = Runtime([connector], path=path)
    outcome = await runtime.execute(
        "async () => { try { await api.call() } catch (error) { console.log(error.message); return error.data } }"
    )
    await runtime.close()
    assert outcome.status == "completed"
    assert outcome.result["status"] == 403
    assert outcome.result["body"] == "you sent [secret]"
    assert len(server.asked) == 1
    assert "s3cr3t" not in repr(outcome)
    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"you sent" in stored
    assert b"s3cr3t" not in stored


async def test_tokens_that_change_with_every_call_are_all_taken_out():
    tokens = iter(f"token-number-{number}" for number in range(100))
    sent: list[str] = []

    async def echo(request):
        sent.append(request.headers["authorization"])
        return OutboundResponse(200, request.headers["authorization"].encode(), {"content-type": "text/plain"})

    tools = await tools_of(secured({"bearer": []}), base_url=ORIGIN, send=echo, auth={"bearer": lambda: next(tokens)})
    assert {await call(tools["call"]) for _ in range(50)} == {"Bearer [secret]"}
    assert len(set(sent)) == 50


def test_without_its_libraries_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(CodemodeError) as caught:
        OpenApiConnector("api", document({}))
    assert (caught.value.code, "codemode-jupyter[openapi]" in caught.value.hint) == ("missing_extra", True)
