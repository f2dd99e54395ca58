"""What a host says to the browser's executor: a limit on every pass, a policy of its own; in a real Chromium."""

import asyncio
import json

import pytest
import pytest_asyncio

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.browser import BrowserExecutor
from tests.sandbox.kernel import Kernel
from tests.sandbox.real_page import chromium, open_pages

pytestmark = pytest.mark.asyncio(loop_scope="module")

BARE = """onmessage = ({ ports: [port] }) => {
  port.onmessage = async ({ data }) => {
    let value;
    try { value = await (0, eval)(`(${JSON.parse(data).source})`)() } catch (error) { value = String(error) }
    const done = { type: "done", status: "completed", value: JSON.stringify(value), issued: 0, events: [], lines: [] };
    port.postMessage(JSON.stringify(done));
  };
};"""
"""A Worker without the runtime and its lockdown: what holds a program here is the policy alone."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pages():
    async with chromium() as browser, open_pages(browser, BARE) as opened:
        yield opened


async def fetched(executor, pages, name):
    """Tell whether a program's request arrived at the page's server."""
    path = f"/asked/{name}"
    attempt = f"return (await fetch('{pages.site.url}{path}')).status"
    source = f"async () => {{ try {{ {attempt} }} catch {{ return 'refused' }} }}"
    end = await Kernel(source).run(executor)
    assert (json.loads(end.value) == 200) == (path in pages.site.requests)
    return path in pages.site.requests


async def test_a_policy_opens_what_it_names_for_its_own_executor_alone(pages):
    open_to_site = BrowserExecutor(pages, csp=f"connect-src {pages.site.url}")
    open_to_other = BrowserExecutor(pages, csp="connect-src https://other.example")
    ours = BrowserExecutor(pages)
    executors = {"site": open_to_site, "other": open_to_other, "ours": ours}
    arrived = await asyncio.gather(*(fetched(executor, pages, name) for name, executor in executors.items()))
    assert dict(zip(executors, arrived, strict=True)) == {"site": True, "other": False, "ours": False}
    # Again, one after the other: each stays in its own frame.
    assert not await fetched(ours, pages, "ours-again")
    assert await fetched(open_to_site, pages, "site-again")
    for executor in executors.values():
        await executor.close()


async def test_a_page_that_is_loaded_again_has_the_policy_again(pages):
    executor = BrowserExecutor(pages, csp=f"connect-src {pages.site.url}")
    assert await fetched(executor, pages, "before")
    await pages.load(pages.tabs[0])
    assert await fetched(executor, pages, "after")
    await executor.close()


async def test_the_executors_limit_holds_whatever_the_runtime_allows(pages):
    executor = BrowserExecutor(pages, timeout=0.3)
    end = await Kernel("async () => { for (;;) {} }", timeout=20).run(executor)
    assert (end.kind, "0.3 s" in end.error) == ("timeout", True)
    await executor.close()


@pytest.mark.parametrize(
    "options",
    [{"timeout": 0}, {"timeout": -1}, {"timeout": "5"}, {"timeout": True}, {"max_passes": 0}, {"csp": "default-src *"}],
)
async def test_options_without_a_meaning_are_refused(pages, options):
    with pytest.raises(CodemodeError) as refusal:
        BrowserExecutor(pages, **options)
    assert refusal.value.code == "invalid_option"
