"""The quickstart, as a newcomer runs it: by hand in both faces, and without a browser."""

import re
import shutil
from pathlib import Path
from typing import ClassVar

import nbformat
import pytest
from nbclient import NotebookClient

from tests.e2e.lab import LAB, NOTEBOOK

QUICKSTART = Path(__file__).resolve().parents[2] / "notebooks" / "quickstart.ipynb"


def positions():
    """Where each cell stands, by its id."""
    return {cell.id: index for index, cell in enumerate(nbformat.read(QUICKSTART, as_version=4).cells)}


@pytest.mark.parametrize("face", [LAB, NOTEBOOK])
def test_the_quickstart_works_by_hand(desk, face):
    shutil.copy(QUICKSTART, desk.folder / "quickstart.ipynb")
    tab = desk.open("quickstart.ipynb", face=face)
    at = positions()

    def run(name):
        return tab.run(at[name])

    for name in ("load", "weather", "tracker", "runtime"):
        assert "Error" not in run(name).text
    run("first").shows("Completed", "weather.daily", "144")
    run("python").shows("It rained on 144 of 365 days.")

    report = run("report").shows("Waiting for you", "Open an issue", "Rain on 144 days in 2015", "looked at 365 days")
    run("list").shows("[]")
    report.press("Approve").shows("Completed", "Rain on 144 days in 2015")
    run("list").shows("'title': 'Rain on 144 days in 2015'")

    report.press("Roll back").press("Undo 1 call").shows("Rolled back: 1 call undone")
    run("list-again").shows("[]")

    months = run("months").shows("Completed", "2015-12", "rainy_days", "284.5").press("Save as snippet")
    months.field("Name").fill("rain_by_month")
    months.press("Save").shows('Saved as snippet "rain_by_month"')
    run("snippet").shows("Completed", "2013", "152", "2012", "177")

    assert (desk.folder / "quickstart.codemode.sqlite3").exists()


class WithSomebodyWhoClicks(NotebookClient):
    """Runs a notebook without a page, and does in Python what its text asks the reader to do by hand."""

    orders: ClassVar = {
        "report": "await runtime.approve((await runtime.pending())[0].execution_id)",
        "list": "await runtime.rollback((await runtime.executions(1))[0].id)",
    }

    async def async_execute_cell(self, cell, cell_index, **options):
        done = await super().async_execute_cell(cell, cell_index, **options)
        if order := self.orders.get(cell.id):
            await self.order(order)
        return done

    async def order(self, code):
        reply = await self.kc.execute_interactive(code, silent=False, store_history=False, output_hook=lambda _: None)
        assert reply["content"]["status"] == "ok", reply["content"]


def outputs(cell):
    texts = []
    for output in cell.outputs:
        data = output.get("data", {})
        texts.append(output.get("text") or data.get("text/plain") or "\n".join(output.get("traceback", [])))
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(texts))


def test_the_quickstart_works_without_a_browser(tmp_path):
    notebook = nbformat.read(QUICKSTART, as_version=4)
    client = WithSomebodyWhoClicks(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    shown = {cell.id: outputs(cell) for cell in notebook.cells if cell.cell_type == "code"}
    assert "Completed" in shown["first"]
    assert "144 of 365" in shown["python"]
    assert "Rain on 144 days in 2015" in shown["list"]
    assert shown["list-again"] == "[]"
    assert "177" in shown["snippet"]


def test_run_all_of_the_quickstart_shows_no_error_though_nobody_approves(tmp_path):
    notebook = nbformat.read(QUICKSTART, as_version=4)
    NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = {cell.id: outputs(cell) for cell in notebook.cells if cell.cell_type == "code"}
    assert "Waiting for you" in shown["report"]
    assert "Completed" in shown["snippet"]


def test_the_quickstart_is_committed_without_outputs():
    for cell in nbformat.read(QUICKSTART, as_version=4).cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


def test_the_tour_of_the_readme_works_as_printed(tmp_path):
    readme = (QUICKSTART.parents[1] / "README.md").read_text()
    tour = readme.partition("## Five minutes")[2].partition("\n## ")[0]
    cells = re.findall(r"^```(?:python)?\n(.*?)^```", tour, re.DOTALL | re.MULTILINE)
    assert len(cells) == 2
    approve = "await runtime.approve((await runtime.pending())[0].execution_id)"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in [*cells, approve]])
    NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert "Waiting for you" in outputs(notebook.cells[1])
    assert "There were 0 notes." in outputs(notebook.cells[2])
