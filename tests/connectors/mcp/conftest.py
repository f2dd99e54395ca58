"""Servers that run, and runtimes over them."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from codemode_jupyter.connectors.mcp import McpConnector
from codemode_jupyter.runtime.runtime import Runtime
from tests.runtime.fake_sandbox import FakeExecutor

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ROOT / "node_modules" / "@modelcontextprotocol"
TESTER = [sys.executable, str(Path(__file__).with_name("server.py"))]
PATIENCE = 60.0
"""How long a test waits for what must come, in seconds; it takes none of it on a machine that is free."""

SECRET = "s3cr3t-of-the-harbour"  # noqa: S105  one of the tests' own


def node_server(name: str, *arguments: str) -> list[str]:
    """The command of a server of node's package registry, as the tests' set-up installs it."""
    script = PACKAGES / name / "dist" / "index.js"
    if not script.exists():
        pytest.skip(f"{name} is not installed: make test installs it with npm")
    return ["node", str(script), *arguments]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def http_process(command: list[str], port: int, env: dict[str, str] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """A process that listens, until it is left."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
    try:
        for _ in range(1000):
            assert process.poll() is None, "the server ended"
            with socket.socket() as probe:
                probe.settimeout(0.2)
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.02)
        yield process
    finally:
        process.kill()
        process.wait()


async def until(condition: Callable[[], object]) -> None:
    """Return once a condition holds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110  what is waited for sets no event
            await asyncio.sleep(0.002)


class Bench:
    """A runtime over one connector, whose programs are coroutine functions."""

    def __init__(self, connector: McpConnector, path: Path, **options: Any) -> None:
        self.connector = connector
        self.sandbox = FakeExecutor()
        self.runtime = Runtime([connector], executor=self.sandbox, path=path, **options)

    async def run(self, program: Any) -> Any:
        """Run a program and return its outcome."""
        return await self.runtime.execute(self.sandbox.program(program))

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Call one tool; return its value, or raise what it came to."""

        async def program(g: Any) -> Any:
            return await g.call(f"{self.connector.name}.{tool}", arguments)

        outcome = await self.run(program)
        if outcome.error is not None:
            raise AssertionError(f"{outcome.error.code}: {outcome.error.message}")
        return outcome if outcome.status == "paused" else outcome.result

    async def refusal(self, tool: str, **arguments: Any) -> str:
        """Call a tool that must fail; return the message that the program caught."""

        async def program(g: Any) -> Any:
            try:
                return ["not refused", await g.call(f"{self.connector.name}.{tool}", arguments)]
            except Exception as error:  # noqa: BLE001  whatever it is, the program has caught it
                return str(error)

        return (await self.run(program)).result

    async def question(self) -> Any:
        """The one question that is open, once it is."""
        async with asyncio.timeout(PATIENCE):
            while not (asked := await self.runtime.pending()):  # noqa: ASYNC110  a page would be told; a test looks
                await asyncio.sleep(0.002)
        assert len(asked) == 1
        return asked[0]


@asynccontextmanager
async def bench(connector: McpConnector, path: Path, **options: Any) -> AsyncIterator[Bench]:
    made = Bench(connector, path / "log.sqlite3", **options)
    try:
        yield made
    finally:
        await made.runtime.close()


@pytest.fixture(scope="session")
def tester_port() -> Iterator[int]:
    """The tests' own server over HTTP, one for all tests."""
    port = free_port()
    with http_process([*TESTER, str(port)], port):
        yield port


@pytest.fixture
async def tester(tester_port: int, tmp_path: Path) -> AsyncIterator[Bench]:
    """A runtime over the tests' own server."""
    async with bench(McpConnector.http("tester", f"http://127.0.0.1:{tester_port}/mcp"), tmp_path) as made:
        yield made
