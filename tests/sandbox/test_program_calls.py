"""Calls from a program: order, batches, errors, gates, steps and snippets."""

import asyncio
import json

import pytest

from codemode_jupyter.sandbox.protocol import Namespace, PassRequest, Reply
from tests.sandbox.kernel import Fails, Kernel, Later, evaluate, failure

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_program_runs_and_returns_its_value(sandbox):
    assert await evaluate(sandbox, "async () => 42") == 42
    assert await evaluate(sandbox, "() => 43") == 43
    assert await evaluate(sandbox, "async function main() { return this === undefined }") is True


async def test_calls_are_numbered_in_issue_order_and_batched(sandbox):
    kernel = Kernel(
        """async () => {
          const [a, b] = await Promise.all([it.later({ ms: 30 }), it.later({ ms: 5 })]);
          return [a.ms, b.ms, (await it.echo('last'))];
        }"""
    )
    end = await kernel.run(sandbox)
    assert json.loads(end.value) == [30, 5, "last"]
    assert [(call.seq, call.method) for call in kernel.asked] == [(0, "later"), (1, "later"), (2, "echo")]
    assert kernel.batches == 2
    assert end.issued == 3
    assert [event[:2] for event in kernel.events] == [("call", 1), ("call", 0), ("call", 2)]


async def test_a_hundred_calls_at_once_are_one_message(sandbox):
    kernel = Kernel("async () => (await Promise.all(Array.from({ length: 100 }, (_, i) => it.echo(i)))).length")
    assert (await kernel.run(sandbox)).value == "100"
    assert kernel.batches == 1


async def test_a_failed_call_is_an_error_with_name_message_code_and_data(sandbox):
    tools = {"it.bad": lambda _: Fails("no such row", "KeyError", code="not_found", row=7)}
    source = """async () => {
      try { await it.bad({}) } catch (e) {
        return [e instanceof Error, e.name, e.message, e.code, e.data.row, `${e}`, Object.keys(e)]
      }
    }"""
    assert await evaluate(sandbox, source, tools=tools) == [
        True,
        "KeyError",
        "no such row",
        "not_found",
        7,
        "KeyError: no such row",
        [],
    ]


async def test_an_uncaught_failed_call_ends_the_program_at_its_line(sandbox):
    error, end = await failure(
        sandbox, "async () => {\n  const x = 1;\n  await it.fails({ message: 'connector boom' });\n}"
    )
    assert error["message"] == "connector boom"
    assert (end.line, end.column) == (3, 12)


async def test_an_unknown_method_is_asked_of_the_kernel(sandbox):
    error, _ = await failure(sandbox, "async () => it.lst()")
    assert error["message"] == "Tool 'lst' not found on it"
    assert error["data"] == {"code": "unknown_tool"}


async def test_a_connector_is_a_plain_frozen_namespace(sandbox):
    source = """async () => {
      const same = (await it) === it;
      let frozen = false;
      try { it.echo = 1 } catch { frozen = true }
      return [same, frozen, Object.keys(it), typeof it.echo, it.echo.name, typeof it.then, typeof it.toJSON,
        typeof it[Symbol.iterator], 'echo' in it, Object.isFrozen(it), Object.keys(codemode).sort(), it.constructor]
    }"""
    assert await evaluate(sandbox, source) == [
        True,
        True,
        ["echo", "gated", "later", "fails"],
        "function",
        "echo",
        "undefined",
        "undefined",
        "undefined",
        True,
        True,
        ["describe", "run", "search", "step"],
        {"$type": "undefined"},
    ]


async def test_the_globals_of_the_connectors_cannot_be_changed_but_shadowed(sandbox):
    source = """async () => {
      let refused = 0;
      try { globalThis.it = 1 } catch { refused += 1 }
      try { delete globalThis.codemode } catch { refused += 1 }
      const it2 = (() => { const it = 5; return it })();
      return [refused, it2, await it.echo(1)];
    }"""
    assert await evaluate(sandbox, source) == [2, 5, 1]


async def test_a_gated_call_ends_the_pass_and_cannot_be_caught(sandbox):
    kernel = Kernel(
        """async () => {
          try { await it.gated({ x: 1 }); console.log('after') }
          catch { await it.echo('caught') }
          finally { console.log('finally'); await it.echo('finally') }
        }"""
    )
    end = await kernel.run(sandbox)
    assert end.kind == "paused"
    assert kernel.lines == []
    assert [call.method for call in kernel.asked] == ["gated"]
    kernel.approve()
    end = await kernel.run(sandbox)
    assert end.kind == "completed"
    assert [text for _, text in kernel.lines] == ["after", "finally"]


async def test_gated_calls_issued_together_wait_together_and_may_be_approved_one_by_one(sandbox):
    kernel = Kernel(
        "async () => (await Promise.all([it.gated({ n: 1 }), it.gated({ n: 2 })])).concat(await it.gated({ n: 3 }))"
    )
    assert (await kernel.run(sandbox)).kind == "paused"
    assert len(kernel.asked) == 2
    kernel.approve_first()
    assert (await kernel.run(sandbox)).kind == "paused"
    assert [call.seq for call in kernel.asked] == [1]
    kernel.approve()
    assert (await kernel.run(sandbox)).kind == "paused"
    kernel.approve()
    assert (await kernel.run(sandbox)).value == '["approved","approved","approved"]'


async def test_a_pause_waits_for_the_calls_under_way(sandbox):
    kernel = Kernel(
        """async () => {
          const slow = it.later({ ms: 60 }).then(async () => { await it.echo('after slow') });
          await it.gated({});
          await slow;
        }"""
    )
    assert (await kernel.run(sandbox)).kind == "paused"
    assert [call.method for call in kernel.asked] == ["later", "gated", "echo"]


async def test_no_timer_runs_while_something_waits_for_a_person(sandbox):
    kernel = Kernel(
        """async () => {
          const start = Date.now();
          // Longer than the kernel's answer takes on a busy machine; until then time does pass.
          setTimeout(() => console.log('fired after', Date.now() - start >= 400), 400);
          await it.gated({});
          await new Promise((resolve) => setTimeout(resolve, 440));
          return true;
        }"""
    )
    assert (await kernel.run(sandbox)).kind == "paused"
    assert kernel.lines == []
    kernel.approve()
    assert (await kernel.run(sandbox)).kind == "completed"
    assert [text for _, text in kernel.lines] == ["fired after true"]


async def test_a_program_that_returns_while_calls_are_open_completes(sandbox):
    kernel = Kernel("async () => { it.gated({}); it.later({ ms: 30 }); return 'done' }")
    end = await kernel.run(sandbox)
    assert (end.kind, end.value, end.issued) == ("completed", '"done"', 2)
    assert [call.method for call in kernel.asked] == ["gated", "later"]
    assert kernel.log[1].state == "applied"


async def test_search_and_describe_are_calls_of_codemode(sandbox):
    tools = {"codemode.search": lambda query: {"query": query}, "codemode.describe": lambda target: f"# {target}"}
    source = "async () => [await codemode.search('issues'), await codemode.describe('it.echo')]"
    assert await evaluate(sandbox, source, tools=tools) == [{"query": "issues"}, "# it.echo"]


async def test_a_snippet_runs_inside_the_program(sandbox):
    snippet = {"source": "\nasync (input) => { console.log('in', input); return [await it.echo('e'), input.n + 1] }"}
    tools = {"codemode.run": lambda _: snippet | {"line_offset": 1, "name": "add one"}}
    kernel = Kernel("async () => codemode.run('add one', { n: 1 })", tools=tools)
    for _ in range(2):
        end = await kernel.run(sandbox)
        assert json.loads(end.value) == ["e", 2]
        assert kernel.lines == [("log", "in { n: 1 }")]
    assert [(entry.connector, entry.method) for entry in kernel.log.values()] == [("codemode", "run"), ("it", "echo")]


async def test_a_snippet_without_input_gets_undefined_and_its_pause_pauses_the_program(sandbox):
    snippet = {"source": "async (input) => [input === undefined, await it.gated({})]", "line_offset": 0, "name": "s"}
    kernel = Kernel("async () => codemode.run('s')", tools={"codemode.run": lambda _: snippet})
    assert (await kernel.run(sandbox)).kind == "paused"
    kernel.approve()
    assert (await kernel.run(sandbox)).value == '[true,"approved"]'


async def test_a_snippet_that_throws_says_where_it_was_run(sandbox):
    snippet = {"source": "async () => {\n  throw new Error('inside') }", "line_offset": 0, "name": "s"}
    error, end = await failure(
        sandbox, "async () => {\n\n  return await codemode.run('s') }", tools={"codemode.run": lambda _: snippet}
    )
    assert error["message"] == "inside"
    assert "snippet-s.js:2:9" in error["stack"]
    assert end.line in (None, 3)


# Steps


async def test_a_step_runs_once_and_is_served_ever_after(sandbox):
    kernel = Kernel(
        """async () => {
          const n = await codemode.step('pick', () => ({ at: new Date(0), n: Math.random() }));
          await it.gated({ n: n.n });
          return [n, Math.random()];
        }"""
    )
    end = await kernel.run_to_end(sandbox)
    first = json.loads(end.value)
    assert kernel.steps == ["pick"]
    assert first[0]["at"] == {"$type": "date", "value": 0}
    assert json.loads((await kernel.run(sandbox)).value) == first
    assert kernel.asked == []


async def test_a_step_that_throws_is_recorded_as_failed(sandbox):
    kernel = Kernel(
        """async () => {
          try { await codemode.step('bad', async () => { throw new RangeError('r') }) }
          catch (e) { await it.gated({}); return [e.name, e.message] }
        }"""
    )
    assert json.loads((await kernel.run_to_end(sandbox)).value) == ["RangeError", "r"]
    assert kernel.steps == ["bad"]


async def test_random_numbers_and_timers_of_a_step_are_its_own(sandbox):
    source = """async () => {
      const before = Math.random();
      await codemode.step('s', async () => {
        for (let i = 0; i < 5; i++) Math.random();
        await new Promise((resolve) => setTimeout(resolve, 5));
        return crypto.randomUUID();
      });
      const after = Math.random();
      await new Promise((resolve) => setTimeout(resolve, 1));
      await it.gated({ after });
      return [before, after];
    }"""
    kernel = Kernel(source)
    end = await kernel.run_to_end(sandbox)
    assert end.kind == "completed"
    assert json.loads(end.value)[1] == json.loads(kernel.log[1].arguments)["after"]


@pytest.mark.parametrize(
    "call", ["it.echo(1)", "codemode.search('x')", "codemode.run('x')", "codemode.step('inner', () => 1)"]
)
async def test_a_call_inside_a_step_is_refused(sandbox, call):
    source = f"async () => codemode.step('outer', async () => {{ await null; return {call} }})"
    kernel = Kernel(source)
    end = await kernel.run(sandbox)
    error = json.loads(end.error)["value"]
    assert error["data"] == {"code": "call_in_step"}
    assert 'inside the step "outer"' in error["message"]
    assert len(kernel.asked) == 1


async def test_steps_issued_together_run_one_after_another(sandbox):
    source = """async () => {
      const order = [];
      const step = (name) => codemode.step(name, async () => {
        order.push(name + ' begins');
        await new Promise((resolve) => setTimeout(resolve, 5));
        order.push(name + ' ends');
      });
      await Promise.all([step('a'), step('b')]);
      return order;
    }"""
    assert await evaluate(sandbox, source) == ["a begins", "a ends", "b begins", "b ends"]


async def test_a_step_needs_a_name_and_a_function(sandbox):
    error, _ = await failure(sandbox, "async () => codemode.step(() => 1)")
    assert error["data"] == {"code": "invalid_arguments"}


async def test_a_step_value_must_be_storable(sandbox):
    error, _ = await failure(sandbox, "async () => codemode.step('s', () => ({ f() {} }))")
    assert error["message"].startswith('The result of the step "s" at f is a function')
    assert error["data"] == {"code": "not_storable"}


async def test_another_pass_does_not_hear_of_this_one(sandbox):
    """Two passes in one process at once keep their own results and globals."""
    first = Kernel("async () => { globalThis.leak = 1; return (await it.later({ ms: 40 })).ms }")
    second = Kernel("async () => { await it.later({ ms: 20 }); return typeof leak }")
    ends = await asyncio.gather(first.run(sandbox), second.run(sandbox))
    assert [end.value for end in ends] == ["40", '"undefined"']


async def test_a_reply_that_was_not_asked_for_changes_nothing(sandbox):
    kernel = Kernel("async () => [await it.later({ ms: 20 }), await it.later({ ms: 5 })]")
    kernel.on_calls = lambda _: kernel.link.reply(
        [Reply(7, "applied", value="1"), Reply(0, "applied", value='"early"')]
    )
    end = await kernel.run(sandbox)
    assert json.loads(end.value) == ["early", {"ms": 5}]


async def test_another_language_is_refused(sandbox):
    request = PassRequest("e", "puts 1", 0, (Namespace("it", ()),), 0.0, "0" * 32, 5.0, language="ruby")
    end = await sandbox.run_pass(request, Kernel(""))
    assert end.kind == "failed"
    assert "unsupported_language" in end.error


async def test_waiting_for_a_tool_is_not_running_time(sandbox):
    kernel = Kernel(
        "async () => (await it.slow({})).ok", tools={"it.slow": lambda _: Later(0.6, {"ok": True})}, timeout=0.4
    )
    assert (await kernel.run(sandbox)).value == "true"


async def test_a_name_that_is_too_long_is_refused_in_the_program_which_goes_on(sandbox):
    source = """async () => {
      const refusals = [];
      const long = 'n'.repeat(1001);
      for (const call of [() => it[long](), () => codemode[long](), () => codemode.step(long, () => 1)]) {
        try { await call() } catch (error) { refusals.push(error.code) }
      }
      return [refusals, await codemode.step('n'.repeat(1000), () => 1)];
    }"""
    assert await evaluate(sandbox, source) == [["too_large"] * 3, 1]
