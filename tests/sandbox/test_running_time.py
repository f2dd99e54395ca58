"""The stopwatch of a pass."""

import asyncio

from codemode_jupyter.sandbox.running_time import RunningTime


async def test_only_the_time_that_runs_is_counted():
    loop = asyncio.get_running_loop()
    expired = asyncio.Event()
    clock = RunningTime(0.2, expired.set)
    ran = 0.0
    while not expired.is_set():
        started = loop.time()
        clock.run()
        await asyncio.sleep(0.04)
        clock.stand()
        ran += loop.time() - started
        if not expired.is_set():
            # Longer than all that is left: an alarm that rings now finds the time standing.
            await asyncio.sleep(0.3)
            assert not expired.is_set()
    assert ran >= 0.2


async def test_it_rings_once_and_not_after_it_was_closed():
    rung = []
    clock, closed = RunningTime(0.01, lambda: rung.append("running")), RunningTime(0.01, lambda: rung.append("closed"))
    clock.run()
    closed.run()
    closed.close()
    await asyncio.sleep(0.1)
    assert rung == ["running"]


async def test_many_turns_set_one_alarm(monkeypatch):
    loop = asyncio.get_running_loop()
    alarms, set_alarm = [], loop.call_later
    monkeypatch.setattr(loop, "call_later", lambda *arguments: alarms.append(arguments) or set_alarm(*arguments))
    clock = RunningTime(60, lambda: None)
    for _ in range(100):
        clock.run()
        clock.stand()
    clock.close()
    assert len(alarms) == 1
