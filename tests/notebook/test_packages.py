"""Packages in the notebook: the command that lists them, the card of a run that had some."""

import os
import sqlite3

import pytest

from codemode_jupyter.notebook.card.html import to_html
from codemode_jupyter.notebook.card.layout import CardState, card_layout
from codemode_jupyter.notebook.card.text import to_text
from codemode_jupyter.runtime.runtime import Runtime
from codemode_jupyter.sandbox.python.packages import folder
from codemode_jupyter.sandbox.python.packages.package import Package, packages_text
from tests.notebook.card_examples import record
from tests.package_index import served, wheel

HAD = (Package("humanize", "4.17.0", "0" * 64, "humanize-4.17.0-py3-none-any.whl"),)


async def noted(p):
    return await p.call("shelf.note", {"text": "hello"})


@pytest.fixture
def index(tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "cache_folder", lambda: tmp_path / "cache")
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    with served(tmp_path / "index") as (made, address):
        monkeypatch.setenv("PIP_INDEX_URL", address)
        yield made


def printed(bench, capsys, line):
    capsys.readouterr()
    bench.run(line)
    return capsys.readouterr().out


def test_the_packages_of_a_runtime_and_of_a_run_are_listed(bench, capsys, index, tmp_path):
    assert "has no packages" in printed(bench, capsys, "%codemode packages")
    wheel(index.folder, "lib", "1.0")
    bench.variables["runtime"] = Runtime(executor=bench.sandbox, path=tmp_path / "log.sqlite3", packages=["lib"])
    assert "lib      1.0      index" in printed(bench, capsys, "%codemode packages")
    wheel(index.folder, "lib", "2.0")
    assert "lib      1.0      index" in printed(bench, capsys, "%codemode packages")
    assert "lib      2.0      index" in printed(bench, capsys, "%codemode packages update")
    bench.variables["runtime"] = bench.another("default")
    run = bench.run(bench.cell(noted)).execution_id
    assert "has no packages" in printed(bench, capsys, f"%codemode packages {run[-6:]}")
    with sqlite3.connect(tmp_path / "log.sqlite3") as store:
        store.execute("UPDATE execution SET packages = ?", (packages_text(HAD),))
    store.close()
    assert "humanize  4.17.0   index" in printed(bench, capsys, f"%codemode packages {run[-6:]}")


def test_the_card_of_a_run_names_its_packages():
    card = card_layout(CardState(record("completed", language="python", packages=HAD)))
    assert "Packages: humanize 4.17.0" in to_text(card)
    assert "Packages:" not in to_text(card_layout(CardState(record("completed"))))
    hostile = Package("x", "<b>", "0" * 64, "x.whl")
    assert "<b>" not in to_html(card_layout(CardState(record("completed", packages=(hostile,)))))
