"""What is installed from a checkout: all that the notebook needs, and nothing that has to be built first."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from codemode_jupyter.sandbox.frame import LABEXTENSION, served_files, served_frame
from codemode_jupyter.sandbox.python.assets import FILES, assets_folder
from codemode_jupyter.sandbox.python.shipped import served_path

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


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


def test_an_installation_puts_the_sandbox_where_jupyter_servers_find_files(tmp_path):
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run(
        [*command, "--prefix", str(tmp_path), "--ignore-installed", str(ROOT)], check=True, capture_output=True
    )
    assert (tmp_path / "share" / "jupyter" / "labextensions" / served_frame()).is_file()


def test_the_wheel_carries_the_licence(wheel):
    assert any(name.endswith("licenses/LICENSE") for name in wheel.namelist())


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
