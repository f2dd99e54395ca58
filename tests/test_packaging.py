"""What is installed from a checkout: all that the notebook and the sandbox need."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from codemode_jupyter.sandbox.deno_binary import find_deno
from codemode_jupyter.sandbox.frame import LABEXTENSION, served_files, served_frame
from codemode_jupyter.sandbox.python.assets import FILES, PYODIDE_VERSION, TZDATA_VERSION, assets_folder
from codemode_jupyter.sandbox.python.making import ensure_assets
from codemode_jupyter.sandbox.python.shipped import served_path

ROOT = Path(__file__).resolve().parent.parent


NO_NPM = {"NPM_CONFIG_REGISTRY": "http://127.0.0.1:9"}  # a port on which nothing answers


def build(folder, target="wheel", root=ROOT, **environment):
    """Build into a folder; return what was built and what was said."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    done = subprocess.run(
        command, cwd=root, check=True, capture_output=True, text=True, env={**os.environ, **environment}
    )
    (built,) = folder.iterdir()
    return built, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    if find_deno() is None:
        pytest.skip("the extra [python] is not installed")
    ensure_assets(find_deno())
    # What is in the cache by then is taken from there: no network is needed any more.
    built, said = build(tmp_path_factory.mktemp("wheel"), **NO_NPM)
    assert "WARNING" not in said
    return zipfile.ZipFile(built)


@pytest.fixture(scope="module")
def installation(tmp_path_factory, wheel):
    folder = tmp_path_factory.mktemp("installation")
    options = ["--quiet", "--no-deps", "--no-index", "--prefix", str(folder), "--ignore-installed"]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, wheel.filename], check=True, capture_output=True)
    return folder


def test_the_wheel_holds_every_file_of_the_package(wheel):
    files = [path for path in (ROOT / "codemode_jupyter").rglob("*") if path.is_file() and path.suffix != ".pyc"]
    in_checkout = {path.relative_to(ROOT).as_posix() for path in files}
    assert in_checkout <= set(wheel.namelist())


def test_the_wheel_holds_nothing_but_the_package_and_its_metadata(wheel):
    shared = "codemode_jupyter-0.1.0.data"
    known = {"codemode_jupyter", "codemode_jupyter-0.1.0.dist-info", shared}
    assert {name.split("/")[0] for name in wheel.namelist()} == known
    place = f"{shared}/data/share/jupyter/labextensions/"
    served = {name.removeprefix(place) for name in wheel.namelist() if name.startswith(f"{shared}/")}
    python = {served_path(assets_folder().name, name) for name in FILES}
    assert served == {f"{LABEXTENSION}/{path}" for path in served_files()} | python


def test_an_installation_puts_what_a_page_needs_where_jupyter_servers_find_files(installation):
    served = installation / "share" / "jupyter" / "labextensions"
    assert (served / served_frame()).is_file()
    assert all((served / served_path(assets_folder().name, name)).is_file() for name in FILES)


PROGRAM = """
import asyncio, codemode_jupyter
from codemode_jupyter import Runtime
async def main():
    runtime = Runtime()
    outcome = await runtime.execute("sum(range(10))", language="python")
    await runtime.close()
    print(codemode_jupyter.__file__, outcome.status, outcome.result)
asyncio.run(main())
"""


def test_an_installed_package_runs_python_with_an_empty_cache_and_without_a_network(installation, tmp_path):
    (site,) = installation.glob("lib/*/site-packages")
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "PIP_NO_INDEX": "1", **NO_NPM}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env={**os.environ, **home, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == [str(site / "codemode_jupyter" / "__init__.py"), "completed", "45"], done.stderr
    assert [path.name for path in (tmp_path / "cache" / "codemode-jupyter").iterdir()] == [assets_folder().name]


def test_the_wheel_stays_small(wheel):
    added = sum(wheel.getinfo(name).compress_size for name in wheel.namelist() if name.endswith(".gz"))
    assert 5_000_000 < added < 15_000_000


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The source distribution, unpacked."""
    folder = tmp_path_factory.mktemp("sources")
    archive, _ = build(tmp_path_factory.mktemp("sdist"), "sdist")
    with tarfile.open(archive) as unpacked:
        unpacked.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def test_the_source_distribution_builds_the_same_wheel(tmp_path, sources, wheel):
    built, _ = build(tmp_path, root=sources, **NO_NPM)
    assert {(one.filename, one.CRC) for one in zipfile.ZipFile(built).infolist()} == {
        (one.filename, one.CRC) for one in wheel.infolist()
    }


def test_without_the_npm_registry_the_wheel_is_built_without_python_and_says_so(tmp_path, sources, wheel):
    shutil.copytree(sources, tmp_path / "sources")
    with (tmp_path / "sources/codemode_jupyter/sandbox/python/guest/__init__.py").open("a") as file:
        file.write("# not what any set was made of\n")
    (tmp_path / "built").mkdir()
    built, said = build(tmp_path / "built", root=tmp_path / "sources", XDG_CACHE_HOME=str(tmp_path / "cache"), **NO_NPM)
    assert "WARNING: the wheel is built without the files of the sandbox's Python." in said
    assert "cannot be fetched from the npm registry" in said
    without = set(zipfile.ZipFile(built).namelist())
    assert {name.rsplit("/", 1)[-1] for name in set(wheel.namelist()) - without} == {f"{name}.gz" for name in FILES}


def test_the_wheel_carries_the_licence_and_names_those_of_others(wheel):
    names = {name.rsplit("/", 1)[-1] for name in wheel.namelist() if "/licenses/" in name}
    assert names == {"LICENSE", "NOTICE"}
    notice = (ROOT / "NOTICE").read_text()
    assert f"Pyodide {PYODIDE_VERSION} " in notice
    assert f"tzdata {TZDATA_VERSION} " in notice


def test_the_newest_entry_of_the_changelog_is_this_version():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    headings = [line for line in (ROOT / "CHANGELOG.md").read_text().splitlines() if line.startswith("## ")]
    assert headings[0].split()[1] == version


def test_importing_the_package_imports_no_widgets_and_no_sandbox():
    script = (
        "import sys, codemode_jupyter\n"
        "heavy = {'ipywidgets', 'anywidget', 'pydantic', 'tree_sitter', 'deno'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_nothing_needs_a_build_step_or_a_content_delivery_network():
    sources = [path for path in (ROOT / "codemode_jupyter").rglob("*") if path.suffix in {".js", ".css", ".html"}]
    loaded_from_outside = [path for path in sources if "https://" in path.read_text() and "cdn" in path.read_text()]
    assert not loaded_from_outside


def test_the_picture_of_the_readme_is_there_and_small():
    (path,) = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", (ROOT / "README.md").read_text())
    assert 0 < (ROOT / path).stat().st_size < 200_000
