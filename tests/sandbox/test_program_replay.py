"""Replay: every pass of a program does exactly the same, whatever it asks of clocks, timers and chance."""

import copy
import json

import pytest

from tests.sandbox.kernel import Kernel

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROGRAMS = {
    "clock and chance": """async () => {
      const seen = [Date.now(), Math.random(), performance.now(), new Date().toISOString(), crypto.randomUUID(),
        [...crypto.getRandomValues(new Uint8Array(4))], new Intl.DateTimeFormat('en', { timeStyle: 'medium' }).format(),
        Date().slice(0, 24), new Event('x').timeStamp];
      await it.later({ ms: 7 });
      seen.push(Date.now(), Math.random(), performance.now() >= 7);
      await it.gated({ seen });
      seen.push(Date.now() > 0, Math.random(), performance.timeOrigin);
      return seen;
    }""",
    "a race between a call and a timer": """async () => {
      const winners = [];
      for (const ms of [1, 8, 20]) {
        winners.push(await Promise.race([
          it.later({ ms: 8 }).then(() => 'call'),
          new Promise((resolve) => setTimeout(resolve, ms, 'timer')),
        ]));
        await it.echo(winners);
      }
      await it.gated({ winners, at: Date.now() });
      return winners;
    }""",
    "parallel chains": """async () => {
      const order = [];
      const chain = async (name, first, second) => {
        await it.later({ ms: first, name });
        order.push(name + 1);
        await it.later({ ms: second, name });
        order.push(name + 2);
        return it.echo({ name, order: [...order] });
      };
      const done = await Promise.all([chain('a', 20, 1), chain('b', 1, 30), chain('c', 10, 10)]);
      await it.gated({ order });
      return [done, order];
    }""",
    "intervals": """async () => {
      const ticks = [];
      await new Promise((resolve) => {
        const id = setInterval(() => {
          ticks.push(Date.now());
          if (ticks.length === 3) { clearInterval(id); resolve() }
        }, 4);
        const never = setTimeout(() => ticks.push('never'), 2);
        clearTimeout(never);
      });
      await it.gated({ ticks });
      await new Promise((resolve) => setTimeout(resolve, 3));
      return ticks.concat(Date.now() - ticks[2] >= 3);
    }""",
    "caught errors and throwing branches": """async () => {
      const seen = [];
      const results = await Promise.allSettled(
        [it.fails({ message: 'x' }), it.later({ ms: 5 }), it.fails({ message: 'y', name: 'TypeError' })]);
      for (const r of results) seen.push(r.status === 'fulfilled' ? r.value.ms : r.reason.name + r.reason.message);
      try { await it.fails({}) } catch (e) { seen.push(await it.echo(e.message + Math.random())) }
      await it.gated({ seen });
      return seen;
    }""",
    "gates in a race": """async () => {
      const first = await Promise.race([it.gated({ n: 1 }), it.gated({ n: 2 })]);
      const rest = await Promise.all([it.later({ ms: 3 }), it.gated({ n: 3 }), it.later({ ms: 1 })]);
      return [first, rest, Math.random()];
    }""",
    "steps among calls": """async () => {
      const [a, b, c] = await Promise.all([
        codemode.step('one', async () => { await new Promise((r) => setTimeout(r, 3)); return Math.random() }),
        it.later({ ms: 2 }),
        codemode.step('two', () => Date.now()),
      ]);
      const t = await new Promise((resolve) => setTimeout(() => resolve(Date.now()), 2));
      await it.gated({ a, b, c, t, r: Math.random() });
      return [a, b, c, t];
    }""",
    "abort signals and microtasks": """async () => {
      const seen = [];
      queueMicrotask(() => seen.push('micro'));
      const signal = AbortSignal.timeout(5);
      await new Promise((resolve) => {
        signal.addEventListener('abort', (e) => { seen.push(e.type, e.timeStamp >= 5); resolve() });
      });
      seen.push(signal.reason.name, Date.now());
      await it.gated({ seen });
      return seen;
    }""",
}


@pytest.mark.parametrize("name", PROGRAMS)
async def test_every_pass_of_a_program_is_the_same(sandbox, name):
    kernel = Kernel(PROGRAMS[name])
    first = await kernel.run_to_end(sandbox)
    assert first.kind == "completed", first
    log = copy.deepcopy(kernel.log)
    for _ in range(2):
        again = await kernel.run(sandbox)
        assert (again.kind, again.value, again.issued) == ("completed", first.value, first.issued)
        assert kernel.asked == []
    assert kernel.log == log


@pytest.mark.parametrize("name", PROGRAMS)
async def test_a_pass_that_is_lost_at_any_call_goes_on_to_the_same_calls(sandbox, name):
    """The log and the events are cut as a lost pass leaves them: what was told with a batch of calls is kept."""
    kernel = Kernel(PROGRAMS[name])
    cuts = []
    kernel.on_calls = lambda batch: cuts.append((batch.calls[0].seq, kernel.told))
    first = await kernel.run_to_end(sandbox)
    for seq, events in cuts:
        lost = Kernel(PROGRAMS[name])
        lost.log = {e.seq: copy.deepcopy(e) for e in kernel.log.values() if e.seq < seq and e.outcome is not None}
        lost.events = tuple(event for event in events if event[0] == "timer" or event[1] in lost.log)
        end = await lost.run_to_end(sandbox)
        assert end.kind == "completed", (seq, end)
        assert end.issued == first.issued
        for before, entry in lost.log.items():
            if before < seq:
                assert entry.arguments == kernel.log[before].arguments


async def test_two_executions_with_the_same_seed_draw_the_same_numbers(sandbox):
    source = "async () => Array.from({ length: 1000 }, () => Math.random())"
    one, two = [json.loads((await Kernel(source).run(sandbox)).value) for _ in range(2)]
    assert one == two
    assert len(set(one)) == 1000
    assert all(0 <= number < 1 for number in one)
    assert 0.45 < sum(one) / 1000 < 0.55


async def test_completed_calls_without_an_event_settle_in_the_order_of_the_log(sandbox):
    kernel = Kernel(
        """async () => {
          const order = [];
          const note = (name) => (value) => order.push([name, value]);
          await Promise.all([it.echo('a').then(note(0)), it.echo('b').then(note(1)), it.echo('c').then(note(2))]);
          return order;
        }"""
    )
    await kernel.run(sandbox)
    kernel.events = ()
    end = await kernel.run(sandbox)
    assert kernel.asked == []
    assert json.loads(end.value) == [[0, "a"], [1, "b"], [2, "c"]]


async def test_a_completed_call_waits_for_the_recorded_events_before_it(sandbox):
    source = """async () => {
      const order = [];
      const g = it.gated({}).then(() => order.push('gated'));
      await it.later({ ms: 1 }); order.push('first');
      await it.later({ ms: 1 }); order.push('second');
      await g;
      return order;
    }"""
    kernel = Kernel(source)
    assert json.loads((await kernel.run_to_end(sandbox)).value) == ["first", "second", "gated"]
    assert json.loads((await kernel.run(sandbox)).value) == ["first", "second", "gated"]


async def test_different_arguments_are_asked_of_the_kernel_under_the_same_number(sandbox):
    kernel = Kernel("async () => { await it.echo({ a: 1 }); return it.gated({}) }")
    await kernel.run(sandbox)
    kernel.source = "async () => { const v = await it.echo({ a: 2 }); return [v, await it.gated({})] }"
    await kernel.run(sandbox)
    assert [(call.seq, call.arguments) for call in kernel.asked] == [(0, '{"a":2}'), (1, "{}")]


async def test_an_event_that_cannot_happen_is_a_divergence(sandbox):
    kernel = Kernel("async () => { await it.echo(1); await it.gated({}) }")
    await kernel.run(sandbox)
    kernel.approve()
    kernel.source = "async () => { await new Promise((resolve) => setTimeout(resolve, 1)); await it.echo(1) }"
    end = await kernel.run(sandbox)
    assert end.kind == "diverged"
    assert "call 0 settled" in json.loads(end.error)["value"]["message"]


async def test_a_timer_that_is_gone_is_a_divergence(sandbox):
    kernel = Kernel("async () => { await new Promise((resolve) => setTimeout(resolve, 1)); await it.gated({}) }")
    await kernel.run(sandbox)
    kernel.source = "async () => it.echo(1)"
    kernel.log = {}
    assert (await kernel.run(sandbox)).kind == "diverged"


async def test_a_program_that_ends_before_its_record_is_a_divergence(sandbox):
    kernel = Kernel("async () => { await it.echo(1); await it.echo(2); await it.gated({}) }")
    await kernel.run(sandbox)
    kernel.source = "async () => { await it.echo(1); return 'short' }"
    end = await kernel.run(sandbox)
    assert end.kind == "diverged"
    assert end.issued == 1


async def test_an_open_call_with_a_recorded_event_is_asked_and_keeps_its_place(sandbox):
    """A tool whose result is not stored runs again in every pass."""
    source = """async () => {
      const order = [];
      const note = (name) => () => order.push(name);
      await Promise.all([it.later({ ms: 20 }).then(note('slow')), it.later({ ms: 1 }).then(note('quick'))]);
      await it.gated({ order });
      return order;
    }"""
    kernel = Kernel(source)
    await kernel.run(sandbox)
    kernel.log[1].outcome = None
    kernel.log[1].state = "open"
    kernel.approve()
    kernel.tools = {"it.later": lambda arguments: arguments}
    end = await kernel.run(sandbox)
    assert json.loads(end.value) == ["quick", "slow"]
    assert [call.seq for call in kernel.asked] == [1]


async def test_the_clock_stands_still_between_events(sandbox):
    source = """async () => {
      const a = Date.now();
      for (let i = 0; i < 3e6; i++) Math.sqrt(i);
      const b = Date.now();
      await new Promise((resolve) => setTimeout(resolve, 10));
      return [b - a, Date.now() - b >= 10];
    }"""
    assert json.loads((await Kernel(source).run(sandbox)).value) == [0, True]


async def test_a_thousand_recorded_calls_are_replayed_without_a_message(sandbox):
    source = "async () => { let sum = 0; for (let i = 0; i < 1000; i++) sum += await it.echo(i); return sum }"
    kernel = Kernel(source)
    first = await kernel.run(sandbox)
    again = await kernel.run(sandbox)
    assert again.value == first.value == "499500"
    assert kernel.batches == 0
