"""``%codemode doctor`` in a real page."""

import json
import re

import pytest

from codemode_jupyter.sandbox.deno import find_deno
from codemode_jupyter.sandbox.python.assets import find_assets
from tests.e2e.lab import LAB, NOTEBOOK
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


@pytest.mark.parametrize(("face", "name"), [(LAB, "JupyterLab"), (NOTEBOOK, "Notebook 7")])
def test_the_doctor_tells_of_everything_that_a_run_needs_with_its_time(desk, face, name):
    desk.write("%load_ext codemode_jupyter", "%codemode doctor", REPORT)
    tab = desk.open(face=face)
    tab.run(0, 1).shows("Programs run in the page.", f"{name}; ", "How to mend it:" if find_deno() is None else "MS")
    tab.run(2)
    found = report(desk)
    assert found["front end"]["found"].startswith(f"{name}; Mozilla/5.0")
    assert "Chrome/" in found["front end"]["found"]
    assert re.match(r"ipykernel \d.*; messages during cells come through", found["kernel"]["found"])
    assert found["page"]["found"] == "1 open (visible)"
    assert "ms to the page and back" in found["round trip"]["found"]
    assert found["page policy (CSP)"]["found"] == "allows the sandbox in the page"
    assert "first program" in found["page sandbox"]["found"]
    if found["page Python"]["state"] == "ok":
        assert re.search(r"; it came as 13 MB from the (server|kernel) in \d", found["page Python"]["found"])
    else:
        assert found["Python assets"]["state"] == "absent"
    assert found["storage"]["found"].endswith(
        "notebook.codemode.sqlite3; not there yet, the first run makes it; writable; on a local file system"
    )
    assert ("deno 2." in found["headless sandbox"]["found"]) == (find_deno() is not None)
    assert found["Python assets"]["state"] == ("absent" if find_assets() is None else "ok")
    assert [finding["name"] for finding in found.values() if finding["state"] == "wrong"] == []
    assert all(found[name]["seconds"] > 0 for name in ("page", "round trip", "page sandbox", "headless sandbox"))
    assert desk.server.token not in json.dumps(found)


def test_in_two_pages_the_doctor_counts_both(desk):
    desk.write("%load_ext codemode_jupyter", "%codemode doctor")
    tab = desk.open()
    tab.run(0, 1).shows("1 open (visible)")
    desk.open(face=NOTEBOOK)
    until(lambda: "2 open, one of them elected" in tab.run(1).text, "the second page is there")
