"""What the product cannot be faster than: a bare Deno process behind a pipe, a bare SQLite commit."""

import asyncio
import contextlib
import os
import sqlite3
import subprocess

from codemode_jupyter.sandbox.deno import find_deno

# As one would write it: streams on both sides.
STREAM_ECHO = "for await (const chunk of Deno.stdin.readable) Deno.stdout.writeSync(chunk);"
# As fast as it goes.
TIGHT_ECHO = """
const chunk = new Uint8Array(65536);
for (let n; (n = await Deno.stdin.read(chunk)) !== null; ) Deno.stdout.writeSync(chunk.subarray(0, n));
"""
LINE = b'{"type":"replies","replies":[{"seq":100,"state":"applied","value":"1"}]}\n'


@contextlib.asynccontextmanager
async def echo_of_streams(folder):
    """A round trip as asyncio's own subprocess streams and Deno's readable stream make it."""
    file = folder / "stream_echo.js"
    file.write_text(STREAM_ECHO)
    process = await asyncio.create_subprocess_exec(
        find_deno(), "run", "--no-config", file, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )

    async def round_trips(count):
        for _ in range(count):
            process.stdin.write(LINE)
            await process.stdout.readline()

    await round_trips(100)
    round_trips.pid = process.pid
    yield round_trips
    process.kill()
    await process.wait()


@contextlib.asynccontextmanager
async def tightest_echo(folder):
    """A round trip with nothing around it: blocking on this side, one operation on the other."""
    file = folder / "tight_echo.js"
    file.write_text(TIGHT_ECHO)
    process = await asyncio.to_thread(
        subprocess.Popen,
        [find_deno(), "run", "--no-config", file],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
    )

    async def round_trips(count):
        for _ in range(count):
            os.write(process.stdin.fileno(), LINE)
            while not os.read(process.stdout.fileno(), 65536).endswith(b"\n"):
                pass

    await round_trips(100)
    round_trips.pid = process.pid
    yield round_trips
    process.kill()
    await asyncio.to_thread(process.wait)


async def bare_start(folder):
    """The start of a Deno process that does nothing, and its end."""
    file = folder / "nothing.js"
    file.write_text("")
    process = await asyncio.create_subprocess_exec(find_deno(), "run", "--no-config", file)
    await process.wait()


@contextlib.asynccontextmanager
async def bare_commits(folder):
    """A commit that survives a power cut, of one short row."""
    connection = sqlite3.connect(folder / "bare.sqlite3", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE entry (number INTEGER PRIMARY KEY, text TEXT)")

    async def commits(count):
        for _ in range(count):
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO entry (text) VALUES ('x')")
            connection.execute("COMMIT")

    yield commits
    connection.close()
