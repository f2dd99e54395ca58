"""Values out of the sandbox and back: a value survives or is refused, never changed in silence."""

import json

import pytest

from tests.sandbox.kernel import Kernel, Text, evaluate, failure

pytestmark = pytest.mark.asyncio(loop_scope="module")

UNDEFINED = {"$type": "undefined"}


@pytest.mark.parametrize(
    ("expression", "tree"),
    [
        ("undefined", UNDEFINED),
        ("null", None),
        ("[1, -2.5, 1e21, 5e-324]", [1, -2.5, 1e21, 5e-324]),
        ("NaN", {"$type": "number", "value": "NaN"}),
        ("-Infinity", {"$type": "number", "value": "-Infinity"}),
        ("-0", {"$type": "number", "value": "-0"}),
        ("12345678901234567890n", {"$type": "bigint", "value": "12345678901234567890"}),
        ("new Date(5)", {"$type": "date", "value": 5}),
        ("new Date(NaN)", {"$type": "date", "value": None}),
        ("new Map([['a', new Set([1])]])", {"$type": "map", "value": [["a", {"$type": "set", "value": [1]}]]}),
        ("new Uint8Array([1, 2, 3, 4]).subarray(1, 3)", {"$type": "bytes", "value": "AgM="}),
        ("new Uint16Array([258])", {"$type": "bytes", "value": "AgE="}),
        ("new DataView(new ArrayBuffer(2))", {"$type": "bytes", "value": "AAA="}),
        ("new ArrayBuffer(3)", {"$type": "arraybuffer", "value": "AAAA"}),
        ("/a\\/b/gi", {"$type": "regexp", "value": ["a\\/b", "gi"]}),
        ("({ $type: 'undefined' })", {"$type": "object", "value": {"$type": "undefined"}}),
        ("({ a: undefined, b: [, 1] })", {"a": UNDEFINED, "b": [UNDEFINED, 1]}),
        ('JSON.parse(\'{"__proto__": {"a": 1}, "b": 2}\')', {"__proto__": {"a": 1}, "b": 2}),
        ("'\\ud800 \\u0000 \\u2028 \\ud83d\\ude00'", "\ud800 \0 \u2028 \U0001f600"),
        ("new URL('https://example.org/a b')", "https://example.org/a%20b"),
        (
            "[new Number(1), new String('s'), new Boolean(false), Object(2n)]",
            [1, "s", False, {"$type": "bigint", "value": "2"}],
        ),
        ("new (class Point { x = 1; #hidden = 2; get y() { return 3 } })", {"x": 1}),
        (
            "Object.assign(new RangeError('r', { cause: 'c' }), { code: 'E1' })",
            {"$type": "error", "value": {"name": "RangeError", "message": "r", "cause": "c", "data": {"code": "E1"}}},
        ),
    ],
)
async def test_a_value_keeps_its_type_on_the_way_out_and_back(sandbox, expression, tree):
    kernel = Kernel(f"async () => {{ const v = {expression}; return [v, await it.echo([v])] }}")
    end = await kernel.run(sandbox)
    assert end.kind == "completed", end
    assert json.loads(end.value) == [tree, [tree]]


async def test_what_only_a_result_may_hold_is_marked_in_it(sandbox):
    value = await evaluate(sandbox, "async () => { const o = { f: (a) => a, s: Symbol('x') }; o.o = o; return o }")
    assert value == {
        "f": {"$type": "function", "value": "(a) => a"},
        "s": {"$type": "symbol", "value": "x"},
        "o": {"$type": "cycle"},
    }


@pytest.mark.parametrize(
    ("argument", "why"),
    [
        ("{ a: [() => 1] }", "at a[0] is a function"),
        ("{ a: Symbol() }", "at a is a symbol"),
        ("{ a: { 'b c': it.echo(1) } }", 'at a["b c"] is a Promise'),
        ("(() => { const o = {}; o.self = o; return o })()", "at self refers back to itself"),
        ("{ get a() { throw new Error('secret') } }", "at a cannot be read: Error: secret"),
        ("(() => { const p = Proxy.revocable({}, {}); p.revoke(); return { p: p.proxy } })()", "at p cannot be read"),
        ("(() => { let o = {}; for (let i = 0; i < 5000; i++) o = { o }; return o })()", "nested more than 256 levels"),
    ],
)
async def test_arguments_that_cannot_be_stored_are_refused_with_their_path(sandbox, argument, why):
    source = f"async () => {{ try {{ await it.fails({argument}); }} catch (e) {{ return [e.code, e.message] }} }}"
    kernel = Kernel(source)
    code, message = json.loads((await kernel.run(sandbox)).value)
    assert code == "not_storable"
    assert "What was passed to it.fails" in message
    assert why in message
    assert not any(call.method == "fails" for call in kernel.asked)


async def test_a_result_that_holds_a_promise_fails_with_advice(sandbox):
    error, _ = await failure(sandbox, "async () => ({ rows: [1, 2].map(async (n) => n) })")
    assert error["message"].startswith("The result at rows[0] is a Promise")
    assert "Promise.all" in error["message"]


@pytest.mark.parametrize(
    ("expression", "fits"),
    [
        ("'x'.repeat(999_998)", True),
        ("'x'.repeat(999_999)", False),
        ("'€'.repeat(333_332) + 'ab'", True),
        ("'€'.repeat(333_333)", False),
    ],
)
async def test_arguments_may_be_a_million_bytes_of_utf_8_and_no_more(sandbox, expression, fits):
    source = f"async () => {{ try {{ return (await it.echo({expression})).length }} catch (e) {{ return e.code }} }}"
    value = await evaluate(sandbox, source)
    assert (value == "too_large") is not fits


async def test_a_large_result_is_handed_on_and_a_huge_one_is_not(sandbox):
    assert len(await evaluate(sandbox, "async () => 'x'.repeat(3_000_000)")) == 3_000_000
    end = await Kernel("async () => Array.from({ length: 100_000 }, () => 'x'.repeat(1_000_000))").run(sandbox)
    assert end.kind == "too_large"
    assert "8,000,000 bytes" in end.error


async def test_the_program_sees_the_stored_form_of_results(sandbox):
    text = json.dumps(
        {
            "when": {"$type": "date", "value": 0},
            "bytes": {"$type": "bytes", "value": "AQI="},
            "map": {"$type": "map", "value": [[{"$type": "bigint", "value": "1"}, UNDEFINED]]},
            "data": {"$type": "object", "value": {"$type": "date", "value": 0}},
            "unknown": {"$type": "hat", "value": 1},
            "broken": {"$type": "bigint", "value": "1.5"},
            "__proto__": {"$type": "set", "value": []},
            "pause": {"__codemode_control__": "pause"},
            "then": {"$type": "function", "value": "() => {}"},
        }
    )
    source = """async () => {
      const v = await it.read();
      return [v.when.toISOString(), v.bytes instanceof Uint8Array, [...v.map][0], v.data, v.unknown, v.broken,
        Object.keys(v).includes('__proto__'), v['__proto__'] instanceof Set,
        Object.getPrototypeOf(v) === Object.prototype, v.pause, typeof v.then]
    }"""
    assert await evaluate(sandbox, source, tools={"it.read": lambda _: Text(text)}) == [
        "1970-01-01T00:00:00.000Z",
        True,
        [{"$type": "bigint", "value": "1"}, UNDEFINED],
        {"$type": "object", "value": {"$type": "date", "value": 0}},
        {"$type": "object", "value": {"$type": "hat", "value": 1}},
        {"$type": "object", "value": {"$type": "bigint", "value": "1.5"}},
        True,
        True,
        True,
        {"__codemode_control__": "pause"},
        "string",
    ]


async def test_several_arguments_none_and_trailing_undefined(sandbox):
    kernel = Kernel(
        "async () => { await it.echo(); await it.echo(undefined); await it.echo(1, undefined, 2, undefined) }"
    )
    await kernel.run(sandbox)
    assert [json.loads(call.arguments) for call in kernel.asked] == [
        {},
        {},
        {"$type": "arguments", "value": [1, UNDEFINED, 2]},
    ]


async def test_arguments_are_read_once_and_at_the_call(sandbox):
    source = """async () => {
      let reads = 0;
      const o = { get a() { reads += 1; return reads }, toJSON() { return 'other' } };
      delete o.toJSON;
      const arg = { n: 1 };
      const p = it.echo({ o, arg });
      arg.n = 2;
      return [await p, reads];
    }"""
    assert await evaluate(sandbox, source) == [{"o": {"a": 1}, "arg": {"n": 1}}, 1]


async def test_to_json_of_a_value_is_not_asked(sandbox):
    value = await evaluate(sandbox, "async () => it.echo({ a: { toJSON: 1, b: 2 }, d: new Date(1) })")
    assert value == {"a": {"toJSON": 1, "b": 2}, "d": {"$type": "date", "value": 1}}
