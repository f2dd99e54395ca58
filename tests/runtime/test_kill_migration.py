"""The process is killed (SIGKILL) at every statement of opening an older store; the next one opens it whole."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import sys
from collections import Counter
from pathlib import Path

import pytest

from codemode_jupyter.runtime.runtime import Runtime
from codemode_jupyter.runtime.store.database import Database
from codemode_jupyter.runtime.store.schema import SCHEMA_VERSION
from tests.runtime.fake_sandbox import FakeExecutor
from tests.runtime.shelf import Shelf

OLDER = [
    path
    for path in sorted((Path(__file__).parent / "golden").glob("schema_*.golden"))
    if int(path.stem.removeprefix("schema_")) < SCHEMA_VERSION
]


def open_and_die(path: Path, statement: int) -> bool:
    """Open a store in a child that kills itself before a statement; tell whether it got so far."""
    child = os.fork()
    if child == 0:
        connect = Database._connect
        seen = 0

        def trace(_text: str) -> None:
            nonlocal seen
            seen += 1
            if seen == statement:
                os.kill(os.getpid(), signal.SIGKILL)

        def traced(self: Database) -> sqlite3.Connection:
            connection = connect(self)
            connection.set_trace_callback(trace)
            return connection

        Database._connect = traced
        Database(path).close()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


async def contents(path: Path) -> list[tuple[str, str, object]]:
    runtime = Runtime([Shelf()], executor=FakeExecutor(), path=path)
    found = [(record.id, record.status, record.result) for record in await runtime.executions(with_calls=True)]
    await runtime.close()
    return found


@pytest.mark.parametrize("golden", OLDER, ids=lambda path: path.stem)
async def test_a_store_is_whole_whenever_its_migration_is_killed(golden, tmp_path):
    expected = await contents(Path(shutil.copy(golden, tmp_path / "whole.sqlite3")))
    assert expected
    versions: Counter[int] = Counter()
    statement = 1
    while True:
        path = Path(shutil.copy(golden, tmp_path / f"killed_{statement}.sqlite3"))
        if not open_and_die(path, statement):
            break
        with sqlite3.connect(path) as store:
            assert store.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            versions[store.execute("PRAGMA user_version").fetchone()[0]] += 1
        store.close()
        assert await contents(path) == expected
        statement += 1
    before = int(golden.stem.removeprefix("schema_"))
    sys.stderr.write(f"killed at {statement - 1} statements of opening {golden.name}: schema {dict(versions)}\n")
    # A statement is told before it runs, so nothing of a migration whose commit was killed may be there.
    assert versions == {before: statement - 1}
    assert statement - 1 > len(("BEGIN", "ALTER TABLE", "application_id", "user_version", "COMMIT"))
