"""The notebook that connects an MCP server and the Jupyter server itself, by hand and without a browser."""

import json
import re
import shutil
from pathlib import Path
from typing import ClassVar

import nbformat

from tests.e2e.test_quickstart import WithSomebodyWhoClicks, outputs

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NAME = "connectors.ipynb"
REPORT = "rain-in-seattle.md"
HELPERS = ("jupyter_here.py", "weather_server.py")


class WithSomebodyWhoApproves(WithSomebodyWhoClicks):
    """Approves the report, and rolls it back once it was read."""

    orders: ClassVar = {
        "report": "await runtime.approve((await runtime.pending())[0].execution_id)",
        "read": "await runtime.rollback((await runtime.executions(1))[0].id)",
    }


def copied(folder):
    for name in (NAME, *HELPERS):
        shutil.copy(FOLDER / name, folder / name)
    return nbformat.read(folder / NAME, as_version=4)


def test_the_notebook_works_by_hand_in_jupyterlab(desk, screenshots):
    at = {cell.id: index for index, cell in enumerate(copied(desk.folder).cells)}
    # The server's root is the folder above: what the program saves is there.
    report_file = desk.server.root / REPORT
    tab = desk.open(NAME)

    def run(name):
        return tab.run(at[name])

    for name in ("load", "jupyter"):
        assert "Error" not in run(name).text
    run("search").shows("weather.year", "jupyter.put_api_contents_path", "jupyter.get_api_kernels")
    run("describe").shows("declare const weather", "declare const jupyter")

    report = run("report").shows("Waiting for you", f"{REPORT} is not there yet: 404", "| 12 | 121.8 | 284.5 |")
    assert not report_file.exists()
    report.picture(screenshots / "connectors-waiting.png")
    report.press("Approve").shows("Completed", "saved", "weather.year")
    assert "| 12 |" in report_file.read_text()
    run("read").shows("Rain in Seattle, mm", "121.8")

    report.press("Roll back").press("Undo 1 call").shows("Rolled back: 1 call undone")
    assert not report_file.exists()
    run("read-again").shows("404 Not Found")
    run("errors").shows("must be integer, not string", "no measurements of 1066", "404 Not Found")
    tab.page.screenshot(path=screenshots / "connectors-page.png")
    assert desk.server.token not in json.dumps(tab.save())


def test_the_notebook_works_without_a_browser(tmp_path):
    notebook = copied(tmp_path)
    WithSomebodyWhoApproves(notebook, timeout=90, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = {cell.id: outputs(cell) for cell in notebook.cells if cell.cell_type == "code"}
    (read,) = (cell.outputs for cell in notebook.cells if cell.id == "read")
    assert "| 12 | 121.8 | 284.5 |" in read[0]["data"]["text/markdown"]
    assert "404 Not Found" in shown["read-again"]
    for text in ("must be integer, not string", "no measurements of 1066", "404 Not Found"):
        assert text in shown["errors"]


def test_the_notebook_is_committed_without_outputs_and_names_what_is_there():
    notebook = nbformat.read(FOLDER / NAME, as_version=4)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells)
    text = "\n".join(cell.source for cell in notebook.cells)
    assert all((FOLDER / name).exists() for name in re.findall(r"\w+_server\.py", text))
