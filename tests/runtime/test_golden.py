"""Stores made by earlier versions must open, list, replay and be approved for ever.

``golden/schema_<n>.golden`` was made by ``make_golden`` of the version that introduced schema ``n`` and is never made
anew: ``python -m tests.runtime.test_golden`` writes the file of the present schema if there is none yet.
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from pathlib import Path

import pytest

from codemode_jupyter.runtime.runtime import Runtime
from codemode_jupyter.runtime.store.schema import SCHEMA_VERSION
from tests.runtime.fake_sandbox import FakeExecutor, Program
from tests.runtime.shelf import Shelf

FOLDER = Path(__file__).parent / "golden"
GOLDEN = sorted(FOLDER.glob("schema_*.golden"))


async def story(p: Program):
    peeked = await p.gather(p.call("shelf.peek", {"i": 1}), p.call("shelf.bytes", {}))
    try:
        await p.call("shelf.fragile", {})
    except Exception as error:  # noqa: BLE001
        why = str(error)
    kept = await p.step("keep", lambda: 7)
    return [peeked, why, kept, await p.call("shelf.stow", {"kept": kept})]


def changing(word: str):
    """A program that is not the one that was recorded, unless the word is the same."""

    async def program(p: Program):
        await p.call("shelf.peek", {"word": word})
        return await p.call("shelf.stow", {})

    return program


async def make_golden(path: Path) -> None:
    sandbox, shelf = FakeExecutor(), Shelf()
    runtime = Runtime([shelf], executor=sandbox, path=path)
    texts = [sandbox.program(story), sandbox.program(changing("then"))]
    completed = await runtime.execute(texts[0])
    await runtime.approve(completed.execution_id)
    await runtime.save_snippet("story", execution_id=completed.execution_id, description="a story")
    for text in texts:
        await asyncio.sleep(0.002)
        await runtime.execute(text)
    await runtime.execute("async () => (")
    await runtime.close()
    with sqlite3.connect(path) as store:
        store.execute("PRAGMA journal_mode = DELETE")
        store.execute("VACUUM")
    store.close()


def test_there_is_a_golden_store_of_every_schema():
    assert [path.stem for path in GOLDEN] == [f"schema_{number}" for number in range(1, SCHEMA_VERSION + 1)]


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda path: path.stem)
async def test_a_store_of_an_earlier_version_opens_lists_replays_and_is_approved(golden, tmp_path):
    shutil.copy(golden, tmp_path / "store.sqlite3")
    sandbox, shelf = FakeExecutor(), Shelf()
    sandbox.program(story)
    sandbox.program(changing("now"))
    runtime = Runtime([shelf], executor=sandbox, path=tmp_path / "store.sqlite3")
    records = await runtime.executions(with_calls=True)
    assert [record.status for record in records] == ["error", "paused", "paused", "completed"]
    told = [{"slot": 1, "v": "ok"}, bytes([5, 4, 3])]
    assert records[3].result == [told, "fragile failed #1", 7, {"id": 1}]
    assert [snippet.name for snippet in await runtime.snippets()] == ["story"]

    replayed = await runtime.approve(records[2].id)
    assert (replayed.status, replayed.result) == ("completed", [told, "fragile failed #2", 7, {"id": 1}])
    assert shelf.counts == {"stow": 1}

    diverged = await runtime.approve(records[1].id)
    assert diverged.error.code == "replay_divergence"
    assert shelf.counts == {"stow": 1}
    await runtime.close()


if __name__ == "__main__":
    target = FOLDER / f"schema_{SCHEMA_VERSION}.golden"
    if not target.exists():
        asyncio.run(make_golden(target))
