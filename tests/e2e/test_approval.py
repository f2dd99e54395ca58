"""Asking a person: approve, reject, and what survives in between (a reload, a restart, a second tab)."""

import re

import pytest

from tests.e2e.lab import LAB, NOTEBOOK
from tests.e2e.notebooks import GATED, QUICK, SETUP
from tests.e2e.waiting import until

DONE = ["read 7", "act seven"]


def effects_are(desk, expected):
    until(lambda: desk.effects == expected, f"the effects are {expected}, they are {desk.effects}")


@pytest.mark.parametrize("face", [LAB, NOTEBOOK])
def test_a_gated_call_waits_for_approve_and_then_runs_once(desk, face):
    desk.write(SETUP, GATED, "outcome")
    tab = desk.open(face=face)
    cell = tab.run(0, 1).shows("Waiting for you", "world.act", "Do something in the world.", "seven")
    assert desk.effects == ["read 7"]
    cell.press("Approve").shows("Completed", "done")
    assert desk.effects == DONE
    assert cell.button("Approve").count() == 0
    tab.run(2).shows("{'number': 7, 'answer': {'done': 'seven'}}")


def test_the_notebook_is_free_while_a_run_waits(desk):
    desk.write(SETUP, GATED, QUICK, "'python too'")
    tab = desk.open()
    cell = tab.run(0, 1).shows("Waiting for you")
    tab.run(2).shows("Completed", "42")
    tab.run(3).shows("python too")
    cell.press("Approve").shows("Completed")
    assert desk.effects == DONE


def test_approve_works_after_the_page_was_reloaded(desk):
    desk.write(SETUP, GATED)
    tab = desk.open()
    tab.run(0, 1).shows("Waiting for you")
    tab.save()
    tab.reload()
    tab.cell(1).shows("Waiting for you", timeout=30).press("Approve").shows("Completed")
    assert desk.effects == DONE
    tab.reload()
    tab.cell(1).shows("Completed", timeout=30).lacks("Error displaying widget")


WAIT_FOR_THE_DOOR = '''
def is_open() -> bool:
    """Tell whether the door is open."""
    return Path("door-open").exists()


runtime = Runtime(connectors=[FunctionConnector("world", [read, act, fail, is_open])])
'''


def test_what_a_person_opened_and_the_focus_stay_when_a_run_comes_to_wait(desk):
    program = """%%codemode
    await world.read({ number: 7 });
    while (!(await world.is_open())) await new Promise((resolve) => setTimeout(resolve, 50));
    await world.act({ word: "seven" });
    """
    desk.write(SETUP + WAIT_FOR_THE_DOOR, program)
    tab = desk.open()
    tab.run(0)
    cell = tab.cell(1).run().shows("world.read")
    fold = cell.output.locator("details[data-key=call-0]")
    fold.locator("summary").click()
    has_focus = "document.activeElement.closest('[data-key=call-0]') !== null"
    assert tab.page.evaluate(has_focus)
    (desk.folder / "door-open").touch()
    cell.shows("Waiting for you").finished()
    assert fold.get_attribute("open") is not None
    assert tab.page.evaluate(has_focus)


def test_approve_works_after_the_kernel_was_restarted(desk):
    desk.write(SETUP, GATED, "%codemode pending", "%codemode show ID")
    tab = desk.open()
    tab.run(0, 1).shows("Waiting for you")
    tab.restart_kernel()
    tab.cell(1).shows("Waiting for you", "The kernel that showed this card is gone.", "%codemode show")
    assert tab.cell(1).output.get_by_role("button").count() == 0
    tab.run(0)
    listed = tab.run(2).shows("world.act", "seven").text
    execution = re.search(r"^(\w+)\s+1\s+world\.act", listed, re.MULTILINE)[1]
    again = tab.cell(3).write(f"%codemode show {execution}").run().finished().shows("Waiting for you", "world.act")
    again.press("Approve").shows("Completed")
    assert desk.effects == DONE


def test_reject_ends_the_run_and_nothing_happens(desk):
    desk.write(SETUP, GATED)
    tab = desk.open()
    cell = tab.run(0, 1).shows("Waiting for you")
    cell.press("Reject")
    cell.field("Reason").fill("Not today")
    cell.press("Reject", 1).shows("Rejected")
    assert cell.button("Approve").count() == 0
    assert desk.effects == ["read 7"]


def test_calls_issued_together_are_asked_together_and_approved_at_once(desk):
    program = "%%codemode\nreturn await Promise.all(['a', 'b', 'c'].map((word) => world.act({word})));"
    desk.write(SETUP, program)
    tab = desk.open()
    cell = tab.run(0, 1).shows("Waiting for you")
    assert cell.button("Approve").count() == 3
    cell.press("Approve all 3").shows("Completed")
    assert sorted(desk.effects) == ["act a", "act b", "act c"]


def test_run_all_goes_on_past_a_run_that_waits(desk):
    desk.write(SETUP, GATED, QUICK, "print('last', outcome)")
    tab = desk.open()
    tab.run_all()
    tab.cell(3).shows("last None", timeout=30)
    tab.cell(2).shows("Completed", "42")
    tab.cell(1).shows("Waiting for you").press("Approve").shows("Completed")
    assert desk.effects == DONE


def test_a_cell_that_waits_ends_when_it_was_approved(desk):
    desk.write(SETUP, GATED.replace("-o outcome", "--wait -o outcome"), "outcome")
    tab = desk.open()
    tab.run(0)
    cell = tab.cell(1).run().shows("Waiting for you")
    assert cell.runs
    cell.press("Approve").finished().shows("Completed")
    tab.run(2).shows("{'number': 7, 'answer': {'done': 'seven'}}")


def test_either_of_two_tabs_may_approve_and_it_happens_once(desk):
    desk.write(SETUP, GATED)
    first = desk.open()
    first.run(0, 1).shows("Waiting for you")
    first.save()
    second = desk.open()
    second.cell(1).shows("Waiting for you", timeout=30).press("Approve").shows("Completed")
    first.cell(1).shows("Completed")
    effects_are(desk, DONE)


def test_approve_is_reached_and_pressed_by_keyboard(desk):
    desk.write(SETUP, GATED)
    tab = desk.open()
    cell = tab.run(0, 1).shows("Waiting for you")
    cell.button("Approve").focus()
    tab.page.keyboard.press("Enter")
    cell.shows("Completed")
    effects_are(desk, DONE)


@pytest.mark.parametrize("way", ["click", "key"])
def test_the_notebooks_own_keys_work_on_after_a_decision(desk, way):
    desk.write(SETUP, GATED)
    tab = desk.open()
    cell = tab.run(0, 1).shows("Waiting for you")
    if way == "click":
        cell.button("Approve").click()
    else:
        cell.button("Approve").focus()
        tab.page.keyboard.press("Enter")
    cell.shows("Completed")
    tab.page.wait_for_function("document.activeElement.closest('.jp-Notebook') !== null")


def test_a_double_click_on_approve_acts_once(desk):
    desk.write(SETUP, GATED)
    tab = desk.open()
    cell = tab.run(0, 1).shows("Waiting for you")
    cell.button("Approve").dblclick()
    cell.shows("Completed")
    effects_are(desk, DONE)
