"""``%codemode doctor`` says what is there and how to mend the rest; it never hangs, fails or changes anything."""

import asyncio
import json
import sys
import threading
import time
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from codemode_jupyter import FunctionConnector, Runtime
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.notebook import doctor
from codemode_jupyter.notebook.doctor import headless, storage
from codemode_jupyter.notebook.doctor.page import front_end
from codemode_jupyter.notebook.doctor.report import Diagnosis, Finding
from codemode_jupyter.notebook.doctor.threads import in_thread
from codemode_jupyter.runtime.store.schema import SCHEMA_VERSION
from codemode_jupyter.sandbox.deno import find_deno
from tests.kernels import kernel6_python
from tests.notebook.real_kernel import running_kernel

NAMES = [
    "versions",
    "kernel",
    "front end",
    "page",
    "round trip",
    "page policy (CSP)",
    "page sandbox",
    "page Python",
    "storage",
    "headless sandbox",
    "Python assets",
    "Python packages",
]


@pytest.fixture
def found(shell):
    """Run the doctor in a shell without a kernel; return what it found."""

    def run(line="%codemode doctor"):
        result = shell.run_cell(line)
        result.raise_error()
        return result.result

    return run


def test_every_check_is_in_the_table_with_its_state_and_time(found):
    diagnosis = found()
    assert [finding.name for finding in diagnosis.findings] == NAMES
    lines = repr(diagnosis).splitlines()
    for name, finding in zip(NAMES, diagnosis.findings, strict=True):
        line = next(line for line in lines if line.startswith(name))
        assert finding.state in line
        assert finding.found in line


def test_the_same_is_there_as_data(found):
    diagnosis = found()
    data = json.loads(json.dumps(diagnosis.as_dict()))
    assert data["verdict"] == diagnosis.verdict
    assert [finding["name"] for finding in data["findings"]] == NAMES
    assert all(finding["seconds"] >= 0 for finding in data["findings"])


def test_without_a_kernel_no_page_is_waited_for(found):
    diagnosis = found()
    assert diagnosis["kernel"].state == "absent"
    for name in ("front end", "page", "round trip", "page policy (CSP)", "page sandbox"):
        assert diagnosis[name].state == "absent"
        assert diagnosis[name].seconds < 0.1


@pytest.mark.skipif(find_deno() is None, reason="the extra [headless] is not installed")
def test_a_program_is_run_headless(found):
    diagnosis = found()
    assert diagnosis["headless sandbox"].state == "ok"
    assert diagnosis["headless sandbox"].found.startswith("deno 2.")
    assert diagnosis.verdict == "Programs run headless: no page can be used."


def test_what_is_not_installed_is_told_with_the_command_that_installs_it(found, monkeypatch):
    monkeypatch.setattr(headless, "find_deno", lambda: None)
    diagnosis = found()
    assert diagnosis["headless sandbox"].state == "absent"
    assert diagnosis.verdict == "No program can run here."
    assert "headless sandbox: Run `pip install 'codemode-jupyter[headless]'`." in repr(diagnosis)


def test_nothing_is_made_and_no_runtime_either(found, shell, tmp_path):
    before = set(tmp_path.rglob("*.sqlite3*"))
    diagnosis = found()
    assert "not there yet" in diagnosis["storage"].found
    assert "runtime" not in shell.user_ns
    assert set(tmp_path.rglob("*.sqlite3*")) == before


def test_the_store_of_each_runtime_is_looked_at_and_stays_as_it_is(found, bench, tmp_path):
    async def nothing(p):
        return None

    bench.run(bench.cell(nothing))
    bench.variables["second"] = bench.another("second")
    bench.variables["third"] = Runtime(path=tmp_path / "third.sqlite3")
    file = bench.folder / "log.sqlite3"
    before = file.read_bytes()
    stores = [finding.found for finding in found().findings if finding.name == "storage"]
    assert len(stores) == 2
    assert f"schema {SCHEMA_VERSION}" in stores[0]
    assert "mode 0600; writable; on a local file system; WAL" in stores[0]
    assert "third.sqlite3; not there yet" in stores[1]
    assert file.read_bytes() == before
    assert "third" in found("%codemode doctor -r third")["storage"].found


def test_a_store_on_a_network_file_system_is_told_with_the_reason_for_no_wal(monkeypatch, tmp_path):
    real = storage.inspect_store

    def on_network(path):
        found = real(path)
        return type(found)(path, True, True, True, 4096, 0o600, 1, "delete")

    monkeypatch.setattr(storage, "inspect_store", on_network)
    finding = asyncio.run(storage.check_storage(tmp_path / "log.sqlite3"))
    assert "on a network file system; no WAL (delete): it does not work on network file systems" in finding.found


def test_a_store_that_cannot_be_used_is_told_with_what_to_do(found, shell, tmp_path):
    (tmp_path / "letter").write_text("a letter, " * 100)
    shell.user_ns["other"] = Runtime(path=tmp_path / "letter")
    diagnosis = found()
    assert diagnosis["storage"].state == "wrong"
    assert "is not a codemode store" in diagnosis["storage"].found
    assert "storage: Move that file away" in repr(diagnosis)


def test_a_check_that_hangs_ends_at_its_limit():
    async def hang():
        await asyncio.Event().wait()

    finding = asyncio.run(doctor._found("page", 0.05, hang))
    assert (finding.state, finding.found) == ("wrong", "no answer within 0.05 s")


def test_blocking_work_that_hangs_ends_at_its_limit_and_does_not_hold_up_the_end_of_the_program():
    gate = threading.Event()
    finding = asyncio.run(doctor._found("storage", 0.05, lambda: in_thread(gate.wait)))
    assert finding.state == "wrong"
    assert all(thread.daemon for thread in threading.enumerate() if thread.name == "codemode doctor")
    gate.set()


@pytest.mark.parametrize(
    ("error", "words"),
    [(OSError(5, "disk on fire"), "disk on fire"), (CodemodeError("x", "No.", hint="Do this."), "No.")],
)
def test_a_check_that_fails_is_a_finding(error, words):
    async def fail():
        raise error

    finding = asyncio.run(doctor._found("storage", 1, fail))
    assert finding.state == "wrong"
    assert words in finding.found
    assert finding.mend


def test_a_report_names_neither_the_persons_home_nor_control_characters(monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: Path("/home/grace"))
    finding = Finding("ok", "/home/grace/a.sqlite3\x1b[31m\nx; /mnt/home/grace/b").named("storage", 0)
    assert finding.found == "~/a.sqlite3 [31m x; /mnt/home/grace/b"


def test_no_secret_of_the_environment_or_of_a_connector_is_in_a_report(found, shell, monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", "sesame-open")
    key = "hunter-2"

    def read() -> str:
        """Read with a key."""
        return key

    shell.user_ns["runtime"] = Runtime([FunctionConnector("world", [read])])
    text = repr(found()) + json.dumps(found().as_dict())
    assert "sesame-open" not in text
    assert "hunter-2" not in text


@pytest.mark.parametrize(
    ("path", "agent", "name"),
    [
        ("/user/grace/lab/tree/a.ipynb", "Mozilla/5.0 Chrome/120", "JupyterLab"),
        ("/notebooks/a.ipynb", "Mozilla/5.0 Firefox/128", "Notebook 7"),
        ("/index.html", "Mozilla/5.0 Code/1.90 Electron/29", "VS Code"),
        ("/x/y", "", "an unknown front end"),
    ],
)
def test_the_front_end_is_told_by_its_address(path, agent, name):
    assert front_end(path, agent) == name


def test_the_verdict_says_where_programs_run():
    def diagnosis(page, headless):
        return Diagnosis((Finding(page, "", name="page sandbox"), Finding(headless, "", name="headless sandbox")))

    assert diagnosis("ok", "absent").verdict == "Programs run in the page."
    assert diagnosis("wrong", "ok").verdict.startswith("Programs run headless")
    assert diagnosis("wrong", "absent").verdict == "No program can run here."


@pytest.fixture(params=["newest", "ipykernel 6"])
def kernel(request, tmp_path):
    python = sys.executable if request.param == "newest" else kernel6_python()
    if python is None:
        pytest.skip("`python tests/kernels.py` has not made the kernel with ipykernel 6")
    with running_kernel(tmp_path, python) as running:
        assert running.run("%load_ext codemode_jupyter").status == "ok"
        yield running


def test_in_a_kernel_without_a_page_it_says_so_within_its_limits(kernel):
    began = time.monotonic()
    table = kernel.run("%codemode doctor").result
    assert time.monotonic() - began < 25
    assert "no page of this notebook answered" in table
    assert "front end: Open this notebook in JupyterLab or Notebook 7" in table
    assert "messages during cells come through" in table
    own = kernel.run(
        "from codemode_jupyter.notebook import kernel_shim\nkernel_shim.is_installed(get_ipython().kernel)"
    )
    assert ("through the shim" in table) == (own.result == "True")


def test_stop_ends_it(kernel):
    cell = kernel.begin("print('begun')\n%codemode doctor")
    kernel.shown_by(cell, "begun")
    began = time.monotonic()
    kernel.interrupt()
    assert kernel.finish(cell, timeout=10).error["ename"] == "Stopped"
    assert time.monotonic() - began < 2


def test_a_notebook_that_is_run_without_a_person_gets_a_report_and_no_widget(tmp_path):
    cells = [nbformat.v4.new_code_cell(text) for text in ("%load_ext codemode_jupyter", "%codemode doctor")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    [output] = notebook.cells[1].outputs
    table = output.data["text/plain"]
    assert "none is expected" in table
    assert "ipykernel" in table
    if find_deno() is not None:
        assert "Programs run headless" in table
        assert "How to mend it" not in table
    assert "widgets" not in notebook.metadata
