"""What a person may hand over wrongly: each has one sentence and a code, and changes nothing."""

import math

import pytest

from codemode_jupyter import CodemodeError, FunctionConnector, Runtime, ToolContext, tool


def answer() -> int:
    """Tell the answer."""
    return 42


@pytest.fixture
async def runtime(tmp_path):
    runtime = Runtime([FunctionConnector("oracle", [answer])], path=tmp_path / "store.sqlite3")
    yield runtime
    await runtime.close()


@pytest.mark.parametrize("connectors", [[answer], answer, "oracle", FunctionConnector("oracle", [answer]), 5])
def test_what_is_no_list_of_connectors_is_refused_with_the_way_to_write_it(tmp_path, connectors):
    with pytest.raises(CodemodeError, match="FunctionConnector") as refusal:
        Runtime(connectors, path=tmp_path / "store.sqlite3")
    assert refusal.value.code == "invalid_connector"


@pytest.mark.parametrize("target", [None, 5, "half \ud800"])
async def test_searching_and_describing_take_a_text(runtime, target):
    for ask in (runtime.search, runtime.describe):
        with pytest.raises(CodemodeError) as refusal:
            await ask(target)
        assert refusal.value.code == "invalid_option"


@pytest.mark.parametrize(
    "age",
    [math.nan, -1, "1", None, 10**400, 10**5000],
    ids=["nan", "negative", "text", "none", "beyond a float", "beyond printing"],
)
async def test_an_age_is_a_number_of_seconds(runtime, age):
    with pytest.raises(CodemodeError) as refusal:
        await runtime.expire_paused(age)
    assert refusal.value.code == "invalid_option"


@pytest.mark.parametrize("option", ["timeout", "detach"])
async def test_seconds_beyond_every_clock_are_refused_in_the_outcome(runtime, option):
    outcome = await runtime.execute("1 + 1", **{option: 10**400})
    assert outcome.error.code == "invalid_option"
    assert len(outcome.error.message) < 200
    assert await runtime.executions() == []


async def test_a_limit_of_very_many_whole_seconds_is_no_limit(runtime):
    assert (await runtime.execute("1 + 1", timeout=10**300)).result == 2


@pytest.mark.parametrize("limit", [-1, 1.5, "1", True])
async def test_a_limit_of_executions_is_a_whole_number(runtime, limit):
    with pytest.raises(CodemodeError) as refusal:
        await runtime.executions(limit)
    assert refusal.value.code == "invalid_option"


@pytest.mark.parametrize("option", ["path", "transform_result", "on_wait", "on_detached_exit"])
def test_what_is_no_function_and_no_path_is_refused_when_the_runtime_is_made(option):
    with pytest.raises(CodemodeError, match=option) as refusal:
        Runtime(**{option: 5})
    assert refusal.value.code == "invalid_option"


@pytest.mark.parametrize("note", [None, 5, "half \ud800"])
def test_the_note_of_detached_runs_is_a_text(note):
    with pytest.raises(CodemodeError, match="detach_note") as refusal:
        Runtime(detach_note=note)
    assert refusal.value.code == "invalid_option"


async def test_the_name_of_a_step_is_whole_text(tmp_path):
    async def act(context: ToolContext) -> str:
        try:
            return await context.step("half \ud800", answer)
        except CodemodeError as refusal:
            return refusal.code

    runtime = Runtime([FunctionConnector("oracle", [act])], path=tmp_path / "store.sqlite3")
    assert (await runtime.execute("await oracle.act()")).result == "invalid_option"
    await runtime.close()


@pytest.mark.parametrize("description", [None, 5, "half \ud800"])
async def test_the_description_of_a_snippet_is_a_text(runtime, description):
    outcome = await runtime.execute("1 + 1")
    with pytest.raises(CodemodeError) as refusal:
        await runtime.save_snippet("two", execution_id=outcome.execution_id, description=description)
    assert refusal.value.code == "invalid_option"
    assert await runtime.snippets() == []


@pytest.mark.parametrize(("seq", "digest"), [(1.0, None), ("0", None), (True, None), ([0.5], None), (0, 5)])
async def test_a_decision_names_whole_numbers_and_a_text(tmp_path, seq, digest):
    done = []

    @tool(requires_approval=True)
    def act() -> int:
        """Act."""
        done.append(1)
        return 1

    runtime = Runtime([FunctionConnector("world", [act])], path=tmp_path / "store.sqlite3")
    paused = await runtime.execute("world.act()")
    refused = await runtime.approve(paused.execution_id, seq, digest=digest)
    assert refused.error.code == "invalid_option"
    assert not done
    assert len(await runtime.pending()) == 1
    await runtime.close()
