"""The benchmarks run in the page of the end-to-end tests."""

from tests.e2e.fixtures import browser, context, desk, server

__all__ = ["browser", "context", "desk", "server"]
