from __future__ import annotations

import pytest

from tests.connectors.web import serve


@pytest.fixture
def server():
    with serve() as running:
        yield running


@pytest.fixture
def other():
    with serve() as running:
        yield running
