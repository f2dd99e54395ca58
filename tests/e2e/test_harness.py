"""The harness itself, on plain Python cells: a failure here is not the product's."""

import pytest

from tests.e2e.lab import DARK, LAB, LIGHT, NOTEBOOK
from tests.e2e.waiting import until


@pytest.mark.parametrize("face", [LAB, NOTEBOOK])
def test_cells_run_stop_restart_and_save_by_hand(desk, face):
    desk.write("6 * 7", "import time\nwhile True: time.sleep(0.05)", "print('third')")
    tab = desk.open(face=face)
    assert tab.run(0).text.strip().endswith("42")

    endless = tab.cell(1).run()
    assert endless.runs
    tab.interrupt()
    endless.finished().shows("KeyboardInterrupt")

    saved = tab.save()
    assert saved["cells"][0]["outputs"][0]["data"]["text/plain"] == "42"
    tab.reload()
    tab.cell(0).shows("42")

    tab.restart_kernel()
    tab.cell(2).run().finished().shows("third")
    assert tab.cell(2).prompt == "[1]:"


def test_run_all_runs_every_cell(desk):
    desk.write("print('one')", "print('two')")
    tab = desk.open()
    tab.run_all()
    for cell, word in zip(tab.code_cells, ["one", "two"], strict=True):
        cell.shows(word)


def test_the_theme_changes(desk):
    desk.write("1")
    tab = desk.open()
    for name, light in ((DARK, "false"), (LIGHT, "true")):
        tab.theme(name)
        until(
            lambda light=light: tab.page.locator("body").get_attribute("data-jp-theme-light") == light,
            "the theme is set",
        )
