"""How a program fails: what was thrown, where, and in words that help."""

import pytest

from tests.sandbox.kernel import Kernel, evaluate, failure

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_thrown_error_has_name_message_line_and_column(sandbox):
    error, end = await failure(
        sandbox, "async () => {\n  const f = () => { throw new RangeError('too far') };\n  f();\n}"
    )
    assert (error["name"], error["message"]) == ("RangeError", "too far")
    assert (end.line, end.column) == (2, 27)
    assert error["stack"].splitlines()[1].rstrip(")").endswith("program.js:3:3")


async def test_the_line_is_that_of_the_author(sandbox):
    _, end = await failure(sandbox, "async () => {\nthrow new Error('x')\n}", line_offset=1)
    assert (end.line, end.column) == (1, 7)


@pytest.mark.parametrize(
    ("thrown", "message"),
    [
        ("'text'", "text"),
        ("''", 'The program threw "" (an empty string).'),
        ("null", "The program threw null, which is not an Error."),
        ("undefined", "The program threw undefined, which is not an Error."),
        ("{ code: 5 }", "The program threw { code: 5 }, which is not an Error."),
        ("Symbol('s')", "The program threw Symbol(s), which is not an Error."),
        ("{ toString() { throw 1 } }", "The program threw { toString: [Function: toString] }, which is not an Error."),
    ],
)
async def test_what_is_thrown_and_not_an_error_is_said(sandbox, thrown, message):
    error, _ = await failure(sandbox, f"async () => {{ throw {thrown} }}")
    assert error["message"] == message


async def test_an_error_without_a_message_is_still_a_failure(sandbox):
    error, end = await failure(sandbox, "async () => { throw new Error('') }")
    assert (error["name"], error["message"]) == ("Error", "")
    assert end.line == 1


async def test_an_unknown_name_lists_the_globals(sandbox):
    error, end = await failure(sandbox, "async () => nothing + 1")
    assert error["message"] == "nothing is not defined (the only globals available in the sandbox are: it, codemode)"
    assert end.line == 1
    error, _ = await failure(sandbox, "async () => null.x")
    assert "globals" not in error["message"]


async def test_causes_and_data_are_kept(sandbox):
    error, _ = await failure(
        sandbox, "async () => { throw Object.assign(new Error('a', { cause: new Error('b') }), { data: { n: 1 } }) }"
    )
    assert error["cause"] == {"$type": "error", "value": {"name": "Error", "message": "b"}}
    assert error["data"] == {"n": 1}


@pytest.mark.parametrize(
    "body",
    [
        "(async () => { throw new Error('nobody') })(); await it.later({ ms: 20 }); return 1",
        "setTimeout(() => { throw new Error('nobody') }, 1); await it.later({ ms: 40 }); return 1",
        "queueMicrotask(() => { throw new Error('nobody') }); await it.later({ ms: 20 }); return 1",
        "Promise.reject(new Error('nobody')); return 1",
        "Promise.reject(new Error('nobody')); await new Promise(() => {})",
        "it.fails({ message: 'nobody' }); await it.later({ ms: 20 }); return 1",
    ],
)
async def test_an_error_that_nobody_awaits_fails_the_program(sandbox, body):
    error, _ = await failure(sandbox, f"async () => {{ {body} }}")
    assert error["message"] == "nobody"


async def test_a_rejection_that_is_handled_late_is_no_failure(sandbox):
    source = """async () => {
      const quick = it.fails({}); const slow = it.later({ ms: 30 });
      await slow;
      try { await quick } catch (e) { return e.message }
    }"""
    kernel = Kernel(source)
    assert (await kernel.run(sandbox)).value == '"boom"'
    assert (await kernel.run(sandbox)).value == '"boom"'


async def test_a_program_that_nothing_can_wake_is_told_so(sandbox):
    error, _ = await failure(sandbox, "async () => { await new Promise(() => {}) }")
    assert error["data"] == {"code": "unsettled"}
    assert "will never happen" in error["message"]


async def test_what_is_no_function_is_refused(sandbox):
    error, _ = await failure(sandbox, "42")
    assert error["data"] == {"code": "not_a_function"}


async def test_a_syntax_error_at_run_time_is_a_failure(sandbox):
    error, _ = await failure(sandbox, "async () => { return return }")
    assert error["name"] == "SyntaxError"


async def test_the_program_is_strict_code(sandbox):
    error, _ = await failure(sandbox, "async () => { undeclared = 1 }")
    assert error["name"] == "ReferenceError"
    assert await evaluate(sandbox, "async () => (function () { return this === undefined })()") is True


async def test_a_stack_shows_no_frame_of_the_runtime(sandbox):
    source = "async () => { try { await it.fails({}) } catch (e) { return [e.stack, new Error('own').stack] } }"
    for stack in await evaluate(sandbox, source):
        assert "program.js:1" in stack
        assert "codemode-sandbox" not in stack
        assert "ext:" not in stack
        assert "blob:" not in stack


async def test_a_deep_recursion_is_an_ordinary_error(sandbox):
    error, _ = await failure(sandbox, "async () => { const f = () => f() + 1; f() }")
    assert error["name"] == "RangeError"
    assert (
        await evaluate(
            sandbox, "async () => { const f = () => f() + 1; try { f() } catch { return it.echo('alive') } }"
        )
        == "alive"
    )


async def test_the_console_is_kept_beside_a_failure(sandbox):
    kernel = Kernel("async () => { console.log('before'); throw new Error('x') }")
    assert (await kernel.run(sandbox)).kind == "failed"
    assert kernel.lines == [("log", "before")]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "await Promise.any([Promise.reject(new TypeError('a')), Promise.reject('b')])",
            "All promises were rejected (TypeError: a; b)",
        ),
        ("throw new AggregateError(Array(9).fill(1), 'many')", "many (1; 1; 1; 1; 1)"),
        ("throw new AggregateError([], 'none')", "none"),
        ("throw new Error('outer', { cause: new RangeError('inner') })", "outer (cause: RangeError: inner)"),
        ("throw Object.assign(new Error('odd'), { errors: { slice() { throw 1 } } })", "odd"),
    ],
)
async def test_what_stands_behind_an_error_is_told(sandbox, statement, message):
    error, _ = await failure(sandbox, f"async () => {{ {statement} }}")
    assert error["message"] == message
