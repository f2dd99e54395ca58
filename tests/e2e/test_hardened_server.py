"""A Jupyter server whose Content-Security-Policy forbids scripts in pages: the strictest that JupyterLab runs under.

JupyterLab itself makes functions from text, and anywidget loads its modules from blobs; without `'unsafe-eval'` and
`blob:` there is no notebook, and nothing to test.
"""

import json
import shutil
import sys
from pathlib import Path

import pytest

from codemode_jupyter.sandbox.frame import LABEXTENSION, served_files
from tests.e2e.fixtures import Desk
from tests.e2e.lab import LAB, NOTEBOOK
from tests.e2e.notebooks import QUICK
from tests.e2e.server import running_server
from tests.e2e.waiting import until

POLICY = (
    "default-src 'self'; script-src 'self' blob: 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' ws:; frame-ancestors 'self'"
)
OPTION = f"--ServerApp.tornado_settings={json.dumps({'headers': {'Content-Security-Policy': POLICY}})}"
PAGE_EXECUTOR = """
from codemode_jupyter import Runtime
from codemode_jupyter.notebook.page import page_channel
from codemode_jupyter.sandbox.browser import BrowserExecutor
runtime = Runtime(executor=BrowserExecutor(page_channel()))
"""


@pytest.fixture(scope="module")
def hardened(request, tmp_path_factory):
    """A server that has exactly the extensions of this environment, but for ours: these are there only on demand.

    An installed project brings its files along, one that is only on the path does not.
    """
    extensions = tmp_path_factory.mktemp("extensions") / "labextensions"
    shutil.copytree(
        Path(sys.prefix, "share", "jupyter", "labextensions"),
        extensions,
        ignore=shutil.ignore_patterns(LABEXTENSION),
    )
    if request.param:
        install(extensions)
    options = [f"--{app}.labextensions_path={extensions}" for app in ("LabApp", "JupyterNotebookApp")]
    with running_server(tmp_path_factory.mktemp("hardened"), OPTION, *options) as running:
        yield running


@pytest.fixture
def desk(hardened, context, request):
    place = Desk(hardened, context, hardened.root / request.node.name.split("[")[0])
    place.folder.mkdir(exist_ok=True)
    yield place
    hardened.end_kernels()


def install(extensions):
    """Put the files where an installation puts them."""
    for path, text in served_files().items():
        file = extensions / LABEXTENSION / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


@pytest.mark.parametrize("hardened", [False], indirect=True)
def test_without_the_files_the_doctor_says_why_the_page_cannot_be_used_and_what_to_do(desk):
    desk.write("%load_ext codemode_jupyter", "%codemode doctor", PAGE_EXECUTOR, QUICK)
    tab = desk.open()
    tab.run(0, 1).shows("Content-Security-Policy forbids them.", "There is no sandbox at that address of the server")
    tab.cell(1).shows("page policy (CSP): Install this version of codemode-jupyter where the Jupyter server runs")
    tab.run(2)
    tab.cell(3).run().shows("no_sandbox", "Content-Security-Policy")


@pytest.mark.parametrize("hardened", [True], indirect=True)
@pytest.mark.parametrize("face", [LAB, NOTEBOOK])
def test_with_the_files_programs_run_in_the_page_and_jupyter_does_not_notice(desk, face):
    desk.write("%load_ext codemode_jupyter", "%codemode doctor", PAGE_EXECUTOR, QUICK)
    tab = desk.open(face=face)
    tab.run(0, 1).shows("Programs run in the page.", "it is loaded from the server as a file")
    tab.run(2, 3).shows("Completed", "42")
    until(
        lambda: tab.page.locator("body > iframe[sandbox='allow-scripts'][src*='codemode-jupyter']").count() > 0, "it is"
    )
    assert not [line for line in tab.console if "codemode" in line and line.startswith(("error", "warning"))]
    assert not [line for line in desk.server.log.splitlines() if "codemode-jupyter" in line and "valid" in line]
