"""Programs that do not end by themselves, and what is left of them: nothing."""

import asyncio
import contextvars
import os
import sys
import time
from pathlib import Path

import pytest

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.runtime import Runtime
from codemode_jupyter.sandbox import deno as deno_module
from codemode_jupyter.sandbox import deno_process
from codemode_jupyter.sandbox.deno import DenoExecutor
from codemode_jupyter.sandbox.memory_limit import DATA_MEGABYTES
from tests.sandbox.kernel import Kernel, Later

LIMIT = 0.4


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(
    "body",
    [
        "while (true) {}",
        "for (;;) await null",
        "const again = () => queueMicrotask(again); again(); await new Promise(() => {})",
        "const spin = async () => { for (;;) await new Promise((r) => setTimeout(r)) }; await spin()",
        "const start = Date.now(); while (Date.now() - start < 10) {}",
        "/^(a+)+$/.test('a'.repeat(40) + 'b')",
        "Array.from({ length: 100 }, (_, i) => i).sort(() => { for (;;) {} })",
        "return { get value() { for (;;) {} } }",
        "await codemode.step('s', () => { for (;;) {} })",
    ],
)
async def test_a_program_that_goes_on_is_ended_at_its_limit(deno, body):
    kernel = Kernel(f"async () => {{ {body} }}", timeout=LIMIT)
    started = time.monotonic()
    end = await kernel.run(deno)
    assert end.kind == "timeout"
    assert "more than 0.4 s" in end.error
    assert time.monotonic() - started < LIMIT + 3
    assert (await Kernel("async () => 'next'").run(deno)).value == '"next"'


async def test_a_program_that_uses_all_memory_ends_as_that():
    executor = DenoExecutor()
    end = await Kernel(
        "async () => { const all = []; for (;;) all.push(new Array(1e6).fill(all.length)) }", timeout=30
    ).run(executor)
    assert end.kind == "memory", end
    assert (await Kernel("async () => 'next'").run(executor)).value == '"next"'
    await executor.close()


async def test_cancelling_a_pass_kills_it_at_once():
    executor = DenoExecutor()
    kernel = Kernel("async () => { await it.later({ ms: 1 }); while (true) {} }", timeout=30)
    called = asyncio.Event()
    kernel.on_calls = lambda _: called.set()
    task = asyncio.create_task(kernel.run(executor))
    await called.wait()
    [process] = executor._processes
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(process.wait)
    assert not is_alive(process.pid)
    await executor.close()


async def test_a_pass_that_hangs_does_not_disturb_another_one():
    executor = DenoExecutor()
    hangs = Kernel("async () => { while (true) {} }", timeout=LIMIT)
    works = Kernel("async () => { let n = 0; for (let i = 0; i < 12; i++) n += (await it.slow(1)); return n }")
    works.tools = {"it.slow": lambda value: Later(0.1, value)}
    ends = await asyncio.gather(hangs.run(executor), works.run(executor))
    assert [end.kind for end in ends] == ["timeout", "completed"]
    assert ends[1].value == "12"
    await executor.close()


async def test_a_process_that_dies_loses_its_passes_and_is_replaced():
    executor = DenoExecutor()
    kernels = [
        Kernel("async () => { await it.never({}) }", tools={"it.never": lambda _: Later(0.3, 1)}) for _ in range(2)
    ]
    asked = [asyncio.Event(), asyncio.Event()]
    for kernel, event in zip(kernels, asked, strict=True):
        kernel.on_calls = lambda _, event=event: event.set()
    tasks = [asyncio.create_task(kernel.run(executor)) for kernel in kernels]
    for event in asked:
        await event.wait()
    [process] = executor._processes
    process.kill()
    assert [end.kind for end in await asyncio.gather(*tasks)] == ["lost", "lost"]
    # The same log in the next process: what was called is served.
    end = await kernels[0].run(executor)
    assert (end.kind, kernels[0].asked) == ("completed", [])
    await executor.close()


async def test_closing_leaves_no_process_and_takes_no_more_passes():
    executor = DenoExecutor()
    await Kernel("async () => 1").run(executor)
    running = asyncio.create_task(Kernel("async () => { while (true) {} }").run(executor))
    await asyncio.sleep(0)
    [process] = executor._processes
    await executor.close()
    assert not is_alive(process.pid)
    assert (await running).kind == "lost"
    with pytest.raises(CodemodeError) as refusal:
        await Kernel("async () => 1").run(executor)
    assert refusal.value.code == "no_sandbox"


async def test_an_executor_serves_one_event_loop_after_another(deno):
    def in_a_loop_of_its_own():
        return asyncio.run(Kernel("async () => 'there'").run(deno))

    assert (await Kernel("async () => 'here'").run(deno)).value == '"here"'
    assert (await asyncio.to_thread(in_a_loop_of_its_own)).value == '"there"'
    assert (await Kernel("async () => 'here'").run(deno)).value == '"here"'


async def test_many_passes_at_once_keep_apart(deno):
    kernels = [Kernel(f"async () => (await it.later({{ ms: {20 - n} }})).ms + {n}") for n in range(12)]
    ends = await asyncio.gather(*(kernel.run(deno) for kernel in kernels))
    assert [end.value for end in ends] == ["20"] * 12


def test_without_deno_the_refusal_names_the_fix(monkeypatch):
    monkeypatch.setattr(deno_module, "find_deno", lambda: None)
    with pytest.raises(CodemodeError) as refusal:
        DenoExecutor()
    assert refusal.value.code == "no_sandbox"
    assert "pip install 'codemode-jupyter[headless]'" in str(refusal.value)


async def test_a_deno_that_cannot_start_is_a_refusal(tmp_path):
    with pytest.raises(CodemodeError) as refusal:
        await Kernel("async () => 1").run(DenoExecutor(str(tmp_path / "deno")))
    assert refusal.value.code == "no_sandbox"


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="an environment can only be read on Linux")
async def test_nothing_of_the_kernels_environment_reaches_the_process(monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    executor = DenoExecutor()
    await Kernel("async () => 1").run(executor)
    [process] = executor._processes
    environment = await asyncio.to_thread(Path(f"/proc/{process.pid}/environ").read_bytes)
    assert b"NO_COLOR" in environment
    assert b"hunter2" not in environment
    await executor.close()


async def test_an_executor_can_be_closed_from_another_loop():
    executor = DenoExecutor()
    running = asyncio.create_task(Kernel("async () => { while (true) {} }").run(executor))
    await asyncio.sleep(0)
    [process] = executor._processes
    await asyncio.to_thread(asyncio.run, executor.close())
    assert not is_alive(process.pid)
    assert (await running).kind == "lost"


async def test_an_idle_process_that_died_is_replaced_before_the_next_pass():
    executor = DenoExecutor()
    await Kernel("async () => 1").run(executor)
    [process] = executor._processes
    process.kill()
    await asyncio.to_thread(process.wait)
    assert (await Kernel("async () => 'next'").run(executor)).value == '"next"'
    assert executor._processes != [process]
    await executor.close()


async def test_the_one_that_breaks_a_shared_process_is_found_and_the_others_complete(tmp_path):
    executor = DenoExecutor()
    runtime = Runtime(executor=executor, path=tmp_path / "s.sqlite3")
    bomb = runtime.execute("const all = []; for (;;) all.push(new Array(1e6).fill(all.length))")
    innocent = "await new Promise((done) => setTimeout(done, 3000)); return 'there'"
    ends = await asyncio.gather(bomb, *(runtime.execute(innocent) for _ in range(2)))
    assert ends[0].error.code == "out_of_memory"
    assert [end.result for end in ends[1:]] == ["there", "there"]
    await runtime.close()
    await executor.close()


async def test_memory_is_limited_also_where_a_typed_array_holds_it(monkeypatch):
    monkeypatch.setattr(deno_process, "PROCESS_MEGABYTES", 400)
    executor = DenoExecutor()
    kernel = Kernel("async () => { const all = []; for (;;) all.push(new Uint8Array(1e7).fill(1)) }", timeout=30)
    assert (await kernel.run(executor)).kind == "memory"
    assert (await Kernel("async () => 'next'").run(executor)).value == '"next"'
    await executor.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits another process")
async def test_the_system_limits_a_process_even_while_the_kernel_stands_still():
    import resource

    executor = DenoExecutor()
    await Kernel("async () => 1").run(executor)
    [process] = executor._processes
    limit = DATA_MEGABYTES * 2**20
    assert resource.prlimit(process.pid, resource.RLIMIT_DATA) == (limit, limit)
    await executor.close()


async def test_tools_run_in_the_context_of_whoever_started_the_pass():
    who = contextvars.ContextVar("who")
    executor = DenoExecutor()

    async def run(name):
        who.set(name)
        seen = []
        kernel = Kernel(
            "async () => { await it.echo({}); await it.echo({}) }", on_calls=lambda _: seen.append(who.get())
        )
        await kernel.run(executor)
        return seen

    for name in ("first", "second"):
        assert await asyncio.create_task(run(name)) == [name, name]
    await executor.close()
