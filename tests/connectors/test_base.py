"""A connector's tools are checked when a runtime is made, or when they are known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from codemode_jupyter import CodemodeError, Connector, Runtime, Tool, ToolContext
from codemode_jupyter.connectors.base import load_tools
from codemode_jupyter.connectors.functions.native_values import DateText


async def nothing(arguments: Any, context: ToolContext) -> Any:
    return arguments


class Given(Connector):
    """Lists what it is given."""

    def __init__(self, *tools: Any, hook: Any = None) -> None:
        super().__init__("given")
        self._given, self._hook = tools, hook

    def tools(self) -> Any:
        return self._given

    def tool(self, name: str, tool: Tool) -> Any:  # noqa: ARG002  the base class' signature
        return self._hook(tool) if self._hook else tool


class Later(Given):
    async def tools(self) -> Any:
        return self._given


@pytest.mark.parametrize(
    ("tools", "code", "named"),
    [
        ([Tool("a-b", nothing)], "invalid_name", ["'a-b'", '"given"', '"a_b"']),
        ([Tool("\ufb01le", nothing)], "invalid_name", ["\ufb01le"]),  # Python reads the ligature as two letters
        ([Tool("then", nothing)], "reserved_name", ['"then"', '"given"']),
        ([Tool("lambda", nothing)], "reserved_name", ['"lambda"']),
        ([Tool("__proto__", nothing)], "reserved_name", ['"__proto__"']),
        ([Tool("a", nothing, "One.\nMore."), Tool("a", nothing, "Two.")], "duplicate_name", ["“One.”", "“Two.”"]),
        ([Tool("a", nothing, requires_approval=True, replay="reexecute")], "invalid_tool", ["given.a"]),
        *(
            ([replace(Tool("a", nothing), **{option: value})], "invalid_tool", [f"given.a cannot have {option}="])
            for option, value in (
                ("requires_approval", "no"),
                ("requires_approval", 1),
                ("requires_approval", None),
                ("revert", "undo"),
                ("replay", "never"),
                ("idempotent", "yes"),
                ("timeout", "5"),
                ("timeout", 0),
                ("timeout", float("nan")),
            )
        ),
        ([nothing], "invalid_tool", ["tools() of Given('given')", "nothing"]),
    ],
)
async def test_wrong_tools_are_refused_when_the_runtime_is_made_or_when_they_are_known(
    tools: list[Any], code: str, named: list[str]
) -> None:
    with pytest.raises(CodemodeError) as refusal:
        Runtime([Given(*tools)], path=":memory:")
    with pytest.raises(CodemodeError) as later:
        await load_tools(Later(*tools))
    for error in (refusal.value, later.value):
        assert error.code == code
        for text in named:
            assert text.replace("Given(", f"{'Later' if error is later.value else 'Given'}(") in str(error)


@pytest.mark.parametrize("hook", [lambda _: True, lambda tool: nothing(tool, None)])  # type: ignore[arg-type]
async def test_a_hook_that_returns_no_tool_is_refused(hook: Any) -> None:
    with pytest.raises(CodemodeError, match=r"tool\('a', …\) of Given\('given'\) gave") as refusal:
        await load_tools(Given(Tool("a", nothing), hook=hook))
    assert refusal.value.code == "invalid_tool"


@pytest.mark.parametrize(
    ("error", "told"), [(KeyError("a"), "KeyError: 'a'"), (SystemExit("bye"), "SystemExit: bye")], ids=["error", "exit"]
)
async def test_a_failing_hook_is_a_failing_connector(error: BaseException, told: str) -> None:
    def fails(_: Tool) -> Tool:
        raise error

    with pytest.raises(CodemodeError, match=f"could not list its tools: {told}") as refusal:
        await load_tools(Given(Tool("a", nothing), hook=fails))
    assert refusal.value.code == "connector_failed"


def test_the_arguments_of_a_tool_made_by_hand_are_checked_against_its_schema() -> None:
    schema = {"type": "object", "properties": {"when": {"type": "string"}, "n": {"type": "integer"}}, "required": ["n"]}
    made = Tool("act", nothing, input_schema=schema)
    assert made.validate({"n": 1, "when": DateText("2024-05-01T00:00:00.000Z")})["n"] == 1
    with pytest.raises(CodemodeError, match="when: must be string, not array; n: is missing") as refusal:
        made.validate({"when": []})
    assert refusal.value.code == "invalid_arguments"
    changed = replace(made, input_schema={"type": "object", "required": ["other"]})
    with pytest.raises(CodemodeError, match="other: is missing"):
        changed.validate({"n": 1})
    assert replace(made, validate=lambda _: "own").validate({}) == "own"
    assert Tool("act", nothing) == Tool("act", nothing)
