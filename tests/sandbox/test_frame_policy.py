"""The frame's policy is as small as it can be: without any one of its sources the sandbox breaks, or leaks."""

import pytest
import pytest_asyncio

from codemode_jupyter.sandbox.frame import POLICY, inline_frame, policy_text
from codemode_jupyter.sandbox.worker_source import worker_source
from tests.sandbox.escapes.attempt import attempt, got_out
from tests.sandbox.escapes.controls import open_chromium, unlocked_worker
from tests.sandbox.escapes.listeners import listening
from tests.sandbox.escapes.ways import CODE, REQUESTS
from tests.sandbox.kernel import evaluate
from tests.sandbox.real_page import chromium

pytestmark = pytest.mark.asyncio(loop_scope="module")

CONNECT = """([markup, source]) => new Promise((resolve) => {
  const { port1, port2 } = new MessageChannel();
  port1.postMessage({ type: "runtime", source });
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.srcdoc = markup;
  frame.onload = () => frame.contentWindow[0].postMessage(null, "*", [port2]);
  let last = "silent";
  const tell = () => { frame.remove(); resolve(last); };
  let limit = setTimeout(tell, 2000);
  port1.onmessage = ({ data }) => {
    last = data.message ?? data.type;
    // A Worker that the policy forbids is heard of a moment after "ready".
    clearTimeout(limit);
    limit = setTimeout(tell, data.type === "ready" ? 500 : 0);
  };
  document.body.append(frame);
})"""
"""Put a frame into the page and return the last thing that its relay says of itself."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser():
    async with chromium() as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="module")
async def listeners(tmp_path):
    async with listening(tmp_path) as opened:
        yield opened


async def relay_with(browser, listeners, policy):
    tab = await browser.new_page()
    await tab.goto(listeners.page)
    said = await tab.evaluate(CONNECT, [inline_frame(policy_text(policy)), worker_source()])
    await tab.close()
    return said


async def test_with_the_whole_policy_the_sandbox_is_ready(browser, listeners):
    assert await relay_with(browser, listeners, POLICY) == "ready"


@pytest.mark.parametrize(
    ("directive", "source", "says"),
    [
        ("script-src", "'nonce-relay'", "silent"),
        ("script-src", "'unsafe-eval'", "code made from text"),
        ("script-src", None, "silent"),
        ("worker-src", "blob:", "Worker"),
        ("worker-src", None, "Worker"),
    ],
)
async def test_without_a_source_the_sandbox_does_not_run(browser, listeners, directive, source, says):
    kept = [] if source is None else [each for each in POLICY[directive].split() if each != source]
    policy = {name: value for name, value in POLICY.items() if name != directive}
    if kept or source is not None:
        policy[directive] = " ".join(kept) or "'none'"
    assert says in await relay_with(browser, listeners, policy)


async def test_without_its_default_the_policy_would_let_a_worker_out(browser, listeners, monkeypatch):
    ways = REQUESTS | CODE
    found = {}
    for policy in (POLICY, {name: value for name, value in POLICY.items() if name != "default-src"}):
        frame = {"markup": inline_frame(policy_text(policy)), "worker": unlocked_worker(), "is_sandboxed": True}
        async with open_chromium(monkeypatch, browser, **frame) as (_, executor):
            found[len(policy)] = await attempt(listeners, ways, lambda source: evaluate(executor, source, timeout=30))
    assert got_out(found[3]) == set()
    assert got_out(found[2]) >= {"fetch", "WebSocket", "XMLHttpRequest", "EventSource"}


async def test_the_policy_names_nothing_else():
    assert {name: set(value.split()) for name, value in POLICY.items()} == {
        "default-src": {"'none'"},
        "script-src": {"'nonce-relay'", "'unsafe-eval'"},
        "worker-src": {"blob:"},
    }
