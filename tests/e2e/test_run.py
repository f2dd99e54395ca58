"""Running programs from cells: completed, failed, stopped, timed out; in both faces and on an older kernel."""

import time

import pytest
from playwright.sync_api import expect

from tests.e2e.lab import LAB, NOTEBOOK
from tests.e2e.notebooks import QUICK, SETUP
from tests.e2e.waiting import until


@pytest.mark.parametrize("face", [LAB, NOTEBOOK])
def test_a_program_runs_and_its_card_shows_calls_console_and_result(desk, face):
    program = "%%codemode -o outcome\nconsole.log('half way', {a: 1});\nreturn (await world.read({number: 5})) + 1;"
    desk.write(SETUP, program, "outcome")
    tab = desk.open(face=face)
    tab.run(0, 1).shows("Completed", "world.read", "half way", "6")
    assert tab.run(2).text.strip().endswith("6")
    assert desk.effects == ["read 5"]


def test_two_cells_one_after_the_other_have_a_card_each(desk):
    desk.write(SETUP, "%%codemode\nreturn 'first ' + (await world.read({number: 1}));", "%%codemode\nreturn 'second';")
    tab = desk.open()
    tab.run(0, 1, 2)
    tab.cell(1).shows("Completed", "first 1").lacks("Save as snippet")
    tab.cell(2).shows("Completed", "second", "Save as snippet")


def test_a_program_that_throws_shows_where(desk):
    desk.write(SETUP, "%%codemode\nconst list = [];\nreturn list[0].name;")
    tab = desk.open()
    tab.run(0, 1).shows("Failed", "TypeError", "return list[0].name;")


def test_a_tool_that_raises_fails_the_call_and_the_run(desk):
    desk.write(SETUP, "%%codemode\nawait world.fail({why: 'the disk is full'});")
    tab = desk.open()
    tab.run(0, 1).shows("Failed", "world.fail", "the disk is full")


def test_a_syntax_error_is_told_before_anything_runs(desk):
    desk.write(SETUP, "%%codemode\nconst number = await world.read({number: 1});\nreturn number +;")
    tab = desk.open()
    tab.run(0, 1).shows("Not run", "syntax_error", "return number +;")
    assert desk.effects == []


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("await world.raed({number: 1})", ["raed", "read"]),
        ("await world.read({number: 'many'})", ["number", "integer"]),
    ],
    ids=["unknown method", "wrong argument"],
)
def test_a_wrong_call_is_told_with_the_way_to_mend_it(desk, program, words):
    desk.write(SETUP, f"%%codemode\n{program}")
    tab = desk.open()
    tab.run(0, 1).shows("Failed", *words)
    assert desk.effects == []


def test_stop_ends_the_run_within_a_second(desk):
    desk.write(
        SETUP, "%%codemode\nawait new Promise(() => { setInterval(() => world.read({number: 1}), 50); });", QUICK
    )
    tab = desk.open()
    tab.run(0)
    endless = tab.cell(1).run().shows("world.read")
    start = time.monotonic()
    tab.interrupt()
    endless.finished().shows("Stopped")
    assert time.monotonic() - start < 3
    assert "Traceback" not in endless.text
    tab.run(2).shows("Completed", "42")
    counted = len(desk.effects)
    tab.run(2).shows("Completed", "42")
    assert len(desk.effects) == counted


def test_an_endless_loop_ends_as_a_timeout_and_the_page_stays_usable(desk):
    desk.write(SETUP.replace("])])", "])], timeout=2)"), "%%codemode\nwhile (true) {}", QUICK)
    tab = desk.open()
    tab.run(0)
    start = time.monotonic()
    endless = tab.cell(1).run()
    # The page answers while the loop burns: its menu opens and closes.
    tab.page.locator(".lm-MenuBar-itemLabel", has_text="Help").click()
    expect(tab.page.locator(".lm-Menu")).to_be_visible()
    tab.page.keyboard.press("Escape")
    assert endless.runs
    endless.finished().shows("Timed out", "[timeout]")
    assert time.monotonic() - start < 2 + 3
    tab.run(2).shows("Completed", "42")


def test_a_program_reaches_nothing_but_its_connectors(desk):
    names = [
        "fetch",
        "XMLHttpRequest",
        "WebSocket",
        "indexedDB",
        "caches",
        "document",
        "Worker",
        "importScripts",
        "postMessage",
    ]
    typeof = ", ".join(f"{name}: typeof {name}" for name in names)
    desk.write(SETUP, f"%%codemode -o outcome\nreturn {{{typeof}}};", "set(outcome.values())")
    tab = desk.open()
    tab.run(0, 1).shows("Completed")
    assert tab.run(2).text.strip().endswith("{'undefined'}")


def test_nothing_a_program_or_tool_says_becomes_html(desk):
    evil = "<img src=x onerror=\"window.broken='yes'\"><b>bold</b>"
    program = "console.log(evil);\nawait world.act({word: evil});\nreturn [{[evil]: evil}];"
    desk.write(SETUP, f"%%codemode\nconst evil = {evil!r};\n{program}")
    tab = desk.open()
    cell = tab.run(0, 1).shows("Waiting for you", "<b>bold</b>")
    cell.press("Approve").shows("Completed", "<b>bold</b>")
    tab.save()
    tab.reload()
    tab.cell(1).shows("Completed", "<b>bold</b>")
    assert tab.page.evaluate("window.broken") is None
    assert tab.cell(1).output.locator("img, b").count() == 0


def test_a_second_tab_runs_no_program_twice(desk):
    desk.write(SETUP, "%%codemode\nreturn (await world.read({number: 1})) + 1;")
    first = desk.open()
    first.run(0, 1).shows("Completed", "2")
    second = desk.open()
    second.run(1).shows("Completed", "2")
    first.run(1).shows("Completed", "2")
    assert desk.effects == ["read 1"] * 3
    first.close()
    second.run(1).shows("Completed", "2")
    assert desk.effects == ["read 1"] * 4


def test_without_the_extension_the_cell_says_what_to_do(desk):
    desk.write("%%codemode\nreturn 1;")
    tab = desk.open()
    tab.run(0).shows("codemode", "not found")


def test_an_unknown_runtime_is_named(desk):
    desk.write(SETUP, "%%codemode -r runtmie\nreturn 1;")
    tab = desk.open()
    tab.run(0, 1).shows("runtmie", "runtime")
    until(lambda: not tab.cell(1).runs, "the cell has ended")
