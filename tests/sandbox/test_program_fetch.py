"""``fetch`` in a program: there only when the host says so, a call like any other, and familiar to programs."""

import base64
import json

import pytest

from tests.sandbox.kernel import GATED, Fails, Kernel, Later, Text, evaluate, failure

pytestmark = pytest.mark.asyncio(loop_scope="module")


def answer(body="", status=200, headers=None, **more):
    parts = {
        "status": status,
        "statusText": "",
        "url": "https://a.test/",
        "redirected": False,
        "headers": headers or {},
    }
    return parts | {"body": body} | more


def responding(*arguments, **more):
    """Tools that answer requests of every method alike."""
    methods = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD")
    return {f"fetch.{method}": lambda _: answer(*arguments, **more) for method in methods}


async def requests_of(sandbox, source):
    """Return (method, arguments) of each request that a program makes."""
    kernel = Kernel(source, tools=responding("{}"), fetch=True)
    end = await kernel.run(sandbox)
    assert end.kind == "completed", end
    return [(call.method, json.loads(call.arguments)) for call in kernel.asked]


async def test_without_the_option_there_is_no_fetch(sandbox):
    names = ["fetch", "Headers", "Response", "Request", "XMLHttpRequest"]
    source = f"() => {json.dumps(names)}.filter((name) => typeof globalThis[name] !== 'undefined')"
    assert await evaluate(sandbox, source) == []


async def test_a_response_is_read_as_the_standard_has_it(sandbox):
    source = """async () => {
      const response = await fetch("https://a.test/");
      const { a } = await response.json();
      const bytes = new Uint8Array(await response.arrayBuffer());
      return [response.ok, response.status, response.headers.get("Content-TYPE"), response.headers.get("no"), a,
        await response.text(), bytes.length, response.url, response.redirected, [...response.headers],
        response.statusText];
    }"""
    headers = {"content-type": "application/json", "a": "b"}
    assert await evaluate(sandbox, source, tools=responding('{"a":"ä"}', headers=headers), fetch=True) == [
        True,
        200,
        "application/json",
        None,
        "ä",
        '{"a":"ä"}',
        10,
        "https://a.test/",
        False,
        [["a", "b"], ["content-type", "application/json"]],
        "",
    ]


async def test_bytes_that_are_no_text_arrive_as_they_are(sandbox):
    data = bytes(range(256))
    tag = {"$type": "bytes", "value": base64.b64encode(data).decode()}
    tools = {"fetch.GET": lambda _: Text(json.dumps(answer(tag)))}
    source = """async () => {
      const response = await fetch("https://a.test/");
      return [[...new Uint8Array(await response.arrayBuffer())], (await response.text()).length,
        (await response.bytes()).length];
    }"""
    assert await evaluate(sandbox, source, tools=tools, fetch=True) == [list(range(256)), 256, 256]


async def test_a_status_that_is_no_success_is_no_error(sandbox):
    source = 'async () => { const r = await fetch("https://a.test/"); return [r.ok, r.status, await r.text()] }'
    assert await evaluate(sandbox, source, tools=responding("gone", 404), fetch=True) == [False, 404, "gone"]


async def test_a_request_is_made_of_its_options(sandbox):
    source = """async () => {
      await fetch("https://a.test/x");
      const headers = { "X-One": "1", "content-type": "application/json" };
      const url = new URL("/y?q=ü#part", "https://A.test:443");
      await fetch(url, { method: "post", body: JSON.stringify({ n: 1 }), headers });
      const body = new Uint8Array([1, 2, 3]).subarray(1);
      await fetch("https://a.test", { method: "PUT", body, headers: [["a", "1"], ["A", "2"]] });
      await fetch("https://a.test", { method: "PATCH", body: "text", headers: new Headers({ b: "c" }) });
      await fetch("https://a.test", { method: "POST", body: new URLSearchParams({ a: "b c" }) });
      await fetch("https://a.test", { method: "DELETE", body: new Uint8Array([7]).buffer });
    }"""
    bytes_of = {"$type": "bytes", "value": "AgM="}
    form = "application/x-www-form-urlencoded;charset=UTF-8"
    assert await requests_of(sandbox, source) == [
        ("GET", {"url": "https://a.test/x"}),
        (
            "POST",
            {
                "url": "https://a.test/y?q=%C3%BC",
                "headers": {"content-type": "application/json", "x-one": "1"},
                "body": '{"n":1}',
            },
        ),
        ("PUT", {"url": "https://a.test/", "headers": {"a": "1, 2"}, "body": bytes_of}),
        (
            "PATCH",
            {
                "url": "https://a.test/",
                "headers": {"b": "c", "content-type": "text/plain;charset=UTF-8"},
                "body": "text",
            },
        ),
        ("POST", {"url": "https://a.test/", "headers": {"content-type": form}, "body": "a=b+c"}),
        ("DELETE", {"url": "https://a.test/", "body": {"$type": "bytes", "value": "Bw=="}}),
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ('"/relative"', "needs a whole address"),
        ('"https://"', "needs a whole address"),
        ("", "needs a whole address"),
        ('"https://a.test", { body: "x" }', "GET request cannot have a body"),
        ('"https://a.test", { method: "POST", body: { a: 1 } }', "JSON.stringify"),
        ('"https://a.test", { redirect: "manual" }', "follows redirects"),
        ('"https://a.test", { signal: {} }', "AbortSignal"),
        ('"https://a.test", { headers: "a: b" }', "Headers are made of"),
    ],
)
async def test_what_cannot_be_a_request_rejects_with_a_type_error_and_asks_nobody(sandbox, arguments, said):
    source = "async () => { try { await fetch(ARGUMENTS) } catch (e) { return [e instanceof TypeError, e.message] } }"
    kernel = Kernel(source.replace("ARGUMENTS", arguments), tools=responding(), fetch=True)
    end = await kernel.run(sandbox)
    is_type_error, message = json.loads(end.value)
    assert is_type_error
    assert said in message
    assert kernel.asked == []


async def test_a_refused_request_is_a_type_error_that_can_be_caught(sandbox):
    tools = {
        "fetch.GET": lambda _: Fails(
            "A program may not reach https://b.test.", "CodemodeError", code="outbound_refused"
        )
    }
    source = """async () => {
      try { await fetch("https://b.test/") } catch (e) { return [e instanceof TypeError, e.name, e.code, e.message] }
    }"""
    caught = await evaluate(sandbox, source, tools=tools, fetch=True)
    assert caught == [True, "TypeError", "outbound_refused", "A program may not reach https://b.test."]


async def test_a_refused_request_that_nobody_catches_ends_the_program_at_its_line(sandbox):
    tools = {"fetch.GET": lambda _: Fails("refused", "CodemodeError", code="outbound_refused")}
    fields, end = await failure(
        sandbox, 'async () => {\n\n  await fetch("https://b.test/")\n}', tools=tools, fetch=True
    )
    assert (fields["name"], fields["message"], fields["data"]["code"]) == ("TypeError", "refused", "outbound_refused")
    assert end.line == 3


async def test_requests_made_together_are_one_message_and_replay_without_asking(sandbox):
    source = """async () => {
      const all = await Promise.all([1, 2, 3].map((n) => fetch(`https://a.test/${n}`)));
      await it.gated({});
      return Promise.all(all.map((response) => response.text()));
    }"""
    kernel = Kernel(source, tools=responding("once") | {"it.gated": lambda _: GATED}, fetch=True)
    assert (await kernel.run(sandbox)).kind == "paused"
    assert (kernel.batches, len(kernel.asked)) == (2, 4)
    kernel.approve()
    end = await kernel.run(sandbox)
    assert json.loads(end.value) == ["once", "once", "once"]
    assert kernel.asked == []


async def test_a_signal_ends_the_wait(sandbox):
    source = """async () => {
      const gone = AbortSignal.abort();
      const names = [];
      for (const signal of [gone, AbortSignal.timeout(5)]) {
        try { await fetch("https://a.test/", { signal }) } catch (e) { names.push(e.name) }
      }
      return names;
    }"""
    tools = {"fetch.GET": lambda _: Later(0.3, answer())}
    assert await evaluate(sandbox, source, tools=tools, fetch=True) == ["AbortError", "TimeoutError"]


async def test_a_program_cannot_replace_fetch_or_what_it_gives(sandbox):
    source = """async () => {
      "use strict";
      const tries = [() => { globalThis.fetch = 1 }, () => { fetch.x = 1 }, () => { Headers.prototype.get = 1 },
        () => { delete globalThis.Headers }];
      const response = await fetch("https://a.test/");
      tries.push(() => { response.status = 500 }, () => { response.constructor.prototype.text = 1 });
      return tries.map((attempt) => { try { attempt(); return "done" } catch { return "refused" } });
    }"""
    assert await evaluate(sandbox, source, tools=responding(), fetch=True) == ["refused"] * 6


async def test_a_body_over_the_limit_is_refused_before_it_leaves_the_sandbox(sandbox):
    options = '{ method: "POST", body: "x".repeat(1_000_001) }'
    source = f'async () => {{ try {{ await fetch("https://a.test/", {options}) }} catch (e) {{ return e.code }} }}'
    assert await evaluate(sandbox, source, tools=responding(), fetch=True) == "too_large"


async def test_globals_of_requests_are_named_when_a_name_is_missing(sandbox):
    fields, _ = await failure(sandbox, "() => axios.get('https://a.test')", fetch=True)
    assert "codemode, fetch, Headers" in fields["message"]
