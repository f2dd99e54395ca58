"""The notebook of programs in Python, by hand and without a browser."""

import re
import shutil
from pathlib import Path
from typing import ClassVar

import nbformat
import pytest
from nbclient import NotebookClient

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.deno import find_deno
from codemode_jupyter.sandbox.python.making import ensure_assets
from tests.e2e.test_quickstart import WithSomebodyWhoClicks, outputs

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "python.ipynb"
NO_INDEX = "No packages for now"
"""What the notebook says where no package index answers; the tests that need one then look at its refusal."""


class WithSomebodyWhoApproves(WithSomebodyWhoClicks):
    """Approves the report, and rolls it back once it was read."""

    orders: ClassVar = {
        "report": "await runtime.approve((await runtime.pending())[0].execution_id)",
        "read": "await runtime.rollback((await runtime.executions(1))[0].id)",
    }


@pytest.fixture(autouse=True)
def _python_is_there():
    try:
        ensure_assets(find_deno() or "deno")
    except CodemodeError as error:
        pytest.skip(str(error))


def test_the_notebook_works_by_hand_in_jupyterlab(desk, screenshots):
    shutil.copy(NOTEBOOK, desk.folder / NOTEBOOK.name)
    at = {cell.id: index for index, cell in enumerate(nbformat.read(NOTEBOOK, as_version=4).cells)}
    tab = desk.open(NOTEBOOK.name)

    def run(name):
        return tab.run(at[name])

    for name in ("load", "tools"):
        assert "Error" not in run(name).text
    run("first").shows("Completed", "144 rainy days", "December")
    run("result").shows("'December': ")
    report = run("report").shows("Waiting for you", "a sample:", "294 rainy days in two years", "55.9")
    report.picture(screenshots / "python-waiting.png")
    report.press("Approve").shows("Completed")
    run("read").shows("'rain': Decimal('55.9')", "datetime.date(2015, 3, 15)")
    report.press("Roll back").press("Undo 1 call").shows("Rolled back: 1 call undone")
    run("read-again").shows("[]")
    run("errors").shows("ZeroDivisionError", "Did you mean year?", "never awaited", "in mean")
    run("wet").shows("Completed", "rainy")
    run("save")
    run("javascript").shows("Completed", "2012", "177")
    if NO_INDEX in run("packages").text:
        run("seasons").shows("Failed", "package")
    else:
        seasons = run("seasons").shows(
            "Completed", "four seasons, 5 months of rain", "Packages: humanize", "seasons 1.0"
        )
        seasons.picture(screenshots / "python-packages.png")
    run("refused").shows("input() is not available", "has no threads", "no network", "starts no other programs")
    run("model").shows("async def daily(*, year: int)", "Run a Python program")
    tab.page.screenshot(path=screenshots / "python-page.png")


def test_the_notebook_works_without_a_browser(tmp_path):
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    WithSomebodyWhoApproves(notebook, timeout=90, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = {cell.id: outputs(cell) for cell in notebook.cells if cell.cell_type == "code"}
    assert "144 rainy days" in shown["first"]
    assert "'rain': Decimal('55.9')" in shown["read"]
    assert shown["read-again"] == "[]"
    for text in ("ZeroDivisionError", "Did you mean year?", "never awaited", 'File "program.py", line 2, in mean'):
        assert text in shown["errors"]
    assert "177" in shown["javascript"]
    if NO_INDEX in shown["packages"]:
        assert "Failed [package_" in shown["seasons"]
    else:
        assert "four seasons, 5 months of rain" in shown["seasons"]
        assert "Packages: humanize" in shown["seasons"]
    for text in ("input() is not available", "has no threads", "no network", "other programs", "nothing (None)"):
        assert text in shown["refused"]
    assert "day: datetime.date" in shown["model"]


def test_the_notebook_is_committed_without_outputs():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells)


def test_the_program_in_python_of_the_readme_works_as_printed(tmp_path):
    readme = (NOTEBOOK.parents[1] / "README.md").read_text()
    setup, program = (
        re.search(r"^```(?:python)?\n(.*?)^```", readme.partition(f"\n## {section}\n")[2], re.DOTALL | re.MULTILINE)[1]
        for section in ("Five minutes", "Programs in Python")
    )
    approve = "await runtime.approve((await runtime.pending())[0].execution_id)"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in (setup, program, approve)])
    NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert "Waiting for you" in outputs(notebook.cells[1])
    assert "There were 0 notes." in outputs(notebook.cells[2])
