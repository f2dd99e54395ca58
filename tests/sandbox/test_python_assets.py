"""The files of the sandbox's Python: where they come from, and that they are there whole or not at all."""

import gzip
import json
import shutil
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.deno import find_deno
from codemode_jupyter.sandbox.python import assets, time_zones
from codemode_jupyter.sandbox.python.assets import FILES, GUEST, TZDATA_VERSION, find_assets
from codemode_jupyter.sandbox.python.compiled import compile_package
from codemode_jupyter.sandbox.python.making import ensure_assets
from codemode_jupyter.sandbox.python.packed import compressed, packed_files
from codemode_jupyter.sandbox.python.whole_folder import whole_folder
from tests.sandbox.conftest import make_deno
from tests.sandbox.kernel import evaluate

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def empty_cache(monkeypatch, tmp_path):
    """A cache folder of its own, with nothing in it."""
    folder = tmp_path / "cache"
    monkeypatch.setattr(assets, "cache_folder", lambda: folder)
    return folder


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """An installation that brings small files in place of the real ones; its folder."""
    folder = tmp_path / "labextensions" / "static" / "python"
    folder.mkdir(parents=True)
    for name in FILES:
        (folder / f"{name}.gz").write_bytes(gzip.compress(name.encode()))
    monkeypatch.setattr(assets, "find_shipped", lambda _digest, _names: folder)
    return folder


def test_what_an_installation_brings_is_unpacked_once_and_travels_as_it_is(empty_cache, installed):
    found = find_assets()
    assert found.folder.parent == empty_cache
    assert {path.name: path.read_text() for path in found.folder.iterdir()} == {name: name for name in FILES}
    times = [path.stat().st_mtime_ns for path in found.folder.iterdir()]
    assert find_assets() == found
    assert [path.stat().st_mtime_ns for path in found.folder.iterdir()] == times
    assert compressed(found, "glue.js") == (installed / "glue.js.gz").read_bytes()
    assert packed_files(found)[0].path == f"codemode-jupyter/static/{found.folder.name}/glue.js.gz"
    assert not list(found.folder.glob("*.gz"))


@pytest.mark.parametrize(
    "damage", [b"", b"no gzip", gzip.compress(b"x" * 999, mtime=0)[:-9]], ids=["empty", "no gzip", "cut off"]
)
def test_damaged_files_of_an_installation_are_not_used(empty_cache, installed, damage):
    (installed / "snapshot.bin.gz").write_bytes(damage)
    assert find_assets() is None
    assert list(empty_cache.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_told(empty_cache, installed):
    empty_cache.write_text("a file in its place")
    with pytest.raises(CodemodeError, match="cannot be written") as caught:
        ensure_assets("deno")
    assert caught.value.code == "python_not_available"


def test_a_folder_is_there_whole_or_not_at_all(tmp_path):
    folder = tmp_path / "folder"

    def fill(name):
        with whole_folder(folder, lambda path: (path / "a").exists()) as made:
            (made / name).write_text(name)

    with pytest.raises(FileNotFoundError):
        fill("no/where")
    assert list(tmp_path.iterdir()) == []
    for name, left in (("b", ["b"]), ("a", ["a"]), ("c", ["a"])):  # whole, over an incomplete one, not over a whole one
        fill(name)
        assert [path.name for path in folder.iterdir()] == left
    assert list(tmp_path.iterdir()) == [folder]


def test_the_build_asks_for_the_very_time_zones():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert f"tzdata=={TZDATA_VERSION}" in project["build-system"]["requires"]


def test_time_zones_are_fetched_by_pip_where_the_environment_has_others(monkeypatch, tmp_path):
    good = time_zones._installed()
    if good is None:
        pytest.skip(f"tzdata {TZDATA_VERSION} is not installed to make its wheel of")
    wheel, library = tmp_path / "tzdata.whl", tmp_path / "library.zip"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, data in good.items():
            archive.writestr(f"tzdata/{name}", data)
    with zipfile.ZipFile(library, "w") as archive:
        archive.writestr("os.py", "")
    monkeypatch.setattr(time_zones.importlib.metadata, "version", lambda _name: "2020.1")
    commands = []

    def download(command, _failure):
        commands.append(command)
        (folder,) = [part.removeprefix("--dest=") for part in command if part.startswith("--dest=")]
        shutil.copy(wheel, folder)

    time_zones.add_time_zones(library, tmp_path / "a.zip", download)
    time_zones.add_time_zones(library, tmp_path / "b.zip", download)
    assert commands[0][:4] == [sys.executable, "-m", "pip", "download"]
    assert commands[0][-1] == f"tzdata=={TZDATA_VERSION}"
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    assert {"os.py", "tzdata/__init__.py", "tzdata/zoneinfo/Europe/Berlin"} <= set(
        zipfile.ZipFile(tmp_path / "a.zip").namelist()
    )
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("tzdata/zoneinfo/Europe/Nowhere", b"TZif")
    with pytest.raises(CodemodeError, match="not what it should be"):
        time_zones.add_time_zones(library, tmp_path / "c.zip", download)


COMPILE = """
import importlib._bootstrap_external as external, json
def compiled(name, source):
    code = compile(source, name, "exec")
    return bytes(external._code_to_timestamp_pyc(code)).hex()
{name + "c": compiled(name, source) for name, source in SOURCES.items()}
"""
"""What ``py-compile`` does to an archive, for the sandbox's own Python to do."""


def tool(monkeypatch, tmp_path, compiled):
    """Put a ``pyodide`` on the path that puts an archive of these files in the place of the one that it is given."""
    ready = tmp_path / "ready.zip"
    with zipfile.ZipFile(ready, "w") as archive:
        for name, data in compiled.items():
            archive.writestr(name, data)
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "pyodide"
    script.write_text(f'#!/bin/sh\n[ "$1 $2" = "py-compile --silent" ] && cp "{ready}" "$3"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setattr("codemode_jupyter.sandbox.python.compiled.find_spec", lambda _name: None)


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")
def test_what_is_compiled_for_another_python_is_not_used(monkeypatch, tmp_path):
    tool(monkeypatch, tmp_path, {"guest/__init__.pyc": b"\xf3\r\r\n" + bytes(12)})
    (tmp_path / "work").mkdir()
    assert compile_package(GUEST, tmp_path / "work") == GUEST


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")
def test_without_the_tool_or_when_it_fails_the_sources_are_used(monkeypatch, tmp_path):
    tool(monkeypatch, tmp_path, {})
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        assert compile_package(GUEST, tmp_path / name) == GUEST
        (tmp_path / "bin" / "pyodide").write_text("#!/bin/sh\nexit 3\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "third").mkdir()
    assert compile_package(GUEST, tmp_path / "third") == GUEST


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")
async def test_a_set_is_made_of_the_compiled_package_where_it_fits(monkeypatch, tmp_path):
    deno = find_deno()
    if deno is None:
        pytest.skip("the extra [python] is not installed")
    pyodide = ensure_assets(deno).folder.parent / f"pyodide-{assets.PYODIDE_VERSION}"
    if not pyodide.is_dir():
        pytest.skip("Pyodide's own files are not in the cache: the installation brought the set")
    executor = make_deno()
    sources = {f"guest/{path.name}": path.read_text() for path in GUEST.glob("*.py")}
    try:
        compiled = await evaluate(executor, f"SOURCES = {sources!r}\n{COMPILE}", language="python")
    finally:
        await executor.close()
    tool(monkeypatch, tmp_path, {name: bytes.fromhex(data) for name, data in compiled.items()})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(assets, "find_shipped", lambda _digest, _names: None)
    shutil.copytree(pyodide, assets.cache_folder() / pyodide.name)
    (tmp_path / "work").mkdir()
    assert {path.suffix for path in compile_package(GUEST, tmp_path / "work").iterdir()} == {".pyc"}
    executor = make_deno()
    try:
        source = "import codemode_guest\n[codemode_guest.__file__, (await it.echo(a=1))['a']]"
        file, echoed = await evaluate(executor, source, language="python")
    finally:
        await executor.close()
    assert file.endswith("/__init__.pyc")
    assert json.dumps(echoed) == "1"
