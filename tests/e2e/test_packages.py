"""Packages of programs in Python, as a person meets them in JupyterLab."""

import pytest

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.deno import find_deno
from codemode_jupyter.sandbox.python.making import ensure_assets
from tests.e2e.notebooks import SETUP
from tests.package_index import project

WITH_PACKAGE = SETUP.replace("runtime = Runtime(", 'runtime = Runtime(packages=["./pricing"], ')
PROGRAM = "%%codemode -l python\nimport pricing\nawait world.act(word=pricing.price(7))"
WRONG = 'runtime = Runtime(packages=["--index-url=http://127.0.0.1/"])'


@pytest.fixture(scope="module", autouse=True)
def _assets():
    try:
        ensure_assets(find_deno() or "deno")
    except CodemodeError as error:
        pytest.skip(str(error))


def test_a_run_with_a_project_beside_the_notebook_goes_on_with_the_same_one_after_a_restart(desk):
    folder = project(desk.folder / "pricing", "pricing", "def price(n): return f'{n} old'\n")
    desk.write(
        WITH_PACKAGE,
        PROGRAM,
        "%codemode packages",
        "outcome = await runtime.approve((await runtime.pending())[0].execution_id)\noutcome.result",
        WRONG,
    )
    tab = desk.open()
    tab.run(0, 1).shows("Waiting for you", "7 old")
    (folder / "pricing.py").write_text("def price(n): return f'{n} new'\n")
    tab.restart_kernel()
    tab.run(0)
    tab.run(2).shows("pricing", "1.0", "local project")
    tab.run(3).shows("{'done': '7 old'}")
    tab.run(1).shows("Waiting for you", "7 new").press("Approve").shows("Completed", "7 new", "Packages: pricing 1.0")
    tab.run(4).shows("invalid_package", "is an option, not a package")
    assert desk.effects == ["act 7 old", "act 7 new"]
