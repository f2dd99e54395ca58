"""JupyterLab loses its connection to the kernel, for a moment, for longer, and for good: the run loses nothing.

JupyterLab tries seven times to connect again: at once, then within 1, 3, 7, 15, 31 and 63 seconds of random waiting.
The server keeps what the kernel says meanwhile; what was on its way is gone.
"""

import json
import random
import re
import sys

import pytest

from tests.e2e.fixtures import Desk
from tests.e2e.lean import listening_to
from tests.e2e.lost_programs import EFFECTS, GATED, MANY, TOOLS, check_many
from tests.e2e.proxy import proxied
from tests.e2e.waiting import until

SAY = "_ = Path('outcome.json').write_text(json.dumps(outcome))"
GIVE_UP = "() => { jupyterapp.shell.currentWidget.sessionContext.session.kernel._reconnectAttempt = 7; }"
STATUS = "() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.connectionStatus"


@pytest.fixture
def desk(server, context, request):
    with proxied(server) as (behind, proxy):
        place = Desk(behind, context, server.root / re.sub(r"\W+", "-", request.node.name))
        place.folder.mkdir()
        place.proxy = proxy
        yield place
        proxy.reopen()
        server.end_kernels()


def outcome(desk):
    file = desk.folder / "outcome.json"
    return json.loads(until(lambda: file.exists() and file.read_text(), "the outcome is written", timeout=60))


def started(desk, program, effects):
    """Open JupyterLab and begin the program; the cell after it writes the outcome."""
    desk.write(TOOLS, program, SAY)
    tab = desk.open()
    tab.run(0)
    tab.cell(1).run()
    tab.cell(2).run()
    until(lambda: len(desk.effects) >= effects, f"there are {effects} effects")
    return tab


def test_connections_that_break_at_random_moments_in_the_midst_of_calls(desk):
    seed = random.randrange(2**32)  # noqa: S311  moments, not secrets
    moments = random.Random(seed)  # noqa: S311
    sys.stdout.write(f"seed {seed}\n")  # shown when the test fails
    tab = started(desk, MANY, 1)
    for _ in range(8):
        before = len(desk.effects)
        until(lambda before=before: len(desk.effects) > before, "the program goes on")
        tab.page.wait_for_timeout(300 * moments.random())
        desk.proxy.cut()
    (desk.folder / "enough").touch()
    result = outcome(desk)
    check_many(desk.effects, result)


@pytest.mark.parametrize("is_for_good", [False, True], ids=["for some seconds", "for good, until a reload"])
def test_a_connection_that_is_gone_longer_than_the_kernel_waits(desk, server, is_for_good):
    tab = started(desk, GATED, 3)
    [session] = server.request("GET", "/api/sessions")
    with listening_to(server, session["kernel"]["id"], desk.folder) as kernel:
        if is_for_good:
            tab.page.evaluate(GIVE_UP)
        desk.proxy.cut(stay_shut=True)
        kernel.says("who")  # the page is given up
    if is_for_good:
        assert tab.page.evaluate(STATUS) == "disconnected"
    desk.proxy.reopen()
    if is_for_good:
        tab.reload_while_busy()
    (desk.folder / "open").touch()
    assert outcome(desk)["sum"] == 6
    assert sorted(desk.effects) == sorted(EFFECTS)
