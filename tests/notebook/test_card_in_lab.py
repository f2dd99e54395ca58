"""The static card in a real JupyterLab: not typeset, not linkified, readable when the notebook is not trusted."""

from pathlib import Path

import nbformat
import pytest

from codemode_jupyter.notebook.card.outputs import static_bundle
from tests.e2e.fixtures import browser, context, desk, screenshots, server
from tests.e2e.lab import DARK, LIGHT
from tests.notebook.card_examples import TREES

__all__ = ["browser", "context", "desk", "screenshots", "server"]

ROOT = Path(__file__).resolve().parents[2]
MATH = "<p>control: $x^2$ and \\(y\\)</p>"
SHOWN = ("waiting-static", "completed-table", "completed-tree", "failed-call", "hostile", "many-calls", "controls-used")


def write_saved_notebook(desk, *bundles):
    """A notebook with outputs that this server did not make, so JupyterLab does not trust it."""
    cells = []
    for bundle in bundles:
        cell = nbformat.v4.new_code_cell("1")
        cell.outputs = [nbformat.v4.new_output("display_data", bundle)]
        cells.append(cell)
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), desk.folder / "notebook.ipynb")


@pytest.fixture
def saved(desk):
    write_saved_notebook(desk, {"text/html": MATH}, *(static_bundle(TREES[name]) for name in SHOWN))
    return desk.open()


def test_a_saved_card_is_neither_typeset_nor_linkified_and_readable_without_its_style(saved, screenshots):
    control, *cards = saved.cells
    control.output.locator("mjx-container").first.wait_for()
    for name, cell in zip(SHOWN, cards, strict=True):
        output = cell.output
        assert output.locator("section.codemode-card, div.codemode-card").count() == 1
        assert output.locator("mjx-container, a, script, style, img, button").count() == 0
        assert output.locator("[style], [onclick], [onerror]").count() == 0
        cell.picture(screenshots / f"card-untrusted-{name}.png")
    waiting, table, tree, failed, hostile, many, used = (cell.output.inner_text() for cell in cards)
    assert "Waiting for you 3 calls" in waiting or "Waiting for you 1 call" in waiting
    assert "Rain on 144 days in 2015" in waiting
    assert "December" in table
    assert "KSEA" in tree
    assert "TypeError" in failed or "Input should be a valid string" in failed
    assert "<img src=x onerror=alert(1)>" in hostile
    assert "\\begin{align} x &= 1 \\end{align} $$E=mc^2$$" in hostile.replace("\\\\", "\\")
    assert "1,180 earlier calls" in many
    assert "brings the controls back" in used


def test_a_trusted_card_is_neither_typeset_nor_linkified(desk, screenshots):
    names = [name for name in SHOWN if name != "many-calls"]
    source = "\n".join(
        [
            "from IPython.display import HTML, display",
            "from codemode_jupyter.notebook.card.outputs import static_bundle",
            f"display(HTML({MATH!r}))",
            "from tests.notebook.card_examples import TREES",
            f"for name in {names!r}: display(static_bundle(TREES[name]), raw=True)",
        ]
    )
    desk.write(f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{source}")
    tab = desk.open()
    cell = tab.run(0)
    cell.output.locator("mjx-container").first.wait_for()
    cards = cell.output.locator(".codemode-card")
    assert cards.count() == len(names)
    assert cards.locator("mjx-container, a, script, img").count() == 0
    assert "$$E=mc^2$$" in cell.text
    for theme, word in ((LIGHT, "light"), (DARK, "dark")):
        tab.theme(theme)
        for name, card in zip(names, cards.all(), strict=True):
            card.scroll_into_view_if_needed()
            card.screenshot(path=screenshots / f"card-in-lab-{name}-{word}.png")
