"""A kernel that dies in the middle of a call: the person is asked what became of it, and nothing happens by itself."""

import os
import signal

import pytest

from tests.e2e.lab import DARK, LIGHT, SLOW
from tests.e2e.notebooks import SETUP
from tests.e2e.waiting import until

SLOW_TOOL = '''
import os, time


def act_slowly(word: str, note_text: str = "") -> dict:
    """Do something in the world that takes its time."""
    note(f"begin {word} {os.getpid()}")
    while not Path("door-open").exists():
        time.sleep(0.05)
    note(f"end {word}")
    return {"done": word}


runtime = Runtime(connectors=[FunctionConnector("world", [read, act, fail, act_slowly])])
'''
PROGRAM = """
%%codemode
const number = await world.read({ number: 7 });
const answer = await world.act_slowly({ word: "seven", note_text: "a call that the kernel does not survive" });
return { number, answer };
"""


@pytest.fixture
def died(desk):
    """A tab on a notebook whose kernel was killed in the middle of a call, and set up again after its restart."""
    desk.write(SETUP + SLOW_TOOL, PROGRAM, "%codemode pending", "%codemode recover", "%codemode history")
    tab = desk.open()
    tab.run(0)
    tab.cell(1).run().shows("world.act_slowly")
    until(lambda: len(desk.effects) == 2, "the tool runs")
    os.kill(int(desk.effects[1].split()[-1]), signal.SIGKILL)
    tab.page.locator(".jp-Dialog", has_text="restart").locator(".jp-mod-accept").click(timeout=SLOW)
    tab.idle()
    (desk.folder / "door-open").touch()
    tab.run(0)
    return tab


def test_what_is_in_doubt_is_found_by_commands_and_run_again_by_a_click(desk, died, screenshots):
    died.run(2).shows("1 run was cut off when the kernel ended: %codemode recover")
    cell = died.run(3).shows("It is not known whether this call happened.", "world.act_slowly", "seven", "1 in doubt")
    assert len(desk.effects) == 2, "nothing was run again by itself"
    for theme, word in ((DARK, "dark"), (LIGHT, "light")):
        died.theme(theme)
        cell.picture(screenshots / f"lab-doubt-{word}.png")
    died.run(2).shows("did it happen?", "%codemode show ID")
    cell.press("Run again").shows("Completed", "done")
    assert [line.split()[0] for line in desk.effects] == ["read", "begin", "begin", "end"]
    died.run(2).shows("Nothing is waiting")


def test_what_happened_is_told_by_keyboard_with_its_result(desk, died):
    cell = died.run(3).shows("It is not known whether this call happened.")
    cell.button("It happened").focus()
    died.page.keyboard.press("Enter")
    died.page.keyboard.type("{done: 1}")
    died.page.keyboard.press("Enter")
    cell.shows("The result is not JSON at character 2; nothing was changed.")
    died.page.keyboard.press("Control+a")
    died.page.keyboard.type('{"done": "by hand"}')
    died.page.keyboard.press("Enter")
    cell.shows("Completed", "by hand")
    assert len(desk.effects) == 2


def test_the_card_survives_a_reload_and_giving_up_ends_the_run(desk, died):
    died.run(3).shows("It is not known whether this call happened.")
    died.save()
    died.reload()
    died.cell(3).shows("It is not known whether this call happened.", timeout=30).press("Give up").shows("Given up")
    died.run(4).shows("error")
    assert len(desk.effects) == 2
