"""Programs in Python through the runtime: the same log, approvals, replay and snippets."""

import asyncio
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from codemode_jupyter import FunctionConnector, Runtime, tool
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.deno import DenoExecutor, find_deno
from codemode_jupyter.sandbox.python.making import ensure_assets

pytestmark = pytest.mark.asyncio(loop_scope="module")
notes: list[str] = []


def list_notes() -> list[str]:
    """All notes."""
    return notes


def remove_note(arguments, result):
    notes.remove(arguments["text"])


@tool(requires_approval=True, revert=remove_note)
def add_note(text: str) -> int:
    """Write a note down."""
    notes.append(text)
    return len(notes)


def typed(when: datetime, price: Decimal, share: float, tags: list[str], count: int) -> str:
    """Say what came."""
    return f"{when!r} {price!r} {share!r} {tags!r} {count!r}"


def broken() -> None:
    """Fail."""
    raise ValueError("it is broken")


@pytest.fixture(scope="module")
def executor():
    deno = find_deno()
    if deno is None:
        pytest.skip("there is no Deno: pip install 'codemode-jupyter[python]'")
    try:
        ensure_assets(deno)
    except CodemodeError as error:
        pytest.skip(str(error))
    made = DenoExecutor()
    yield made
    asyncio.run(made.close())


@pytest.fixture
def runtime(executor, tmp_path):
    notes.clear()
    connector = FunctionConnector("notebook", [list_notes, add_note, typed, broken])
    return Runtime([connector], executor=executor, path=tmp_path / "store.sqlite3")


async def run(runtime, code):
    outcome = await runtime.execute(code, language="python")
    assert outcome.status == "completed", outcome
    return outcome.result


async def test_a_program_pauses_goes_on_and_is_undone(runtime):
    code = "before = await notebook.list_notes()\nn = await notebook.add_note(text='hi')\nprint(n)\n(before, n)"
    outcome = await runtime.execute(code, language="python")
    assert outcome.status == "paused"
    assert outcome.pending[0].args == {"text": "hi"}
    assert notes == []
    outcome = await runtime.approve(outcome.execution_id)
    assert (outcome.status, outcome.result, outcome.logs) == ("completed", ([], 1), ("1",))
    assert outcome.to_wire()["result"] == [[], 1]
    assert notes == ["hi"]
    await runtime.rollback(outcome.execution_id)
    assert notes == []
    assert (await runtime.execution(outcome.execution_id)).language == "python"


async def test_values_reach_tools_and_come_out_as_what_they_are(runtime):
    code = """```python
    from datetime import datetime, timedelta
    from decimal import Decimal
    said = await notebook.typed(when=datetime(2024, 5, 1, 12, 0, 0, 250), price=Decimal("1.10"), share=1.0,
                                tags=("a", "b"), count=2**70)
    {"said": said, "at": datetime(2024, 5, 1, 0, 0, 0, 5), "price": Decimal("0.30"), "half": 0.5, "one": 1.0,
     "pair": (1, b"x"), "set": {1}, "big": 2**80, "keys": {1: "a"}, "none": None}
    ```"""
    result = await run(runtime, code)
    assert result.pop("said") == (
        "datetime.datetime(2024, 5, 1, 12, 0, 0, 250) Decimal('1.10') 1.0 ['a', 'b'] 1180591620717411303424"
    )
    assert result == {
        "at": datetime(2024, 5, 1) + timedelta(microseconds=5),  # noqa: DTZ001  as the program made it
        "price": Decimal("0.30"),
        "half": 0.5,
        "one": 1.0,
        "pair": (1, b"x"),
        "set": {1},
        "big": 2**80,
        "keys": {1: "a"},
        "none": None,
    }
    assert [type(result[name]) for name in ("one", "pair", "price")] == [float, tuple, Decimal]


async def test_errors_name_their_place_and_keep_their_code(runtime):
    outcome = await runtime.execute("x = 1\nawait notebook.broken()", language="python")
    assert outcome.status == "error"
    assert (outcome.error.name, outcome.error.line, outcome.error.column) == ("ValueError", 2, 1)
    assert "it is broken" in outcome.error.message
    outcome = await runtime.execute("\n  x = notebok\n  x", language="python")
    assert (outcome.error.line, outcome.error.column) == (2, 7)
    assert "notebook" in outcome.error.hint
    assert "2 |   x = notebok" in outcome.error.excerpt


async def test_a_syntax_error_calls_nothing(runtime):
    outcome = await runtime.execute("await notebook.list_notes()\nx = (1", language="python")
    assert outcome.status == "error"
    assert "never closed" in outcome.error.message
    assert (outcome.error.code, outcome.error.line, outcome.error.column) == ("syntax_error", 2, 5)
    assert list(outcome.calls) == []
    outcome = await runtime.execute("const before = await notebook.list_notes();", language="python")
    assert (outcome.error.code, outcome.error.line) == ("syntax_error", 1)
    assert "JavaScript" in outcome.error.hint


async def test_search_describe_steps_and_snippets(runtime):
    found = await run(runtime, "(await codemode.search('write a note', limit=3))['results'][0]['path']")
    assert found == "notebook.add_note"
    described = await run(runtime, "(await codemode.describe('notebook.add_note'))['types']")
    assert "async def add_note" in described
    code = "async def main(input=None):\n    n = await codemode.step('n', lambda: 4)\n    return [n, input]"
    outcome = await runtime.execute(code, language="python")
    await runtime.save_snippet("four", execution_id=outcome.execution_id)
    assert await run(runtime, "await codemode.run('four', {'a': 1})") == [4, {"a": 1}]


async def test_names_that_python_cannot_write_are_called_as_the_stubs_say(executor, tmp_path):
    tools = FunctionConnector("odd", {"list$": list_notes, "plain": list_notes})
    made = Runtime([tools], executor=executor, path=tmp_path / "names.sqlite3")
    stubs = (await made.describe("odd", language="python"))["types"]
    for name in ("list_", "plain"):
        assert f"async def {name}()" in stubs
    code = "[await odd.list_(), await odd.plain(), await odd['list$'](), dir(odd)]"
    assert await run(made, code) == [[], [], [], ["list_", "plain"]]
    await made.close()


async def test_stop_ends_a_program_that_never_ends(runtime):
    started = asyncio.Event()
    running = asyncio.create_task(
        runtime.execute("print('on')\nwhile True: pass", language="python", on_start=lambda _: started.set())
    )
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await run(runtime, "1") == 1


async def test_another_language_is_named_as_unknown(runtime):
    outcome = await runtime.execute("puts 1", language="ruby")
    assert outcome.error.code == "unknown_language"
    assert "javascript, python" in outcome.error.hint


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("import notebook", "notebook is a global of every program: leave the import out."),
        ("import numpy", "Runtime(packages=[…])"),
        ("found = notebook.list_notes()\nfound[0]", "a call of a tool or of an async function is written `await …`"),
        ("nothing_like_it", "Beside Python's own, the globals available in the sandbox are: notebook, codemode."),
        ("const x = await notebook.list_notes();", "This looks like JavaScript"),
        ("x = 1\n    y = 2", None),
        ("x\u00a0= 1", None),
        ("exec('await x')", None),
    ],
)
async def test_a_failure_says_what_to_write_instead(runtime, code, hint):
    outcome = await runtime.execute(code, language="python")
    assert outcome.status == "error"
    if hint is None:
        assert outcome.error.hint is None
    else:
        assert hint in outcome.error.hint
