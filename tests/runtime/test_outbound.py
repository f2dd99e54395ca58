"""Requests of programs as the runtime sees them: recorded, approved, replayed, refused."""

import json

import pytest

from codemode_jupyter import CodemodeError, Outbound, OutboundResponse, Runtime
from codemode_jupyter.sandbox.deno import DenoExecutor, find_deno
from tests.connectors.web import serve

pytestmark = pytest.mark.skipif(find_deno() is None, reason="no Deno: pip install 'codemode-jupyter[headless]'")


@pytest.fixture
def server():
    with serve() as made:
        yield made


@pytest.fixture
async def make(tmp_path):
    """Make runtimes over one file, each with its own options."""
    executor, made = DenoExecutor(), []

    def runtime(**options):
        made.append(Runtime(executor=executor, path=tmp_path / "store.sqlite3", **options))
        return made[-1]

    yield runtime
    for one in made:
        await one.close()
    await executor.close()


async def test_without_the_option_there_is_no_fetch(make):
    outcome = await make().execute("async () => fetch('https://a.test/')")
    assert outcome.status == "error"
    assert "fetch is not defined" in outcome.error.message
    assert outcome.calls == ()


async def test_a_request_is_a_call_in_the_log(make, server):
    server.pages["/a"] = (200, {"content-type": "application/json"}, b'{"n": 1}')
    runtime = make(outbound=[server.origin])
    outcome = await runtime.execute(f"async () => (await (await fetch('{server.origin}/a')).json()).n")
    assert outcome.result == 1, outcome
    [call] = outcome.calls
    assert (call.connector, call.method, call.args, call.state) == (
        "fetch",
        "GET",
        {"url": f"{server.origin}/a"},
        "applied",
    )
    assert (call.result["status"], call.result["body"]) == (200, '{"n": 1}')
    assert call.digest


async def test_a_write_is_asked_about_runs_once_and_earlier_requests_replay(make, server):
    runtime = make(outbound=[server.origin])
    program = f"""async () => {{
      const first = await (await fetch("{server.origin}/read")).text();
      const response = await fetch("{server.origin}/write", {{ method: "POST", body: first }});
      return [first, response.status];
    }}"""
    paused = await runtime.execute(program)
    assert paused.status == "paused", paused
    [pending] = paused.pending
    assert (pending.connector, pending.method) == ("fetch", "POST")
    assert pending.args["url"] == f"{server.origin}/write"
    assert pending.args["body"] == "hello"
    assert [asked[0] for asked in server.asked] == ["GET"]
    done = await runtime.approve(paused.execution_id, digest=pending.digest)
    assert done.result == ["hello", 200], done
    assert [asked[:2] for asked in server.asked] == [("GET", "/read"), ("POST", "/write")]
    assert server.asked[1][3] == b"hello"


async def test_a_rejected_write_is_never_sent(make, server):
    runtime = make(outbound=[server.origin])
    paused = await runtime.execute(f"() => fetch('{server.origin}/', {{ method: 'DELETE' }})")
    assert await runtime.reject(paused.execution_id)
    assert server.asked == []


async def test_a_refused_request_is_recorded_and_can_be_caught(make, server):
    runtime = make(outbound=[server.origin])
    program = """async () => {
      try { await fetch("https://evil.test/", OPTIONS) } catch (e) { return [e.name, e.code, e.message] }
    }"""
    for options in ("{}", "{ method: 'POST' }"):
        outcome = await runtime.execute(program.replace("OPTIONS", options))
        name, code, message = outcome.result
        assert (name, code) == ("TypeError", "outbound_refused")
        assert message == f"A program may not reach https://evil.test. Allowed: {server.origin}."
        assert [(call.state, call.error.code) for call in outcome.calls] == [("failed", "outbound_refused")]


async def test_a_refused_request_that_nobody_catches_keeps_its_code_and_place(make, server):
    outcome = await make(outbound=[server.origin]).execute("async () => {\n  await fetch('https://evil.test/')\n}")
    assert (outcome.error.code, outcome.error.line) == ("outbound_refused", 2)
    assert server.origin in outcome.error.message


async def test_a_function_adds_a_secret_that_neither_program_nor_log_sees(make, tmp_path):
    sent = []

    async def send(request):
        sent.append({**request.headers, "authorization": "Bearer s3cret"})
        return OutboundResponse(200, "done")

    runtime = make(outbound=Outbound(send, approve="never"))
    outcome = await runtime.execute(
        "async () => (await fetch('https://a.test/', { method: 'POST', body: 'x' })).text()"
    )
    assert outcome.result == "done", outcome
    assert sent[0]["authorization"] == "Bearer s3cret"
    await runtime.close()
    assert b"s3cret" not in (tmp_path / "store.sqlite3").read_bytes()


async def test_a_function_that_fails_is_a_type_error(make):
    async def send(request):
        raise RuntimeError("no line")

    program = "async () => { try { await fetch('https://a.test/') } catch (e) { return [e.name, e.message] } }"
    assert (await make(outbound=send).execute(program)).result == ["TypeError", "no line"]


async def test_an_execution_that_waits_needs_a_runtime_that_lets_requests_out(make, server):
    paused = await make(outbound=[server.origin]).execute(f"() => fetch('{server.origin}/', {{ method: 'POST' }})")
    outcome = await make().approve(paused.execution_id)
    assert (outcome.error.code, '"fetch"' in outcome.error.message) == ("missing_connectors", True)
    assert server.asked == []


async def test_a_waiting_write_is_refused_when_its_origin_was_taken_off_the_list(make, server):
    paused = await make(outbound=[server.origin]).execute(f"() => fetch('{server.origin}/', {{ method: 'POST' }})")
    outcome = await make(outbound=["https://a.test"]).approve(paused.execution_id)
    assert outcome.error.code == "outbound_refused", outcome
    assert server.asked == []


async def test_a_model_is_told_what_can_be_reached(make):
    without = make().tool().description
    assert "no `fetch`" in without
    listed = make(outbound=["https://a.test", "http://localhost:8080"]).tool().description
    assert "`fetch` reaches only https://a.test, http://localhost:8080" in listed
    assert "no `fetch`" not in listed


async def test_a_response_too_large_to_record_fails_the_call(make, server):
    server.pages["/"] = (200, {}, json.dumps("x" * 1_200_000).encode())
    outcome = await make(outbound=[server.origin]).execute(f"() => fetch('{server.origin}/')")
    assert outcome.error.code == "too_large", outcome


def test_an_option_that_means_nothing_is_refused_when_the_runtime_is_made():
    with pytest.raises(CodemodeError, match="not an origin"):
        Runtime(outbound=["example.com"])


async def test_a_program_in_python_has_fetch_in_the_words_of_its_libraries(make, server):
    server.pages["/a"] = (200, {"content-type": "application/json"}, '{"n": "é"}'.encode())
    server.pages["/b?x=1"] = (404, {}, b"not there")
    runtime = make(outbound=[server.origin])
    program = f"""
got = await fetch("{server.origin}/a")
sent = await fetch("{server.origin}/b", method="POST", params={{"x": 1}}, json={{"a": "é"}}, headers={{"X-A": "b"}})
try:
    sent.raise_for_status()
except ToolError as error:
    failed = error.code
try:
    await fetch("https://b.test/")
except ToolError as error:
    refused = error.code
[got.status_code, got.ok, got.json(), got.content, sent.text, sent.ok, failed, refused]
"""
    paused = await runtime.execute(program, language="python")
    assert [call.args["body"] for call in paused.pending] == ['{"a": "é"}']
    outcome = await runtime.approve(paused.execution_id)
    raw = '{"n": "é"}'.encode()
    assert outcome.result == [200, True, {"n": "é"}, raw, "not there", False, "http_error", "outbound_refused"], outcome
    assert [(asked[0], asked[1]) for asked in server.asked] == [("GET", "/a"), ("POST", "/b?x=1")]
    assert server.asked[1][2]["x-a"] == "b"
    outcome = await runtime.execute("await fetch('a.test')", language="python")
    assert "whole address" in outcome.error.message
