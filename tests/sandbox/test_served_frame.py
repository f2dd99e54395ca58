"""Where the page's policy forbids the sandbox in the page, the same sandbox as a file of the server takes its place."""

import hashlib
import html
import re

import pytest
import pytest_asyncio

from codemode_jupyter.sandbox.browser import BrowserExecutor
from codemode_jupyter.sandbox.frame import inline_frame, served_files, served_frame
from codemode_jupyter.sandbox.worker_source import worker_source
from tests.sandbox.kernel import Kernel
from tests.sandbox.real_page import chromium, open_pages
from tests.sandbox.test_browser_page import OBEDIENT, Desk

pytestmark = pytest.mark.asyncio(loop_scope="module")

NO_INLINE = "script-src 'self' 'nonce-page' blob: 'unsafe-eval'; frame-src 'self'; frame-ancestors 'self'"
NO_EVAL = "script-src 'self' 'nonce-page' 'unsafe-inline' blob:"
NO_BLOB_WORKER = "worker-src 'self'"
HARDENED = [
    pytest.param({"policy": NO_INLINE}, id="one policy without inline scripts"),
    pytest.param({"policy": NO_INLINE, "has_one_policy": False}, id="a policy of the page without inline scripts"),
    pytest.param({"policy": NO_EVAL, "has_one_policy": False}, id="a policy of the page without eval"),
    pytest.param({"policy": NO_BLOB_WORKER, "has_one_policy": False}, id="a policy of the page without Workers"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser():
    async with chromium() as opened:
        yield opened


async def test_the_served_frame_differs_from_the_inline_one_in_where_its_script_is():
    files = {path.rsplit("/", 1)[1]: text for path, text in served_files().items()}
    inner = [html.unescape(re.search(r'srcdoc="([^"]*)"', text)[1]) for text in (inline_frame(), files["frame.html"])]
    opening = '<script nonce="relay"'
    assert inner[0].split(opening)[0] == inner[1].split(opening)[0]
    assert inner[0].split(opening)[1] == f">{files['relay.js']}</script>"
    assert inner[1].split(opening)[1] == ' src="relay.js"></script>'


async def test_the_address_of_the_served_frame_is_bound_to_its_text():
    texts = "\0".join(served_files().values())
    digest = hashlib.sha256(texts.encode()).hexdigest()[:16]
    assert served_frame() == f"codemode-jupyter/static/{digest}/frame.html"


async def test_the_inline_frame_is_used_where_it_may_be(browser):
    async with open_pages(browser, OBEDIENT, is_installed=True) as pages:
        desk = Desk(pages)
        desk.send("prepare")
        assert (await pages.until_heard("prepared"))["frame"] == "srcdoc"
        assert not [path for path in pages.site.requests if "codemode" in path]


MOVED = "The page had to make its sandbox in another way."


@pytest.mark.parametrize("server", HARDENED)
async def test_under_a_hardened_policy_programs_run_in_the_served_frame(browser, server):
    async with open_pages(browser, worker_source(), is_installed=True, **server) as pages:
        executor = BrowserExecutor(pages)
        program = "async () => (await it.echo({ a: 41 })).a + 1"
        end = await Kernel(program, {"it.echo": lambda arguments: arguments}).run(executor)
        if end.error == MOVED:  # begun before the page knew that this frame is of no use: a runtime replays it
            end = await Kernel(program, {"it.echo": lambda arguments: arguments}).run(executor)
        assert (end.kind, end.value) == ("completed", "42"), end.error
        assert executor.page.is_served
        assert pages._heard("prepared")[-1]["frame"] == "src"
        await executor.close()


@pytest.mark.parametrize("server", HARDENED[:2])
async def test_the_next_frame_is_served_at_once(browser, server):
    async with open_pages(browser, OBEDIENT, is_installed=True, **server) as pages:
        desk = Desk(pages)
        desk.send("prepare")
        await pages.until_heard("prepared")
        desk.send("start", run="busy", text="post('ready'); while (true);")
        await desk.until_text("ready", "busy")
        desk.send("kill", run="busy")
        await desk.pong()
        assert await desk.frames() == 1
        assert len([path for path in pages.site.requests if path.endswith("frame.html")]) == 2


WAYS_OUT = [
    "importScripts(URL)",
    "await import(URL)",
    "await fetch(URL)",
    "const r = new XMLHttpRequest(); r.open('GET', URL, false); r.send()",
    "new WebSocket(URL.replace('http', 'ws')); await new Promise((done) => setTimeout(done, 300))",
    "new EventSource(URL); await new Promise((done) => setTimeout(done, 300))",
    "new Worker(URL); await new Promise((done) => setTimeout(done, 300))",
    "navigator.sendBeacon(URL)",
]


@pytest.mark.parametrize("server", [HARDENED[0], HARDENED[2]])
async def test_nothing_gets_out_of_a_worker_of_the_served_frame(browser, server):
    async with open_pages(browser, OBEDIENT, is_installed=True, **server) as pages:
        desk = Desk(pages)
        desk.send("prepare")
        await pages.until_heard("prepared")
        for number, way in enumerate(WAYS_OUT):
            code = way.replace("URL", f"'{pages.site.url}/stolen-{number}'")
            desk.send(
                "start", run=f"{number}", text=f"(async () => {{ {code} }})().catch(() => 0).then(() => post('over'))"
            )
            await desk.until_text("over", f"{number}")
        assert not [path for path in pages.site.requests if "stolen" in path]


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("script-src 'self' 'nonce-page'", "run scripts"),
        ("script-src 'self' 'nonce-page' 'unsafe-inline'", "code made from text"),
        ("script-src 'self' 'nonce-page' 'unsafe-eval'; worker-src 'none'", "Worker"),
    ],
)
async def test_where_neither_may_run_both_reasons_are_told(browser, policy, words):
    async with open_pages(browser, OBEDIENT, policy=policy, is_installed=True) as pages:
        desk = Desk(pages)
        desk.send("prepare")
        message = (await pages.until_heard("unusable"))["message"]
        assert "As a file of the server it fails, too:" in message
        assert words in message
        assert await desk.frames() == 0


async def test_a_server_without_the_file_is_told(browser):
    async with open_pages(browser, OBEDIENT, policy=NO_INLINE) as pages:
        desk = Desk(pages)
        desk.send("prepare")
        message = (await pages.until_heard("unusable"))["message"]
        assert "There is no sandbox at that address of the server" in message
