"""What programs in Python cost on the headless sandbox, beside the same programs in JavaScript in the same run.

Prints a table, and asserts what a loaded machine keeps. How long the interpreter takes to load is measured in a process
of its own, from a memory snapshot and without one.
"""

import asyncio
import sys
import time

import pytest

from codemode_jupyter import FunctionConnector, Runtime
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.program import prepare_program
from codemode_jupyter.sandbox.deno import DenoExecutor, find_deno
from codemode_jupyter.sandbox.protocol import Namespace, PassRequest
from codemode_jupyter.sandbox.python.assets import SCRIPTS
from codemode_jupyter.sandbox.python.making import ensure_assets
from tests.bench.table import Table
from tests.bench.test_headless import PAUSE, Answers, approve, ask, ping

pytestmark = pytest.mark.alone

ROUNDS = 5
SECONDS = 15
"""After which no further round begins."""
CALLS = 1_000

PROGRAMS = {
    "python": {
        "trivial": "1",
        "one by one": f"for i in range({CALLS}):\n    await bench.ping(number=i)",
        "at once": f"import asyncio\nawait asyncio.gather(*[bench.ping(number=i) for i in range({CALLS})])\nNone",
        "replay": f"for i in range({CALLS}):\n    await bench.ping(number=i)\nwhile True:\n    await bench.ask()",
    },
    "javascript": {
        "trivial": "return 1",
        "one by one": f"for (let i = 0; i < {CALLS}; i++) await bench.ping({{ number: i }})",
        "at once": f"await Promise.all(Array.from({{ length: {CALLS} }}, (_, i) => bench.ping({{ number: i }})))",
        "replay": f"for (let i = 0; i < {CALLS}; i++) await bench.ping({{ number: i }}); for (;;) await bench.ask()",
    },
}
NAMES = {"python": "Python", "javascript": "JavaScript"}
PLAIN, SNAPSHOT = "Pyodide loads", "Pyodide loads from the snapshot"
START = "new process and first program, {}"
WORK = {
    "trivial": "trivial program, warm, {}",
    "one by one": "call of 1,000 one by one, {}",
    "at once": "call of 1,000 at once, {}",
    "replay": "replay of 1,000 calls, whole runtime, {}",
}


def rows():
    yield PLAIN, None, ""
    yield SNAPSHOT, PLAIN, ""
    for name in (START, *WORK.values()):
        javascript = name.format("JavaScript")
        yield javascript, None, ""
        yield name.format("Python"), javascript, "20 ms more" if name == WORK["trivial"] else ""


LOAD = """
const read = (name) => Deno.readFileSync(`${Deno.args[0]}/${name}`);
const began = performance.now();
const assets = {
  module: await WebAssembly.compile(read("pyodide.asm.wasm")),
  library: read("python_stdlib.zip"),
  lock: new TextDecoder().decode(read("lock.json")),
  snapshot: Deno.args[1] === "snapshot" ? read("snapshot.bin") : null,
};
(await loadInterpreter(assets, () => {})).runPython("1");
console.log(performance.now() - began);
"""


async def loading(assets, folder, way):
    """Milliseconds that the interpreter takes to load, the start of the process left out."""
    file = folder / "load.js"
    file.write_text("\n".join([assets.glue, (SCRIPTS / "interpreter.js").read_text(), LOAD]))
    command = [find_deno(), "run", "--no-config", f"--allow-read={assets.folder}", file, assets.folder, way]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    assert process.returncode == 0
    return float(output)


async def run_alone(executor, language, body):
    program = prepare_program(body).source if language == "javascript" else body
    namespaces = (Namespace("bench", ("ping",)),)
    request = PassRequest("e", program, 0, namespaces, 1.7e12, "0" * 32, 120.0, language=language)
    end = await executor.run_pass(request, Answers())
    assert end.kind == "completed", end


async def measure(table, assets, executor, runtime, folder):
    waiting = {}
    for language, programs in PROGRAMS.items():
        await run_alone(executor, language, programs["trivial"])
        outcome = await runtime.execute(programs["replay"], language=language)
        assert outcome.status == "paused", outcome
        waiting[language] = outcome.execution_id
    started = time.monotonic()
    for turn in range(ROUNDS):
        if turn > 0 and time.monotonic() - started > SECONDS:
            break
        if turn == 0:  # it takes seconds
            table.add(PLAIN, await loading(assets, folder, "plain"))
        table.add(SNAPSHOT, await loading(assets, folder, "snapshot"))
        for language, programs in PROGRAMS.items():
            name = NAMES[language]
            with table.time(START.format(name)):
                other = DenoExecutor()
                await run_alone(other, language, programs["trivial"])
            await other.close()
            pids = [executor._processes[0].pid]
            for kind, body in programs.items():
                # Time for the next sandbox to be made ready, which takes longer with Python in it.
                await asyncio.sleep(1.0 if language == "python" else PAUSE)
                with table.time(WORK[kind].format(name), CALLS if "call of" in WORK[kind] else 1, pids):
                    if kind == "replay":
                        await approve(runtime, waiting[language])
                    else:
                        await run_alone(executor, language, body)


async def test_programs_in_python_cost_what_they_must(tmp_path, capsys):
    try:
        assets = ensure_assets(find_deno() or "deno")
    except CodemodeError as error:
        pytest.skip(str(error))
    executor, table = DenoExecutor(), Table()
    tools = FunctionConnector("bench", [ping, ask])
    runtime = Runtime([tools], executor=executor, path=tmp_path / "store.sqlite3", timeout=120)
    await measure(table, assets, executor, runtime, tmp_path)
    await runtime.close()
    await executor.close()
    with capsys.disabled():
        sys.stdout.write("\n" + "\n".join(table.lines("Python, headless", rows())) + "\n")
    assert min(table.wall[SNAPSHOT]) < min(table.wall[PLAIN]) / 2
    # A machine that does much else may not have the next interpreter ready in time.
    assert table.least(WORK["trivial"].format("Python")) < min(table.wall[START.format("Python")])
    for kind in ("one by one", "at once", "replay"):
        python, javascript = (table.least(WORK[kind].format(name)) for name in NAMES.values())
        assert python < 20 * javascript + 20, kind
