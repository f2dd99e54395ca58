"""A connection that a test can cut: a small TCP proxy in front of the server.

Owns: the port, and passing bytes on. Never does: understand them.
"""

import contextlib
import socket
import struct
import threading
from contextlib import contextmanager
from dataclasses import replace

_RESET = struct.pack("ii", 1, 0)
"""Of SO_LINGER: closing drops what is under way."""


class Proxy:
    """Passes connections on to ``port`` while it is open. ``cut`` breaks all there are."""

    def __init__(self, port):
        self._target = ("127.0.0.1", port)
        self._sockets = set()
        self._is_open = True
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self, *, stay_shut=False):
        """Break every connection, with what is on its way; with ``stay_shut`` refuse new ones until ``reopen``."""
        self._is_open = not stay_shut
        for opened in tuple(self._sockets):
            self._close(opened)

    def reopen(self):
        self._is_open = True

    def close(self):
        self._listening.close()
        self.cut(stay_shut=True)

    def _accept(self):
        with contextlib.suppress(OSError):  # closed
            while True:
                browser, _ = self._listening.accept()
                if not self._is_open:
                    browser.close()
                    continue
                server = socket.create_connection(self._target)
                for opened in (browser, server):
                    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self._sockets.add(opened)
                for pair in ((browser, server), (server, browser)):
                    threading.Thread(target=self._pass_on, args=pair, daemon=True).start()

    def _pass_on(self, source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        self._close(source)
        self._close(target)

    def _close(self, opened):
        if opened in self._sockets:
            self._sockets.discard(opened)
            with contextlib.suppress(OSError):
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                opened.shutdown(socket.SHUT_RDWR)
            opened.close()


@contextmanager
def proxied(server):
    """The server behind a proxy, and the proxy, until the block ends."""
    proxy = Proxy(server.port)
    try:
        yield replace(server, port=proxy.port), proxy
    finally:
        proxy.close()
