"""Every way out of a sandbox that we know, tried by a program, in the page and in Deno: none may work.

Two things hold a program back, the lockdown and the policy of the frame or the permissions of the process; each is
tried alone as well. ``test_escape_controls.py`` shows that without both the ways do work.
"""

import asyncio
import contextlib

import pytest
import pytest_asyncio
from playwright.async_api import Error

from codemode_jupyter.program import ModuleSet, prepare_program
from codemode_jupyter.sandbox.frame import inline_frame
from codemode_jupyter.sandbox.worker_source import worker_source
from tests.sandbox.conftest import make_deno
from tests.sandbox.escapes.attempt import attempt, got_out, program, worked
from tests.sandbox.escapes.controls import open_chromium, open_deno, unlocked_worker
from tests.sandbox.escapes.listeners import CANARY, listening
from tests.sandbox.escapes.ways import DOCUMENT, ENDINGS, NAVIGATIONS, REQUESTS, WAYS
from tests.sandbox.kernel import evaluate
from tests.sandbox.real_page import chromium

pytestmark = pytest.mark.asyncio(loop_scope="module")

SURVIVED = {name: body for name, body in WAYS.items() if name not in ENDINGS}
"""Ways after which a sandbox that lets them can still tell what they took."""

MAKERS = [
    f"Object.getPrototypeOf({sample}).constructor" for sample in ("() => {}", "async () => {}", "function* () {}")
]
"""The engine's own makers of code from text."""

REFUSAL = "(make) => { try { make('1'); return 'made' } catch (error) { return error.name } }"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser():
    async with chromium() as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="module")
async def listeners(tmp_path, monkeypatch):
    monkeypatch.setenv("CODEMODE_SECRET", CANARY)
    async with listening(tmp_path) as opened:
        yield opened


def runner(executor, *, is_prepared=True):
    """Return what runs a program's text as the runtime has it run, or as it was written."""

    async def run(source):
        return await evaluate(
            executor, prepare_program(source, ModuleSet()).source if is_prepared else source, timeout=30
        )

    return run


@pytest.mark.parametrize("is_prepared", [True, False], ids=["as the runtime sends it", "as it was written"])
async def test_no_program_gets_out(sandbox, listeners, is_prepared):
    assert len(WAYS) > 250
    assert await attempt(listeners, WAYS, runner(sandbox, is_prepared=is_prepared)) == {}


async def test_no_program_gets_out_of_a_page_without_the_policy(browser, monkeypatch, listeners):
    async with open_chromium(monkeypatch, browser, worker=worker_source()) as (_, executor):
        assert await attempt(listeners, WAYS, runner(executor)) == {}


async def test_no_program_gets_out_of_a_deno_with_permissions(monkeypatch, tmp_path, listeners):
    await make_deno().close()
    async with open_deno(monkeypatch, tmp_path, listeners, worker=worker_source()) as executor:
        assert await attempt(listeners, WAYS, runner(executor)) == {}


async def test_a_worker_without_the_lockdown_does_not_get_out_of_the_page(browser, monkeypatch, listeners):
    held = {"markup": inline_frame(), "worker": unlocked_worker(), "is_sandboxed": True}
    async with open_chromium(monkeypatch, browser, **held) as (_, executor):
        found = await attempt(listeners, SURVIVED, runner(executor, is_prepared=False))
    assert "navigator" in found
    assert got_out(found) == set()


async def test_a_worker_without_the_lockdown_does_not_get_out_of_deno(monkeypatch, tmp_path, listeners):
    await make_deno().close()
    async with open_deno(monkeypatch, tmp_path, listeners, is_permitted=False) as executor:
        found = await attempt(listeners, SURVIVED, runner(executor, is_prepared=False))
        refused = await evaluate(executor, f"async () => [{', '.join(MAKERS)}].map({REFUSAL})")
    assert "Deno-core" in found
    assert got_out(found) == set()
    assert refused == ["EvalError"] * len(MAKERS)


async def test_code_in_the_frames_own_thread_does_not_get_out(browser, listeners):
    """No program runs there. All that works from it is WebRTC, which no policy forbids."""
    groups = [DOCUMENT | REQUESTS, *({name: body} for name, body in NAVIGATIONS.items())]
    tab = await browser.new_page()
    await tab.goto(listeners.page)
    found = await in_frames_of_their_own(tab, inline_frame(), listeners, groups)
    await tab.close()
    assert set(found) <= {"RTCPeerConnection-stun", "RTCPeerConnection-turn"}


async def in_frames_of_their_own(tab, markup, listeners, groups, *, rights="allow-scripts"):
    """Try each group of ways in the own thread of the innermost frame of ``markup``, each in a copy of it."""
    add = """([markup, rights]) => new Promise((loaded) => {
      const frame = document.createElement("iframe");
      if (rights !== null) frame.setAttribute("sandbox", rights);
      frame.srcdoc = markup;
      frame.onload = loaded;
      document.body.append(frame);
    })"""
    await asyncio.gather(*(tab.evaluate(add, [markup, rights]) for _ in groups))
    innermost = [frame for frame in tab.frames if frame.parent_frame and not frame.child_frames][-len(groups) :]

    async def try_group(frame, ways):
        with contextlib.suppress(Error, TimeoutError):  # a frame that goes away ends the call, or leaves it without one
            async with asyncio.timeout(1.5):
                return await frame.evaluate(program(listeners.targets(ways), ways))
        return {}

    taken = await asyncio.gather(*map(try_group, innermost, groups))
    return await worked(listeners, WAYS, {name: what for each in taken for name, what in each.items()})
