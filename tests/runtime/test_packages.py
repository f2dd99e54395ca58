"""Packages of a runtime: recorded with the execution, the same bytes in every pass, whatever became of them since."""

import asyncio
import os
import shutil
import sqlite3
import threading
import time

import pytest

from codemode_jupyter import FunctionConnector, Runtime, tool
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.beginning import new_execution
from codemode_jupyter.runtime.store import Store
from codemode_jupyter.sandbox.deno import DenoExecutor, find_deno
from codemode_jupyter.sandbox.python.making import ensure_assets
from codemode_jupyter.sandbox.python.packages import folder
from tests.package_index import project, served, wheel
from tests.runtime.test_golden import GOLDEN

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAUSING = "import lib\nawait bank.book(text=lib.VERSION)"
OWN_INDEX = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1"}


@tool(requires_approval=True)
def book(text: str) -> str:
    """Book something."""
    return text


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    made = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as changes:
        changes.setattr(folder, "cache_folder", lambda: made)
        yield made


@pytest.fixture(scope="module")
def executor(cache):
    deno = find_deno()
    if deno is None:
        pytest.skip("there is no Deno: pip install 'codemode-jupyter[python]'")
    try:
        ensure_assets(deno)
    except CodemodeError as error:
        pytest.skip(str(error))
    made = DenoExecutor()
    yield made
    asyncio.run(made.close())


@pytest.fixture
def index(tmp_path, monkeypatch, cache):
    """An index that pip is configured for, and an empty cache."""
    shutil.rmtree(cache / "packages", ignore_errors=True)
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    with served(tmp_path / "index") as (made, address):
        for name, value in (OWN_INDEX | {"PIP_INDEX_URL": address}).items():
            monkeypatch.setenv(name, value)
        yield made


@pytest.fixture
async def make(executor, tmp_path):
    """Make runtimes over one file, as kernels that follow each other."""
    made = []

    def runtime(*packages, **options):
        bank = FunctionConnector("bank", [book])
        made.append(Runtime([bank], executor=executor, path=tmp_path / "store.sqlite3", packages=packages, **options))
        return made[-1]

    yield runtime
    for one in made:
        await one.close()


async def execute(runtime, code, **options):
    return await runtime.execute(code, language="python", **options)


async def test_a_program_uses_a_real_package_of_the_index_that_pip_is_configured_for(make):
    runtime = make("humanize")
    try:
        await runtime.packages()
    except CodemodeError as fault:
        if fault.code != "package_index_unreachable":
            raise
        pytest.skip(f"no index answers here: {fault.message}")
    outcome = await execute(runtime, "import humanize\nhumanize.intcomma(12345678)")
    assert outcome.result == "12,345,678", outcome
    [package] = (await runtime.execution(outcome.execution_id)).packages
    assert (package.name, len(package.sha256), package.origin) == ("humanize", 64, "index")


async def test_a_project_of_ones_own_is_built_and_used_and_a_changed_one_is_taken_by_the_next_run(
    make, index, tmp_path
):
    wheel(index.folder, "tax", files={"tax.py": "RATE = 3"})
    mylib = project(tmp_path / "mylib", "mylib", "import tax\ndef price(n): return n * tax.RATE\n", ["tax"])
    runtime = make(mylib)
    assert (await execute(runtime, "import mylib\nmylib.price(5)")).result == 15
    (mylib / "mylib.py").write_text("def price(n): return n\n")
    assert (await execute(runtime, "import mylib\nmylib.price(5)")).result == 5


async def test_an_approved_run_goes_on_with_the_same_bytes_whatever_has_become_of_them(make, index, cache):
    wheel(index.folder, "lib", "1.0")
    paused = await execute(make("lib"), PAUSING)
    assert paused.pending[0].args == {"text": "1.0"}
    wheel(index.folder, "lib", "2.0")
    shutil.rmtree(cache / "packages")
    later = make()  # a kernel started anew, whose runtime names no packages
    assert (await later.approve(paused.execution_id)).result == "1.0"
    assert (await execute(make("lib"), PAUSING)).pending[0].args == {"text": "2.0"}


async def test_a_run_whose_packages_are_gone_waits_until_they_are_back(make, index, cache):
    path = wheel(index.folder, "lib", "1.0")
    paused = await execute(make("lib"), PAUSING)
    shutil.rmtree(cache / "packages")
    kept = path.rename(path.with_suffix(".kept"))
    later = make("lib")
    refused = await later.approve(paused.execution_id)
    assert (refused.status, refused.error.code) == ("error", "package_gone")
    assert [call.seq for call in await later.pending(paused.execution_id)] == [0]
    kept.rename(path)
    assert (await later.approve(paused.execution_id)).result == "1.0"


async def test_a_run_whose_packages_cannot_be_had_fails_before_it_begins(make, index):
    wheel(index.folder, "lib")
    runtime = make("lib", "nowhere")
    outcome = await execute(runtime, "await bank.book(text='x')")
    assert (outcome.status, outcome.error.code, list(outcome.calls)) == ("error", "package_not_found", [])
    assert "nowhere" in outcome.error.message
    assert outcome.to_wire()["code"] == "package_not_found"
    assert "Code execution failed" not in outcome.to_wire()["error"]
    assert (await runtime.execution(outcome.execution_id)).status == "error"


async def test_javascript_fetches_nothing_until_it_runs_a_snippet_in_python(make, index):
    wheel(index.folder, "lib", "1.0")
    runtime = make("lib")
    assert (await runtime.execute("async () => 1")).result == 1
    assert index.requests == []
    saved = await execute(runtime, "async def main(input=None):\n    import lib\n    return lib.VERSION")
    await runtime.save_snippet("version", execution_id=saved.execution_id)
    outcome = await runtime.execute("async () => codemode.run('version')")
    assert outcome.result == "1.0", outcome
    assert [str(one) for one in (await runtime.execution(outcome.execution_id)).packages] == ["lib 1.0"]


async def test_a_model_is_told_the_names_of_packages_and_no_path(make, tmp_path):
    mylib = project(tmp_path / "folder", "mylib", "")
    described = make("humanize>=4", mylib).tool(language="python").description
    assert "`import` also finds humanize, mylib." in described
    assert str(tmp_path) not in described


async def test_what_is_fetched_is_said_and_stop_ends_it(make, index, monkeypatch):
    wheel(index.folder, "lib", "1.0")
    released, page = threading.Event(), index.page
    monkeypatch.setattr(index, "page", lambda name: released.wait(20) and page(name))
    runtime = make("lib")
    begun, said = [], asyncio.Event()

    async def look(execution_id):
        if (await runtime.execution(execution_id)).preparation == "Fetching packages: lib":
            said.set()

    runtime.subscribe(lambda execution_id: begun.append(asyncio.ensure_future(look(execution_id))))
    running = asyncio.create_task(execute(runtime, PAUSING))
    await asyncio.wait_for(said.wait(), 20)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    released.set()
    [record] = await runtime.executions()
    assert (record.status, record.error.code, record.packages) == ("error", "stopped", ())


async def test_a_run_whose_kernel_died_while_packages_were_fetched_is_recovered_with_them(make, index, tmp_path):
    wheel(index.folder, "lib", "1.0")
    runtime = make("lib")
    store = Store(tmp_path / "store.sqlite3", runtime.name)
    row = new_execution("import lib\nlib.VERSION", "python", 30.0, ("bank",), '{"host": "gone", "pid": 1, "start": 0}')
    row.heartbeat = time.time() - 3600
    with store.transaction() as connection:
        store.executions.insert(connection, row)
    store.close()
    [outcome] = await runtime.recover()
    assert outcome.result == "1.0", outcome
    assert [str(one) for one in (await runtime.execution(row.id)).packages] == ["lib 1.0"]


async def test_records_that_no_version_wrote_fetch_nothing_and_spoil_no_list(make, index, tmp_path):
    wheel(index.folder, "lib", "1.0")
    paused = await execute(make("lib"), PAUSING)
    with sqlite3.connect(tmp_path / "store.sqlite3") as store:
        store.execute("""UPDATE execution SET packages = replace(packages, '"1.0"', '"1.0 --index-url=x"')""")
    store.close()
    index.requests.clear()
    runtime = make("lib")
    refused = await runtime.approve(paused.execution_id)
    assert refused.error.code == "invalid_record"
    assert index.requests == []
    assert [record.packages for record in await runtime.executions()] == [()]


async def test_a_program_chooses_no_packages(make, index):
    wheel(index.folder, "lib", "1.0")
    code = """
import asyncio, pyodide_js
found = []
asking = pyodide_js.loadPackage("lib")
await asyncio.sleep(0.05)
for name in ("lib", "micropip"):
    try:
        __import__(name)
    except ImportError as error:
        found.append(error.name)
found
"""
    outcome = await execute(make(), code)
    assert outcome.result == ["lib", "micropip"], outcome
    assert index.requests == []


async def test_earlier_stores_know_of_no_packages(tmp_path):
    shutil.copy(GOLDEN[3], tmp_path / "store.sqlite3")
    runtime = Runtime(path=tmp_path / "store.sqlite3")
    records = await runtime.executions()
    assert len(records) == 4
    assert all(record.packages == () for record in records)
    await runtime.close()
