"""Resolving packages in the kernel: pip asked for the sandbox's platform, an index of this machine, and what fails."""

import asyncio
import io
import json
import os
import shutil
import sys
import tarfile
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from packaging.tags import sys_tags

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.python.packages import archive, commands, folder, pip, projects
from codemode_jupyter.sandbox.python.packages.package_set import PackageSet
from tests.package_index import PLATFORM, project, served, wheel


@pytest.fixture
def index(tmp_path, monkeypatch):
    """An index that pip is configured for, and a cache folder of its own."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setattr(folder, "cache_folder", lambda: tmp_path / "cache")
    with served(tmp_path / "index") as (made, address):
        monkeypatch.setenv("PIP_INDEX_URL", address)
        yield made


async def resolved(*named, **options):
    return {one.name: one for one in await PackageSet(named, **options).resolved()}


async def refusal(*named, **options):
    with pytest.raises(CodemodeError) as refused:
        await PackageSet(named, **options).resolved()
    assert refused.value.hint or refused.value.code == "package_failed"
    return refused.value


def content(file):
    return Path(file.path).read_bytes()


def source(index, name, setup="raise SystemExit(1)"):
    """Put an archive of source code into the index."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as packed:
        for path, text in (("setup.py", setup), ("PKG-INFO", f"Metadata-Version: 1.0\nName: {name}\nVersion: 1.0\n")):
            entry = tarfile.TarInfo(f"{name}-1.0/{path}")
            entry.size = len(text)
            packed.addfile(entry, io.BytesIO(text.encode()))
    path = index.folder / f"{name}-1.0.tar.gz"
    path.write_bytes(data.getvalue())
    return path


async def test_dependencies_are_those_of_the_sandboxs_platform_not_of_the_kernels(index):
    requires = [
        "here; sys_platform == 'emscripten' and python_version >= '3.14' and platform_machine == 'wasm32'",
        f"elsewhere; sys_platform == '{sys.platform}'",
        "old; python_version < '3.14'",
        "extra; extra == 'more'",
    ]
    wheel(index.folder, "top", requires=requires)
    for name in ("here", "elsewhere", "old", "extra"):
        wheel(index.folder, name)
    assert list(await resolved("top")) == ["here", "top"]
    assert list(await resolved("top[more]")) == ["extra", "here", "top"]


async def test_what_its_marker_leaves_out_is_not_fetched(index):
    wheel(index.folder, "lib")
    assert await resolved("lib; sys_platform == 'win32'") == {}
    assert list(await resolved("lib; sys_platform == 'emscripten'")) == ["lib"]


async def test_a_wheel_for_the_sandboxs_platform_is_taken_and_one_for_the_kernels_is_not(index):
    for version, tag in (("2.0", "cp314-cp314-manylinux_2_17_x86_64"), ("1.0", f"cp314-cp314-{PLATFORM}")):
        wheel(index.folder, "fast", version, tag=tag)
    assert (await resolved("fast"))["fast"].filename == f"fast-1.0-cp314-cp314-{PLATFORM}.whl"


async def test_pip_runs_once_for_a_set_until_it_is_to_be_updated(index):
    wheel(index.folder, "lib", "1.0")
    first = await resolved("lib")
    wheel(index.folder, "lib", "2.0")
    index.requests.clear()
    assert await resolved("lib") == first
    assert index.requests == []
    newer = await PackageSet(["lib"]).resolved(update=True)
    assert [one.version for one in newer] == ["2.0"]
    assert (await resolved("lib"))["lib"].version == "2.0"


async def test_the_very_bytes_are_had_again_when_the_cache_was_emptied_and_the_index_has_newer_ones(index, tmp_path):
    wheel(index.folder, "lib", "1.0")
    packages = PackageSet(["lib"])
    recorded = await packages.resolved()
    content_before = [content(file) for file in await packages.files(recorded)]
    wheel(index.folder, "lib", "2.0")
    shutil.rmtree(tmp_path / "cache")
    assert [content(file) for file in await PackageSet().files(recorded)] == content_before


async def test_bytes_that_are_nowhere_any_more_are_said_to_be_gone(index, tmp_path):
    wheel(index.folder, "lib", "1.0")
    recorded = await PackageSet(["lib"]).resolved()
    wheel(index.folder, "lib", "1.0", {"lib.py": "VERSION = 'another'"})
    shutil.rmtree(tmp_path / "cache")
    with pytest.raises(CodemodeError) as refused:
        await PackageSet(["lib"]).files(recorded)
    assert refused.value.code == "package_gone"
    assert refused.value.data == {"package": "lib", "version": "1.0", "sha256": recorded[0].sha256}


async def test_a_file_that_was_changed_in_the_cache_is_not_used(index, tmp_path):
    wheel(index.folder, "lib", "1.0")
    [package] = await PackageSet(["lib"]).resolved()
    [kept] = (tmp_path / "cache").rglob("*.whl")
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-1])
    [file] = await PackageSet(["lib"]).files([package])
    assert content(file) == whole


async def test_each_reason_that_a_package_cannot_be_had_is_told_with_what_to_do(index):
    index.folder.joinpath("readme").touch()
    fault = await refusal("nowhere")
    assert (fault.code, fault.data) == ("package_not_found", {"package": "nowhere"})

    wheel(index.folder, "lib", "1.0")
    fault = await refusal("lib>=2")
    assert fault.code == "package_not_found"
    assert "There are: 1.0" in fault.hint

    wheel(index.folder, "native", tag=f"py3-none-{_native_platform()}")
    fault = await refusal("native")
    assert fault.code == "package_other_platform"
    assert "pyodide_distribution" in fault.hint

    source(index, "sourced")
    fault = await refusal("sourced")
    assert fault.code == "package_no_wheel"
    assert "./sourced" in fault.hint

    wheel(index.folder, "one", requires=["lib<1"])
    fault = await refusal("one", "lib")
    assert fault.code == "package_conflict"
    assert "one 1.0 depends on lib<1" in fault.message

    wheel(index.folder, "wrapper", requires=["native"])
    fault = await refusal("wrapper")
    assert (fault.code, fault.data) == ("package_other_platform", {"package": "native"})


def _native_platform():
    return next(tag.platform for tag in sys_tags())


async def test_a_file_that_its_index_describes_otherwise_is_refused(index):
    wheel(index.folder, "lib")
    index.digests["lib-1.0-py3-none-any.whl"] = "0" * 64
    assert (await refusal("lib")).code == "package_hash_mismatch"


async def test_an_index_that_cannot_be_reached_is_said(index, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setattr(pip, "_RETRIES", "--retries=1")
    fault = await refusal("lib")
    assert fault.code == "package_index_unreachable"


async def test_an_indexs_password_is_used_and_shows_nowhere(index, monkeypatch):
    wheel(index.folder, "lib")
    index.login = "reader:sesame"
    address = os.environ["PIP_INDEX_URL"].replace("http://", "http://reader:sesame@")
    monkeypatch.setenv("PIP_INDEX_URL", address)
    assert "sesame" not in repr(await resolved("lib"))
    faults = [await refusal("nowhere")]
    monkeypatch.setenv("PIP_INDEX_URL", address.replace("sesame", "sesame2"))
    faults.append(await refusal("lib", "other"))
    assert all("sesame" not in f"{fault} {fault.data}" for fault in faults)


def test_addresses_in_what_programs_print_are_cut_down_to_their_host():
    text = "see https://user:secret@index.example/token/simple/lib, then http://host/x?key=1 \x1b[31m."
    assert commands.shown(text) == "see https://index.example/… then http://host/… ."


async def test_no_code_of_a_package_runs_in_the_kernel_whatever_it_depends_on(index, tmp_path):
    mark = tmp_path / "ran"
    setup = f"open({str(mark)!r}, 'w').close()\nfrom setuptools import setup\nsetup(name='evil', version='1.0')\n"
    evil = source(index, "evil", setup)
    wheel(index.folder, "bait", requires=[f"evil @ {evil.as_uri()}"])
    wheel(index.folder, "bait2", requires=["evil"])
    for name in ("bait", "bait2", "evil"):
        fault = await refusal(name)
        assert (fault.code, fault.data) == ("package_no_wheel", {"package": "evil"}), fault
    assert not mark.exists()


async def test_a_project_is_built_once_for_the_same_files_and_anew_for_others(index, tmp_path, monkeypatch):
    wheel(index.folder, "needed")
    lib = project(tmp_path / "mylib", "mylib", "VALUE = 1\n", ["needed"])
    built = []
    real = pip.Pip.build
    monkeypatch.setattr(pip.Pip, "build", lambda self, *given: built.append(given) or real(self, *given))
    first = await resolved(lib)
    assert [(one.name, one.origin) for one in first.values()] == [("mylib", "project"), ("needed", "index")]
    assert await resolved(str(lib), "needed") == first
    assert len(built) == 1
    (lib / "__pycache__").mkdir()
    (lib / "__pycache__" / "x.pyc").touch()
    assert await resolved(lib) == first
    (lib / "mylib.py").write_text("VALUE = 2\n")
    assert (await resolved(lib))["mylib"].sha256 != first["mylib"].sha256
    assert len(built) == 2
    (lib / "mylib" / "build").mkdir(parents=True)
    (lib / "mylib" / "build" / "part.py").touch()
    await resolved(lib)
    assert len(built) == 3


async def test_a_projects_wheel_is_built_again_for_a_recorded_run_and_said_to_be_gone_when_it_is_another(
    index, tmp_path
):
    lib = project(tmp_path / "mylib", "mylib", "VALUE = 1\n")
    recorded = await PackageSet([lib]).resolved()
    shutil.rmtree(tmp_path / "cache")
    [file] = await PackageSet([lib]).files(recorded)
    assert file.sha256 == recorded[0].sha256
    shutil.rmtree(tmp_path / "cache")
    (lib / "mylib.py").write_text("VALUE = 2\n")
    with pytest.raises(CodemodeError) as refused:
        await PackageSet([lib]).files(recorded)
    assert refused.value.code == "package_gone"
    assert "another wheel" in refused.value.message


async def test_where_no_index_answers_a_project_says_that_its_build_needs_one(tmp_path, monkeypatch):
    lib = project(tmp_path / "mylib", "mylib", "VALUE = 1\n")
    (lib / "pyproject.toml").write_text('[project]\nname = "mylib"\nversion = "1.0"\n')
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setattr(pip, "_RETRIES", "--retries=1")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/")
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    fault = await refusal(lib)
    assert fault.code == "package_index_unreachable"
    assert "mylib" in fault.message


async def test_a_project_that_cannot_be_built_or_has_compiled_code_says_so(index, tmp_path, monkeypatch):
    broken = project(tmp_path / "broken", "broken", "")
    (broken / "backend.py").write_text("def build_wheel(*_, **__):\n    raise ValueError('no such thing')\n")
    fault = await refusal(broken)
    assert fault.code == "package_build_failed"
    assert "no such thing" in fault.message

    native = project(tmp_path / "native", "native", "")
    backend = native / "backend.py"
    backend.write_text(backend.read_text().replace("py3-none-any", f"py3-none-{_native_platform()}"))
    monkeypatch.setattr(projects, "find_spec", lambda _: None)
    fault = await refusal(native)
    assert fault.code == "package_needs_build"
    assert "CPython 3.14" in fault.hint
    assert "[build]" in fault.hint


async def test_compiled_code_of_a_project_is_given_to_pyodide_build_where_it_is_there(index, tmp_path, monkeypatch):
    native = project(tmp_path / "native", "native", "")
    backend = native / "backend.py"
    backend.write_text(backend.read_text().replace("py3-none-any", f"py3-none-{_native_platform()}"))
    monkeypatch.setattr(projects, "PYTHON", sys.version_info[:2])
    monkeypatch.setattr(projects, "find_spec", lambda _: True)
    run = commands.Commands.run
    asked = []

    def build(self, arguments, where, seconds, **environment):
        if "pyodide_cli" not in arguments:
            return run(self, arguments, where, seconds, **environment)
        asked.append(arguments)
        wheel(where / "compiled", "native", tag=f"cp314-cp314-{PLATFORM}")
        return commands.Done(0, "")

    monkeypatch.setattr(commands.Commands, "run", build)
    assert (await resolved(native))["native"].filename.endswith(f"{PLATFORM}.whl")
    assert asked[0][:4] == ["-m", "pyodide_cli", "build", str(native)]


async def test_extras_of_a_wheel_on_disk_are_had_as_well(index, tmp_path):
    wheel(index.folder, "more")
    mine = wheel(tmp_path, "mine", requires=["more; extra == 'all'"])
    assert list(await resolved(f"{mine}[all]")) == ["mine", "more"]
    assert list(await resolved(mine)) == ["mine"]


async def test_a_wheel_on_disk_is_taken_if_it_fits(index, tmp_path):
    assert (await resolved(wheel(tmp_path, "mine")))["mine"].origin == "file"
    fault = await refusal(wheel(tmp_path, "theirs", tag="cp311-cp311-win_amd64"))
    assert fault.code == "package_other_platform"


async def test_a_cache_that_cannot_be_written_is_said(index, tmp_path):
    wheel(index.folder, "lib")
    (tmp_path / "cache").write_text("no folder")
    fault = await refusal("lib")
    assert fault.code == "package_cache_unwritable"


async def test_pip_that_takes_too_long_is_ended(index, monkeypatch):
    monkeypatch.setattr(pip, "DOWNLOAD_SECONDS", 0.01)
    fault = await refusal("lib")
    assert fault.code == "package_failed"
    assert "longer than 0.01 s" in fault.message


async def test_a_kernel_without_pip_is_told_how_to_have_it(index, monkeypatch):
    monkeypatch.setattr(pip, "find_spec", lambda _: None)
    fault = await refusal("lib")
    assert fault.code == "pip_missing"
    assert "ensurepip" in fault.hint


async def test_stopping_ends_pip_and_the_next_one_starts_afresh(index, monkeypatch):
    wheel(index.folder, "lib")
    started, released, killed = asyncio.Event(), threading.Event(), []
    loop, kill = asyncio.get_running_loop(), commands._kill
    monkeypatch.setattr(commands, "_kill", lambda process: (kill(process), killed.append(process.returncode)))
    page = index.page

    def slow(name):
        loop.call_soon_threadsafe(started.set)
        released.wait(20)
        return page(name)

    monkeypatch.setattr(index, "page", slow)
    packages = PackageSet(["lib"])
    running = asyncio.create_task(packages.resolved())
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert killed[0] != 0
    released.set()
    assert [one.name for one in await packages.resolved()] == ["lib"]


# A Pyodide distribution


def distribution(where, *wheels, libraries=(), info=None, **changes):
    """Write the list of a distribution whose files lie in a folder."""
    entries = {}
    for path in wheels:
        name = path.name.split("-")[0]
        entries[name] = {
            "name": name,
            "version": path.name.split("-")[1],
            "file_name": path.name,
            "install_dir": "site",
            "sha256": archive.sha256_of(path),
            "package_type": "package",
            "imports": [name],
            "depends": [library.stem for library in libraries],
            **changes,
        }
    for library in libraries:
        entries[library.stem] = {
            "name": library.stem,
            "version": "1",
            "file_name": library.name,
            "install_dir": "dynlib",
            "sha256": archive.sha256_of(library),
            "package_type": "shared_library",
            "depends": [],
        }
    lock = {"info": {"abi_version": "2026_0", "python": "3.14.2", "arch": "wasm32"} | (info or {}), "packages": entries}
    (where / "pyodide-lock.json").write_text(json.dumps(lock))
    return where


def library(where, name):
    path = where / f"{name}.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr(f"{name}.so", b"")
    return path


async def test_what_no_index_has_comes_from_a_distribution_with_the_libraries_it_loads(index, tmp_path):
    where = tmp_path / "distribution"
    wheel(index.folder, "pure")
    wheel(index.folder, "fast", tag=f"py3-none-{_native_platform()}")
    fast = wheel(where, "fast", "3.0", requires=["pure"], tag=f"cp314-cp314-{PLATFORM}")
    distribution(where, fast, libraries=[library(where, "libfast")])
    found = await resolved("fast", distribution=where)
    assert [(one.name, one.origin, one.place) for one in found.values()] == [
        ("fast", "distribution", "site"),
        ("libfast", "distribution", "dynlib"),
        ("pure", "index", "site"),
    ]
    shutil.rmtree(tmp_path / "cache")
    files = await PackageSet((), where).files(tuple(found.values()))
    assert [file.name for file in files] == ["fast", "libfast", "pure"]
    shutil.rmtree(tmp_path / "cache")
    with pytest.raises(CodemodeError) as refused:
        await PackageSet().files(tuple(found.values()))
    assert refused.value.code == "package_gone"
    assert "pyodide_distribution" in refused.value.message


async def test_a_distribution_may_be_an_address(index, tmp_path):
    where = tmp_path / "distribution"
    distribution(where, wheel(where, "fast", tag=f"cp314-cp314-{PLATFORM}"), libraries=[library(where, "libfast")])

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(where)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        assert list(await resolved("fast", distribution=address)) == ["fast", "libfast"]
        fault = await refusal("fast", "fast<0", distribution=f"{address}/pyodide-lock.json")
        assert fault.code in ("package_not_found", "package_conflict")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    fault = await refusal("other", distribution=f"{address}/x/")
    assert fault.code == "distribution_unreachable"


async def test_a_distribution_whose_files_are_not_what_it_lists_is_refused(index, tmp_path):
    where = tmp_path / "distribution"
    fast, lib = wheel(where, "fast", tag=f"cp314-cp314-{PLATFORM}"), library(tmp_path / "distribution", "libfast")
    distribution(where, fast, libraries=[lib], sha256="0" * 64)
    assert (await refusal("fast", distribution=where)).code == "package_hash_mismatch"
    distribution(where, fast, libraries=[lib])
    lib.write_bytes(b"another")
    assert (await refusal("fast", distribution=where)).code == "package_hash_mismatch"


@pytest.mark.parametrize(
    ("info", "changes"),
    [
        ({"abi_version": "2025_0"}, {}),
        ({"python": "3.13.2"}, {}),
        ({"python": None}, {}),
        ({}, {"file_name": "../../etc/passwd"}),
        ({}, {"file_name": "http://elsewhere.example/fast-1.0-py3-none-any.whl"}),
        ({}, {"file_name": 5}),
        ({}, {"file_name": "..%2F..%2Foutside.whl"}),
        ({}, {"sha256": "../x"}),
    ],
)
async def test_a_distribution_that_does_not_fit_is_refused(index, tmp_path, info, changes):
    distribution(tmp_path, wheel(tmp_path, "fast"), info=info, **changes)
    assert (await refusal("fast", distribution=tmp_path)).code == "invalid_distribution"


@pytest.mark.parametrize("where", ["./nowhere", "http://elsewhere.example/", "https://name:word@host.example/", 5, ""])
def test_what_is_no_distribution_is_refused_at_once(where):
    with pytest.raises(CodemodeError) as refused:
        PackageSet((), where)
    assert refused.value.code == "invalid_distribution"
    assert "word" not in refused.value.message.replace("password", "")
