"""The file.

Made private, refused when it is not ours or not usable, shared by several handles, migrated in one step.
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from codemode_jupyter.runtime import driver as driver_module
from codemode_jupyter.runtime.runtime import Runtime
from codemode_jupyter.runtime.store import database as database_module
from codemode_jupyter.runtime.store.database import Database, on_network_file_system
from codemode_jupyter.runtime.store.schema import SCHEMA_VERSION
from tests.runtime.fake_sandbox import FakeExecutor, Program
from tests.runtime.shelf import Shelf
from tests.runtime.waiting import until

SET_SYNCHRONOUS = Database._set_synchronous


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite3"


async def answer(p: Program):
    return 42


async def stow(p: Program):
    return await p.call("shelf.stow", {"n": 1})


async def refusal_of(path: Path) -> str:
    sandbox = FakeExecutor()
    runtime = Runtime([Shelf()], executor=sandbox, path=path)
    outcome = await runtime.execute(sandbox.program(answer))
    assert (outcome.status, outcome.execution_id) == ("error", "")
    assert str(path) in outcome.error.message
    assert outcome.error.hint
    await runtime.close()
    return outcome.error.code


async def test_the_file_is_private_and_in_wal_mode(path):
    sandbox = FakeExecutor()
    runtime = Runtime(executor=sandbox, path=path)
    await runtime.execute(sandbox.program(answer))
    for file in path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    assert sqlite3.connect(path).execute("PRAGMA journal_mode").fetchone() == ("wal",)
    await runtime.close()


async def test_another_programs_file_is_refused_and_left_alone(path):
    path.write_text("This is a diary, and long enough to be looked at as a database header. " * 20)
    before = path.read_bytes()
    assert await refusal_of(path) == "not_a_store"
    assert path.read_bytes() == before
    path.unlink()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE diary (day TEXT)")
    other.close()
    assert await refusal_of(path) == "not_a_store"


async def test_a_store_of_a_newer_version_is_refused_and_left_alone(path):
    Database(path).close()
    with sqlite3.connect(path) as newer:
        newer.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    newer.close()
    assert await refusal_of(path) == "newer_schema"


async def test_a_locked_store_is_refused_after_a_bounded_wait_and_nothing_is_half_done(path, monkeypatch):
    monkeypatch.setattr(database_module, "BUSY_SECONDS", 0.1)
    Database(path).close()
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    assert await refusal_of(path) == "store_locked"
    holder.execute("ROLLBACK")
    holder.close()
    runtime = Runtime(path=path)
    assert await runtime.executions() == []
    await runtime.close()


async def test_a_read_only_store_can_be_read_and_not_written(path):
    sandbox = FakeExecutor()
    runtime = Runtime(executor=sandbox, path=path)
    done = await runtime.execute(sandbox.program(answer))
    await runtime.close()
    path.chmod(0o400)
    assert await refusal_of(path) == "store_read_only"
    reader = Runtime(executor=sandbox, path=path)
    assert [record.id for record in await reader.executions()] == [done.execution_id]
    await reader.close()


async def test_a_folder_that_is_not_there_is_named(tmp_path):
    assert await refusal_of(tmp_path / "nowhere" / "store.sqlite3") == "store_unavailable"


async def test_a_store_that_fails_in_the_middle_of_a_run_runs_no_tool_and_the_run_can_be_recovered(path, monkeypatch):
    monkeypatch.setattr(database_module, "BUSY_SECONDS", 0.05)
    monkeypatch.setattr(driver_module, "_LOCKED_WAITS", (0.01,))
    sandbox, shelf = FakeExecutor(), Shelf()
    runtime = Runtime([shelf], executor=sandbox, path=path)
    await runtime.executions()
    holder = sqlite3.connect(path, isolation_level=None)
    passes = []

    async def program(p: Program):
        passes.append(1)
        if len(passes) == 1:
            holder.execute("BEGIN IMMEDIATE")
        return await p.call("shelf.note", {"n": 1})

    outcome = await runtime.execute(sandbox.program(program))
    assert outcome.error.code == "store_locked"
    assert shelf.created == []
    holder.execute("ROLLBACK")
    holder.close()
    [recovered] = await runtime.recover()
    assert (recovered.status, recovered.result) == ("completed", 1)
    assert await runtime.recover() == []
    await runtime.close()


async def test_an_execution_that_was_deleted_while_it_ran_runs_nothing_more(path):
    sandbox, shelf = FakeExecutor(), Shelf()
    runtime, other = (Runtime([shelf], executor=sandbox, path=path) for _ in range(2))

    async def program(p: Program):
        await p.call("shelf.slow", {})
        await p.call("shelf.note", {"n": 1})

    ids = []
    task = asyncio.create_task(runtime.execute(sandbox.program(program), on_start=ids.append))
    await until(lambda: shelf.counts["slow"])
    assert await other.delete_execution(ids[0]) is True
    shelf.gate("slow").set()
    assert (await task).error.code == "unknown_execution"
    assert shelf.created == []
    await runtime.close()
    await other.close()


async def test_two_runtimes_on_one_file_lose_nothing(path):
    sandbox, shelf = FakeExecutor(), Shelf()
    runtimes = [Runtime([shelf], executor=sandbox, path=path, max_executions=1000) for _ in range(2)]
    code = sandbox.program(stow)
    outcomes = await asyncio.gather(*(runtimes[number % 2].execute(code) for number in range(40)))
    ends = await asyncio.gather(
        *(runtimes[(number + 1) % 2].approve(outcome.execution_id) for number, outcome in enumerate(outcomes))
    )
    assert {end.status for end in ends} == {"completed"}
    assert len(shelf.created) == 40
    for runtime in runtimes:
        assert len(await runtime.executions()) == 40
        await runtime.close()


CHILD = """
    import asyncio, sys
    from pathlib import Path
    sys.path.insert(0, {root!r})
    from codemode_jupyter.runtime.runtime import Runtime
    from tests.runtime.fake_sandbox import FakeExecutor
    from tests.runtime.shelf import Shelf

    async def note(p):
        return await p.call("shelf.note", {{"n": 1}})

    async def main():
        sandbox, shelf = FakeExecutor(), Shelf()
        runtime = Runtime([shelf], executor=sandbox, path=Path({path!r}), max_executions=10_000)
        for _ in range(200):
            outcome = await runtime.execute(sandbox.program(note))
            assert outcome.status == "completed", outcome
        await runtime.close()
        print(len(shelf.created))

    asyncio.run(main())
"""


def test_two_processes_on_one_file_lose_and_double_nothing(path):
    root = str(Path(__file__).parents[2])
    script = textwrap.dedent(CHILD.format(root=root, path=str(path)))
    children = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [child.communicate(timeout=120)[0].strip() for child in children] == ["200", "200"]
    runtime = Runtime(path=path)
    records = asyncio.run(runtime.executions(with_calls=True))
    assert len({record.id for record in records}) == 400
    assert {(record.status, len(record.calls)) for record in records} == {("completed", 1)}
    asyncio.run(runtime.close())


async def test_one_unreadable_value_spoils_nothing_else(path):
    sandbox, shelf = FakeExecutor(), Shelf()
    runtime = Runtime([shelf], executor=sandbox, path=path)

    async def program(p: Program):
        await p.call("shelf.peek", {})
        return await p.call("shelf.note", {"n": 2})

    outcome = await runtime.execute(sandbox.program(program))
    with sqlite3.connect(path) as other:
        other.execute("UPDATE call SET outcome = 'not JSON', arguments = '{' WHERE seq = 0")
        other.execute("UPDATE execution SET result = '['")
    other.close()
    [record] = await runtime.executions(with_calls=True)
    assert record.id == outcome.execution_id
    assert "codemode" in record.result
    assert [call.has_result for call in record.calls] == [True, True]
    assert record.calls[1].result == 1
    await runtime.close()


async def test_a_call_costs_at_most_two_commits_and_a_batch_shares_them(path, monkeypatch):
    sandbox, shelf = FakeExecutor(), Shelf()
    runtime = Runtime([shelf], executor=sandbox, path=path)
    commits = []
    original = Database.transaction

    def counted(self, *, durable):
        commits.append(durable)
        return original(self, durable=durable)

    monkeypatch.setattr(Database, "transaction", counted)

    async def one_after_another(p: Program):
        for number in range(50):
            await p.call("shelf.peek", {"i": number})

    async def together(p: Program):
        await p.gather(*(p.call("shelf.peek", {"i": number}) for number in range(50)))

    await runtime.execute(sandbox.program(one_after_another))
    assert len(commits) <= 2 * 50 + 4
    commits.clear()
    await runtime.execute(sandbox.program(together))
    assert len(commits) <= 8
    await runtime.close()


def test_what_precedes_a_side_effect_is_synced_and_the_rest_is_not(path, monkeypatch):
    monkeypatch.setattr(Database, "_set_synchronous", SET_SYNCHRONOUS)
    database = Database(path)
    for durable, level in ((True, 2), (False, 1)):
        with database.transaction(durable=durable) as connection:
            assert connection.execute("PRAGMA synchronous").fetchone()[0] == level
    database.wal = False
    with database.transaction(durable=False) as connection:
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == 2
    database.close()


def test_network_file_systems_are_told_by_the_table_of_mounts(tmp_path):
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/sda / ext4 rw 0 0\nserver:/home {tmp_path} nfs4 rw 0 0\n")
    assert on_network_file_system(tmp_path / "store.sqlite3", mounts)
    mounts.write_text("/dev/sda / ext4 rw 0 0\n")
    assert not on_network_file_system(tmp_path / "store.sqlite3", mounts)


async def test_where_wal_does_not_work_another_journal_is_used(path, monkeypatch):
    monkeypatch.setattr(database_module, "on_network_file_system", lambda _: True)
    sandbox = FakeExecutor()
    runtime = Runtime(executor=sandbox, path=path)
    assert (await runtime.execute(sandbox.program(answer))).result == 42
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    await runtime.close()


async def test_a_file_that_was_deleted_while_open_is_made_anew_and_nothing_goes_to_the_old_one(path):
    sandbox = FakeExecutor()
    runtime = Runtime([Shelf()], executor=sandbox, path=path)
    forgotten = await runtime.execute(sandbox.program(stow))
    for file in list(path.parent.iterdir()):
        file.unlink()
    assert await runtime.pending() == []
    assert (await runtime.approve(forgotten.execution_id)).error.code == "unknown_execution"
    kept = await runtime.execute(sandbox.program(stow))
    await runtime.close()
    later = Runtime([Shelf()], executor=sandbox, path=path)
    assert [call.execution_id for call in await later.pending()] == [kept.execution_id]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    await later.close()


async def test_a_file_that_is_deleted_during_a_run_stops_the_run_before_its_next_effect(path):
    async def program(p: Program):
        await p.call("shelf.note", {"n": 1})
        for file in list(path.parent.iterdir()):
            file.unlink()
        await p.call("shelf.note", {"n": 2})

    sandbox, shelf = FakeExecutor(), Shelf()
    runtime = Runtime([shelf], executor=sandbox, path=path)
    outcome = await runtime.execute(sandbox.program(program))
    assert (outcome.status, outcome.error.code) == ("error", "unknown_execution")
    assert shelf.created == [{"n": 1}]
    await runtime.close()


async def test_a_store_whose_folder_went_away_says_so_and_works_again_when_it_is_back(path):
    sandbox = FakeExecutor()
    inside = path.parent / "folder" / "store.sqlite3"
    inside.parent.mkdir()
    runtime = Runtime([Shelf()], executor=sandbox, path=inside)
    await runtime.execute(sandbox.program(answer))
    shutil.rmtree(inside.parent)
    for _ in range(2):
        assert (await runtime.execute(sandbox.program(answer))).error.code == "store_unavailable"
    inside.parent.mkdir()
    assert (await runtime.execute(sandbox.program(answer))).result == 42
    await runtime.close()


async def test_a_store_stays_where_it_was_opened_when_the_working_directory_changes(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    sandbox = FakeExecutor()
    runtime = Runtime([Shelf()], executor=sandbox, path="store.sqlite3")
    first = await runtime.execute(sandbox.program(answer))
    (path.parent / "elsewhere").mkdir()
    monkeypatch.chdir(path.parent / "elsewhere")
    second = await runtime.execute(sandbox.program(answer))
    assert [record.id for record in await runtime.executions()] == [second.execution_id, first.execution_id]
    assert list(Path.cwd().iterdir()) == []
    await runtime.close()


async def test_a_row_that_cannot_be_read_spoils_no_list(path):
    sandbox = FakeExecutor()
    runtime = Runtime([Shelf()], executor=sandbox, path=path)
    await runtime.execute(sandbox.program(stow))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE execution SET error = 'no JSON', logs = '[[1]]', result = '{', connectors = '{'")
        connection.execute("UPDATE call SET arguments = '{', outcome = 'no'")
    await runtime.execute(sandbox.program(answer))
    newer, older = await runtime.executions(with_calls=True)
    assert newer.result == 42
    assert older.error.code == "unreadable_value"
    assert "cannot be read" in older.logs[0].text
    assert older.connectors == ()
    [waiting] = await runtime.pending()
    assert "cannot be read" in waiting.args
    await runtime.close()
