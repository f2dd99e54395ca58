"""Every way out of a sandbox that we know, tried by a program in Python, in the page and in Deno: none may work.

Python reaches the JavaScript around it, so what holds it is what holds programs in JavaScript: the lockdown, and the
policy of the frame or the permissions of the process. Each is tried alone as well; ``test_escape_controls.py`` shows
that without both the ways do work.
"""

import asyncio
import json

import pytest
import pytest_asyncio

from codemode_jupyter.sandbox.frame import inline_frame
from codemode_jupyter.sandbox.worker_source import python_worker_parts, python_worker_source, worker_source
from tests.sandbox.conftest import make_deno, require_python
from tests.sandbox.escapes.attempt import attempt, got_out, python_program
from tests.sandbox.escapes.controls import open_chromium, open_deno
from tests.sandbox.escapes.listeners import CANARY, listening
from tests.sandbox.escapes.python_ways import ALONE, PYTHON_WAYS
from tests.sandbox.kernel import Kernel
from tests.sandbox.real_page import chromium

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOGETHER = {name: body for name, body in PYTHON_WAYS.items() if name not in ALONE}
DISTURBING = [{name: body} for name, body in ALONE.items()]
SURVIVED = [TOGETHER, *(ways for ways in DISTURBING if "js-Deno-stdin" not in ways)]
"""Ways that do not stand still for ever where they work."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser():
    require_python()
    async with chromium() as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="module")
async def listeners(tmp_path, monkeypatch):
    monkeypatch.setenv("CODEMODE_SECRET", CANARY)
    async with listening(tmp_path) as opened:
        yield opened


def runner(executor, ends):
    """Return what runs a program's text; how it ended is added to ``ends``."""

    async def run(source):
        kernel = Kernel(source, language="python", timeout=30)
        end = await kernel.run(executor)
        ends.append(end)
        assert kernel.asked == []
        return json.loads(end.value) if end.kind == "completed" else {}

    return run


async def find(listeners, executor, groups=(TOGETHER, *DISTURBING)):
    """Return the ways of all groups that worked, each group in a program of its own."""
    ends = []
    found = await asyncio.gather(*(attempt(listeners, ways, runner(executor, ends), python_program) for ways in groups))
    assert "completed" in {end.kind for end in ends}
    assert {end.kind for end in ends} <= {"completed", "failed", "protocol"}
    return {name: what for each in found for name, what in each.items()}


async def test_no_program_in_python_gets_out_of_deno(listeners):
    require_python()
    assert len(PYTHON_WAYS) > 200
    executor = make_deno()
    assert await find(listeners, executor) == {}
    await executor.close()


async def test_no_program_in_python_gets_out_of_a_deno_with_permissions(monkeypatch, tmp_path, listeners):
    require_python()
    held = {"worker": worker_source(), "python": python_worker_source}
    async with open_deno(monkeypatch, tmp_path, listeners, **held) as executor:
        assert await find(listeners, executor) == {}


async def test_python_without_the_lockdown_does_not_get_out_of_deno(monkeypatch, tmp_path, listeners):
    require_python()
    async with open_deno(monkeypatch, tmp_path, listeners, is_permitted=False) as executor:
        found = await find(listeners, executor, SURVIVED)
    assert "js-Deno" in found
    assert got_out(found) == set()


async def test_no_program_in_python_gets_out_of_a_page(browser, monkeypatch, listeners):
    held = {"markup": inline_frame(), "worker": worker_source(), "python": python_worker_parts(), "is_sandboxed": True}
    async with open_chromium(monkeypatch, browser, **held) as (_, executor):
        assert await find(listeners, executor) == {}


async def test_no_program_in_python_gets_out_of_a_page_without_the_policy(browser, monkeypatch, listeners):
    held = {"worker": worker_source(), "python": python_worker_parts()}
    async with open_chromium(monkeypatch, browser, **held) as (_, executor):
        assert await find(listeners, executor, [TOGETHER]) == {}


async def test_python_without_the_lockdown_does_not_get_out_of_the_page(browser, monkeypatch, listeners):
    held = {"markup": inline_frame(), "is_sandboxed": True}
    async with open_chromium(monkeypatch, browser, **held) as (_, executor):
        found = await find(listeners, executor, [TOGETHER])
    assert "js-WebSocket" in found
    assert got_out(found) == set()
