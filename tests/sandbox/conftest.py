"""The sandbox in Deno, one process for a module's tests."""

import asyncio

import pytest

from codemode_jupyter.sandbox.deno import DenoExecutor, find_deno


@pytest.fixture(scope="module")
def deno():
    if find_deno() is None:
        pytest.skip("there is no Deno: pip install 'codemode-jupyter[headless]'")
    executor = DenoExecutor()
    yield executor
    asyncio.run(executor.close())
