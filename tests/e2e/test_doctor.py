"""``%codemode doctor`` in a real page."""

import json

from tests.e2e.lab import NOTEBOOK
from tests.e2e.waiting import until

REPORT = """
from pathlib import Path
diagnosis = get_ipython().run_line_magic("codemode", "doctor")
diagnosis = await diagnosis
import json; _ = Path("report.json").write_text(json.dumps(diagnosis.as_dict()))
"""


def report(desk):
    file = desk.folder / "report.json"
    text = until(lambda: file.exists() and file.read_text(), "the report is written")
    return {finding["name"]: finding for finding in json.loads(text)["findings"]}


def test_in_jupyterlab_the_doctor_finds_the_page_and_runs_a_program_in_it(desk):
    desk.write("%load_ext codemode_jupyter", "%codemode doctor", REPORT)
    tab = desk.open()
    tab.run(0, 1).shows("Programs run in the page.", "JupyterLab; 1 open")
    tab.run(2)
    found = report(desk)
    assert found["page"]["state"] == found["round trip"]["state"] == found["page sandbox"]["state"] == "ok"
    assert "Chrome/" in found["page"]["found"]
    assert "ms to the page and back" in found["round trip"]["found"]
    assert "first program" in found["page sandbox"]["found"]
    assert found["storage"]["found"].endswith(
        "notebook.codemode.sqlite3; not there yet, the first run makes it; writable; on a local file system"
    )
    assert desk.server.token not in json.dumps(found)


def test_in_two_pages_the_doctor_counts_both(desk):
    desk.write("%load_ext codemode_jupyter", "%codemode doctor")
    tab = desk.open()
    tab.run(0, 1).shows("JupyterLab; 1 open")
    desk.open(face=NOTEBOOK)
    until(lambda: "JupyterLab; 2 open, one of them elected" in tab.run(1).text, "the second page is there")
