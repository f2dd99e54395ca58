"""Servers that ask, tell, change their tools, die and come back."""

from __future__ import annotations

import asyncio
import logging
import sys
from pathlib import Path
from typing import Any

import pytest

from codemode_jupyter.connectors.mcp import McpConnector
from codemode_jupyter.connectors.mcp.connection import Connection
from codemode_jupyter.errors import CodemodeError
from tests.connectors.mcp.conftest import PATIENCE, SECRET, TESTER, Bench, bench, free_port, http_process, until


@pytest.fixture(params=["stdio", "http"])
async def talker(request: pytest.FixtureRequest, tester_port: int, tmp_path: Path) -> Any:
    if request.param == "stdio":
        connector = McpConnector.stdio("tester", [*TESTER, "stdio"], env={"HARBOUR_TOKEN": SECRET})
    else:
        url = f"http://127.0.0.1:{tester_port}/mcp"
        connector = McpConnector.http("tester", url, headers={"Authorization": f"Bearer {SECRET}"})
    async with bench(connector, tmp_path) as made:
        yield made


async def test_a_question_waits_in_the_kernel_until_the_person_has_answered(talker: Bench) -> None:
    running = asyncio.create_task(talker.call("ask"))
    asked = await talker.question()
    assert (asked.kind, asked.method, asked.question.message) == ("question", "ask", "Which ship?")
    kinds = {field.name: (field.kind, field.required) for field in asked.question.fields}
    assert kinds == {
        "name": ("text", True),
        "length": ("number", True),
        "crew": ("integer", False),
        "tanker": ("boolean", False),
        "side": ("choice", False),
    }
    wrong = await talker.runtime.respond(asked.call_id, {"name": "x", "length": "?"})
    assert wrong.error.code == "invalid_answer"
    assert "name must have at least 2 characters; length must be a number" in wrong.error.message
    stale = await talker.runtime.respond(asked.call_id, "accept", digest="another")
    assert stale.error.code == "stale_decision"
    answer = {"name": "Ever", "length": "400", "tanker": "yes", "side": "starboard"}
    done = await talker.runtime.respond(asked.call_id, answer, digest=asked.digest)
    assert done.status == "completed"
    assert (await running)["result"] == (
        'accept {"name":"Ever","length":400.0,"crew":1,"tanker":true,"side":"starboard"}'
    )
    assert await talker.runtime.pending() == []


@pytest.mark.parametrize("answer", ["accept", "decline", "cancel"])
async def test_an_address_is_shown_and_the_answer_goes_back(tester: Bench, answer: Any) -> None:
    running = asyncio.create_task(tester.call("ask_to_visit"))
    asked = await tester.question()
    assert asked.question.url == "https://login.example.com/start?state=1"
    await tester.runtime.respond(asked.call_id, answer)
    assert (await running)["result"] == answer


async def test_time_does_not_count_while_a_person_thinks(tester_port: int, tmp_path: Path) -> None:
    connector = McpConnector.http("tester", f"http://127.0.0.1:{tester_port}/mcp", timeout=0.5)
    async with bench(connector, tmp_path) as made:
        await made.call("say", text="warm")
        running = asyncio.create_task(made.call("ask"))
        asked = await made.question()
        await asyncio.sleep(0.6)  # longer than the limit of the call, which stands still
        await made.runtime.respond(asked.call_id, "decline")
        assert (await running)["result"] == "decline"


async def test_nobody_who_answers_in_time_is_a_cancelled_question(tester_port: int, tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{tester_port}/mcp"
    async with bench(McpConnector.http("tester", url, answer_timeout=0.05), tmp_path) as made:
        assert (await made.call("ask"))["result"] == "cancel"


async def test_a_stopped_run_takes_its_question_along(tester: Bench) -> None:
    running = asyncio.create_task(tester.run(_asking))
    asked = await tester.question()
    await tester.runtime.stop(asked.execution_id)
    assert (await running).error.code == "stopped"
    assert await tester.runtime.pending() == []


async def _asking(g: Any) -> Any:
    return await g.call("tester.ask", {})


async def test_progress_and_messages_show_while_the_call_runs_and_models_read_neither(
    talker: Bench, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    ids: list[str] = []

    async def program(g: Any) -> Any:
        return await g.call("tester.steps", {"gate": str(gate)})

    running = asyncio.create_task(talker.runtime.execute(talker.sandbox.program(program), on_start=ids.append))
    await until(lambda: ids)

    async def record() -> Any:
        return await talker.runtime.execution(ids[0])

    async with asyncio.timeout(PATIENCE):
        while not ((now := await record()).progress and now.logs):  # noqa: ASYNC110  a card would be told; a test looks
            await asyncio.sleep(0.002)
    (told,) = now.progress.values()
    assert (told.done, told.total, told.message) == (1, 3, "loading")
    assert [(line.level, line.text, line.source) for line in now.logs] == [("warn", "harbour: low tide", "tester")]
    gate.touch()
    outcome = await running
    assert outcome.result == {"result": "arrived"}
    assert outcome.logs == ()
    kept = await record()
    assert [line.source for line in kept.logs] == ["tester"]
    assert kept.progress == {}


async def test_changes_of_the_tools_count_from_the_next_run_and_take_no_approval_away(tmp_path: Path) -> None:
    async with bench(McpConnector.stdio("tester", [*TESTER, "stdio"]), tmp_path) as made:
        assert "late_one" in await made.refusal("late_one")
        assert (await made.call("write", text="x")).status == "paused"
        await made.call("grow", name="late-one")
        await until(lambda: made.connector.revision() != (0, 1))
        assert await made.call("late_one") == "I am late-one"
        assert (await made.runtime.search("late"))["results"][0]["path"] == "tester.late_one"
        before = made.connector.revision()
        await made.call("loosen")  # now it says of `write` that it only reads
        await until(lambda: made.connector.revision() != before)
        assert (await made.call("write", text="x")).status == "paused"


async def test_sampling_is_refused(tester: Bench) -> None:
    assert "Sampling not supported" in await tester.refusal("sample")


async def test_a_server_that_dies_in_a_call_is_started_anew_and_the_call_is_not_repeated(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    async with bench(McpConnector.stdio("tester", [*TESTER, "stdio"]), tmp_path) as made:
        message = await made.refusal("die", trace=str(trace))
        assert "lost while tester.die was under way" in message
        assert "not called again by itself" in message
        assert await made.call("say", text="back") == "back"
        processes = [task for task in asyncio.all_tasks() if task.get_name().startswith("MCP:")]
    assert trace.read_text() == "called\n"
    assert all(task.done() for task in processes)  # closed with the runtime
    assert [task for task in asyncio.all_tasks() if "std" in task.get_name()] == []


async def test_a_server_that_goes_away_and_comes_back_at_its_address_is_found_again(tmp_path: Path) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}/mcp?key={SECRET}"
    async with bench(McpConnector.http("tester", url), tmp_path) as made:
        with http_process([*TESTER, str(port)], port):
            assert await made.call("say", text="one") == "one"
        with http_process([*TESTER, str(port)], port):  # it does not know the session: the call did not happen
            assert await made.call("say", text="two") == "two"
        messages = [await made.refusal("say", text="three") for _ in range(2)]
        # Whether the first one was sent depends on who notices first that nobody is there.
        assert "lost" in messages[0] or "cannot reach" in messages[0]
        assert "cannot reach its MCP server" in messages[1]
        assert SECRET not in str(messages)


async def test_no_secret_comes_back_in_results_errors_or_logs(talker: Bench, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "codemode_jupyter")
    assert SECRET not in str(await talker.call("secrets"))
    assert SECRET not in str(await talker.call("headers"))
    assert SECRET not in str(await talker.refusal("fail", message=SECRET))
    assert SECRET not in caplog.text


async def test_a_server_that_does_not_start_is_an_error_that_says_why_without_secrets(tmp_path: Path) -> None:
    refusing = McpConnector.stdio("tester", [*TESTER, "stdio", "refuse"], env={"HARBOUR_TOKEN": SECRET})
    async with bench(refusing, tmp_path) as made:
        with pytest.raises(CodemodeError) as refusal:
            await made.runtime.search("anything")
    assert refusal.value.code == "connector_failed"
    assert "It said: starting at" in str(refusal.value)
    assert "[secret]" in str(refusal.value)
    assert SECRET not in str(refusal.value)
    async with bench(McpConnector.stdio("absent", ["no-such-command"]), tmp_path) as made:
        outcome = await made.run(_asking)
    assert "there is no such command" in outcome.error.message


def test_the_blocking_form_connects_in_each_loop_and_leaves_nothing(tmp_path: Path) -> None:
    from codemode_jupyter.runtime.runtime import Runtime
    from tests.runtime.fake_sandbox import FakeExecutor

    sandbox = FakeExecutor()
    connector = McpConnector.stdio("tester", [*TESTER, "stdio"])
    runtime = Runtime([connector], executor=sandbox, path=tmp_path / "log.sqlite3")

    async def program(g: Any) -> Any:
        return await g.call("tester.say", {"text": "hello"})

    assert [runtime.run(sandbox.program(program)).result for _ in range(2)] == ["hello", "hello"]


async def test_a_session_of_ones_own_is_used_and_left_alone(tmp_path: Path) -> None:
    from mcp import ClientSession, StdioServerParameters, stdio_client

    parameters = StdioServerParameters(command=sys.executable, args=[TESTER[1], "stdio"])
    async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
        async with bench(McpConnector("mine", session, approve="never"), tmp_path) as made:
            assert await made.call("write", text="mine") == {"result": "MINE"}
        assert (await session.list_tools()).tools


async def test_two_questions_at_once_are_each_asked_in_their_own_run_over_http(
    tester_port: int, tmp_path: Path
) -> None:
    connector = McpConnector.http("tester", f"http://127.0.0.1:{tester_port}/mcp")
    async with bench(connector, tmp_path) as made:
        await made.call("say", text="warm")
        runs = [asyncio.create_task(made.call(tool)) for tool in ("ask", "ask_to_visit")]
        async with asyncio.timeout(PATIENCE):
            while len(asked := await made.runtime.pending()) < 2:  # noqa: ASYNC110  a page would be told
                await asyncio.sleep(0.002)
        assert {call.method: call.question.url is None for call in asked} == {"ask": True, "ask_to_visit": False}
        for call in asked:
            await made.runtime.respond(call.call_id, "decline")
        assert [(await run)["result"] for run in runs] == ["decline", "decline"]


@pytest.mark.parametrize("revision", ["handshake", "2026-07-28"])
async def test_a_tool_that_resolves_its_questions_first_works_in_both_ages_of_the_protocol(
    revision: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if revision != "handshake":
        newest = Connection._client
        monkeypatch.setattr(Connection, "_client", lambda connection, _mode: newest(connection, "auto"))
    async with bench(McpConnector.stdio("tester", [*TESTER, "stdio"]), tmp_path) as made:
        running = asyncio.create_task(made.call("reserve", hours=2))
        asked = await made.question()
        assert asked.question.message == "Which ship?"
        answer = {"name": "Ever", "length": 400}
        await made.runtime.respond(asked.call_id, answer)
        assert (await running)["result"] == "Ever, 2 h"
        await made.call("grow", name="late-one")
        await until(lambda: made.connector.revision() != (0, 1))
        assert await made.call("late_one") == "I am late-one"
        assert (await made.connector._sessions.session()).protocol_version >= (
            "2025-11-25" if revision == "handshake" else revision
        )
