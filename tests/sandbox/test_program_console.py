"""What a program prints, and how it reads."""

import pytest

from tests.sandbox.kernel import Kernel

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def printed(sandbox, body, **options):
    kernel = Kernel(f"async () => {{ {body} }}", **options)
    await kernel.run(sandbox)
    return kernel.lines


async def test_levels_and_texts(sandbox):
    assert await printed(
        sandbox,
        "console.log('a', 1, null); console.info('b'); console.debug('c'); console.warn('d'); console.error('e')",
    ) == [("log", "a 1 null"), ("info", "b"), ("debug", "c"), ("warn", "d"), ("error", "e")]


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("{ a: 1, b: 'x', c: [1, 2, { d: null }] }", "{ a: 1, b: 'x', c: [1, 2, { d: null }] }"),
        (
            "[undefined, NaN, -0, 10n, Symbol('s'), () => 1]",
            "[undefined, NaN, -0, 10n, Symbol(s), [Function (anonymous)]]",
        ),
        ("new Map([['k', { v: 1 }]]), new Set(['s'])", "Map(1) { 'k' => { v: 1 } } Set(1) { 's' }"),
        ("new Date(0), /x/g", "1970-01-01T00:00:00.000Z /x/g"),
        ("new (class Point { x = 1 })", "Point { x: 1 }"),
        ("Object.create(null)", "[Object: null prototype] {}"),
        ("new Uint8Array([1, 2])", "Uint8Array(2) [1, 2]"),
        ("(() => { const o = {}; o.o = o; return o })()", "{ o: [Circular] }"),
        ("{ get g() { throw 1 } }", "{ g: [Getter] }"),
        ("Promise.resolve(1)", "Promise { … }"),
        ("'%s is %d%%, %o %i', 'x', 1.5, { a: 1 }, '7.9', 'rest'", "x is 1.5%, { a: 1 } 7 rest"),
        ("it", "[Object: null prototype] {\n  echo: [Function: echo],"),
        ("new Error('boom').message, new TypeError('t').name", "boom TypeError"),
        ("[1,,2]", "[1, <empty>, 2]"),
        ("['it\\'s', \"a\\nb\"]", "[\"it's\", 'a\\nb']"),
        ("class A {}, function f() {}", "[class A] [Function: f]"),
    ],
)
async def test_objects_are_printed_readably(sandbox, expression, text):
    [(_, line)] = await printed(sandbox, f"console.log({expression})")
    assert line.startswith(text)


async def test_an_error_is_printed_with_its_place(sandbox):
    [(_, line)] = await printed(sandbox, "\n  console.error(new RangeError('no', { cause: new Error('why') }))")
    assert line.startswith("RangeError: no\n    at ")
    assert "program.js:2:17" in line
    assert "[cause]: [Error: why" in line
    assert "codemode-sandbox" not in line


async def test_wide_objects_take_several_lines(sandbox):
    [(_, line)] = await printed(sandbox, "console.log({ first: 'x'.repeat(50), second: 'y'.repeat(50) })")
    assert line == f"{{\n  first: '{'x' * 50}',\n  second: '{'y' * 50}'\n}}"


async def test_the_other_methods_of_the_console(sandbox):
    lines = await printed(
        sandbox,
        """console.count(); console.count(); console.assert(true); console.assert(false, 'why');
        console.group('g'); console.log('in\\nside'); console.groupEnd(); console.dir('d');
        console.time('t'); console.timeEnd('t'); console.trace('here');
        console.table([{ a: 1, b: 'x' }, { a: 22 }]); console.clear()""",
    )
    assert lines == [
        ("log", "default: 1"),
        ("log", "default: 2"),
        ("error", "Assertion failed: why"),
        ("log", "g"),
        ("log", "  in\n  side"),
        ("log", "'d'"),
        ("log", "t: 0 ms"),
        ("debug", "Trace: here"),
        ("log", "(index) │ a  │ b\n────────┼────┼────\n0       │ 1  │ 'x'\n1       │ 22 │"),
    ]


async def test_hostile_values_print_something(sandbox):
    lines = await printed(
        sandbox,
        """const { proxy, revoke } = Proxy.revocable({}, {}); revoke();
        console.log(proxy, [proxy]);
        console.log(new Proxy({}, { ownKeys() { throw new Error() }, getPrototypeOf() { throw new Error() } }));
        console.log(Object.create({ constructor: { get name() { throw 1 } } }));
        const deep = {}; let o = deep; for (let i = 0; i < 100000; i++) o = o.o = {};
        console.log(deep);
        console.log('x'.repeat(1e6));
        console.log(Array.from({ length: 1e5 }, (_, i) => i))""",
    )
    assert len(lines) == 6
    assert lines[3] == ("log", "{ o: { o: { o: { o: { o: [Object] } } } } }")
    assert all(len(text) < 25_000 for _, text in lines)
    assert lines[5][1].endswith("… 99,900 more\n]")


async def test_a_flood_is_cut_with_a_note(sandbox):
    kernel = Kernel("async () => { for (let i = 0; i < 20_000; i++) console.log('line', i); return 1 }")
    end = await kernel.run(sandbox)
    assert end.kind == "completed"
    assert len(kernel.lines) == 5_001
    assert kernel.lines[-1][0] == "warn"
    assert "The console is full" in kernel.lines[-1][1]


async def test_what_is_printed_before_a_hang_is_seen(sandbox):
    assert await printed(sandbox, "console.log('a'); console.log('b'); while (true) {}", timeout=0.5) == [
        ("log", "a"),
        ("log", "b"),
    ]


async def test_lines_arrive_while_the_program_runs(sandbox):
    kernel = Kernel("async () => { console.log('early'); await it.probe({}) }")
    seen = []
    kernel.tools = {"it.probe": lambda _: seen.extend(kernel.lines)}
    await kernel.run(sandbox)
    assert seen == [("log", "early")]
