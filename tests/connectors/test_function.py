"""Python functions become tools with a schema, checked arguments and a declared behaviour."""

from __future__ import annotations

import asyncio
import contextvars
import enum
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from pydantic import BaseModel, Field

from codemode_jupyter.connectors.arguments import bind_arguments
from codemode_jupyter.connectors.base import Connector, load_tools
from codemode_jupyter.connectors.functions.function import FunctionConnector, function_tool, tool
from codemode_jupyter.connectors.tool import Tool, ToolContext
from codemode_jupyter.errors import CodemodeError

CONTEXT = ToolContext("exec_1", 3, "exec_1:3")


async def run(made: Tool, *arguments: Any) -> Any:
    return await made.call(made.validate(bind_arguments(made, arguments)), CONTEXT)


def refused(made: Tool, *arguments: Any) -> CodemodeError:
    with pytest.raises(CodemodeError) as refusal:
        made.validate(bind_arguments(made, arguments))
    assert refusal.value.code == "invalid_arguments"
    return refusal.value


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


class Part(BaseModel):
    """A part."""

    name: str = Field(description="Its name.")
    count: int = 1


@dataclass
class Box:
    width: int
    parts: list[Part]


class Place(TypedDict):
    city: str
    street: NotRequired[str]


def order(
    title: str,
    box: Box,
    level: Level = Level.LOW,
    *,
    place: Place | None = None,
    kind: Literal["air", "sea"] = "sea",
    when: datetime | None = None,
    weight: Annotated[float, Field(gt=0, description="Kilograms.")] = 1.0,
    schema: int | str = 0,
) -> list[Part]:
    """Order something.

    It is sent at once.

    Parameters
    ----------
    title : str
        What it is called.
    place : Place
        Where to,
        if not here.
    weight
        Not used: the annotation says it.

    Returns
    -------
    list of Part
        What was ordered.
    """
    assert isinstance(box, Box)
    assert when is None or isinstance(when, datetime)
    return [Part(name=f"{title} {level.name} {place} {kind} {weight} {schema}"), *box.parts]


def test_the_schema_says_what_the_signature_and_the_docstring_say() -> None:
    made = function_tool(order)
    schema = made.input_schema
    properties = schema["properties"]
    assert made.description == "Order something.\n\nIt is sent at once."
    assert made.parameters == ("title", "box", "level")
    assert schema["required"] == ["title", "box"]
    assert schema["additionalProperties"] is False
    assert properties["title"] == {"type": "string", "description": "What it is called."}
    assert properties["place"]["description"] == "Where to,\nif not here."
    assert properties["weight"]["description"] == "Kilograms."
    assert properties["weight"]["exclusiveMinimum"] == 0
    assert properties["kind"]["enum"] == ["air", "sea"]
    assert properties["level"]["default"] == "low"
    assert schema["$defs"]["Place"]["required"] == ["city"]
    assert schema["$defs"]["Part"]["properties"]["name"]["description"] == "Its name."
    assert made.output_schema is not None
    assert made.output_schema["items"] == {"$ref": "#/$defs/Part"}


@pytest.mark.parametrize(
    "docstring",
    [
        "Do it.\n\nArgs:\n    first (int): The one.\n    second: The other.\n\nReturns:\n    Nothing.",
        "Do it.\n\n:param first: The one.\n:param int second: The other.\n:returns: Nothing.",
        "Do it.\n\nParameters\n----------\nfirst : int\n    The one.\nsecond\n    The other.",
    ],
)
def test_docstrings_of_every_style_describe_the_parameters(docstring: str) -> None:
    def act(first: int, second: int) -> None: ...

    act.__doc__ = docstring
    made = function_tool(act)
    assert made.description == "Do it."
    assert [one["description"] for one in made.input_schema["properties"].values()] == ["The one.", "The other."]


async def test_arguments_arrive_as_the_types_that_are_annotated() -> None:
    made = function_tool(order)
    box = {"width": 2, "parts": [{"name": "nail", "count": 5}]}
    parts = await run(
        made, {"title": "t", "box": box, "level": "high", "when": "2024-05-01T00:00:00.000Z", "schema": "s"}
    )
    assert parts == [Part(name="t HIGH None sea 1.0 s"), Part(name="nail", count=5)]
    assert (await run(made, "t", box, "high"))[0].name == "t HIGH None sea 1.0 0"


def test_every_fault_is_listed_with_its_path() -> None:
    box = {"width": "wide", "parts": [{"nam": "x"}, 5], "hight": 1}
    error = refused(
        function_tool(order), {"titel": "x", "box": box, "kind": "land", "weight": -1, "place": {"town": 1}}
    )
    assert error.data is not None
    faults = {fault["path"]: fault["message"] for fault in error.data["faults"]}
    assert set(faults) == {
        "title",
        "titel",
        "box.width",
        "box.parts[0].name",
        "box.parts[1]",
        "box.hight",
        "kind",
        "weight",
        "place.city",
        "place.town",
    }
    assert faults["title"] == "is missing"
    assert faults["titel"] == "unknown argument. Did you mean title?"
    assert "'air' or 'sea'" in faults["kind"]
    for path in faults:
        assert path in error.message
    assert "It takes: title, box" in str(error)


def test_a_long_list_of_wrong_items_does_not_make_a_long_error() -> None:
    def act(items: list[int]) -> None: ...

    error = refused(function_tool(act), {"items": ["x"] * 5000})
    assert error.data is not None
    assert len(error.data["faults"]) == 100
    assert "and 4990 more" in error.message
    assert len(error.message) < 2000


def test_the_path_of_a_fault_in_a_union_is_a_path_into_the_arguments() -> None:
    error = refused(function_tool(order), {"title": "t", "box": {"width": 1, "parts": []}, "schema": []})
    assert error.data is not None
    assert {fault["path"] for fault in error.data["faults"]} == {"schema"}


async def test_positional_arguments_are_bound_and_none_is_lost() -> None:
    def two(first: str, second: str = "b") -> str:
        return first + second

    made = function_tool(two)
    assert await run(made, "x") == "xb"
    assert await run(made, "x", "y") == "xy"
    assert await run(made, {"second": "y", "first": "x"}) == "xy"
    error = refused(made, "x", "y", "z")
    assert "3 positional arguments; it takes 2 (first, second)" in error.message
    assert "1 positional argument; it takes none" in refused(function_tool(lambda: 1, "nothing"), 5).message


async def test_an_object_that_is_not_the_arguments_is_the_first_argument() -> None:
    def save(part: Part) -> Part:
        return part

    def search(query: str) -> str:
        return query

    def merge(data: dict[str, Any], depth: int = 1) -> Any:
        return data, depth

    assert await run(function_tool(save), {"name": "nail"}) == Part(name="nail")
    assert await run(function_tool(save), {"part": {"name": "nail"}}) == Part(name="nail")
    assert await run(function_tool(merge), {"a": 1}) == ({"a": 1}, 1)
    assert await run(function_tool(merge), {"data": {"a": 1}, "depth": 2}) == ({"a": 1}, 2)
    assert "query: is missing" in refused(function_tool(search), {"q": "x"}).message
    assert "part: is missing" in refused(function_tool(save)).message


async def test_every_kind_of_parameter_works() -> None:
    def every(first: int, second: int = 2, /, third: int = 3, *rest: int, keyed: int = 4, **more: int) -> Any:
        return first, second, third, rest, keyed, more

    made = function_tool(every)
    assert made.parameters == ("first", "second", "third", "*rest")
    assert await run(made, 1) == (1, 2, 3, (), 4, {})
    assert await run(made, 1, 0, 5, 6, 7) == (1, 0, 5, (6, 7), 4, {})
    assert await run(made, {"first": 1, "third": 9, "keyed": 5, "other": 8}) == (1, 2, 9, (), 5, {"other": 8})
    assert await run(made, {"first": 1, "rest": [1, 2]}) == (1, 2, 3, (1, 2), 4, {})
    assert "other" in refused(made, {"first": 1, "other": "x"}).message
    assert "rest[0]" in refused(made, 1, 2, 3, "x").message


async def test_names_that_a_model_could_not_have_are_no_trouble() -> None:
    def awkward(model_config: int, schema: int, _hidden: int, self_: int = 0, copy: int = 1) -> Any:
        return model_config, schema, _hidden, self_, copy

    assert await run(function_tool(awkward), {"model_config": 1, "schema": 2, "_hidden": 3}) == (1, 2, 3, 0, 1)


async def test_defaults_of_any_kind_stay_what_they_are() -> None:
    marker = object()

    def act(items: list[int] = [], what: Any = marker) -> Any:  # noqa: B006  what users write
        return items, what

    made = function_tool(act)
    assert await run(made) == ([], marker)
    assert "default" not in made.input_schema["properties"]["what"]


async def test_the_context_is_given_and_not_in_the_schema() -> None:
    def sync_one(text: str, context: ToolContext) -> Any:
        return text, context.seq, context.execution_id

    async def async_one(*, where: ToolContext | None = None) -> Any:
        return where

    assert await run(function_tool(sync_one), "x") == ("x", 3, "exec_1")
    assert list(function_tool(sync_one).input_schema["properties"]) == ["text"]
    assert await run(function_tool(async_one)) is CONTEXT
    assert "context" in refused(function_tool(sync_one), {"text": "x", "context": {}}).message


async def test_plain_functions_run_in_a_thread_with_the_context_variables_and_async_ones_on_the_loop() -> None:
    variable = contextvars.ContextVar("variable", default="unset")
    variable.set("set")
    loop_thread = threading.get_ident()

    def plain() -> Any:
        return threading.get_ident(), variable.get()

    async def on_loop() -> Any:
        await asyncio.sleep(0)
        return threading.get_ident(), variable.get()

    thread, value = await run(function_tool(plain))
    assert thread != loop_thread
    assert value == "set"
    assert await run(function_tool(on_loop)) == (loop_thread, "set")
    assert await run(function_tool(partial(on_loop))) == (loop_thread, "set")
    assert (await run(function_tool(lambda *_: on_loop(), "made"))) == (loop_thread, "set")


@pytest.mark.parametrize("raised", [StopIteration, SystemExit, KeyboardInterrupt])
async def test_what_a_future_cannot_carry_becomes_an_error(raised: type[BaseException]) -> None:
    def act() -> None:
        raise raised

    with pytest.raises((RuntimeError, CodemodeError), match="act"):
        await asyncio.wait_for(run(function_tool(act)), 5)


class Tracker:
    """A tracker."""

    def __init__(self) -> None:
        self.opened: list[str] = []

    def open(self, title: str) -> int:
        """Open an issue."""
        self.opened.append(title)
        return len(self.opened)

    @tool(requires_approval=True, name="remove")
    async def delete(self, number: int) -> None: ...

    @classmethod
    @tool(idempotent=True)
    def kinds(cls) -> list[str]:
        return ["bug", cls.__name__]

    @tool(timeout=5)
    @staticmethod
    def ping() -> str:
        return "pong"

    @property
    def broken(self) -> int:
        raise AssertionError("a property is not read")

    def _private(self) -> None: ...


async def test_the_public_methods_of_an_object_are_tools() -> None:
    tracker = Tracker()
    tools = await load_tools(FunctionConnector("issues", tracker))
    assert list(tools) == ["open", "remove", "kinds", "ping"]
    assert tools["remove"].requires_approval is True
    assert tools["kinds"].idempotent
    assert tools["ping"].timeout == 5
    assert await run(tools["open"], "first") == 1
    assert tracker.opened == ["first"]
    assert await run(tools["kinds"]) == ["bug", "Tracker"]
    assert [one.name for one in FunctionConnector("issues", Tracker).tools()] == ["kinds", "ping"]
    assert [one.name for one in FunctionConnector("issues", [tracker.open, tracker.ping]).tools()] == ["open", "ping"]


async def test_partials_callable_objects_builtins_and_lambdas_work() -> None:
    class Adder:
        """Adds."""

        def __call__(self, a: int, b: int) -> int:
            return a + b

    def power(base: int, exponent: int) -> int:
        """Raise."""
        return int(base**exponent)

    connector = FunctionConnector(
        "sums", {"add": Adder(), "square": partial(power, exponent=2), "twice": lambda x: x * 2, "length": tool(len)}
    )
    tools = {one.name: one for one in connector.tools()}
    assert await run(tools["add"], 1, 2) == 3
    assert await run(tools["square"], 5) == 25
    assert tools["square"].description == "Raise."
    assert await run(tools["twice"], "ab") == "abab"
    assert await run(tools["length"], [1, 2]) == 2


def test_the_decorator_leaves_the_function_and_declares_the_rest() -> None:
    def undo(arguments: Any, result: Any) -> None: ...

    @tool
    def bare(a: int) -> int:
        """Bare."""
        return a

    @tool(
        requires_approval=lambda arguments: arguments["a"] > 1,
        revert=undo,
        idempotent=True,
        timeout=2.5,
        description="D",
    )
    def full(a: int) -> int:
        return a

    assert bare(2) == full(2) == 2
    made = function_tool(full)
    assert callable(made.requires_approval)
    assert made.requires_approval({"a": 2}) is True
    assert (made.revert, made.idempotent, made.timeout, made.description) == (undo, True, 2.5, "D")
    assert function_tool(bare).requires_approval is False
    assert function_tool(tool(replay="reexecute")(bare)).replay == "reexecute"


def test_approval_and_reexecute_contradict_each_other() -> None:
    with pytest.raises(CodemodeError, match='cannot combine requires_approval with replay="reexecute"') as refusal:
        tool(requires_approval=True, replay="reexecute")(print)
    assert refusal.value.code == "invalid_tool"


async def test_the_hook_can_change_leave_out_and_contradict() -> None:
    from dataclasses import replace

    class Guarded(FunctionConnector):
        def tool(self, name: str, tool: Tool) -> Tool | None:
            return None if name == "ping" else replace(tool, requires_approval=True)

    tools = await load_tools(Guarded("issues", Tracker()))
    assert list(tools) == ["open", "remove", "kinds"]
    assert all(one.requires_approval is True for one in tools.values())

    @tool(replay="reexecute")
    def fresh() -> int:
        return 1

    with pytest.raises(CodemodeError, match=r"issues\.fresh cannot combine"):
        await load_tools(Guarded("issues", [fresh]))


def method_without_object() -> Callable[..., Any]:
    return Tracker.open


async def a_generator() -> Any:
    yield 1


@pytest.mark.parametrize(
    ("functions", "why"),
    [
        ([lambda: 1], "a lambda has no name"),
        ([method_without_object()], "method without its object"),
        ([a_generator], "generator"),
        (5, "no public methods"),
        ([Part], "no public methods"),
    ],
)
def test_what_cannot_be_a_tool_is_refused_with_the_remedy(functions: Any, why: str) -> None:
    with pytest.raises(CodemodeError, match=why) as refusal:
        FunctionConnector("x", functions)
    assert refusal.value.code == "invalid_tool"
    assert refusal.value.hint


def test_an_annotation_that_cannot_be_resolved_is_named() -> None:
    def act(a: Missing) -> None: ...  # type: ignore[name-defined]  # noqa: F821  that is the point

    with pytest.raises(CodemodeError, match=r"act cannot be a tool.*Missing"):
        function_tool(act)


def test_two_tools_of_one_name_are_both_named() -> None:
    def act() -> None: ...

    first = act
    del act

    @tool(name="act")
    def other() -> None: ...

    with pytest.raises(CodemodeError, match=r'"act".*act and .*other') as refusal:
        FunctionConnector("x", [first, other])
    assert refusal.value.code == "duplicate_name"
    with pytest.raises(CodemodeError, match=r"key 'a-b' and key 'a\.b'"):
        FunctionConnector("x", {"a-b": print, "a.b": print})


async def test_a_connector_may_list_its_tools_later_and_its_failure_is_told() -> None:
    class Remote(Connector):
        async def tools(self) -> list[Tool]:
            await asyncio.sleep(0)
            if self.name == "down":
                raise OSError("no route")
            return [function_tool(order)]

    assert list(await load_tools(Remote("up"))) == ["order"]
    with pytest.raises(CodemodeError, match="could not list its tools: OSError: no route") as refusal:
        await load_tools(Remote("down"))
    assert refusal.value.code == "connector_failed"
