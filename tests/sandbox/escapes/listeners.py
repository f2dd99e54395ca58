"""Everything on this machine that a way out could arrive at: each way has an address, ports and a file of its own."""

import asyncio
import socket
from contextlib import asynccontextmanager

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketHandler

CANARY = "nothing-that-a-program-may-see"
"""What stands in the file, in the environment and in the page."""


class Listeners:
    """Servers that note who reached them; ``arrived`` names the ways that did, ``page`` is a plain page of theirs."""

    def __init__(self, folder):
        self.arrived = set()
        self.folder = folder
        self.file = folder / "secret.js"
        self.file.write_text(f"export default {CANARY!r}")
        self._sockets = []

    def targets(self, ways):
        """Return what each way is told: addresses, ports and paths that are its own."""
        return {
            name: {
                "name": name,
                "http": f"{self.url}/escape/{name}",
                "ws": f"{self.url.replace('http', 'ws')}/socket/{name}",
                "tcp": self._port(name, socket.SOCK_STREAM) if "tcp" in body else 0,
                "udp": self._port(name, socket.SOCK_DGRAM) if "udp" in body else 0,
                "file": str(self.file),
                "out": str(self.folder / f"{name}.out"),
            }
            for name, body in ways.items()
        }

    def open(self):
        """Start the server for HTTP and WebSocket."""
        arrived = self.arrived

        class Files(RequestHandler):
            def prepare(self):
                arrived.add(self.request.path.split("/")[2])
                self.set_header("Access-Control-Allow-Origin", "*")
                self.set_header("Access-Control-Allow-Headers", "*")
                self.set_header("Access-Control-Allow-Methods", "*")
                self.set_header("Content-Type", "text/javascript")
                self.finish("1")

        class Page(RequestHandler):
            def get(self):
                self.finish("<!doctype html><title>A page</title><body>")

        class Sockets(WebSocketHandler):
            def check_origin(self, origin):  # noqa: ARG002  part of the protocol
                return True

            def open(self, name):
                arrived.add(name)
                self.close()

        [listening] = bind_sockets(0, "127.0.0.1")
        self._server = HTTPServer(Application([("/socket/(.*)", Sockets), ("/escape/.*", Files), (".*", Page)]))
        self._server.add_socket(listening)
        self.url = "http://{}:{}".format(*listening.getsockname())
        self.page = f"{self.url}/page"

    async def close(self):
        self._server.stop()
        await self._server.close_all_connections()
        loop = asyncio.get_running_loop()
        for opened in self._sockets:
            loop.remove_reader(opened)
            opened.close()

    def _port(self, name, kind):
        opened = socket.socket(socket.AF_INET, kind)
        opened.setblocking(False)
        opened.bind(("127.0.0.1", 0))
        if kind == socket.SOCK_STREAM:
            opened.listen()
        self._sockets.append(opened)
        asyncio.get_running_loop().add_reader(opened, self._heard, name, opened)
        return opened.getsockname()[1]

    def _heard(self, name, opened):
        self.arrived.add(name)
        if opened.type == socket.SOCK_STREAM:
            opened.accept()[0].close()
        else:
            opened.recv(2000)

    def left_files(self, ways):
        """Return the ways that left a file."""
        return {name for name in ways if (self.folder / f"{name}.out").exists()}


@asynccontextmanager
async def listening(folder):
    """Listeners on the running loop, with the secret and the files in ``folder``."""
    listeners = Listeners(folder)
    listeners.open()
    try:
        yield listeners
    finally:
        await listeners.close()
