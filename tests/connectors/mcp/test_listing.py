"""A server's list of tools as programs and models see it, beside the reference's answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest

from codemode_jupyter.connectors.base import load_tools
from codemode_jupyter.connectors.declarations.typescript import generate_types
from codemode_jupyter.connectors.mcp import McpConnector
from codemode_jupyter.connectors.mcp.mending import mended
from codemode_jupyter.errors import CodemodeError

SHARED = Path(__file__).resolve().parents[4] / "shared"
HINTED = [
    ("reads", {"readOnlyHint": True}),
    ("adds", {"destructiveHint": False}),
    ("silent", None),
    ("destroys", {"destructiveHint": True, "readOnlyHint": False}),
    ("claims_both", {"destructiveHint": True, "readOnlyHint": True}),
]


class Session:
    """What a connector asks of a session, answered from a list."""

    protocol_version = "2025-11-25"

    def __init__(self, tools: list[dict[str, Any]], instructions: str | None = None) -> None:
        answer = types.JSONRPCResponse(jsonrpc="2.0", id=1, result={"tools": tools})
        self._tools = mended(answer).result["tools"]  # type: ignore[union-attr]
        self.instructions = instructions

    async def list_tools(self, *, params: Any) -> types.ListToolsResult:
        """Two pages."""
        first = params.cursor is None
        listed = self._tools[:1] if first else self._tools[1:]
        return types.ListToolsResult.model_validate(
            {"tools": listed, "nextCursor": "more" if first and len(self._tools) > 1 else None}
        )


def connector(tools: list[dict[str, Any]], server_words: str | None = None, **options: Any) -> McpConnector:
    made = McpConnector.http("harbour", "http://127.0.0.1:9/mcp", **options)
    made._sessions.session = answering(Session(tools, server_words))  # type: ignore[method-assign]
    return made


def answering(session: Session) -> Any:
    async def answer() -> Session:
        return session

    return answer


def vectors() -> list[Any]:
    path = SHARED / "vectors" / "mcp.json"
    if not path.exists():
        return [pytest.param({}, marks=pytest.mark.skip("the reference's answers are not beside this checkout"))]
    listed = json.loads(path.read_text())["cases"]
    return [pytest.param(case, id=case["name"]) for case in listed if "tools" in case["input"]]


@pytest.mark.parametrize("case", vectors())
async def test_names_schemas_and_instructions_are_the_reference_s(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]["describe"]
    made = connector(
        given["tools"], given.get("instructions"), instructions=given["connector"].get("instructions") or ""
    )
    tools = await load_tools(made)
    assert made.instructions() == expected["instructions"]
    assert list(tools) == list(expected["descriptors"])
    for name, described in expected["descriptors"].items():
        wanted = {key: value for key, value in described.items() if value != {"$js": "undefined"}}
        assert tools[name].description == wanted.get("description", tools[name].description)
        assert tools[name].input_schema == {**tools[name].input_schema, **wanted["inputSchema"]}
        assert tools[name].output_schema == wanted.get("outputSchema")


def documents() -> list[Any]:
    if not SHARED.exists():
        return [pytest.param([], marks=pytest.mark.skip("the real lists are not beside this checkout"))]
    return [
        pytest.param(json.loads(path.read_text())["tools"], id=path.stem) for path in SHARED.glob("real/mcp-*.json")
    ]


@pytest.mark.parametrize("tools", documents())
async def test_real_lists_keep_every_tool_and_have_types(tools: list[dict[str, Any]]) -> None:
    made = await load_tools(connector(tools))
    assert len(made) == len(tools)
    assert generate_types(made, "harbour").count("Promise<") >= len(tools)
    gated = {name for name, tool in made.items() if tool.requires_approval is not False}
    writes = [tool["name"] for tool in tools if not (tool.get("annotations") or {}).get("readOnlyHint")]
    assert gated == {name.replace("-", "_") for name in writes}


@pytest.mark.parametrize(
    ("approve", "asked"),
    [
        ("writes", ["adds", "silent", "destroys"]),
        ("destructive", ["silent", "destroys"]),
        ("never", []),
        (["reads"], ["reads"]),
        (lambda name: name.startswith("a"), ["adds"]),
        (lambda name: name == "reads" and (lambda arguments: arguments == {"x": 1}), ["reads"]),
    ],
)
async def test_which_tools_a_person_approves(approve: Any, asked: list[str]) -> None:
    listed = [{"name": name, "inputSchema": {"type": "object"}, "annotations": hints} for name, hints in HINTED]
    tools = await load_tools(connector(listed, approve=approve))
    rules = {name: tool.requires_approval for name, tool in tools.items()}
    assert [name for name, rule in rules.items() if (rule({"x": 1}) if callable(rule) else rule)] == asked


async def test_an_unknown_word_or_name_in_approve_is_refused() -> None:
    with pytest.raises(CodemodeError, match="approve="):
        connector([], approve="sometimes")
    with pytest.raises(CodemodeError, match='"silnt", which it does not have'):
        await load_tools(connector([{"name": "silent", "inputSchema": {}}], approve=["silnt"]))


@pytest.mark.parametrize(
    "make",
    [
        lambda: McpConnector.stdio("harbour", "npx server"),  # type: ignore[arg-type]
        lambda: McpConnector.stdio("harbour", []),
        lambda: McpConnector.stdio("harbour", ["npx", 5]),  # type: ignore[list-item]
        lambda: McpConnector.stdio("harbour", ["npx"], env={"PORT": 5}),  # type: ignore[dict-item]
        lambda: McpConnector.http("harbour", "http://127.0.0.1/", headers={"A": "1\r\nB: 2"}),
        lambda: McpConnector.http("harbour", "http://127.0.0.1/", headers={"A": None}),  # type: ignore[dict-item]
        lambda: McpConnector("harbour", ["npx"]),  # type: ignore[arg-type]
    ],
)
def test_what_no_server_can_be_reached_with_is_refused_when_it_is_given(make: Any) -> None:
    with pytest.raises(CodemodeError) as refusal:
        make()
    assert refusal.value.code == "invalid_option"


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://x/", "harbour", "http://"])
def test_an_address_that_is_none_is_refused_without_saying_it(url: str) -> None:
    with pytest.raises(CodemodeError) as refusal:
        McpConnector.http("harbour", url)
    assert refusal.value.code == "invalid_option"
