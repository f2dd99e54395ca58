"""Packages in the sandboxes: their bytes are there before the program, and for no other program."""

import asyncio
import shutil

import pytest

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.deno import find_deno
from codemode_jupyter.sandbox.protocol import PackageFile
from codemode_jupyter.sandbox.python.making import ensure_assets
from codemode_jupyter.sandbox.python.packages import folder, target
from codemode_jupyter.sandbox.python.packages.archive import Archive, sha256_of
from codemode_jupyter.sandbox.python.packages.package_set import PackageSet
from tests.package_index import wheel
from tests.sandbox.kernel import Kernel, evaluate, failure

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    """A cache folder for packages, from before the sandboxes start."""
    try:
        ensure_assets(find_deno() or "deno")
    except CodemodeError as error:
        pytest.skip(str(error))
    made = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as changes:
        changes.setattr(folder, "cache_folder", lambda: made)
        yield made


def kept(path):
    """Put a file where packages are kept."""
    digest = Archive().put(path)
    return PackageFile(path.name.split("-")[0], digest, str(folder.files_folder() / digest / path.name))


async def value_of(sandbox, source, *packages, **options):
    return await evaluate(sandbox, source, language="python", packages=packages, **options)


async def test_a_program_imports_its_packages_and_no_other_program_does(sandbox, tmp_path):
    files = {
        "shop/__init__.py": "from .prices import total",
        "shop/prices.py": "import tax\ntotal = lambda n: n + tax.of(n)",
    }
    shop = kept(wheel(tmp_path, "shop", files={**files, "shop/list.txt": "é"}))
    tax = kept(wheel(tmp_path, "tax", "2.1", {"tax.py": "def of(n): return n // 10"}))
    source = """
import importlib.metadata, importlib.resources, shop
[shop.total(50), importlib.metadata.version("tax"), importlib.resources.files(shop).joinpath("list.txt").read_text()]
"""
    missing = "import importlib.util\nimportlib.util.find_spec('tax') is None"
    for _ in range(2):
        assert await value_of(sandbox, source, shop, tax) == [55, "2.1", "é"]
        assert await value_of(sandbox, missing, shop) is True
        assert await value_of(sandbox, missing) is True


async def test_a_compiled_package_of_an_index_runs_in_the_sandbox(sandbox):
    packages = PackageSet(["pydantic"])
    try:
        found = await packages.resolved()
    except CodemodeError as fault:
        if fault.code not in ("package_index_unreachable", "package_other_platform"):
            raise
        pytest.skip(f"no index has a wheel for the sandbox's platform: {fault.message}")
    assert any("wasm32" in package.filename for package in found)
    source = 'import pydantic\nclass Row(pydantic.BaseModel):\n    id: int\nRow.model_validate_json(\'{"id": "7"}\').id'
    assert await value_of(sandbox, source, *await packages.files(found)) == 7


async def test_programs_with_packages_of_the_same_name_run_side_by_side(sandbox, tmp_path):
    versions = [kept(wheel(tmp_path, "lib", f"{number}.0")) for number in range(4)]
    source = "import lib\n(await it.later(ms=20, version=lib.VERSION))['version']"
    values = await asyncio.gather(*[value_of(sandbox, source, one) for one in versions])
    assert values == ["0.0", "1.0", "2.0", "3.0"]


async def test_the_parts_of_a_wheel_go_where_they_belong(sandbox, tmp_path):
    files = {"lib-1.0.data/purelib/lib.py": "VALUE = 7", "lib-1.0.data/data/share/lib.txt": "data"}
    lib = kept(wheel(tmp_path, "lib", files=files))
    source = "import lib, sys, pathlib\n[lib.VALUE, (pathlib.Path(sys.prefix) / 'share' / 'lib.txt').read_text()]"
    assert await value_of(sandbox, source, lib) == [7, "data"]


async def test_an_archive_leads_out_of_no_folder_and_a_damaged_one_is_named(sandbox, tmp_path):
    lib = kept(wheel(tmp_path, "lib", files={"../../../tmp/outside.py": "", "/absolute.py": "", "lib.py": ""}))
    source = "import lib, pathlib\n[pathlib.Path(p).exists() for p in ('/tmp/outside.py', '/absolute.py')]"
    assert await value_of(sandbox, source, lib) == [False, False]
    path = tmp_path / "broken-1.0-py3-none-any.whl"
    path.write_bytes(b"PK no archive")
    error, _ = await failure(sandbox, "1", language="python", packages=(kept(path),))
    assert error["data"]["code"] == "package_broken"
    assert "broken" in error["message"]


async def test_a_program_with_packages_replays(sandbox, tmp_path):
    lib = kept(wheel(tmp_path, "lib", files={"lib.py": "import random, tempfile, uuid\nKEY = str(uuid.uuid4())"}))
    source = """
import lib, random, tempfile, time
found = [lib.KEY, random.random(), tempfile.mktemp(), time.time()]
await it.echo(found=found)
await it.gated()
found
"""
    kernel = Kernel(source, {"it.echo": lambda arguments: arguments}, language="python", packages=(lib,))
    paused = await kernel.run(sandbox)
    assert paused.kind == "paused", paused
    kernel.approve()
    end = await kernel.run(sandbox)
    assert end.kind == "completed", end


async def test_no_package_makes_a_way_out_of_a_javascript_program(sandbox, tmp_path):
    assert await evaluate(sandbox, "async () => 1", packages=(kept(wheel(tmp_path, "lib")),)) == 1


async def test_the_headless_sandbox_reads_no_file_but_those_of_packages(deno, tmp_path):
    path = wheel(tmp_path, "lib")
    outside = PackageFile("lib", sha256_of(path), str(path))
    end = await Kernel("1", language="python", packages=(outside,)).run(deno)
    assert end.kind == "lost"
    assert "cannot be read" in end.error
    target = folder.files_folder() / "linked" / path.name
    target.parent.mkdir(parents=True)
    shutil.copy(path, target)
    assert await value_of(deno, "import lib\n1", PackageFile("lib", sha256_of(path), str(target))) == 1


async def test_packages_are_resolved_for_the_python_that_is_in_the_sandbox(deno):
    source = """
import os, platform, sys, sysconfig
{
    "implementation_name": sys.implementation.name,
    "implementation_version": platform.python_version(),
    "os_name": os.name,
    "platform_machine": platform.machine(),
    "platform_release": platform.release(),
    "platform_system": platform.system(),
    "platform_version": platform.version(),
    "python_full_version": platform.python_version(),
    "platform_python_implementation": platform.python_implementation(),
    "python_version": ".".join(platform.python_version_tuple()[:2]),
    "sys_platform": sys.platform,
}, sysconfig.get_config_var("PYODIDE_ABI_VERSION")
"""
    markers, abi = (await value_of(deno, source))["value"]
    assert markers == target.MARKERS
    assert abi == target.ABI_VERSION
