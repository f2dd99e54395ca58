"""A run that was cut off in the middle of a call, as the next kernel finds it."""

import asyncio
import sqlite3

from codemode_jupyter.runtime.runtime import Runtime


async def slow(p):
    """A program whose call is under way until the shelf's gate ``door`` opens."""
    return await p.call("shelf.slow", {"gate": "door"})


async def cut_off_run(folder, shelf, executor, *, name="default", program=slow):
    """Return the runtime of the next kernel, and the execution that the one before left in the middle of its call.

    What the next kernel finds is the file as it stood while the tool ran, and a process that is gone.
    """
    begun, found = folder / f"{name}-begun.sqlite3", folder / f"{name}-found.sqlite3"
    first = Runtime([shelf], executor=executor, name=name, path=begun)
    running = asyncio.ensure_future(first.execute(executor.program(program)))
    before = shelf.counts["slow"]
    while shelf.counts["slow"] == before:
        assert not running.done()
        await asyncio.sleep(0.01)
    with sqlite3.connect(begun) as source, sqlite3.connect(found) as target:
        source.backup(target)
        target.execute("UPDATE execution SET owner = NULL")
    (execution,) = await first.executions()
    await first.stop(execution.id)
    await running
    await first.close()
    shelf.gate("door").set()
    return Runtime([shelf], executor=executor, name=name, path=found), execution.id
