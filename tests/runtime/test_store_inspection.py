"""A store's file can be looked at without being opened as a store, and without leaving a trace."""

import sqlite3

import pytest

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.store import Store
from codemode_jupyter.runtime.store.inspection import inspect_store
from codemode_jupyter.runtime.store.schema import SCHEMA_VERSION


@pytest.fixture
def path(tmp_path):
    return tmp_path / "log.sqlite3"


def files(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_a_place_without_a_store_is_told_and_stays_without_one(path):
    found = inspect_store(path)
    assert not found.exists
    assert found.is_writable
    assert files(path.parent) == {}


def test_a_folder_that_is_not_there_is_not_writable(tmp_path):
    assert not inspect_store(tmp_path / "gone" / "log.sqlite3").is_writable


@pytest.mark.parametrize("is_open", [True, False])
def test_a_store_is_described_and_not_changed(path, is_open):
    store = Store(path, "default")
    if not is_open:
        store.close()
    before = files(path.parent)
    found = inspect_store(path)
    assert (found.exists, found.schema, found.journal, found.mode) == (True, SCHEMA_VERSION, "wal", 0o600)
    assert found.size == path.stat().st_size
    assert files(path.parent).keys() == before.keys()
    assert files(path.parent)[path.name] == before[path.name]
    store.close()


def test_a_store_without_write_bits_is_not_writable(path):
    Store(path, "default").close()
    path.chmod(0o400)
    assert not inspect_store(path).is_writable


def test_another_databases_file_is_refused(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE other (x)")
    connection.commit()
    connection.close()
    with pytest.raises(CodemodeError) as refusal:
        inspect_store(path)
    assert refusal.value.code == "not_a_store"


def test_a_file_that_is_no_database_is_refused(path):
    path.write_text("a letter, " * 100)
    with pytest.raises(CodemodeError) as refusal:
        inspect_store(path)
    assert refusal.value.code == "not_a_store"


def test_a_store_of_a_later_version_is_refused_with_what_to_do(path):
    Store(path, "default").close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    with pytest.raises(CodemodeError, match="Upgrade codemode-jupyter") as refusal:
        inspect_store(path)
    assert refusal.value.code == "newer_schema"


def test_a_folder_in_the_place_of_a_store_is_refused(path):
    path.mkdir()
    with pytest.raises(CodemodeError) as refusal:
        inspect_store(path)
    assert refusal.value.code == "store_unavailable"
