"""What a user may name as a package, and what is refused before anything is fetched."""

import re
from pathlib import Path

import pytest

from codemode_jupyter import CodemodeError, Runtime
from codemode_jupyter.sandbox.python.packages import package
from codemode_jupyter.sandbox.python.packages.package import Package, packages_text, read_packages
from codemode_jupyter.sandbox.python.packages.package_set import PackageSet
from codemode_jupyter.sandbox.python.packages.target import fits
from codemode_jupyter.sandbox.python.packages.wanted import read_wanted
from tests.package_index import PLATFORM, project, wheel

RECORD = Package("humanize", "4.0", "0" * 64, "humanize-4.0-py3-none-any.whl")


def test_requirements_projects_and_wheels_are_told_apart(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder, file = project(tmp_path / "my lib", "mylib", ""), wheel(tmp_path, "other")
    named = ["humanize", "rich[jupyter]>=13,<15; python_version>'3'", "./my lib", folder, f"{folder}[extra]", file.name]
    found = read_wanted(named)
    assert [one.requirement for one in found[:2]] == ["humanize", 'rich[jupyter]<15,>=13; python_version > "3"']
    assert [(one.path, one.extras) for one in found[2:]] == [
        (folder, ""),
        (folder, ""),
        (folder, "[extra]"),
        (file, ""),
    ]
    assert [one.name for one in found] == ["humanize", "rich", "mylib", "mylib", "mylib", "other"]
    assert [one.is_project for one in found] == [False, False, True, True, True, False]


@pytest.mark.parametrize(
    "entry",
    [
        *("--index-url=http://127.0.0.1/", "-r requirements.txt", "-e .", "--", "humanize --pre", "humanize\n--pre"),
        *("git+https://127.0.0.1/x.git", "https://127.0.0.1/x.whl", "x @ https://127.0.0.1/x.whl", "x @ file:///x.whl"),
        *("", "  ", "a b", "humanize==", "humanize;;", "../\x00", 5, None, b"humanize"),
    ],
)
def test_what_names_no_package_never_reaches_pip(entry):
    with pytest.raises(CodemodeError) as refused:
        read_wanted([entry])
    assert refused.value.code == "invalid_package"
    assert refused.value.hint


@pytest.mark.parametrize("entry", ["./nowhere", "/", "~/nowhere-at-all", "nowhere-1.0-py3-none-any.whl", "a/b"])
def test_a_path_without_a_project_is_said_at_once(entry):
    with pytest.raises(CodemodeError) as refused:
        Runtime(packages=[entry])
    assert refused.value.code == "package_not_found"


def test_one_name_is_no_list_of_packages():
    for packages in ("humanize", 5):
        with pytest.raises(CodemodeError) as refused:
            PackageSet(packages)
        assert refused.value.code == "invalid_package"


@pytest.mark.parametrize("address", ["https://name:secret@127.0.0.1/x.whl", "x @@ https://name:secret@127.0.0.1/x.whl"])
def test_a_refusal_repeats_no_password(address):
    with pytest.raises(CodemodeError) as refused:
        read_wanted([address])
    assert "secret" not in str(refused.value)


def test_wheels_of_pure_python_and_of_the_sandboxs_platform_fit_and_no_others():
    tags = [
        "py3-none-any",
        "py2.py3-none-any",
        f"cp314-cp314-{PLATFORM}",
        f"cp39-abi3-{PLATFORM}",
        f"py3-none-{PLATFORM}",
    ]
    assert all(fits(f"x-1.0-{tag}.whl") for tag in tags)
    others = ["cp314-cp314-manylinux_2_17_x86_64", f"cp313-cp313-{PLATFORM}", "cp314-cp314-pyemscripten_2025_0_wasm32"]
    assert not any(fits(f"x-1.0-{tag}.whl") for tag in others)
    assert not fits("x.whl")


def test_every_code_of_the_room_is_among_those_that_say_why_packages_cannot_be_had():
    texts = [path.read_text(encoding="utf-8") for path in Path(package.__file__).parent.glob("*.py")]
    raised = {code for text in texts for code in re.findall(r'CodemodeError\(\s*"(\w+)"', text)}
    assert raised == package.PACKAGE_CODES


def test_a_record_is_read_as_it_was_written_and_what_is_none_is_refused():
    assert read_packages(packages_text([RECORD])) == (RECORD,)
    good = packages_text([RECORD])
    for bad in (
        *("{", "[1]", '[{"name": "x"}]', good.replace("humanize-4.0-py3", "../humanize-4.0-py3")),
        *(good.replace('"4.0"', '"4.0 --pre"'), good.replace('"humanize"', '"--pre"'), good.replace("00", "0g", 1)),
        *(good.replace('"index"', '"https://127.0.0.1/"'), good.replace('"site"', '"/etc"')),
    ):
        with pytest.raises(CodemodeError) as refused:
            read_packages(bad)
        assert refused.value.code == "invalid_record", bad
