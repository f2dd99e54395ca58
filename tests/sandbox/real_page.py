"""The page's real code in a real Chromium, without JupyterLab: bare pages whose anywidget model leads to this process.

``Pages`` is a ``PageChannel`` whose pages are tabs of one browser; ``Site`` serves them and logs every request.
"""

import asyncio
import json
import os
import shutil
import threading
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from playwright.async_api import async_playwright

from codemode_jupyter.sandbox.page_channel import page_module, relay_source

FLAGS = [
    "--no-sandbox",  # Chromium cannot make its own sandbox as root or in most containers
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

PAGE = """<!doctype html><title>A notebook</title><p id="text">A page.</p><script type="module">
import definition from "/module.js";
const traits = await (await fetch("/traits.json")).json();
window.startWidget = () => {
  const listeners = new Set();
  const model = {
    get: (name) => traits[name],
    send: (content) => void window.toKernel(content),
    on: (_event, listener) => void listeners.add(listener),
    off: (_event, listener) => void listeners.delete(listener),
  };
  const cleanup = definition.initialize({ model });
  return { cleanup, deliver: (content) => listeners.forEach((listener) => listener(content)) };
};
window.widgets = [startWidget()];
window.deliver = (contents) => contents.forEach((content) => widgets.forEach((widget) => widget.deliver(content)));
// The longest time that the page's timers stood still, in ms.
let last = performance.now();
window.gap = 0;
setInterval(() => { const now = performance.now(); window.gap = Math.max(window.gap, now - last); last = now; }, 10);
</script>"""


class Site:
    """A server for the page and its scripts; ``requests`` lists the path of every request it got."""

    def __init__(self, worker, policy=None):
        self.requests = []
        site = self
        files = {
            "/": ("text/html", PAGE),
            "/module.js": ("text/javascript", page_module()),
            "/traits.json": (
                "application/json",
                json.dumps({"_relay_source": relay_source(), "_worker_source": worker}),
            ),
        }

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                site.requests.append(self.path)
                kind, text = files.get(self.path, ("text/plain", "arrived"))
                self.send_response(200)
                self.send_header("Content-Type", f"{kind}; charset=utf-8")
                self.send_header("Access-Control-Allow-Origin", "*")
                if policy is not None:
                    self.send_header("Content-Security-Policy", policy)
                self.end_headers()
                self.wfile.write(text.encode())

            do_POST = do_OPTIONS = do_HEAD = do_GET

            def log_message(self, *args):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


class Pages:
    """A ``PageChannel`` to tabs of a browser. ``heard`` lists what the pages sent, ``sent`` what was sent to them."""

    def __init__(self, context, site):
        self.context, self.site = context, site
        self.tabs = []
        self.heard, self.sent = [], []
        self._callbacks = []
        self._outgoing = []
        self._tasks = set()

    async def open(self):
        """Open a tab and wait until its code runs."""
        tab = await self.context.new_page()
        await tab.expose_binding("toKernel", lambda _source, content: self._hear(content))
        self.tabs.append(tab)
        await self.load(tab)
        return tab

    async def load(self, tab):
        await tab.goto(self.site.url)
        await tab.wait_for_function("window.gap > 0")

    def send(self, content, buffers=None):
        self.sent.append(content)
        if not self._outgoing:
            asyncio.get_running_loop().call_soon(self._deliver)
        self._outgoing.append(content)

    def on_message(self, callback):
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback)

    def say(self, content):
        """Say something to the kernel as if a page had sent it."""
        self._hear(content)

    async def until_heard(self, kind, count=1):
        """Wait until the pages sent ``count`` messages of a kind; return the last."""
        async with asyncio.timeout(20):
            while len(found := [message for message in self.heard if message.get("type") == kind]) < count:
                await asyncio.sleep(0.01)
        return found[-1]

    def _hear(self, content):
        self.heard.append(content)
        for callback in tuple(self._callbacks):
            callback(content, ())

    def _deliver(self):
        contents, self._outgoing = self._outgoing, []
        for tab in self.tabs:
            task = asyncio.get_running_loop().create_task(self._deliver_to(tab, contents))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _deliver_to(self, tab, contents):
        try:
            await tab.evaluate("(contents) => window.deliver?.(contents)", contents)
        except Exception:  # noqa: BLE001  the tab is closed or loads another page: its messages are lost, as in real life
            return


@asynccontextmanager
async def chromium():
    """A headless Chromium."""
    program = os.environ.get("CODEMODE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=FLAGS)
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def open_pages(browser, worker, *, count=1, policy=None):
    """Pages in a profile of their own, served with the script for their Workers."""
    site = Site(worker, policy)
    context = await browser.new_context()
    try:
        pages = Pages(context, site)
        for _ in range(count):
            await pages.open()
        yield pages
    finally:
        await context.close()
        site.close()
