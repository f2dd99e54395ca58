"""A page that is lost loses nothing: each effect happens once, and the cell that awaits gets the outcome."""

import json
import os
import random
import signal
import sys

import pytest

from codemode_jupyter.sandbox.deno import find_deno
from tests.e2e.lean import LeanDesk, lean_kernel
from tests.e2e.lost_programs import EFFECTS, GATED, MANY, TOOLS, check_many


@pytest.fixture(scope="module")
def kernel(server):
    with lean_kernel(server, server.root / "lost-pages") as running:
        assert running.cell.run(TOOLS).status == "ok"
        yield running


@pytest.fixture
def desk(kernel, context):
    return LeanDesk(kernel, context)


class Gated:
    """A cell whose program waits for a call in the kernel."""

    def __init__(self, desk, code=GATED):
        self._desk = desk
        desk.kernel.forget()
        self._cell = desk.kernel.cell.begin(code)
        desk.until_effects(3)
        desk.kernel.says("start")  # what it says from now on, it says of this pass

    def ends_well(self):
        """Let the call end; the cell gets the outcome, and everything happened once. Return the number of passes."""
        cell = self._desk.kernel.cell
        self._desk.touch("open")
        finished = cell.finish(self._cell)
        assert finished.status == "ok", finished.error
        assert sorted(self._desk.effects) == sorted(EFFECTS)
        assert json.loads(cell.run("print(json.dumps(outcome))").printed)["sum"] == 6
        return int(cell.run("print((await runtime.executions())[0].passes)").printed)


def test_a_page_that_is_reloaded(desk):
    page = desk.open()
    gated = Gated(desk)
    page.reload()
    assert gated.ends_well() == 2


def test_a_page_that_is_closed_and_opened_again_much_later(desk):
    page = desk.open()
    gated = Gated(desk)
    page.close()
    desk.kernel.says("who", 5)  # no page for seconds: that no page answers is no end
    desk.touch("open")
    desk.until_effects(4)  # the call ends while nobody is there
    desk.open()
    assert gated.ends_well() == 2


def test_a_page_that_goes_to_another_address_and_comes_back(desk):
    page = desk.open()
    gated = Gated(desk)
    page.goto("about:blank")
    page.go_back()
    assert gated.ends_well() == 2


def test_a_page_whose_process_crashes(desk):
    page = desk.open()
    gated = Gated(desk)
    desk.crash(page)
    desk.open()
    assert gated.ends_well() == 2


def test_the_elected_one_of_two_pages_that_is_closed(desk):
    first = desk.open()
    desk.open()
    gated = Gated(desk)
    first.close()
    assert gated.ends_well() == 2


def test_five_reloads_while_a_single_call_is_under_way(desk):
    page = desk.open()
    gated = Gated(desk)
    for _ in range(6):
        page.reload()
        desk.kernel.says("start")
    assert gated.ends_well() > 5


def test_a_computer_that_sleeps_for_long(desk):
    desk.open()
    gated = Gated(desk)
    with desk.asleep():
        desk.kernel.says("who")  # the page is given up
    assert gated.ends_well() == 2


def test_a_computer_that_sleeps_for_a_moment_goes_on_where_it_was(desk):
    desk.open()
    gated = Gated(desk)
    with desk.asleep():
        desk.kernel.says("ping", 2)
    assert gated.ends_well() == 1


def test_a_kernel_that_is_stopped_for_a_moment_blames_no_page(desk):
    page = desk.open()
    process = int(desk.kernel.cell.run("print(os.getpid())").printed)
    gated = Gated(desk)
    os.kill(process, signal.SIGSTOP)
    page.wait_for_timeout(6000)  # longer than a page may be silent
    os.kill(process, signal.SIGCONT)
    assert gated.ends_well() == 1


def test_a_kernel_that_is_stopped_for_long_is_given_up_by_the_page_and_taken_back(desk):
    desk.context.clock.install()
    page = desk.open()
    process = int(desk.kernel.cell.run("print(os.getpid())").printed)
    gated = Gated(desk)
    os.kill(process, signal.SIGSTOP)
    page.clock.fast_forward(70_000)
    os.kill(process, signal.SIGCONT)
    assert gated.ends_well() == 2


@pytest.mark.skipif(find_deno() is None, reason="the extra [headless] is not installed")
def test_a_page_that_never_comes_back_is_done_without(desk):
    prepare = "from codemode_jupyter.notebook import environment; environment.LONG_WAIT = 1.0\n"
    code = prepare + "anywhere = Runtime([world], name='anywhere')"
    assert desk.kernel.cell.run(code).status == "ok"
    page = desk.open()
    gated = Gated(desk, GATED.replace("-o", "-r anywhere -o"))
    page.close()
    assert gated.ends_well() == 2


def test_fifty_reloads_at_random_moments(desk):
    seed = random.randrange(2**32)  # noqa: S311  moments, not secrets
    moments = random.Random(seed)  # noqa: S311
    sys.stdout.write(f"seed {seed}\n")  # shown when the test fails
    page = desk.open()
    cell = desk.kernel.cell.begin(MANY)
    desk.until_effects(1)
    for number in range(50):
        if number % 2:
            desk.until_effects(len(desk.effects) + 1)
        page.wait_for_timeout(500 * moments.random())
        page.reload()
    desk.touch("enough")
    finished = desk.kernel.cell.finish(cell)
    assert finished.status == "ok", finished.error
    check_many(desk.effects, json.loads(desk.kernel.cell.run("print(json.dumps(outcome))").printed))
    passes = int(desk.kernel.cell.run("print((await runtime.executions())[0].passes)").printed)
    assert passes > 20, "most reloads hit a pass"
    sys.stdout.write(f"{len(desk.effects)} effects in {passes} passes\n")
