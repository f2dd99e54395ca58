"""Servers of node's package registry, over stdio and streamable HTTP."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from codemode_jupyter.connectors.mcp import McpConnector
from tests.connectors.mcp.conftest import SECRET, bench, free_port, http_process, node_server


async def test_the_filesystem_server_reads_at_once_and_writes_after_an_approval(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "tide.txt").write_text("high at noon")
    connector = McpConnector.stdio("files", node_server("server-filesystem", str(folder)))
    async with bench(connector, tmp_path) as made:
        assert (await made.call("read_text_file", path=str(folder / "tide.txt")))["content"] == "high at noon"
        paused = await made.call("write_file", path=str(folder / "log.txt"), content="42")
        assert [f"{call.connector}.{call.method}" for call in paused.pending] == ["files.write_file"]
        assert not (folder / "log.txt").exists()
        done = await made.runtime.approve(paused.execution_id)
        assert done.status == "completed"
        assert (folder / "log.txt").read_text() == "42"
        assert "denied" in await made.refusal("read_text_file", path="/etc/passwd")
        types = (await made.runtime.describe("files.write_file"))["types"]
        assert "write_file" in types
        assert (await made.runtime.describe("files.write_file"))["requiresApproval"]


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_the_everything_server_answers_in_every_kind(transport: str, tmp_path: Path) -> None:
    if transport == "stdio":
        connector = McpConnector.stdio("every", node_server("server-everything"), env={"API_TOKEN": SECRET})
        async with bench(connector, tmp_path) as made:
            await use_everything(made)
            assert SECRET not in str(await made.call("get_env"))
    else:
        port = free_port()
        env = {**os.environ, "PORT": str(port)}
        with http_process(node_server("server-everything", "streamableHttp"), port, env):
            connector = McpConnector.http("every", f"http://127.0.0.1:{port}/mcp")
            async with bench(connector, tmp_path) as made:
                await use_everything(made)


async def use_everything(made: Any) -> None:
    assert await made.call("echo", message="hello") == "Echo: hello"
    assert await made.call("get_structured_content", location="Chicago") == {
        "temperature": 36,
        "conditions": "Light rain / drizzle",
        "humidity": 82,
    }
    image = await made.call("get_tiny_image")
    assert [part["data"][:4] for part in image["content"] if part["type"] == "image"] == [b"\x89PNG"]
    links = await made.call("get_resource_links", count=2)
    assert [part["type"] for part in links["content"]] == ["text", "resource_link", "resource_link"]
    blob = await made.call("get_resource_reference", resourceType="Blob", resourceId=1)
    resources = [part["resource"] for part in blob["content"] if part["type"] == "resource"]
    assert isinstance(resources[0]["blob"], bytes)
    assert "must be" in await made.refusal("get_sum", a="x", b=1) or "b" in await made.refusal("get_sum", a="x")
    described = await made.runtime.describe("every")
    assert "Everything Server" in described["description"]
    assert "get_sum" in described["types"]
    assert (await made.call("toggle_simulated_logging")).status == "paused"
