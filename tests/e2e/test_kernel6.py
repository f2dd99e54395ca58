"""The cell on ipykernel 6, whose own loop takes no message while a cell runs."""

import pytest

from tests.e2e.fixtures import KERNEL6
from tests.e2e.notebooks import GATED, QUICK, SETUP
from tests.kernels import kernel6_python

pytestmark = pytest.mark.skipif(kernel6_python() is None, reason="`python tests/kernels.py` makes the second kernel")


def test_a_cell_runs_waits_is_approved_and_stopped_on_ipykernel_6(desk):
    desk.write(
        SETUP + "\nimport ipykernel; ipykernel.version_info[0]",
        GATED,
        "%%codemode\nawait new Promise(() => { setInterval(() => world.read({number: 1}), 50); });",
        QUICK,
        kernel=KERNEL6,
    )
    tab = desk.open()
    tab.run(0).shows("6")
    tab.run(1).shows("Waiting for you").press("Approve").shows("Completed")
    assert desk.effects == ["read 7", "act seven"]
    endless = tab.cell(2).run().shows("world.read")
    tab.interrupt()
    endless.finished().shows("Stopped")
    tab.run(3).shows("Completed", "42")


def test_approve_works_after_a_reload_on_ipykernel_6(desk):
    desk.write(SETUP, GATED, kernel=KERNEL6)
    tab = desk.open()
    tab.run(0, 1).shows("Waiting for you")
    tab.save()
    tab.reload()
    tab.cell(1).shows("Waiting for you", timeout=30).press("Approve").shows("Completed")
    assert desk.effects == ["read 7", "act seven"]
