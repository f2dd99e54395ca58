"""What a long history costs: listing, pruning and searching beside 10,000 executions with 100,000 calls.

Prints a table; asserts only bounds that a loaded machine keeps. Budgets are what to approach.
"""

import asyncio
import sys
import time
from dataclasses import replace

import pytest

from codemode_jupyter import Connector, Runtime
from codemode_jupyter.connectors.tool import Tool
from codemode_jupyter.runtime.beginning import new_execution
from codemode_jupyter.runtime.store import Store
from codemode_jupyter.runtime.store.rows import CallRow, SnippetRow
from tests.bench.bare import bare_commits
from tests.bench.table import Table

pytestmark = pytest.mark.alone

EXECUTIONS = 10_000
CALLS = 10
ROUNDS = 3
VERBS = ("list", "get", "create", "update", "delete", "find", "count", "archive", "restore", "export")
THINGS = ("issue", "user", "invoice", "order", "branch", "comment", "label", "project", "token", "report")

COMMIT = "bare durable commit"
ROWS = (
    (COMMIT, None, ""),
    ("newest 50 of 10,000 executions", COMMIT, ""),
    ("newest 50 with their calls", COMMIT, ""),
    ("all 10,000 executions", None, ""),
    ("one execution with its calls", COMMIT, ""),
    ("what waits for a person", COMMIT, ""),
    ("pruning the oldest 10", COMMIT, ""),
    ("pruning the oldest 1,000", None, ""),
    ("search beside 10,000 executions", None, "10 ms"),
    ("first search over 10,000 methods", None, ""),
    ("search over 10,000 methods", None, "10 ms"),
    ("search for a word that all of them have", None, ""),
)


class Wide(Connector):
    """A connector with a thousand methods."""

    def tools(self):
        async def call(arguments, context):
            return None

        for number in range(10):
            for verb in VERBS:
                for thing in THINGS:
                    yield Tool(
                        f"{verb}_{thing}_{number}",
                        call,
                        description=f"{verb.title()} one {thing} of workspace {number}, by its name or its owner.",
                        parameters=("name", "owner"),
                    )


def fill(path):
    """Write finished executions with their calls, and some snippets, as a runtime would have."""
    store = Store(path, "default")
    row = replace(new_execution("return 1", "javascript", 30.0, ("it",), "nobody"), status="completed", owner=None)
    now = time.time()
    with store.transaction() as connection:
        for number in range(EXECUTIONS):
            id_ = f"{row.id[:-6]}{number:06d}"
            store.executions.insert(connection, replace(row, id=id_, result='{"ok":true}', created_at=now))
            store.calls.insert(
                connection,
                id_,
                [
                    CallRow(
                        seq,
                        "it",
                        "ping",
                        f'{{"number":{seq}}}',
                        "applied",
                        digest="0" * 64,
                        outcome='{"ok":true,"list":[1,2,3]}',
                        started_at=now,
                        ended_at=now,
                    )
                    for seq in range(CALLS)
                ],
            )
        for number in range(200):
            snippet = SnippetRow(f"snippet-{number}", "Counts open issues", "return 1", "javascript", ("it",), now)
            store.snippets.put(connection, snippet)
    store.close()


async def measure(table, folder):
    path = folder / "store.sqlite3"
    await asyncio.to_thread(fill, path)
    small = Runtime(path=path)
    wide = Runtime([Wide(f"service{number}") for number in range(10)], path=folder / "wide.sqlite3")
    with table.time("first search over 10,000 methods"):
        await wide.search("create an invoice")

    async def cost(name, work, each=1):
        with table.time(name, each):
            return await work

    async with bare_commits(folder) as commits:
        for turn in range(ROUNDS):
            await cost(COMMIT, commits(50), 50)
            newest = await cost("newest 50 of 10,000 executions", small.executions(50))
            assert len(newest) == 50
            full = await cost("newest 50 with their calls", small.executions(50, with_calls=True))
            assert len(full[0].calls) == CALLS
            await cost("all 10,000 executions", small.executions())
            await cost("one execution with its calls", small.execution(newest[turn].id))
            await cost("what waits for a person", small.pending())
            kept = EXECUTIONS - turn * 1_010
            assert await cost("pruning the oldest 10", small.prune_executions(kept - 10)) == 10
            assert await cost("pruning the oldest 1,000", small.prune_executions(kept - 1_010)) == 1_000
            await cost("search beside 10,000 executions", small.search("open issues"))
            found = await cost("search over 10,000 methods", wide.search("create an issue for a user"))
            assert found["results"][0]["method"] == "create_issue_0"
            await cost("search for a word that all of them have", wide.search("archive comments of workspace 7"))
    await small.close()
    await wide.close()


async def test_a_long_history_stays_quick(tmp_path, capsys):
    table = Table()
    await measure(table, tmp_path)
    with capsys.disabled():
        sys.stdout.write("\n" + "\n".join(table.lines("history", ROWS)) + "\n")
    assert table["newest 50 of 10,000 executions"] < 500
    assert table["newest 50 with their calls"] < 1_000
    assert table["all 10,000 executions"] < 10_000
    assert table["pruning the oldest 10"] < 1_000
    assert table["search beside 10,000 executions"] < 200
    assert table["search over 10,000 methods"] < 500
