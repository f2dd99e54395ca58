"""The page's real code in a real Chromium, without JupyterLab: bare pages whose anywidget model is a WebSocket to here.

``Site`` serves the pages and logs every request; ``Pages`` is a ``PageChannel`` to the tabs that are open on it.
"""

import asyncio
import base64
import json
import os
import shutil
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import async_playwright
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketHandler

from codemode_jupyter.sandbox.frame import LABEXTENSION, inline_frame, served_files, served_frame
from codemode_jupyter.sandbox.page_channel import page_module

PLAIN_HOST = "plain.example"
"""A name of this machine under which pages are no secure context, as those of a server without TLS."""

FLAGS = [
    "--no-sandbox",  # Chromium cannot make its own sandbox as root or in most containers
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--host-resolver-rules=MAP {PLAIN_HOST} 127.0.0.1",
]

PAGE = """<!doctype html><title>A notebook</title><p id="text">A page.</p>
<script id="jupyter-config-data" type="application/json">{"fullLabextensionsUrl": "/lab/extensions"}</script>
<script type="module" nonce="page">
import definition from "/module.js";
const traits = await (await fetch("/traits.json")).json();
const socket = new WebSocket("/channel");
await new Promise((resolve) => { socket.onopen = resolve; });
window.startWidget = () => {
  const listeners = { "msg:custom": new Set(), comm_live_update: new Set() };
  const model = {
    get: (name) => traits[name],
    send: (content) => socket.send(JSON.stringify(content)),
    on: (event, listener) => void listeners[event].add(listener),
    off: (event, listener) => void listeners[event].delete(listener),
  };
  const cleanup = definition.initialize({ model });
  const trigger = (event, ...values) => listeners[event].forEach((listener) => listener(...values));
  return { cleanup, trigger, deliver: (content, buffers) => trigger("msg:custom", content, buffers) };
};
window.widgets = [startWidget()];
socket.onmessage = ({ data }) => {
  const content = JSON.parse(data);
  if (content.type === "gap") {
    socket.send(JSON.stringify({ type: "gap", from: "page", gap: window.gap }));
    window.gap = 0;
    return;
  }
  const bytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const buffers = (content.buffers ?? []).map((text) => new DataView(bytes(text).buffer));
  for (const widget of window.widgets) widget.deliver(content, buffers);
};
// The longest time that the page's timers stood still, in ms.
let last = performance.now();
window.gap = 0;
setInterval(() => { const now = performance.now(); window.gap = Math.max(window.gap, now - last); last = now; }, 10);
</script>"""


def _kind(path):
    return "text/html" if path.endswith(".html") else "text/javascript"


class Site:
    """A server for the page and its scripts; ``requests`` lists the path of every request it got.

    ``policy`` is sent with everything, or with the page alone; ``is_installed``: it serves the sandbox as a file.
    ``files`` are further files, bytes by their path below the labextensions. ``host``: by which name it is called.
    """

    def __init__(self, worker, policy=None, *, is_installed=False, has_one_policy=True, files=None, host="127.0.0.1"):
        self.requests = []
        self.sockets = []
        self.hear = None
        site = self
        traits = {"_inline_frame": inline_frame(), "_served_frame": served_frame(), "_worker_source": worker}
        served = served_files() if is_installed else {}
        texts = {
            **{f"/lab/extensions/{path}": ("application/gzip", data) for path, data in (files or {}).items()},
            **{f"/lab/extensions/{LABEXTENSION}/{path}": (_kind(path), text) for path, text in served.items()},
            "/": ("text/html", PAGE),
            "/module.js": ("text/javascript", page_module()),
            "/traits.json": ("application/json", json.dumps(traits)),
        }

        self._texts = texts

        class Files(RequestHandler):
            def prepare(self):
                site.requests.append(self.request.path)
                kind, text = texts.get(self.request.path, ("text/plain", "arrived"))
                self.set_header("Content-Type", f"{kind}; charset=utf-8")
                if self.request.path.endswith(".gz") and self.request.path not in texts:
                    self.set_status(404)
                self.set_header("Access-Control-Allow-Origin", "*")
                self.set_header("X-Content-Type-Options", "nosniff")
                if policy is not None and (has_one_policy or self.request.path == "/"):
                    self.set_header("Content-Security-Policy", policy)
                self.finish(text)

        class Channel(WebSocketHandler):
            def open(self):
                self.set_nodelay(True)
                site.sockets.append(self)

            def on_message(self, message):
                site.hear(json.loads(message))

            def on_close(self):
                site.sockets.remove(self)

        [listening] = bind_sockets(0, "127.0.0.1")
        application = Application([("/channel", Channel), (".*", Files)], websocket_max_message_size=10 * 2**20)
        self._server = HTTPServer(application)
        self._server.add_socket(listening)
        self.url = f"http://{host}:{listening.getsockname()[1]}"

    def replace(self, path, data):
        """Serve something else at a path below the labextensions."""
        self._texts[f"/lab/extensions/{path}"] = ("application/gzip", data)

    async def close(self):
        self._server.stop()
        await self._server.close_all_connections()


class Pages:
    """A ``PageChannel`` to tabs of a browser. ``heard`` lists what the pages sent, ``sent`` what was sent to them."""

    def __init__(self, context, site):
        self.context, self.site = context, site
        self.tabs = []
        self.heard, self.sent = [], []
        self.arrived = asyncio.Event()
        self._callbacks = []
        site.hear = self.say

    async def open(self):
        """Open a tab and wait until its code runs."""
        tab = await self.context.new_page()
        self.tabs.append(tab)
        await self.load(tab)
        return tab

    async def load(self, tab):
        """Load the page into a tab, again if it is there; return the new page's id once its code runs."""
        known = {message["from"] for message in self.heard}
        await tab.goto(self.site.url)
        await self.until(lambda: self._fresh(known))
        return self._fresh(known)

    def _fresh(self, known):
        """The id of a page that said hello and is not among the ``known``."""
        return next((message["from"] for message in self._heard("hello") if message["from"] not in known), None)

    def send(self, content, buffers=None):
        self.sent.append(content)
        encoded = {"buffers": [base64.b64encode(buffer).decode() for buffer in buffers]} if buffers else {}
        text = json.dumps(content | encoded)
        for socket in self.site.sockets:
            socket.write_message(text)

    def on_message(self, callback):
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback)

    def say(self, content):
        """Tell the kernel something: what a page sent, or what a test forges."""
        self.heard.append(content)
        self.arrived.set()
        for callback in tuple(self._callbacks):
            callback(content, ())

    async def until(self, condition):
        """Wait until ``condition`` holds; it is looked at whenever a message arrives."""
        async with asyncio.timeout(20):
            while not condition():
                self.arrived.clear()
                await self.arrived.wait()

    async def until_heard(self, kind, count=1):
        """Wait until the pages sent ``count`` messages of a kind; return the last of them."""
        await self.until(lambda: len(self._heard(kind)) >= count)
        return self._heard(kind)[count - 1]

    async def gap(self):
        """The longest time in ms that the page's timers stood still since the last call.

        Asked for by the page's own channel: to Playwright a page whose frame crashed counts as crashed.
        """
        count = len(self._heard("gap")) + 1
        self.send({"to": "page", "type": "gap"})
        return (await self.until_heard("gap", count))["gap"]

    def _heard(self, kind):
        return [message for message in self.heard if message["type"] == kind]


@asynccontextmanager
async def chromium(*, memory=None):
    """A headless Chromium; ``memory`` limits the data of each of its processes, in bytes.

    Chromium limits its renderers itself, but not under ``--no-sandbox``.
    """
    program = os.environ.get("CODEMODE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    async with async_playwright() as playwright:
        with tempfile.TemporaryDirectory() as folder:
            if memory is not None:
                limited = Path(folder) / "chromium"
                limited.write_text(f'#!/bin/sh\nulimit -d {memory // 1024}\nexec "{program}" "$@"\n')
                limited.chmod(0o700)
                program = str(limited)
            browser = await playwright.chromium.launch(executable_path=program, args=FLAGS)
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def open_pages(browser, worker, *, count=1, policy=None, **server):
    """Pages in a profile of their own, served with the script for their Workers; ``server`` goes to ``Site``."""
    site = Site(worker, policy, **server)
    context = await browser.new_context()
    try:
        pages = Pages(context, site)
        for _ in range(count):
            await pages.open()
        yield pages
    finally:
        await context.close()
        await site.close()
