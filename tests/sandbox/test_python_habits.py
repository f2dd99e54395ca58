"""What people and models write in Python by habit, from scripts, modules and notebooks: it works, or is told how."""

import json

import pytest

from tests.sandbox.conftest import require_python
from tests.sandbox.kernel import Kernel, evaluate, failure

pytestmark = pytest.mark.asyncio(loop_scope="module")

GENERATOR = """
async def numbers(name):
    try:
        while True:
            yield name
    finally:
        await it.echo(closed=name)
"""


@pytest.fixture(autouse=True)
def with_python():
    require_python()


@pytest.mark.parametrize(
    "source",
    [
        GENERATOR + "async for x in numbers(1):\n    break\nawait it.gated()\nx",
        GENERATOR + "one = numbers(1)\nasync for x in one:\n    break\nawait it.gated()\nx",
    ],
    ids=["when it is dropped", "when the program ends"],
)
async def test_an_asynchronous_generator_that_is_left_is_closed_in_every_pass(deno, source):
    kernel = Kernel(source, language="python")
    assert (await kernel.run(deno)).kind == "paused"
    kernel.approve()
    end = await kernel.run(deno)
    assert (end.kind, json.loads(end.value)) == ("completed", 1), end
    assert [json.loads(entry.arguments) for entry in kernel.log.values() if entry.method == "echo"] == [{"closed": 1}]
    assert kernel.lines == []


async def test_a_program_that_fails_closes_its_asynchronous_generators_and_keeps_its_error(deno):
    kernel = Kernel(GENERATOR + "one = numbers(1)\nasync for x in one:\n    1 / 0", language="python")
    end = await kernel.run(deno)
    assert (end.kind, json.loads(end.error)["value"]["name"]) == ("failed", "ZeroDivisionError")
    assert [entry.method for entry in kernel.log.values()] == ["echo"]


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("exec('y = 3')\ny", 3),
        ("x = 1\n[locals()['x'], vars()['x'], 'x' in dir()]", [1, 1, True]),
        ("[(lambda: i + j)() for i in (1, 2) for j in (1, 2)]", [2, 3, 3, 4]),
        ("{'b': 1, 'a': 2, 'c': 3}.keys()", ["b", "a", "c"]),
        ("{'b': 1, 'a': 2}.values()", [1, 2]),
    ],
)
async def test_the_top_of_a_program_is_a_module_and_views_keep_their_order(deno, source, value):
    assert await evaluate(deno, source, language="python") == value


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("await asyncio.sleep(0)", "name 'asyncio' is not defined. Did you forget to import 'asyncio'?"),
        ("total = 1\ntotl", "name 'totl' is not defined. Did you mean: 'total'?"),
        ("'a'.uper()", "'str' object has no attribute 'uper'. Did you mean: 'upper'?"),
        ("e = ValueError('first')\ne.add_note('look here')\nraise e", "first\nlook here"),
        ("print 'hi'", "Missing parentheses in call to 'print'. Did you mean print(...)?"),
    ],
)
async def test_an_error_gives_the_advice_that_python_gives(deno, source, message):
    error, _ = await failure(deno, source, language="python")
    assert error["message"] == message


async def test_the_traceback_of_a_function_that_is_called_by_itself_begins_at_its_definition(deno):
    kernel = Kernel("# A comment\nasync def main(input=None):\n    x = 1\n    x / 0", language="python")
    assert (await kernel.run(deno)).kind == "failed"
    [told] = [text for _, text in kernel.lines]
    assert told.splitlines()[1:3] == ['  File "program.py", line 2, in <module>', "    async def main(input=None):"]
    assert told.splitlines()[4] == '  File "program.py", line 4, in main'
