"""Servers that mean no good, or are broken: each costs no more than its own."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest

from codemode_jupyter.connectors.base import load_tools
from codemode_jupyter.connectors.mcp import McpConnector
from codemode_jupyter.connectors.mcp.listing import MOST_TOOLS
from codemode_jupyter.errors import CodemodeError
from tests.connectors.mcp.conftest import bench


def hostile(kind: str, **options: Any) -> McpConnector:
    return McpConnector.stdio("foe", [sys.executable, str(Path(__file__).with_name("hostile.py")), kind], **options)


async def tools(kind: str, **options: Any) -> Any:
    connector = hostile(kind, **options)
    try:
        return await load_tools(connector)
    finally:
        await connector.close()


async def test_every_name_becomes_one_that_programs_can_write_and_the_server_still_gets_its_own(tmp_path: Path) -> None:
    assert list(await tools("names")) == ["get_tide", "proto_", "constructor", "then_", "class_", "gre", "_9_lives"]
    async with bench(hostile("names"), tmp_path) as made:
        assert await made.call("get_tide") == "get-tide"
        assert await made.call("constructor") == "constructor"
        assert await made.call("proto_") == "__proto__"


async def test_two_tools_that_would_have_one_name_are_refused_by_both_names_and_can_be_renamed() -> None:
    with pytest.raises(CodemodeError, match=r'"get-tide" and "get\.tide"') as refusal:
        await tools("collision")
    assert "rename=" in str(refusal.value)
    assert list(await tools("collision", rename={"get.tide": "tide"})) == ["get_tide", "tide"]


async def test_a_bad_schema_costs_only_its_own_check(tmp_path: Path) -> None:
    async with bench(hostile("schemas"), tmp_path) as made:
        assert await made.call("good", a=1) == "good"
        assert "a" in await made.refusal("good", a="x")
        assert await made.call("broken", a=1, b=2) == "broken"
        assert await made.call("foreign", a=1) == "foreign"
        assert await made.call("recursive", child={"child": {}}) == "recursive"
        assert "other" in await made.refusal("recursive", child={"other": 1})
        assert await made.call("itself", x=1) == "itself"
        began = time.monotonic()
        await made.refusal("slow", a="a" * 40 + "!")
        assert time.monotonic() - began < 5
        assert await made.call("proto") == "proto"
        assert await made.call("texts") == "texts"


async def test_lists_are_read_up_to_a_bound() -> None:
    assert len(await tools("many")) == 5000
    assert len(await tools("endless")) == MOST_TOOLS


async def test_answers_that_are_not_as_the_protocol_has_them_are_errors_or_left_out(tmp_path: Path) -> None:
    async with bench(hostile("says", timeout=0.3), tmp_path) as made:
        assert await made.call("twice") == "first"
        assert await made.call("said") == "said"
        assert await made.call("rubbish") == "after rubbish"
        assert "in a way that the protocol does not have" in await made.refusal("wrong_shape")
        assert "took longer than 0.3 s" in await made.refusal("never")
        assert await made.call("questions") == "asked"
        assert await made.call("said") == "said"
        assert len(made.connector.instructions()) <= 20_000


async def test_an_answer_that_is_none_and_an_error_of_the_server_s_own_are_told_at_once(tmp_path: Path) -> None:
    async with bench(hostile("says"), tmp_path) as made:
        for name in ("no_value", "list_value"):
            assert "an answer that the protocol does not have" in await made.refusal(name)
        # Its code is the one by which the SDK says that the connection was lost.
        assert await made.refusal("own_error") == "The harbour is closed."
        assert await made.call("said") == "said"


async def test_what_the_sdk_cannot_read_is_logged_without_what_it_holds(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with bench(hostile("says"), tmp_path) as made:
        assert await made.call("malformed") == "went on"
    assert "ValidationError" in caplog.text
    assert "s3cr3t" not in caplog.text


async def test_a_flood_of_messages_is_cut(tmp_path: Path) -> None:
    async with bench(hostile("says"), tmp_path) as made:
        outcome = await made.run(lambda g: _flooded(g))  # noqa: PLW0108  a coroutine function is asked for
        assert outcome.result == "flooded"
        lines = (await made.runtime.execution(outcome.execution_id)).logs
        assert len(lines) <= 500
        assert sum(len(line.text) for line in lines) <= 1_000_000
        assert await made.call("said") == "said"


async def _flooded(g: Any) -> Any:
    return await g.call("foe.flood", {})


@pytest.mark.parametrize(("kind", "why"), [("mute", "did not answer within 0.5 s"), ("dies", "ended before it was up")])
async def test_a_server_that_does_not_shake_hands_is_given_up(kind: str, why: str) -> None:
    with pytest.raises(CodemodeError, match="cannot reach its MCP server") as refusal:
        await tools(kind, connect_timeout=0.5 if kind == "mute" else 10)
    assert why in str(refusal.value) or "Connection closed" in str(refusal.value)


async def test_an_answer_of_hundreds_of_megabytes_is_an_error_and_the_kernel_goes_on(tmp_path: Path) -> None:
    import asyncio

    from tests.connectors.mcp.conftest import TESTER

    longest, last, done = 0.0, time.monotonic(), False

    async def watch() -> None:
        nonlocal longest, last
        while not done:
            last = time.monotonic()
            await asyncio.sleep(0.005)
            longest = max(longest, time.monotonic() - last)

    async with bench(McpConnector.stdio("tester", [*TESTER, "stdio"]), tmp_path) as made:
        await made.call("say", text="warm")
        watching = asyncio.create_task(watch())
        assert "too large: 200,000," in await made.refusal("huge", megabytes=200)
        done = True
        await watching
        assert await made.call("say", text="still here") == "still here"
    assert longest < 1.0
