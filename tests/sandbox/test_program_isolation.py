"""What a program finds in its world, and what hostile ones try: to get out, to pose as the runtime, to change it."""

import asyncio
import json
import subprocess

import pytest

from codemode_jupyter.program import ModuleSet, prepare_program
from codemode_jupyter.sandbox import deno_process
from codemode_jupyter.sandbox.deno import find_deno
from tests.sandbox.kernel import Fails, Kernel, evaluate

pytestmark = pytest.mark.asyncio(loop_scope="module")

GLOBALS = """
AbortController AbortSignal AggregateError Array ArrayBuffer AsyncDisposableStack BigInt BigInt64Array
BigUint64Array Boolean CustomEvent DOMException DataView Date DisposableStack Error EvalError Event EventTarget
Float16Array Float32Array Float64Array Function Infinity Int16Array Int32Array Int8Array Intl Iterator JSON Map Math
NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set String SuppressedError Symbol
SyntaxError TextDecoder TextEncoder TypeError URIError URL URLSearchParams Uint16Array Uint32Array Uint8Array
Uint8ClampedArray WeakMap WeakSet atob btoa clearInterval clearTimeout codemode console crypto decodeURI
decodeURIComponent encodeURI encodeURIComponent escape eval globalThis isFinite isNaN it parseFloat parseInt
performance queueMicrotask setInterval setTimeout structuredClone undefined unescape
"""


async def test_the_globals_are_exactly_those_on_the_list(sandbox):
    source = """async () => {
      const names = new Set();
      for (let o = globalThis; o !== EventTarget.prototype && o !== Object.prototype && o; o = Object.getPrototypeOf(o))
        for (const name of Object.getOwnPropertyNames(o)) names.add(name);
      return [...names].sort();
    }"""
    names = await evaluate(sandbox, source)
    expected = set(GLOBALS.split())
    # Two numbers that Chromium does not let go.
    assert sorted(set(names) - expected - {"PERSISTENT", "TEMPORARY"}) == []
    # Engines differ in what is new in the language.
    assert expected - set(names) <= {
        "Float16Array",
        "Iterator",
        "SuppressedError",
        "DisposableStack",
        "AsyncDisposableStack",
    }


@pytest.mark.parametrize(
    "name",
    [
        *(
            "fetch",
            "XMLHttpRequest",
            "WebSocket",
            "EventSource",
            "Worker",
            "SharedWorker",
            "BroadcastChannel",
            "importScripts",
        ),
        *(
            "MessageChannel",
            "postMessage",
            "onmessage",
            "close",
            "self",
            "navigator",
            "location",
            "caches",
            "indexedDB",
        ),
        *("Deno", "process", "Buffer", "global", "require", "WebAssembly", "SharedArrayBuffer", "Atomics", "WeakRef"),
        *("FinalizationRegistry", "Temporal", "RTCPeerConnection", "FontFace", "reportError", "setImmediate", "Blob"),
        *("connect", "sendText", "calls", "settle", "programOutcome", "activeStep"),
    ],
)
async def test_what_could_get_out_is_gone(sandbox, name):
    assert await evaluate(sandbox, f"async () => typeof {name}") == "undefined"


@pytest.mark.parametrize(
    "specifier",
    [
        *(
            "node:fs",
            "node:fs/promises",
            "node:v8",
            "node:child_process",
            "node:process",
            "node:worker_threads",
            "node:module",
        ),
        *("node:vm", "node:net", "fs", "npm:left-pad", "jsr:@std/fs", "http://127.0.0.1:1/x.js", "file:///etc/passwd"),
        *("ext:core/mod.js", "data:text/javascript,import fs from 'node:fs'; export default fs", "./host.js"),
    ],
)
async def test_nothing_outside_can_be_imported(sandbox, specifier):
    source = f"""async () => {{
      try {{ return Object.keys(await import({json.dumps(specifier)})) }} catch (error) {{ return 'refused' }}
    }}"""
    assert await evaluate(sandbox, source) == "refused"


async def test_every_built_in_module_of_this_deno_is_shut():
    binary = find_deno()
    if binary is None:
        pytest.skip("there is no Deno: pip install 'codemode-jupyter[headless]'")
    listed = await asyncio.to_thread(
        subprocess.run,
        [binary, "eval", "import m from 'node:module'; console.log(JSON.stringify(m.builtinModules))"],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    names = {name.removeprefix("node:") for name in json.loads(listed.stdout)}
    shut = json.loads((deno_process._FOLDER / "import_map.json").read_text())["imports"]
    assert {f"node:{name}" for name in names} <= set(shut)


@pytest.mark.parametrize(
    "attack",
    [
        "Array.prototype.push = () => { throw 1 }",
        "Array.prototype[Symbol.iterator] = () => { throw 1 }",
        "Object.prototype.then = (resolve) => resolve('stolen')",
        "Object.prototype.toJSON = () => 'stolen'",
        "Object.prototype.$type = 'date'",
        "Object.defineProperty(Object.prototype, 'value', { set() { throw 1 } })",
        "Object.defineProperty(Object.prototype, 'get', { value: () => 'stolen' })",
        "Object.defineProperty(Array.prototype, 0, { set() { throw 1 } })",
        "Map.prototype.get = () => 'stolen'",
        "Map.prototype.set = () => { throw 1 }",
        "Set.prototype.has = () => true",
        "Promise.prototype.then = () => { throw 1 }",
        "Promise.resolve = () => { throw 1 }",
        "Object.defineProperty(Promise, Symbol.species, { value: class { } })",
        "Function.prototype.call = Function.prototype.apply = () => 'stolen'",
        "JSON.stringify = JSON.parse = () => 'stolen'",
        "Object.keys = () => []",
        "Reflect.apply = Reflect.construct = () => 'stolen'",
        "String.prototype.replace = String.prototype.includes = () => { throw 1 }",
        "RegExp.prototype.exec = () => { throw 1 }",
        "RegExp.prototype[Symbol.replace] = () => 'stolen'",
        "Error.prepareStackTrace = (e, frames) => { frames[0].getThis().x = 1 }",
        "Object.getPrototypeOf([].values()).next = () => ({ done: true })",
        "Object.getPrototypeOf(Object.getPrototypeOf(async () => {})).bind = () => 'stolen'",
        "Object.getPrototypeOf(Uint8Array.prototype).fill = () => { throw 1 }",
        "EventTarget.prototype.addEventListener = () => { throw 1 }",
        "globalThis.Map = globalThis.Set = class { }",
        "globalThis.JSON = { parse() { throw 1 } }",
        "globalThis.Object = null",
        "globalThis.TextEncoder = TextEncoder.prototype.encode = () => { throw 1 }",
        "Math.random = () => 4; Date.now = () => 4",
        "Date.prototype.getTime = () => 4",
        "console.log = () => { throw 1 }",
        "crypto.randomUUID = () => 'x'",
    ],
)
async def test_a_program_cannot_change_what_the_runtime_stands_on(sandbox, attack):
    source = f"""async () => {{
      const attack = () => {{ {attack} }};
      try {{ attack() }} catch {{ }}
      console.log({{ a: [1] }});
      const [map, failed] = await Promise.all([
        it.echo({{ list: [1, {{ b: new Map([[1, new Date(5)]]) }}] }}),
        it.fails({{ message: 'm' }}).catch((e) => `${{e.name}} ${{e.message}}`),
      ]);
      return {{ map, failed, stepped: await codemode.step('s', () => [Math.random() !== 4, Date.now() !== 4]) }};
    }}"""
    kernel = Kernel(source)
    end = await kernel.run(sandbox)
    assert end.kind == "completed", end
    assert json.loads(end.value) == {
        "map": {"list": [1, {"b": {"$type": "map", "value": [[1, {"$type": "date", "value": 5}]]}}]},
        "failed": "Error m",
        "stepped": [True, True],
    }
    assert kernel.lines == [("log", "{ a: [1] }")]
    assert (await kernel.run(sandbox)).value == end.value
    assert kernel.asked == []


@pytest.mark.parametrize(
    "expression",
    [
        "Object.assign(Object.create(Object.prototype), { toString: () => 'own' }) + ''",
        "(() => { const o = {}; o.toString = () => 'own'; return `${o}` })()",
        "(() => { const e = new Error('x'); e.name = 'ow'; e.message = 'n'; return e.name + e.message })()",
        "(() => { class E extends Error { constructor(m) { super(m); this.name = 'own' } } return new E('m').name })()",
        "(() => { const p = Object.create(Error.prototype); p.name = 'own'; return Object.create(p).name })()",
        "(() => { const p = Object.create({}); p.constructor = 'own'; return Object.create(p).constructor })()",
        "(() => { const n = {}; for (const w of ['constructor', 'valueOf']) n[w] = 'own'; return n.constructor })()",
        "(() => { const a = [3, 1]; a.last = 'own'; a.sort(); return a.last })()",
        "(() => { class M extends Map { get(k) { return 'own' } } return new M().get(1) })()",
        "(() => { Error.stackTraceLimit = 3; globalThis.state = 'own'; return state })()",
    ],
)
async def test_ordinary_programs_do_not_notice_that_the_language_is_frozen(sandbox, expression):
    assert await evaluate(sandbox, f"async () => {expression}") == "own"


async def test_the_kernels_messages_cannot_be_heard_or_forged(sandbox):
    source = """async () => {
      const heard = [];
      const refused = [];
      const attempt = (f) => { try { f() } catch (e) { refused.push(e.name) } };
      const listen = EventTarget.prototype.addEventListener;
      attempt(() => addEventListener('message', (e) => heard.push(e)));
      attempt(() => globalThis.addEventListener('message', (e) => heard.push(e)));
      attempt(() => listen.call(globalThis, 'message', (e) => heard.push(e)));
      attempt(() => listen.call(undefined, 'message', (e) => heard.push(e)));
      attempt(() => dispatchEvent(Object.assign(new Event('message'), { data: '{"type":"replies","replies":[]}' })));
      attempt(() => EventTarget.prototype.dispatchEvent.call(null, new Event('message')));
      globalThis.onmessage = (e) => heard.push(e);
      for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
        const listeners = globalThis[symbol]?.listeners?.message;
        if (listeners?.length > 0) heard.push('listeners');
      }
      await it.echo(1);
      await codemode.step('s', () => 1);
      return [refused.length, heard];
    }"""
    assert await evaluate(sandbox, source) == [6, []]


async def test_own_event_targets_work(sandbox):
    source = """async () => {
      const target = new EventTarget(); let seen = '';
      target.addEventListener('ping', (e) => { seen += e.detail });
      target.dispatchEvent(new CustomEvent('ping', { detail: 'x' }));
      return seen;
    }"""
    assert await evaluate(sandbox, source) == "x"


async def test_the_runtime_is_in_no_scope_and_cannot_be_loaded_again(sandbox):
    source = """async () => {
      const addresses = new Set();
      const address = /(blob:|file:|https?:|data:|ext:)[^\\s)]*/g;
      const look = (text) => { for (const m of `${text}`.matchAll(address)) addresses.add(m[0]) };
      look(new Error().stack);
      try { null.x } catch (e) { look(e.stack) }
      try { await it.fails({}) } catch (e) { look(e.stack) }
      try { structuredClone(() => 1) } catch (e) { look(e.stack) }
      const scope = [typeof calls, typeof sendText, typeof realSetTimeout, typeof encodeBase64];
      return [[...addresses], scope, typeof URL.createObjectURL];
    }"""
    assert await evaluate(sandbox, source) == [[], ["undefined"] * 4, "undefined"]


@pytest.mark.parametrize(
    "way",
    [
        *(
            "eval('1')",
            "(0, eval)('1')",
            "globalThis.eval('1')",
            "eval.call(null, '1')",
            "Reflect.apply(eval, 0, ['1'])",
        ),
        *("Function('1')", "new Function('1')", "Reflect.construct(Function, ['1'])", "Function.call(null, '1')"),
        *("(() => {}).constructor('1')", "(class {}).constructor('1')", "Math.max.constructor('1')"),
        *("it.echo.constructor('1')", "codemode.step.constructor('1')", "console.log.constructor('1')"),
        *("setTimeout.constructor('1')", "structuredClone.constructor('1')", "eval.constructor('1')"),
        *("(async () => {}).constructor('1')", "(function* () {}).constructor('1')"),
        "(async function* () {}).constructor('1')",
        "Object.getPrototypeOf((async () => {}).constructor)('1')",
        "Function.prototype.constructor('1')",
        "Function.prototype.constructor.constructor('1')",
        "Object.getOwnPropertyDescriptor(Function.prototype, 'constructor').get.constructor('1')",
        "new (class extends Function {})('1')",
        "new (class extends (async () => {}).constructor {})('1')",
        "Reflect.construct(Object, ['1'], Function).call()",
        "new Proxy(Function, {})('1')",
        "[Function].map((f) => f('1'))",
        "Function.bind(null, '1')()",
        "setTimeout('1')",
        "setInterval('1', 1)",
        "queueMicrotask('1')",
    ],
)
async def test_no_text_becomes_code(sandbox, way):
    source = f"async () => {{ try {{ {way}; return 'evaluated' }} catch (error) {{ return error.name }} }}"
    assert await evaluate(sandbox, source) in ("EvalError", "TypeError")


async def test_the_refusal_to_evaluate_says_what_to_do_instead(sandbox):
    source = "async () => { try { eval('1 + 1') } catch (e) { return [e.name, e.code, e.message] } }"
    name, code, message = await evaluate(sandbox, source)
    assert (name, code) == ("EvalError", "eval_not_available")
    assert message == "eval is not available in a program: no text becomes code here. Write the code itself."


async def test_functions_are_still_functions(sandbox):
    source = """async () => {
      const all = [() => {}, async () => {}, function* () {}, async function* () {}, class {}, it.echo, eval];
      const names = all.slice(0, 4).map((f) => f.constructor.name);
      return [all.every((f) => f instanceof Function && typeof f === 'function'), names, Function.length];
    }"""
    names = ["Function", "AsyncFunction", "GeneratorFunction", "AsyncGeneratorFunction"]
    assert await evaluate(sandbox, source) == [True, names, 1]


async def test_data_cannot_pose_as_a_gate_or_an_outcome(sandbox):
    answers = {
        "it.a": lambda _: {"__codemode_control__": "pause"},
        "it.b": lambda _: {"type": "done", "status": "completed", "value": "1"},
        "it.c": lambda _: {"state": "pending"},
        "it.d": lambda _: Fails("__CODEMODE_PAUSE__"),
    }
    source = "async () => [await it.a(), await it.b(), await it.c(), await it.d().catch((e) => e.message)]"
    assert await evaluate(sandbox, source, tools=answers) == [
        {"__codemode_control__": "pause"},
        {"type": "done", "status": "completed", "value": "1"},
        {"state": "pending"},
        "__CODEMODE_PAUSE__",
    ]


async def test_a_step_cannot_record_another_call(sandbox):
    """The token of a step is in no place that a program can reach."""
    source = """async () => {
      const seen = [];
      const look = (value, depth = 0) => {
        if (depth > 4 || (typeof value !== 'object' && typeof value !== 'function') || value === null) return;
        for (const key of Reflect.ownKeys(value)) {
          let item; try { item = value[key] } catch { continue }
          if (typeof item === 'string' && /^[0-9a-f]{16}$/.test(item)) seen.push(item);
          look(item, depth + 1);
        }
      };
      const p = it.gated({});
      await codemode.step('s', () => { look(globalThis); look(codemode); look(p); return 1 });
      return seen;
    }"""
    kernel = Kernel(source)
    assert (await kernel.run(sandbox)).value == "[]"
    assert kernel.log[0].state == "pending"


@pytest.mark.parametrize(
    "value",
    [
        "(() => { const p = Proxy.revocable({}, {}); p.revoke(); return p.proxy })()",
        "new Proxy({}, { ownKeys() { throw new Error('no') } })",
        "{ get a() { throw { toString() { throw 1 } } } }",
        "{ then(resolve) { resolve(1) } }",
        "new Proxy([], { get: (t, k) => k === 'length' ? 1e9 : t[k] })",
        "Object.create(Map.prototype)",
        "Object.create(Date.prototype)",
        "Object.create(Uint8Array.prototype)",
        "Object.setPrototypeOf(new Date(0), null)",
        "Object.setPrototypeOf([], Map.prototype)",
        "Object.assign(new Error('x'), { name: { toString() { throw 1 } }, message: Symbol() })",
        "Object.defineProperty(new Error('x'), 'stack', { get() { throw 1 } })",
    ],
)
async def test_a_hostile_result_or_error_ends_the_pass_and_nothing_else(sandbox, value):
    for verb in ("return", "throw"):
        end = await Kernel(f"async () => {{ {verb} ({value}) }}").run(sandbox)
        assert end.kind in ("completed", "failed", "too_large"), end
        text = end.value if end.kind == "completed" else end.error
        json.loads(text)


@pytest.mark.parametrize(
    ("make", "recorded"),
    [
        ("const a = { n: 1 }; const p = it.echo(a); a.n = 2; a.m = 3; const v = await p", {"n": 1}),
        ("let i = 0; const v = await it.echo({ get n() { return ++i } })", {"n": 1}),
        ("let i = 0; const v = await it.echo(new Proxy({ n: 0 }, { get: () => ++i }))", {"n": 1}),
        (
            "let i = 0; const v = await it.echo({ n: 1, toJSON() { return ++i } }).catch(() => it.echo({ n: 1 }))",
            {"n": 1},
        ),
        ("const a = [1]; const v = await it.echo({ n: a, get m() { a.push(2); return a } })", {"n": [1], "m": [1, 2]}),
        ("const v = await it.echo({ b: 1, a: 2, 1: 3, 0: 4 })", {"0": 4, "1": 3, "b": 1, "a": 2}),
    ],
)
async def test_a_value_is_read_once_and_what_was_read_is_recorded_shown_and_run(sandbox, make, recorded):
    kernel = Kernel(f"async () => {{ {make}; await it.gated(v); return v }}")
    assert (await kernel.run(sandbox)).kind == "paused"
    echoed, gated = kernel.asked[-2:]
    assert echoed.arguments == gated.arguments == json.dumps(recorded, separators=(",", ":"))
    kernel.approve()
    end = await kernel.run(sandbox)
    assert (end.kind, kernel.asked, end.value) == ("completed", [], echoed.arguments)


async def test_fifty_arguments_are_one_call_that_replays(sandbox):
    kernel = Kernel("async () => (await it.echo(...Array.from({ length: 50 }, (_, i) => ({ i })))).length")
    first = await kernel.run(sandbox)
    assert len(kernel.asked) == 1
    assert first.kind == (await kernel.run(sandbox)).kind
    assert kernel.asked == []


@pytest.mark.parametrize(
    "expression",
    [
        "import(address)",
        "import\n/* a comment */ (address)",
        "import(/* a comment */ address, {})",
        "(0, () => import(address))()",
        "`${await import(address)}`",
        "a\n/b/ await import(address) /c",
        "[await import(address)][0]",
        "((f = import(address)) => f)()",
        "new (class { static x = import(address) })().constructor.x",
        "(await import(address)).default",
        "import(address) satisfies unknown",
        "/[/]/.test('') || import(address)",
    ],
)
async def test_no_import_of_a_program_reaches_the_engine(sandbox, expression):
    address = '"data:text/javascript,export default 7"'
    program = (
        f"async () => {{ const address = {address}, a = 1, b = 1, c = 1; const x = {expression}; return await x }}"
    )
    prepared = prepare_program(program, ModuleSet())
    end = await Kernel(prepared.source, line_offset=prepared.line_offset).run(sandbox)
    assert end.kind == "failed", end
    assert json.loads(end.error)["value"]["data"]["code"] == "import_not_available"


async def test_calls_made_while_the_result_is_read_are_not_made(sandbox):
    kernel = Kernel("async () => ({ get a() { it.gated({ late: true }); return 1 } })")
    end = await kernel.run(sandbox)
    assert (end.kind, json.loads(end.value)) == ("completed", {"a": 1})
    assert kernel.asked == []


async def test_too_many_calls_are_refused(sandbox):
    source = """async () => {
      let refused;
      const all = [];
      for (let i = 0; i < 20_001; i++) all.push(it.echo(0).catch((e) => { refused = e.code }));
      await Promise.all(all);
      return refused;
    }"""
    assert await evaluate(sandbox, source, timeout=60) == "too_many_calls"
