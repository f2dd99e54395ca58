"""The pipes to a child process, watched by the loop and by threads: the same either way."""

import asyncio
import logging
import subprocess
import sys

import pytest

from codemode_jupyter.sandbox.pipes import LoopPipes
from codemode_jupyter.sandbox.thread_pipes import ThreadPipes

ECHO = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stdout.buffer.flush()"


class Child:
    """A Python process behind pipes, and what it said."""

    def __init__(self, kind, program, on_line=None):
        self.process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.lines, self.changed, self.has_ended = [], asyncio.Event(), False
        self.on_line = on_line
        self.pipes = kind(self.process, asyncio.get_running_loop(), self.take, self.end)

    def take(self, line):
        self.lines.append(line)
        self.changed.set()
        if self.on_line is not None:
            self.on_line(line)

    def end(self):
        self.has_ended = True
        self.changed.set()

    async def until(self, condition):
        while not condition():
            self.changed.clear()
            await asyncio.wait_for(self.changed.wait(), 20)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.pipes.close()


@pytest.fixture(params=[LoopPipes, ThreadPipes])
def kind(request):
    return request.param


async def test_lines_come_back_whole_and_in_order(kind):
    child = Child(kind, ECHO)
    sent = [b"first", b"", "€".encode(), b"x" * 300_000, *(b"%d" % n for n in range(2_000)), b"last"]
    child.pipes.write(b"\n".join(sent[:4]) + b"\n")
    for line in sent[4:]:
        child.pipes.write(line + b"\n")
    await child.until(lambda: len(child.lines) == len(sent))
    assert child.lines == sent
    child.close()


async def test_writing_never_waits_for_a_process_that_does_not_read(kind):
    child = Child(kind, "import sys; sys.stderr.write('there'); sys.stderr.flush(); sys.stdin.buffer.read(5)")
    for _ in range(50):
        child.pipes.write(b"y" * 100_000 + b"\n")
    # It reads five bytes and ends; what it did not take is dropped.
    await child.until(lambda: child.has_ended)
    child.pipes.write(b"more\n")
    assert child.lines == []
    child.close()


async def test_the_end_comes_after_every_line_and_with_the_end_of_the_errors(kind):
    child = Child(kind, "import sys; print('a'); print('b'); sys.stderr.write('e' * 50_000 + 'out of memory')")
    await child.until(lambda: child.has_ended)
    assert child.lines == [b"a", b"b"]
    assert child.pipes.error_text.endswith(b"eeout of memory")
    assert len(child.pipes.error_text) <= 4_000
    child.close()


async def test_a_line_that_cannot_be_taken_costs_no_other(kind, caplog):
    def fail(line):
        if line == b"1":
            raise LookupError

    child = Child(kind, ECHO, fail)
    with caplog.at_level(logging.CRITICAL, "asyncio"):
        child.pipes.write(b"1\n2\n3\n")
        await child.until(lambda: len(child.lines) == 3)
    child.close()


async def test_output_can_be_closed_from_within_a_line(kind):
    child = Child(kind, "print('1\\n2')")
    child.on_line = lambda _: child.pipes.close()
    await child.until(lambda: child.lines)
    child.close()
    assert child.lines[0] == b"1"


def test_another_loop_goes_on_where_a_closed_one_stopped(kind):
    kept = []

    async def begin():
        child = Child(kind, ECHO)
        child.pipes.write(b"first\n")
        await child.until(lambda: child.lines)
        # More than the pipes hold: most of it is still to be written when this loop ends.
        child.pipes.write(b"z" * 1_000_000 + b"\n")
        kept.append(child)

    async def go_on():
        [child] = kept
        child.changed = asyncio.Event()
        child.pipes.attach(asyncio.get_running_loop())
        child.pipes.write(b"last\n")
        await child.until(lambda: child.lines[-1] == b"last")
        child.close()
        return child.lines

    asyncio.run(begin())
    lines = asyncio.run(go_on())
    assert lines[0] == b"first"
    assert lines[-1] == b"last"
