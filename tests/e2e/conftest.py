"""What the end-to-end tests are given."""

import pytest

from tests.e2e.fixtures import FAILED, browser, context, desk, screenshots, server

__all__ = ["browser", "context", "desk", "screenshots", "server"]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Let fixtures know that their test failed."""
    report = yield
    if report.when == "call" and report.failed:
        item.stash[FAILED] = True
    return report
