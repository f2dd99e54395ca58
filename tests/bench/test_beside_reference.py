"""What programs cost in a page alone, without Jupyter, beside the iframe executor of `@cloudflare/codemode`.

Prints a table of ratios, and what a page with sandboxes at rest uses of the processor.
"""

import sys
import time
from statistics import median

import pytest

from codemode_jupyter.program import prepare_program
from codemode_jupyter.sandbox.protocol import Namespace, PassRequest
from codemode_jupyter.sandbox.session import begin_text
from tests.bench.reference import install, open_page

pytestmark = pytest.mark.alone

ROUNDS = 7
CALLS = 200
IDLE_SECONDS = 4

TRIVIAL, ONE_CALL, SEQUENTIAL, PARALLEL = "trivial run", "run of 1 call", f"run of {CALLS} calls", "1,000 calls at once"
PROGRAMS = {
    TRIVIAL: ("return 1", 1),
    ONE_CALL: ("return await NAME.ping({ n: 1 })", 1),
    SEQUENTIAL: (f"let n = 0; for (let i = 0; i < {CALLS}; i++) n += await NAME.ping({{ n: i }}); return n", CALLS),
    PARALLEL: (
        "return (await Promise.all(Array.from({ length: 1000 }, (_, n) => NAME.ping({ n })))).length",
        1_000,
    ),
}


def begin(body):
    program = prepare_program(body)
    spaces = (Namespace("bench", ("ping",)),)
    return begin_text(PassRequest("e", program.source, program.line_offset, spaces, 1.7e12, "0" * 32, 60.0))


def processor_seconds(session):
    """Seconds of processor time that each process of the browser has used, by its kind."""
    spent = {}
    for process in session.send("SystemInfo.getProcessInfo")["processInfo"]:
        spent[process["type"]] = spent.get(process["type"], 0.0) + process["cpuTime"]
    return spent


def renderers_at_rest(session):
    """Milliseconds of processor time that the renderers use in a second of doing nothing."""
    before = processor_seconds(session)["renderer"]
    time.sleep(IDLE_SECONDS)
    return (processor_seconds(session)["renderer"] - before) * 1000 / IDLE_SECONDS


@pytest.fixture
def page(context):
    install()
    return open_page(context)


def per_call(times, side):
    return (median(times[SEQUENTIAL][side]) - median(times[ONE_CALL][side])) / (CALLS - 1)


def test_the_sandbox_is_quicker_than_the_reference(page, browser, capsys):
    session = browser.new_browser_cdp_session()
    bare = renderers_at_rest(session)
    page.evaluate("prepare()")
    page.wait_for_timeout(1_000)  # for both spares to be made
    idle = renderers_at_rest(session)
    programs = {
        name: {
            "begin": begin(body.replace("NAME", "bench")),
            "code": f"async () => {{ {body.replace('NAME', 'codemode')} }}",
            "result": result,
        }
        for name, (body, result) in PROGRAMS.items()
    }
    page.evaluate("([programs]) => measure(programs, 1)", [programs])  # both warm
    times = page.evaluate("([programs, rounds]) => measure(programs, rounds)", [programs, ROUNDS])
    rows = [(name, *(median(times[name][side]) for side in ("ours", "reference"))) for name in (TRIVIAL, PARALLEL)]
    rows.insert(1, ("a call of one after the other", per_call(times, "ours"), per_call(times, "reference")))
    with capsys.disabled():
        sys.stdout.write("\n" + "\n".join(lines(rows, bare, idle)) + "\n")
    for (name, ours, reference), least in zip(rows, (3, 0.5, 3), strict=True):
        assert reference > least * ours, name
    assert idle < bare + 10


def lines(rows, bare, idle):
    yield f"{'in a page alone, medians of ' + str(ROUNDS):35} {'ms':>9} {'reference':>9} {'quicker':>8}  budget"
    for (name, ours, reference), budget in zip(rows, ("10", "1", "10"), strict=True):
        yield f"{name:35} {ours:9.2f} {reference:9.2f} {reference / ours:8.1f}  {budget}"
    yield f"renderers at rest, ms of processor time a second: {bare:.2f} before, {idle:.2f} with two spare Workers"
