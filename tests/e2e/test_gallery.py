"""Pictures of the card in every state, light and dark, for people to look at (``tests/screenshots``).

``docs/card.png`` is ``quickstart-cell-light.png``, copied when the card changed.
"""

import shutil

import pytest

from tests.e2e.lab import DARK, LIGHT, NOTEBOOK
from tests.e2e.notebooks import GATED, SETUP
from tests.e2e.test_quickstart import QUICKSTART, positions

LONG = "word " * 200
STATES = {
    "completed-text": "%%codemode\nreturn 'The wettest month was December.';",
    "completed-table": (
        "%%codemode\nfor (let number = 0; number < 12; number++) await world.read({number});\n"
        "return [{month: 'November', mm: 212.6, days: 20}, {month: 'December', mm: 284.5, days: 26}];"
    ),
    "completed-tree": (
        "%%codemode\nconsole.log('plain', {nested: [1, 2]});\nconsole.warn('careful');\nconsole.error('went wrong');\n"
        "return {list: [1, 2, {deep: [true, null]}], bytes: new Uint8Array(4), when: new Date(0), big: 2n ** 64n};"
    ),
    "completed-nothing": "%%codemode\nconst unused = 1;",
    "waiting-one": GATED,
    "waiting-many": (
        "%%codemode\nawait Promise.all([world.act({word: 'a'}), world.act({word: '<b>not bold</b>'}), "
        f"world.act({{word: {LONG!r}}})]);"
    ),
    "failed-throw": "%%codemode\nconst months = [];\nconst wettest = months.sort()[0];\nreturn wettest.mm;",
    "failed-tool": "%%codemode\nawait world.fail({why: 'the disk is full'});",
    "failed-syntax": "%%codemode\nconst months = [];\nreturn months.sort(;",
    "failed-timeout": "%%codemode\nwhile (true) {}",
    "rejected": GATED,
    "rolled-back": GATED,
    "controls": GATED,
}
ENDLESS = """
%%codemode
console.log("going on");
for (let number = 0; number < 3; number++) await world.read({ number });
await new Promise(() => { setInterval(() => {}, 1000); });
"""


def bring_about(tab, name, cell):
    """Do by hand what brings a card into its state."""
    if name == "rejected":
        cell.press("Reject").press("Reject", 1).shows("Rejected")
    elif name in ("rolled-back", "controls"):
        cell.press("Approve").shows("Completed")
        if name == "rolled-back":
            cell.press("Roll back").press("Undo 1 call").shows("Rolled back: 1 call undone")


def test_pictures_of_every_state(desk, screenshots):
    desk.write(SETUP.replace("])])", "])], timeout=1)"), *STATES.values())
    tab = desk.open()
    tab.run(0)
    for index, name in enumerate(STATES, start=1):
        cell = tab.run(index)
        bring_about(tab, name, cell)
    for theme, word in ((LIGHT, "light"), (DARK, "dark")):
        tab.theme(theme)
        for index, name in enumerate(STATES, start=1):
            picture = tab.cell(index).picture(screenshots / f"lab-{name}-{word}.png")
            assert picture.stat().st_size > 1000


def test_pictures_in_notebook_7(desk, screenshots):
    names = [name for name in STATES if name != "failed-timeout"]
    desk.write(SETUP, *(STATES[name] for name in names))
    tab = desk.open(face=NOTEBOOK)
    tab.run(0)
    for index, name in enumerate(names, start=1):
        bring_about(tab, name, tab.run(index))
    for theme, word in ((LIGHT, "light"), (DARK, "dark")):
        tab.theme(theme)
        for index, name in enumerate(names, start=1):
            picture = tab.cell(index).picture(screenshots / f"notebook-{name}-{word}.png")
            assert picture.stat().st_size > 1000
        tab.page.screenshot(path=screenshots / f"notebook-page-{word}.png")


def test_pictures_of_a_run_under_way_and_one_that_was_stopped(desk, screenshots):
    desk.write(SETUP, ENDLESS)
    tab = desk.open()
    tab.run(0)
    cell = tab.cell(1).run().shows("Running", "world.read")
    for theme, word in ((LIGHT, "light"), (DARK, "dark")):
        tab.theme(theme)
        assert cell.picture(screenshots / f"lab-running-{word}.png").exists()
    tab.interrupt()
    cell.finished().shows("Stopped")
    for theme, word in ((DARK, "dark"), (LIGHT, "light")):
        tab.theme(theme)
        assert cell.picture(screenshots / f"lab-stopped-{word}.png").exists()


@pytest.mark.parametrize(("theme", "word"), [(LIGHT, "light"), (DARK, "dark")])
def test_pictures_of_the_quickstart(desk, screenshots, theme, word):
    shutil.copy(QUICKSTART, desk.folder / "quickstart.ipynb")
    tab = desk.open("quickstart.ipynb")
    tab.theme(theme)
    at = positions()
    for name in ("load", "weather", "tracker", "runtime"):
        tab.run(at[name])
    report = tab.run(at["report"]).shows("Waiting for you")
    report.picture(screenshots / f"quickstart-waiting-{word}.png")
    report.element.screenshot(path=screenshots / f"quickstart-cell-{word}.png", animations="disabled")
    tab.page.screenshot(path=screenshots / f"quickstart-page-{word}.png")
    report.press("Approve").shows("Completed")
    report.picture(screenshots / f"quickstart-completed-{word}.png")
    months = tab.run(at["months"]).shows("Completed").press("Save as snippet")
    months.picture(screenshots / f"quickstart-save-{word}.png")
