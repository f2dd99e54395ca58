"""Tool sets of other libraries become tools: their schemas, approval flags, results and errors are honoured."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import warnings
from typing import Annotated, Any

import pytest
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolArg, InjectedToolCallId, StructuredTool, ToolException
from langchain_core.tools import Tool as LangChainTool
from langchain_core.tools import tool as langchain_tool
from pydantic import BaseModel, Field
from pydantic_ai import ApprovalRequired, CallDeferred, ModelRetry, RunContext, ToolReturn
from pydantic_ai import Tool as PydanticTool
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import CombinedToolset, ExternalToolset, FunctionToolset

from codemode_jupyter import CodemodeError, Tool, ToolContext, ToolSetConnector
from codemode_jupyter.connectors.arguments import bind_arguments
from codemode_jupyter.connectors.base import load_tools
from codemode_jupyter.connectors.questions import Answer, Question

CONTEXT = ToolContext("exec_1", 3, "exec_1:3")


async def tools_of(tools: Any, **options: Any) -> dict[str, Tool]:
    return await load_tools(ToolSetConnector(tools, **options))


async def run(made: Tool, *arguments: Any, context: ToolContext = CONTEXT) -> Any:
    return await made.call(made.validate(bind_arguments(made, arguments)), context)


async def failure(made: Tool, *arguments: Any) -> CodemodeError:
    with pytest.raises(CodemodeError) as raised:
        await run(made, *arguments)
    return raised.value


def faults(error: CodemodeError) -> dict[str, str]:
    assert error.code == "invalid_arguments"
    assert error.data is not None
    return {fault["path"]: fault["message"] for fault in error.data["faults"]}


class Place(BaseModel):
    city: str
    floors: list[int] = Field(default_factory=list)


# LangChain


@langchain_tool
def weather(place: Place, days: int = 1) -> dict[str, Any]:
    """Tell the weather."""
    assert isinstance(place, Place)
    return {"city": place.city, "days": days, "thread": threading.get_ident()}


@langchain_tool
async def later(text: str) -> str:
    """Answer later."""
    await asyncio.sleep(0)
    return f"{text} {threading.get_ident()}"


async def test_langchain_tools_are_called_with_checked_arguments_async_on_the_loop_and_plain_ones_in_a_thread() -> None:
    made = await tools_of([weather, later])
    assert made["weather"].description == "Tell the weather."
    assert made["weather"].parameters == ("place", "days")
    assert made["weather"].cancellable is False
    assert made["later"].cancellable is True
    loop = threading.get_ident()
    result = await run(made["weather"], {"city": "Rome"}, 2)
    assert (result["city"], result["days"]) == ("Rome", 2)
    assert result["thread"] != loop
    assert await run(made["later"], "x") == f"x {loop}"
    assert faults(await failure(made["weather"], {"place": {"floors": ["x"]}, "dys": 1})) == {
        "place.city": "is missing",
        "place.floors[0]": "must be integer, not string",
        "dys": "unknown argument. Did you mean days?",
    }


async def test_a_langchain_result_with_an_artifact_keeps_both() -> None:
    @langchain_tool(response_format="content_and_artifact")
    def chart(title: str) -> tuple[str, dict[str, Any]]:
        """Draw."""
        return f"drew {title}", {"points": [1, 2]}

    made = await tools_of([chart])
    assert await run(made["chart"], "x") == {"content": "drew x", "artifact": {"points": [1, 2]}}


@pytest.mark.parametrize("handler", [False, True, "kept quiet", lambda error: f"said {error}"])
async def test_a_langchain_failure_is_an_error_even_where_langchain_would_pass_it_off_as_a_result(handler: Any) -> None:
    def fail(text: str) -> str:
        """Fail."""
        raise ToolException(f"no {text}")

    made = await tools_of([StructuredTool.from_function(fail, handle_tool_error=handler)])
    error = await failure(made["fail"], "luck")
    assert error.code == "tool_failed"
    assert str(error) == {False: "no luck", True: "no luck", "kept quiet": "kept quiet"}.get(
        handler if isinstance(handler, bool | str) else "", "said no luck"
    )


async def test_a_program_cannot_give_what_langchain_injects() -> None:
    @langchain_tool
    def send(text: str, user: Annotated[str, InjectedToolArg] = "nobody") -> str:
        """Send."""
        return f"{user}: {text}"

    def raw_send(text: str, user: Annotated[str, InjectedToolArg] = "nobody") -> str:
        return f"{user}: {text}"

    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "additionalProperties": True}
    raw = StructuredTool.from_function(raw_send, name="raw_send", description="Send.", args_schema=schema)
    made = await tools_of([send, raw])
    for one in made.values():
        assert list(one.input_schema["properties"]) == ["text"]
        assert await run(one, {"text": "x"}) == "nobody: x"
        assert "user" in faults(await failure(one, {"text": "x", "user": "root"}))


async def test_arguments_in_the_form_of_a_tool_call_are_no_tool_call() -> None:
    @langchain_tool
    def note(type: str, name: str = "", id: str = "") -> Any:  # noqa: A002
        """Note."""
        return [type, name, id]

    made = await tools_of([note])
    assert await run(made["note"], {"type": "tool_call", "name": "x", "id": "1"}) == ["tool_call", "x", "1"]


async def test_langchain_gets_the_id_of_the_call_where_a_tool_wants_it() -> None:
    @langchain_tool
    def who(text: str, call_id: Annotated[str, InjectedToolCallId]) -> str:
        """Tell."""
        return f"{text} {call_id}"

    made = await tools_of([who])
    assert await run(made["who"], "x") == "x exec_1:3"


async def test_a_langchain_class_works_and_may_ask_for_approval() -> None:
    class Remove(BaseTool):
        name: str = "remove-file"
        description: str = "Remove."

        def _run(self, path: str) -> str:
            return path

    made = await tools_of(
        [
            Remove(metadata={"requires_approval": True}),
            Remove(name="b", extras={"needsApproval": lambda arguments: arguments["path"] == "/"}),
            Remove(name="c"),
        ]
    )
    assert made["remove_file"].requires_approval is True
    rule = made["b"].requires_approval
    assert callable(rule)
    assert [rule({"path": "/"}), rule({"path": "x"})] == [True, False]
    assert made["c"].requires_approval is False
    assert await run(made["remove_file"], "x") == "x"


async def test_a_langchain_tool_gets_a_config_that_no_program_can_give_and_cannot_end_the_process() -> None:
    @langchain_tool
    def act(x: int, config: RunnableConfig) -> int:
        """Act."""
        return x + len(config.get("tags", ()))

    @langchain_tool
    def leave() -> None:
        """Leave."""
        raise SystemExit(3)

    shout = LangChainTool(name="shout", description="Shout.", func=lambda text: text.upper())
    made = await tools_of([act, leave, shout])
    assert list(made["act"].input_schema["properties"]) == ["x"]
    assert await run(made["act"], 1) == 1
    assert "config" in faults(await failure(made["act"], {"x": 1, "config": {"tags": ["x"]}}))
    assert (await failure(made["leave"])).code == "tool_exited"
    assert await run(made["shout"], "hey") == await run(made["shout"], {"tool_input": "hey"}) == "HEY"


class Leaving(BaseTool):
    """Leaves, whatever the way it is asked."""

    name: str = "leave"
    description: str = "Leave."

    def _run(self) -> None:
        raise SystemExit(3)

    async def _arun(self) -> None:
        await asyncio.sleep(0)
        raise SystemExit(3)


async def leave() -> None:
    """Leave."""
    await asyncio.sleep(0)
    raise SystemExit(3)


def leave_at_once() -> None:
    """Leave."""
    raise SystemExit(3)


@pytest.mark.parametrize(
    "item",
    [
        pytest.param(Leaving(), id="a class of LangChain"),
        pytest.param(StructuredTool.from_function(coroutine=leave, name="leave"), id="a coroutine of LangChain"),
        pytest.param(PydanticTool(leave, name="leave"), id="a coroutine of pydantic-ai"),
        pytest.param(PydanticTool(leave_at_once, name="leave"), id="a plain function of pydantic-ai"),
        pytest.param(({"name": "leave"}, leave), id="a definition"),
    ],
)
async def test_no_tool_ends_the_process(item: Any) -> None:
    made = await tools_of([item])
    assert (await failure(made["leave"])).code == "tool_exited"


async def test_an_async_langchain_tool_is_run_as_langchain_runs_it() -> None:
    async def total(x: int, config: RunnableConfig) -> str:
        """Add."""
        return f"{x} {sorted(config)[:1]}"

    made = await tools_of([StructuredTool.from_function(coroutine=total, name="total")])
    assert (await run(made["total"], 1)).startswith("1 [")


# pydantic-ai


def greet(context: RunContext[str], name: str, times: int = 1) -> str:
    """Greet.

    Args:
        context: The run.
        name: Whom.
        times: How often.
    """
    return f"{context.deps} {name} {times} {context.tool_call_id} {context.tool_call_approved}"


async def test_pydantic_tools_get_their_context_and_checked_arguments() -> None:
    made = await tools_of(
        [PydanticTool(greet, timeout=2), PydanticTool(greet, name="ask", requires_approval=True)], deps="D"
    )
    assert made["greet"].description == "Greet."
    assert made["greet"].input_schema["properties"]["name"]["description"] == "Whom."
    assert made["greet"].timeout == 2
    assert made["greet"].requires_approval is False
    assert made["ask"].requires_approval is True
    assert await run(made["greet"], "Ann") == "D Ann 1 exec_1:3 False"
    assert await run(made["ask"], {"name": "Ann", "times": 2}) == "D Ann 2 exec_1:3 True"
    assert faults(await failure(made["greet"], {"times": "x", "nam": 1})).keys() == {"name", "times", "nam"}


async def test_pydantic_toolsets_keep_their_names_rules_and_order_of_wrapping() -> None:
    inner: FunctionToolset[Any] = FunctionToolset()

    @inner.tool_plain
    async def drop(table: str) -> ToolReturn[Place]:
        """Drop."""
        return ToolReturn(Place(city=table))

    @inner.tool_plain(requires_approval=True)
    def purge() -> str:
        """Purge."""
        return "purged"

    asked: list[tuple[str, dict[str, Any]]] = []

    def rule(_: Any, definition: ToolDefinition, arguments: dict[str, Any]) -> bool:
        asked.append((definition.name, arguments))
        return bool(arguments.get("table") == "users")

    guarded = inner.approval_required(rule).prefixed("db").renamed({"drop-it": "db_drop"})
    made = await tools_of(CombinedToolset([guarded, FunctionToolset([greet])]), deps=1)
    assert list(made) == ["drop_it", "db_purge", "greet"]
    assert made["db_purge"].requires_approval is True
    assert made["greet"].requires_approval is False
    requires = made["drop_it"].requires_approval
    assert callable(requires)
    assert [requires({"table": "users"}), requires({"table": "tmp"})] == [True, False]
    assert asked == [("drop", {"table": "users"}), ("drop", {"table": "tmp"})]
    assert made["drop_it"].output_schema is not None
    assert await run(made["drop_it"], "tmp") == Place(city="tmp")
    assert await run(made["drop_it"], "users") == Place(city="users")  # the runtime has asked
    assert await run(made["db_purge"]) == "purged"


async def test_pydantic_failures_are_errors_that_a_program_can_catch() -> None:
    def retry(text: str) -> str:
        """Fail."""
        raise ModelRetry(f"try another {text}")

    def defer() -> str:
        """Defer."""
        raise CallDeferred

    made = await tools_of([PydanticTool(retry), PydanticTool(defer)])
    error = await failure(made["retry"], "word")
    assert (error.code, str(error)) == ("tool_failed", "try another word")
    assert (await failure(made["defer"])).code == "tool_deferred"


class Channel:
    """A person who answers."""

    def __init__(self, action: Any) -> None:
        self.action = action
        self.questions: list[Question] = []

    def progress(self, done: float, total: float | None, message: str) -> None: ...

    def log(self, level: str, text: str, source: str) -> None: ...

    async def ask(self, question: Question) -> Answer:
        self.questions.append(question)
        return Answer(self.action)


@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
async def test_a_pydantic_tool_that_asks_while_it_runs_is_asked_for_in_the_card(action: str) -> None:
    ran: list[str] = []

    def remove(context: RunContext[Any], path: str) -> str:
        """Remove."""
        if path != "tmp" and not context.tool_call_approved:
            raise ApprovalRequired
        ran.append(path)
        return path

    made = (await tools_of(FunctionToolset([remove])))["remove"]
    channel = Channel(action)
    context = ToolContext("exec_1", 3, "exec_1:3", channel)
    assert await run(made, "tmp", context=context) == "tmp"
    assert channel.questions == []
    if action == "accept":
        assert await run(made, "data", context=context) == "data"
    else:
        with pytest.raises(CodemodeError, match="was not approved"):
            await run(made, "data", context=context)
    assert len(channel.questions) == 1
    assert ran == (["tmp", "data"] if action == "accept" else ["tmp"])
    with pytest.raises(CodemodeError) as refusal:
        await run(made, "data")
    assert refusal.value.code == "nobody_to_ask"


async def test_a_toolset_is_entered_for_each_use() -> None:
    events: list[str] = []

    class Connected(FunctionToolset[Any]):
        async def __aenter__(self) -> Any:
            events.append("open")
            return self

        async def __aexit__(self, *_: object) -> None:
            events.append("close")

    def act() -> int:
        """Act."""
        return events.append("act") or 1

    made = await tools_of(Connected([act]))
    assert await run(made["act"]) == 1
    assert events == ["open", "close", "open", "act", "close"]


# definitions


def add(a: int, b: int = 0) -> int:
    return a + b


ADD = {"type": "object", "properties": {"b": {"type": "integer"}, "a": {"type": "integer"}}, "required": ["a"]}


@pytest.mark.parametrize(
    "tools",
    [
        [({"type": "function", "function": {"name": "add", "description": "Add.", "parameters": ADD}}, add)],
        [{"type": "function", "name": "add", "description": "Add.", "parameters": ADD, "execute": add}],
        [({"name": "add", "description": "Add.", "input_schema": ADD}, add)],
        [{"name": "add", "description": "Add.", "input_schema": ADD, "function": add}],
        {"add": {"description": "Add.", "inputSchema": ADD, "execute": lambda arguments: add(**arguments)}},
    ],
)
async def test_definitions_of_every_style_are_called_by_object_and_by_position(tools: Any) -> None:
    made = (await tools_of(tools))["add"]
    assert made.description == "Add."
    assert await run(made, {"a": 1, "b": 2}) == 3
    assert await run(made, 1, 2) == 3
    assert await run(made, {"a": 1}) == 1
    assert faults(await failure(made, {"b": "x", "c": 1})) == {
        "a": "is missing",
        "b": "must be integer, not string",
        "c": "unknown argument",
    }


async def test_functions_of_definitions_may_be_given_by_name_and_take_the_context() -> None:
    async def whole(arguments: dict[str, Any], context: ToolContext) -> Any:
        return arguments, context.seq

    made = await tools_of([{"name": "add", "input_schema": ADD}], functions={"add": whole}, name="sums")
    assert await run(made["add"], 1, 2) == ({"a": 1, "b": 2}, 3)
    with pytest.raises(CodemodeError, match='does not take the argument "b"'):
        ToolSetConnector([({"name": "add", "input_schema": ADD}, lambda a, c=1: a + c)])


@pytest.mark.parametrize("spelling", ["requires_approval", "requiresApproval", "needs_approval", "needsApproval"])
async def test_every_spelling_of_an_approval_flag_is_honoured(spelling: str) -> None:
    async def later(arguments: Any) -> bool:
        return False

    def definition(name: str, flag: Any) -> dict[str, Any]:
        return {"name": name, "parameters": ADD, "execute": add, spelling: flag}

    made = await tools_of([definition("yes", True), definition("no", False), definition("later", later),
                           definition("big", lambda arguments: arguments["a"] > 1)])  # fmt: skip
    assert [made["yes"].requires_approval, made["no"].requires_approval] == [True, False]
    big, awaited = made["big"].requires_approval, made["later"].requires_approval
    assert callable(big)
    assert callable(awaited)
    assert [big({"a": 2}), big({"a": 1})] == [True, False]
    assert awaited({"a": 1}) is True  # what must be awaited asks a person
    with pytest.raises(CodemodeError, match="neither true nor false nor a function"):
        ToolSetConnector([definition("odd", "never")])


# the namespace


async def test_the_namespace_is_called_tools_unless_named_and_takes_functions_and_tools() -> None:
    assert ToolSetConnector([]).name == "tools"
    made = await tools_of({"a-b": add, "c": Tool("x", CONTEXT.ask)}, name="other")
    assert list(made) == ["a_b", "c"]


async def test_tools_without_an_implementation_are_left_out_with_one_warning() -> None:
    bare = {"name": "bare", "input_schema": ADD}
    external = ExternalToolset([ToolDefinition(name="far")])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        connector = ToolSetConnector([bare, add, external, ToolDefinition(name="farther")])
        assert list(await load_tools(connector)) == ["add"]
        assert list(await load_tools(connector)) == ["add"]
    assert len(caught) == 1
    assert 'Left out of "tools": bare (has no implementation), far (' in str(caught[0].message)


async def test_names_that_collide_are_refused_and_both_are_named() -> None:
    with pytest.raises(CodemodeError, match=r'"get-it" and "get\.it" of "tools" both sanitize to "get_it"') as refusal:
        ToolSetConnector({"get-it": add, "get.it": add})
    assert refusal.value.code == "duplicate_name"
    with pytest.raises(CodemodeError, match='two tools named "weather"'):
        ToolSetConnector([weather, weather])
    with pytest.raises(CodemodeError, match='two tools named "greet"'):
        await tools_of([PydanticTool(greet), FunctionToolset([greet])])


@pytest.mark.parametrize("item", [5, "text", [5], [Place], {"name": "x", "execute": 5}, [{"execute": add}]])
async def test_what_is_no_tool_is_refused(item: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((CodemodeError, UserWarning)) as refusal:
            ToolSetConnector(item)
    assert isinstance(refusal.value, UserWarning) or refusal.value.code == "invalid_tool"


async def test_approve_decides_in_place_of_the_flags() -> None:
    asks = {"name": "add", "parameters": ADD, "execute": add, "needsApproval": True}
    dynamic = PydanticTool(greet, requires_approval=True)
    assert (await tools_of([asks], approve="never"))["add"].requires_approval is False
    assert (await tools_of([asks, add_one], approve=["add_one"]))["add_one"].requires_approval is True
    assert (await tools_of([dynamic], approve="never"))["greet"].requires_approval is False
    assert (await tools_of([weather], approve="writes"))["weather"].requires_approval is True
    with pytest.raises(CodemodeError, match='names the tool "ad", which it does not have'):
        ToolSetConnector([asks], approve=["ad"])


def add_one(a: int) -> int:
    return a + 1


async def test_a_tool_that_is_declared_by_its_type_alone_is_left_out() -> None:
    with pytest.warns(UserWarning, match=r'Left out of "tools": code_interpreter \(has no implementation\)\.'):
        made = await tools_of([{"type": "code_interpreter", "container": {"type": "auto"}}, add])
    assert list(made) == ["add"]
    with pytest.raises(CodemodeError, match="has no name"):
        await tools_of([{"type": "function", "execute": add}])


async def test_arguments_are_an_object_whatever_a_definition_says() -> None:
    made = await tools_of([({"name": "add", "parameters": {**ADD, "type": "array"}}, add)])
    assert made["add"].input_schema["type"] == "object"
    assert await run(made["add"], {"a": 1, "b": 2}) == 3


async def test_hostile_schemas_cost_one_tool_its_check_and_the_others_nothing() -> None:
    broken = {"properties": {"__proto__": {"$ref": "#/no"}, "*/": 5, "r": {"$ref": "#"}}, "required": "x"}
    made = await tools_of([({"name": "broken", "parameters": broken}, lambda arguments: arguments), add])
    assert await run(made["broken"], {"*/": 1, "r": {"r": {}}}) == {"*/": 1, "r": {"r": {}}}
    assert await run(made["add"], 1) == 1


def test_importing_the_package_imports_no_library_of_tools() -> None:
    code = (
        "import sys; from codemode_jupyter import ToolSetConnector; ToolSetConnector([print]);"
        "sys.exit(any(name in sys.modules for name in ('langchain_core', 'pydantic_ai', 'jsonschema', 'regex')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
