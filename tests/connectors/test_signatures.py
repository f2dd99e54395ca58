"""Signatures of every kind become tools that take what a program has, and lose none of it."""

from __future__ import annotations

import decimal
import enum
import functools
import json
import pathlib
import uuid
import warnings
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any, Generic, Literal, NewType, NotRequired, Protocol, TypedDict, TypeVar, overload

import pytest
from pydantic import BaseModel, Field
from typing_extensions import Unpack

from codemode_jupyter.connectors.arguments import bind_arguments
from codemode_jupyter.connectors.functions.function import FunctionConnector, function_tool, tool
from codemode_jupyter.connectors.functions.native_values import DateText, MapEntries, SetItems
from codemode_jupyter.connectors.tool import Tool, ToolContext
from codemode_jupyter.errors import CodemodeError

CONTEXT = ToolContext("exec_1", 3, "exec_1:3")
NOON = DateText("2024-05-01T12:00:00.000Z")
MIDNIGHT = DateText("2024-05-01T00:00:00.000Z")
AT_NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
AT_MIDNIGHT = datetime(2024, 5, 1, tzinfo=UTC)
T = TypeVar("T")
UserId = NewType("UserId", int)


class Colour(enum.Enum):
    RED = 1
    BLUE = "blue"


class Box(BaseModel, Generic[T]):
    value: T


class Options(TypedDict):
    depth: int
    label: NotRequired[str]


class Unchecked(Protocol):
    def act(self) -> int: ...


async def run(made: Tool, *arguments: Any) -> Any:
    return await made.call(made.validate(bind_arguments(made, arguments)), CONTEXT)


def taking(annotation: Any) -> Tool:
    def act(value: Any) -> Any:
        return value

    act.__annotations__ = {"value": annotation}
    return function_tool(act)


@pytest.mark.parametrize(
    ("annotation", "given", "taken"),
    [
        (str | datetime, NOON, AT_NOON),
        (datetime | None, NOON, AT_NOON),
        (list[str | datetime], [NOON, "x"], [AT_NOON, "x"]),
        (datetime | date, MIDNIGHT, AT_MIDNIGHT),
        (str | date, MIDNIGHT, date(2024, 5, 1)),
        (str | date, NOON, str(NOON)),
        (str, NOON, str(NOON)),
        (datetime, NOON, AT_NOON),
        (date, MIDNIGHT, date(2024, 5, 1)),
        (time, "10:20", time(10, 20)),
        (timedelta, "PT1H", timedelta(hours=1)),
        (Colour, "blue", Colour.BLUE),
        (Literal[Colour.RED, Colour.BLUE], 1, Colour.RED),
        (Literal["a", 1] | None, None, None),
        (decimal.Decimal, "1.50", decimal.Decimal("1.50")),
        (pathlib.Path, "/x", pathlib.Path("/x")),
        (uuid.UUID, "12345678-1234-5678-1234-567812345678", uuid.UUID("12345678-1234-5678-1234-567812345678")),
        (bytes, b"\xff", b"\xff"),
        (str | bytes, b"\xff", b"\xff"),
        (bytearray, b"\xff", bytearray(b"\xff")),
        (memoryview, b"\xff", memoryview(b"\xff")),
        (UserId, 5, 5),
        (Box[int], {"value": 1}, Box[int](value=1)),
        (frozenset[int], SetItems([1, 2]), frozenset({1, 2})),
        (dict[int, str], MapEntries({1: "a"}), {1: "a"}),
        (int, 10**30, 10**30),
        (int, 2.0, 2),
        (T, {"any": 1}, {"any": 1}),
        ("int", 1, 1),
    ],
)
async def test_a_value_of_a_program_arrives_as_the_type_that_is_annotated(
    annotation: Any, given: Any, taken: Any
) -> None:
    made = taking(annotation)
    value = await run(made, {"value": given})
    assert value == taken
    assert type(value) is type(taken)
    json.dumps(made.input_schema, allow_nan=False)


@pytest.mark.parametrize("annotation", [date, time, int, Literal[Colour.RED], Colour, decimal.Decimal, uuid.UUID])
def test_a_date_with_a_time_is_not_cut_to_what_is_asked_for(annotation: Any) -> None:
    with pytest.raises(CodemodeError) as refusal:
        taking(annotation).validate({"value": NOON})
    assert refusal.value.code == "invalid_arguments"


async def test_keywords_of_an_unpacked_typed_dict_are_parameters() -> None:
    def act(**more: Unpack[Options]) -> Any:
        return more

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = function_tool(act)
    assert made.input_schema["required"] == ["depth"]
    assert made.input_schema["additionalProperties"] is False
    assert await run(made, {"depth": 1}) == {"depth": 1}
    assert await run(made, {"depth": 1, "label": "x"}) == {"depth": 1, "label": "x"}
    with pytest.raises(CodemodeError, match=r"labl: unknown argument\. Did you mean label"):
        made.validate({"depth": 1, "labl": "x"})


async def test_defaults_that_json_cannot_show_are_kept_and_not_shown() -> None:
    marker = object()

    def act(a: float = float("nan"), b: Any = ..., c: Any = marker, d: Callable[..., Any] | None = None) -> Any:
        return a, b, c, d

    with pytest.raises(CodemodeError, match="have no JSON schema"):
        function_tool(act)  # the function as an argument

    def plain(a: float = float("inf"), b: Any = ..., c: Any = marker) -> Any:
        return a, b, c

    made = function_tool(plain)
    assert await run(made) == (float("inf"), ..., marker)
    assert "required" not in made.input_schema
    assert not any("default" in one for one in made.input_schema["properties"].values())


async def test_a_default_of_none_may_be_given() -> None:
    def act(a: int = None, b: int = 1) -> Any:  # type: ignore[assignment]  # noqa: RUF013  as many write it
        return a, b

    assert await run(function_tool(act), {"a": None}) == (None, 1)


def logged(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def unnamed(function: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(self: Any, a: int) -> Any:
        return function(self, a)

    return wrapper


class Service:
    """A service."""

    def read(self, a: int) -> int:
        """Read."""
        return a

    peek = read
    first = functools.partialmethod(read, 1)

    @logged
    def wrapped(self, a: int) -> int:
        """Wrap."""
        return a

    @functools.lru_cache  # noqa: B019  what users write
    def cached(self, a: int) -> int:
        return a

    @unnamed
    def bare(self, a: int) -> int:
        return a

    @tool(name="other")
    def named(self, a: int) -> int:
        return a

    short = lambda _, a: a  # noqa: E731  what users write

    @functools.cached_property
    def costly(self) -> int:
        raise AssertionError("a property is not read")

    class Inner: ...


async def test_every_method_is_a_tool_under_the_name_that_the_class_gives_it() -> None:
    made = {one.name: one for one in FunctionConnector("service", Service()).tools()}
    assert list(made) == ["read", "peek", "first", "wrapped", "cached", "bare", "other", "short"]
    assert made["wrapped"].description == "Wrap."
    assert await run(made["first"]) == 1
    for name in ("read", "peek", "wrapped", "cached", "bare", "other", "short"):
        assert await run(made[name], {"a": 5}) == 5
        assert await run(made[name], 5) == 5


@functools.singledispatch
def describe(value: Any) -> str:
    return "any"


@describe.register
def _(value: int) -> str:
    return "int"


@overload
def same(a: int) -> int: ...
@overload
def same(a: str) -> str: ...
def same(a: Any) -> Any:
    return a


async def test_generic_functions_and_overloads_are_called_as_python_calls_them() -> None:
    assert await run(function_tool(describe), {"value": 1}) == "int"
    assert await run(function_tool(describe), "x") == "any"
    assert [await run(function_tool(same), 1), await run(function_tool(same), "x")] == [1, "x"]


class Refuses:
    @classmethod
    def __get_pydantic_core_schema__(cls, *_: Any) -> Any:
        raise ZeroDivisionError("a type of its own mind")


@pytest.mark.parametrize("annotation", [Unchecked, Refuses, type, Callable[[], int]])
def test_a_type_that_cannot_be_checked_is_refused_by_name_when_the_tool_is_made(annotation: Any) -> None:
    with pytest.raises(CodemodeError, match="act cannot be a tool: its parameters") as refusal:
        taking(annotation)
    assert refusal.value.code == "invalid_tool"


def test_a_described_bound_of_an_annotation_is_in_the_schema() -> None:
    made = taking(Annotated[list[Annotated[str, Field(max_length=3)]], Field(min_length=1, description="Words.")])
    assert made.input_schema["properties"]["value"] == {
        "type": "array",
        "items": {"type": "string", "maxLength": 3},
        "minItems": 1,
        "description": "Words.",
    }
