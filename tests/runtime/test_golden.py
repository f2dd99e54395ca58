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

from codemode_jupyter.connectors.tool import Tool
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


async def order(_, context):
    """A tool that does something, then asks."""
    kept = await context.step("hold", lambda: context.idempotency_key)
    return [kept, await context.interrupt({"order": 7}, {"type": "integer"})]


async def asks(p: Program):
    return await p.call("shelf.order", {})


def asking_runtime(path: Path) -> tuple[Runtime, str]:
    sandbox, shelf = FakeExecutor(), Shelf()
    shelf.extra = [Tool("order", order)]
    return Runtime([shelf], executor=sandbox, path=path), sandbox.program(asks)


async def make_asking(path: Path) -> None:
    """Make a store in which a tool waits for an answer: since schema 3."""
    runtime, text = asking_runtime(path)
    await runtime.execute(text)
    await runtime.close()
    with sqlite3.connect(path) as store:
        store.execute("PRAGMA journal_mode = DELETE")
    store.close()


@pytest.mark.parametrize("golden", sorted(FOLDER.glob("asking_*.golden")), ids=lambda path: path.stem)
async def test_a_question_that_an_earlier_version_asked_is_answered_and_its_steps_are_not_made_again(golden, tmp_path):
    shutil.copy(golden, tmp_path / "store.sqlite3")
    runtime, _ = asking_runtime(tmp_path / "store.sqlite3")
    [asked] = await runtime.pending()
    assert (asked.kind, asked.payload) == ("interrupt", {"order": 7})
    with sqlite3.connect(tmp_path / "store.sqlite3") as store:
        store.execute("UPDATE journal SET outcome = '\"as recorded\"' WHERE kind = 'step'")
    store.close()
    assert (await runtime.respond(asked.call_id, 5)).result == ["as recorded", 5]
    await runtime.close()


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
    for name, make in (("schema", make_golden), ("asking", make_asking)):
        target = FOLDER / f"{name}_{SCHEMA_VERSION}.golden"
        if not target.exists():
            asyncio.run(make(target))
