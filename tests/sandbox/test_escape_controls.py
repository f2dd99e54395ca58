"""The same ways with nothing that holds them: they do work, so the silence in ``test_escapes.py`` means something."""

import pytest

from tests.sandbox.conftest import make_deno, require_python
from tests.sandbox.escapes.attempt import attempt, got_out, program, python_program
from tests.sandbox.escapes.controls import open_chromium, open_deno
from tests.sandbox.escapes.listeners import listening
from tests.sandbox.escapes.python_ways import ALONE, PYTHON_WAYS
from tests.sandbox.escapes.ways import ENDINGS, NAVIGATIONS, PROCESS, WAYS
from tests.sandbox.kernel import evaluate
from tests.sandbox.real_page import chromium
from tests.sandbox.test_escapes import in_frames_of_their_own

pytestmark = pytest.mark.asyncio(loop_scope="module")

OF_DENO = {name: body for name, body in WAYS.items() if name not in ENDINGS}
OF_A_WORKER = {name: body for name, body in OF_DENO.items() if name not in PROCESS}
OF_A_PAGE = {name: body for name, body in OF_A_WORKER.items() if name not in NAVIGATIONS}

OF_A_TAB = ("top-location", "parent-location", "anchor-top")
"""Navigations that take the whole tab along."""


OUT_OF_DENO = {
    *(
        "fetch",
        "WebSocket",
        "WebSocketStream",
        "EventSource",
        "import-http",
        "import-npm",
        "import-jsr",
        "import-data",
    ),
    *("Function", "AsyncFunction", "class-extends-Function", "Worker-data", "Worker-with-permissions"),
    *(
        "Deno-connect",
        "Deno-datagram",
        "Deno-resolveDns",
        "Deno-readTextFile",
        "Deno-writeTextFile",
        "Deno-Command",
    ),
    *("Deno-env", "import-file", "node-fs", "node-fs-write", "node-net", "node-http", "node-dgram", "node-dns"),
    *("node-child_process", "node-process", "node-module", "process-env", "process-getBuiltinModule", "fetch-file"),
}
OUT_OF_A_WORKER = {
    *("fetch", "XMLHttpRequest", "WebSocket", "WebTransport", "EventSource", "importScripts", "import-http"),
    *(
        "import-data",
        "import-blob",
        "Worker-blob",
        "Function",
        "AsyncFunction",
        "eval",
        "setTimeout-text",
        "FontFace",
    ),
}
OUT_OF_A_PAGE = {
    *("sendBeacon", "RTCPeerConnection-stun", "RTCPeerConnection-turn", "img", "iframe", "script", "stylesheet"),
    *("preload", "prefetch", "style-background", "font-face", "anchor-ping", "embed", "object", "video"),
}
OUT_OF_PYTHON = {
    *("pyfetch", "run_js", "runPython", "syncify", "socket-of-c", "c-connect", "emscripten-run-script"),
    *("js-fetch-used", "js-WebSocket-used", "js-EventSource-used", "js-eval-used", "js-eval-import-data"),
    *("js-Function-used", "Function", "bridge-constructor", "js-Deno-read", "js-Deno-write", "js-Deno-env"),
    *("js-process-env", "js-process-module", "Function-of-everything"),
}
"""Some of what has to arrive."""
OF_PYTHON = {name: body for name, body in PYTHON_WAYS.items() if name not in ALONE or name in OUT_OF_PYTHON}


def tell(where, found, tried):
    text = (
        f"{where}: {len(found)} of {len(tried)} ways work, {len(got_out(found))} reach a listener, a file or a secret"
    )
    print(f"\n{text}")  # noqa: T201  the figures are for whoever runs it with -s


async def find(listeners, ways, expected, run, program=program):
    """Try all ways, then again those that should have worked: many at once are slow on a busy machine."""
    found = await attempt(listeners, ways, run, program)
    for _ in range(3):
        missing = {name: ways[name] for name in expected - got_out(found)}
        if missing:
            found |= await attempt(listeners, missing, run, program)
    return found


async def test_deno_with_permissions_and_without_the_lockdown_lets_them_out(tmp_path, monkeypatch):
    await make_deno().close()
    async with listening(tmp_path) as listeners, open_deno(monkeypatch, tmp_path, listeners) as executor:
        found = await find(listeners, OF_DENO, OUT_OF_DENO, lambda source: evaluate(executor, source, timeout=30))
    tell("Deno", found, OF_DENO)
    assert got_out(found) >= OUT_OF_DENO
    assert set(found) >= {"Deno-dlopen", "Deno-core-evalContext", "everything-reachable", "openKv", "caches", "node-v8"}


async def test_deno_with_permissions_and_without_the_lockdown_lets_python_out(tmp_path, monkeypatch):
    require_python()
    async with listening(tmp_path) as listeners, open_deno(monkeypatch, tmp_path, listeners) as executor:
        found = await find(
            listeners,
            OF_PYTHON,
            OUT_OF_PYTHON,
            lambda source: evaluate(executor, source, language="python", timeout=30),
            python_program,
        )
    tell("Python in Deno", found, OF_PYTHON)
    assert got_out(found) >= OUT_OF_PYTHON
    assert set(found) >= {"js-Deno-stdout", "js-WebAssembly", "js-postMessage-used", "js-caches-used", "held-by-name"}


async def test_chromium_without_a_policy_and_without_the_lockdown_lets_them_out(tmp_path, monkeypatch):
    async with (
        chromium() as browser,
        listening(tmp_path) as listeners,
        open_chromium(monkeypatch, browser) as (pages, executor),
    ):
        in_worker = await find(
            listeners, OF_A_WORKER, OUT_OF_A_WORKER, lambda source: evaluate(executor, source, timeout=30)
        )
        listeners.arrived.clear()
        [tab] = pages.tabs
        in_page = await find(listeners, OF_A_PAGE, OUT_OF_A_PAGE, lambda source: tab.evaluate(f"({source})()"))
        listeners.arrived.clear()
        tab = await pages.context.new_page()
        await tab.goto(listeners.page)
        groups = [{name: body} for name, body in NAVIGATIONS.items() if name not in OF_A_TAB]
        in_frames = await in_frames_of_their_own(tab, "<!doctype html><body>", listeners, groups, rights=None)
        for name in OF_A_TAB:
            tab = await pages.context.new_page()
            await tab.goto(listeners.page)
            group = {name: NAVIGATIONS[name]}
            in_frames |= await in_frames_of_their_own(tab, "<!doctype html><body>", listeners, [group], rights=None)
    tell("A Worker", in_worker, OF_A_WORKER)
    tell("A page", in_page, OF_A_PAGE)
    tell("Frames", in_frames, NAVIGATIONS)
    everywhere = in_worker | in_page | in_frames
    tell("Some place in Chromium", everywhere, OF_A_WORKER)
    assert got_out(in_worker) >= OUT_OF_A_WORKER
    assert set(in_worker) >= {
        "BroadcastChannel",
        "indexedDB",
        "caches",
        "opfs",
        "WebAssembly",
        "postMessage",
        "location",
    }
    assert got_out(in_page) >= OUT_OF_A_PAGE
    assert set(in_page) >= {"cookie", "localStorage", "parent-document", "postMessage-to-the-top"}
    assert got_out(in_frames) >= {"location-href", "open", "anchor", "form", "meta-refresh", "parent-location", "base"}
    assert len(everywhere) > 140
