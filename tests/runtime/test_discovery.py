"""What a program and its host find and read of what there is to call."""

from __future__ import annotations

import subprocess
import sys

import pytest

from codemode_jupyter.errors import CodemodeError
from tests.runtime.fake_sandbox import Program, ThrownError


async def test_a_program_says_how_many_results_it_wants(world):
    async def program(p: Program):
        found = [await p.call("codemode.search", *arguments) for arguments in (["shelf", 2], ["shelf", {"limit": 3}])]
        with pytest.raises(ThrownError, match="`limit` is 'x'"):
            await p.call("codemode.search", "shelf", {"limit": "x"})
        return [len(one["results"]) for one in found]

    assert (await world.execute(program)).result == [2, 3]
    assert len((await world.runtime.search("shelf", 4))["results"]) == 4


async def test_results_are_compact_and_a_close_miss_names_what_is_near(world):
    found = await world.runtime.search("stow")
    assert all("\n" not in row["description"] and len(row["description"]) <= 200 for row in found["results"])
    assert "shelf.stow" in (await world.runtime.describe("shelf.stw"))["types"]


async def test_python_programs_get_stubs(world):
    stubs = (await world.runtime.describe("shelf.stow", language="python"))["types"]
    assert "class shelf:" in stubs
    assert "async def stow(" in stubs
    with pytest.raises(CodemodeError, match="`language` is 'ruby'"):
        await world.runtime.describe("shelf", language="ruby")


async def test_a_runtime_searches_by_meaning_where_it_is_given_vectors(world):
    def embed(texts):
        return [[1.0, 0.0] if "peek" in text or "furtive" in text else [0.0, 1.0] for text in texts]

    runtime = world.another(embed=embed)
    assert (await runtime.search("furtive"))["results"][0]["path"] == "shelf.peek"
    assert (await runtime.search("!!!"))["results"] == []
    with pytest.raises(CodemodeError, match="`embed` is 'word2vec'"):
        world.another(embed="word2vec")


@pytest.mark.parametrize(
    ("connector", "loaded"),
    [
        (
            'OpenApiConnector("api", {"openapi": "3.1.0", "paths": {}}, base_url="http://127.0.0.1")',
            True,
        ),
        ('FunctionConnector("api", [abs])', False),
    ],
)
def test_what_checks_schemas_is_loaded_before_a_call_may_need_it(tmp_path, connector, loaded) -> None:
    code = f"""
import asyncio, sys
from codemode_jupyter import FunctionConnector, OpenApiConnector, Runtime
async def main():
    runtime = Runtime([{connector}], path="store.sqlite3")
    await runtime.describe("api")
    await runtime.close()
asyncio.run(main())
print("codemode_jupyter.connectors.schemas.checker" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.strip() == str(loaded)
