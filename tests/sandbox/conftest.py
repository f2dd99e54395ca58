"""The sandboxes that the tests' programs run in."""

import asyncio

import pytest
import pytest_asyncio

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.browser import BrowserExecutor
from codemode_jupyter.sandbox.deno import DenoExecutor, find_deno
from codemode_jupyter.sandbox.python.making import ensure_assets
from codemode_jupyter.sandbox.worker_source import worker_source
from tests.sandbox.real_page import chromium, open_pages


def make_deno():
    if find_deno() is None:
        pytest.skip("there is no Deno: pip install 'codemode-jupyter[headless]'")
    return DenoExecutor()


def require_python():
    """Make the files of the sandbox's Python, or skip the test where they cannot be had."""
    try:
        ensure_assets(find_deno() or "deno")
    except CodemodeError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def deno():
    """The headless sandbox, one process for a module's tests; it works on any event loop."""
    executor = make_deno()
    yield executor
    asyncio.run(executor.close())


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["deno", "chromium"])
async def sandbox(request):
    """Each sandbox in turn. A module that takes it runs its tests on one loop: ``asyncio(loop_scope="module")``."""
    if request.param == "deno":
        executor = make_deno()
        yield executor
        await executor.close()
        return
    async with chromium() as browser, open_pages(browser, worker_source()) as pages:
        executor = BrowserExecutor(pages)
        yield executor
        await executor.close()
