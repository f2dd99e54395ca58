"""Programs in Python in the page, as a person meets them: the load, the second run, Stop, a reload, an approval."""

import re
import shutil
import time
from pathlib import Path

import pytest

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.deno import find_deno
from codemode_jupyter.sandbox.python.assets import find_assets
from codemode_jupyter.sandbox.python.making import ensure_assets
from codemode_jupyter.sandbox.python.packed import packed_files
from tests.e2e.lab import NOTEBOOK
from tests.e2e.notebooks import SETUP
from tests.e2e.waiting import until


@pytest.fixture(scope="module", autouse=True)
def _assets():
    try:
        ensure_assets(find_deno() or "deno")
    except CodemodeError as error:
        pytest.skip(str(error))


RUN = """%%codemode -l python
import sys
number = await world.read(number=5)
print('half way')
[number + 1, sys.platform]
"""
ENDLESS = "%%codemode -l python\nwhile True:\n    pass"
GATED = (
    "%%codemode -l python\nnumber = await world.read(number=7)\nanswer = await world.act(word='seven')\nanswer['done']"
)


LABEXTENSIONS = Path("data", "labextensions")
LOADS = r"(Loading|Starting) Python…"


def test_the_first_program_shows_its_load_and_the_second_begins_at_once(desk, screenshots):
    desk.write(SETUP, RUN, RUN)
    tab = desk.open()
    tab.run(0)
    first = tab.cell(1).run()
    until(lambda: re.search(r"Loading Python… \d+ of \d+ MB", first.text), "the load shows")
    first.picture(screenshots / "python-loading.png")
    first.finished().shows("Completed", "world.read", "half way", "emscripten")
    start = time.monotonic()
    tab.run(2).shows("Completed", "emscripten")
    assert time.monotonic() - start < 3
    assert "Loading" not in tab.cell(2).text
    assert desk.effects == ["read 5", "read 5"]


def test_a_page_that_is_reloaded_during_the_load_loses_nothing(desk):
    desk.write(
        SETUP, RUN + "\n", "outcome_of = (await runtime.executions())[0]\nprint(outcome_of.status, outcome_of.result)"
    )
    tab = desk.open()
    tab.run(0)
    cell = tab.cell(1).run()
    until(lambda: re.search(LOADS, cell.text), "the load shows")
    tab.reload_while_busy()
    tab.idle()
    tab.run(2).shows("completed [6, 'emscripten']")
    assert desk.effects == ["read 5"]


def test_stop_ends_a_loop_and_a_load_and_the_next_program_runs(desk):
    desk.write(SETUP, ENDLESS, RUN)
    tab = desk.open()
    tab.run(0)
    loading = tab.cell(2).run()
    until(lambda: re.search(LOADS, loading.text), "the load shows")
    tab.interrupt()
    loading.finished().shows("Stopped")
    endless = tab.cell(1).run()
    until(lambda: "Running" in endless.text, "it runs", timeout=60)
    start = time.monotonic()
    tab.interrupt()
    endless.finished().shows("Stopped")
    assert time.monotonic() - start < 5
    tab.run(2).shows("Completed", "emscripten")
    assert desk.effects == ["read 5"]


def test_a_program_pauses_is_approved_and_goes_on_in_notebook_7(desk):
    desk.write(SETUP, GATED)
    tab = desk.open(face=NOTEBOOK)
    cell = tab.run(0, 1).shows("Waiting for you", "world.act")
    cell.press("Approve").shows("Completed", "seven")
    assert desk.effects == ["read 7", "act seven"]


def test_where_the_server_has_the_files_they_come_from_it_and_then_from_the_pages_store(desk):
    packed = packed_files(find_assets())
    [folder] = {(desk.server.folder / LABEXTENSIONS / file.path).parent for file in packed}
    folder.mkdir(parents=True)
    for file in packed:
        (folder / file.path.rsplit("/", 1)[1]).write_bytes(file.data)
    try:
        desk.write(SETUP, RUN, "%codemode doctor")
        tab = desk.open()
        tab.run(0, 1).shows("Completed", "emscripten")
        tab.run(2).shows("it came as 13 MB from the server")
        tab.reload()
        tab.run(2).shows("it came as 13 MB from the page's store")
    finally:
        shutil.rmtree(folder)
