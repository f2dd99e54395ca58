"""Values between programs in Python and tools: each arrives as what it was, in both directions and in every pass."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import enum
import json
from collections import namedtuple
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel

from codemode_jupyter import Connector, FunctionConnector, Runtime, Tool, tool
from codemode_jupyter.connectors.functions.native_values import native
from codemode_jupyter.connectors.schemas.validation import SchemaValidator
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.deno import DenoExecutor, find_deno
from codemode_jupyter.sandbox.python.making import ensure_assets

pytestmark = pytest.mark.asyncio(loop_scope="module")

IMPORTS = (
    "import datetime\nfrom datetime import *\nfrom decimal import Decimal\nfrom uuid import UUID\nUTC = timezone.utc\n"
)
SAME = [
    None,
    True,
    0,
    2**53 + 1,
    -(2**70),
    1.0,
    0.1,
    -0.0,
    "é🦊\u2028",
    b"\x00\xff",
    [1, [2]],
    (1, (2.0, "x")),
    {"a": {"$type": "date"}},
    {1: "a", (1, 2): "b", None: 3},
    {1, "x"},
    set(),
    (),
    datetime(2024, 5, 1, 12, 30, 0, 1),  # noqa: DTZ001  a naive one is one, too
    datetime(2024, 5, 1, tzinfo=UTC),
    datetime(2024, 5, 1, tzinfo=timezone(timedelta(hours=2))),
    date(2024, 5, 1),
    time(12, 30, 0, 5),
    timedelta(days=-1, microseconds=3),
    Decimal("1.10"),
    Decimal("1E+3"),
    UUID(int=5),
]


class Color(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Box:
    size: Decimal
    opened: date


class Order(BaseModel):
    price: Decimal
    due: date
    lasts: timedelta


Point = namedtuple("Point", "x y")  # noqa: PYI024  as users write them
given: list[Any] = []


def keep(value: Any) -> Any:
    """Give a value back as it came."""
    given.append(value)
    return value


def make(kind: str) -> Any:
    """Give what only Python has a type for."""
    return {
        "enum": Color.RED,
        "dataclass": Box(Decimal("2.50"), date(2024, 5, 1)),
        "model": Order(price=Decimal("1.10"), due=date(2024, 5, 1), lasts=timedelta(hours=1)),
        "named": Point(1, 2),
        "keys": {1: "one", 2: "two"},
        "when": {"at": datetime(2024, 5, 1, tzinfo=UTC), "for": timedelta(hours=36), "tags": {"x"}, "pair": (1, 2)},
        "bytearray": bytearray(b"ab"),
    }[kind]


def typed(price: Decimal, due: date, *, lasts: timedelta, key: UUID, pair: tuple[int, str], order: Order) -> list[str]:
    """Say of what type each value is."""
    return [repr(one) for one in (price, due, lasts, key, pair, order)]


def choose(value: date | Decimal | str, number: float | None = None) -> list[str]:
    """Say what was chosen."""
    return [repr(value), repr(number)]


@tool(requires_approval=True, revert=lambda arguments, result: given.append((arguments["value"], result)))
def gated(value: Any) -> Any:
    """Give a value back, once somebody approves."""
    return value


class Priced(Connector):
    """A tool with a JSON schema."""

    def __init__(self) -> None:
        super().__init__("priced")

    def tools(self) -> list[Tool]:
        schema = {
            "type": "object",
            "properties": {"amount": {"type": "number"}, "count": {"type": "integer"}, "note": {"type": "string"}},
        }

        async def call(arguments: Any, _: Any) -> str:
            return repr(arguments)

        return [Tool("put", call, "Put.", schema, validate=SchemaValidator("put", schema))]


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
async def runtime(executor, tmp_path):
    given.clear()
    tools = FunctionConnector("it", [keep, make, typed, choose, gated])
    made = Runtime([tools, Priced()], executor=executor, path=tmp_path / "store.sqlite3")
    yield made
    await made.close()


async def result(runtime, code, language="python"):
    outcome = await runtime.execute(IMPORTS + code if language == "python" else code, language=language)
    assert outcome.status == "completed", outcome.error
    return outcome.result


def same(one: Any, other: Any) -> bool:
    return repr(one) == repr(other) and type(one) is type(other)


async def test_every_type_arrives_in_a_tool_comes_back_and_is_a_result(runtime):
    texts = [repr(value) for value in SAME]
    code = f"sent = [{', '.join(texts)}]\ngot = [await it.keep(value=one) for one in sent]\n"
    code += "[got, [repr(a) for a, b in zip(sent, got) if repr(a) != repr(b) or type(a) is not type(b)]]"
    code = (
        code.replace("datetime.datetime", "datetime").replace("datetime.date", "date").replace("datetime.time", "time")
    )
    got, differing = await result(runtime, code.replace("timezone.utc", "UTC"))
    assert differing == []
    for sent, arrived, returned in zip(SAME, given, got, strict=True):
        assert same(sent, arrived), sent
        assert same(sent, returned), sent


async def test_what_a_tool_makes_is_plain_data_of_the_same_types(runtime):
    code = "[await it.make(kind=one) for one in ('enum', 'dataclass', 'named', 'keys', 'when', 'bytearray', 'model')]"
    *values, model = await result(runtime, code)
    assert values == [
        "red",
        {"size": Decimal("2.50"), "opened": date(2024, 5, 1)},
        [1, 2],
        {1: "one", 2: "two"},
        {"at": datetime(2024, 5, 1, tzinfo=UTC), "for": timedelta(hours=36), "tags": {"x"}, "pair": (1, 2)},
        b"ab",
    ]
    assert model == {"price": "1.10", "due": "2024-05-01", "lasts": "PT1H"}


async def test_javascript_reads_of_the_same_tool_what_json_has(runtime):
    code = "async () => [await it.make('when'), await it.make('keys'), await it.make('dataclass')]"
    assert await result(runtime, code, "javascript") == [
        {"at": "2024-05-01T00:00:00Z", "for": "P1DT12H", "tags": ["x"], "pair": [1, 2]},
        {"1": "one", "2": "two"},
        {"size": "2.50", "opened": "2024-05-01"},
    ]


async def test_a_parameter_gets_the_type_that_it_says(runtime):
    code = """await it.typed(price=Decimal("1.10"), due=date(2024, 5, 1), lasts=timedelta(hours=36), key=UUID(int=5),
        pair=(1, "x"), order={"price": Decimal("2.50"), "due": date(2024, 5, 2), "lasts": timedelta(days=-1)})"""
    assert await result(runtime, code) == [
        "Decimal('1.10')",
        "datetime.date(2024, 5, 1)",
        "datetime.timedelta(days=1, seconds=43200)",
        "UUID('00000000-0000-0000-0000-000000000005')",
        "(1, 'x')",
        "Order(price=Decimal('2.50'), due=datetime.date(2024, 5, 2), lasts=datetime.timedelta(days=-1))",
    ]
    code = (
        "[await it.choose(value=one) for one in (date(2024, 5, 1), Decimal('2'), 'x')]"
        " + [await it.choose('y', Decimal('.5'))]"
    )
    assert await result(runtime, code) == [
        ["datetime.date(2024, 5, 1)", "None"],
        ["Decimal('2')", "None"],
        ["'x'", "None"],
        ["'y'", "0.5"],
    ]


async def test_a_number_of_a_json_schema_takes_a_decimal(runtime):
    code = "await priced.put(amount=Decimal('1.50'), count=Decimal(3))"
    assert await result(runtime, code) == "{'amount': 1.5, 'count': 3}"
    assert await result(runtime, "await priced.put(note=date(2024, 5, 1))") == "{'note': '2024-05-01'}"
    for odd in ("NaN", "Infinity", "sNaN", "1E+99999999"):
        code = f"from decimal import *\nawait priced.put(amount=Decimal('{odd}'))"
        outcome = await runtime.execute(code, language="python")
        assert outcome.error.code == "invalid_arguments", outcome


async def test_a_value_is_the_same_in_every_pass_and_when_it_is_undone(runtime):
    code = (
        "first = await it.make(kind='when')\n"
        "step = await codemode.step('s', lambda: (timedelta(1), {Decimal('1.10')}))\n"
        "second = await it.gated(value=(date(2024, 5, 1), {1: Decimal('2')}))\n"
        "[repr(one) for one in (first, step, second)]"
    )
    outcome = await runtime.execute(IMPORTS.replace("import datetime\n", "") + code, language="python")
    assert outcome.status == "paused", outcome.error
    outcome = await runtime.approve(outcome.execution_id)
    assert outcome.result == [
        repr(make("when")),
        "(datetime.timedelta(days=1), {Decimal('1.10')})",
        "(datetime.date(2024, 5, 1), {1: Decimal('2')})",
    ], outcome.error
    await runtime.rollback(outcome.execution_id)
    value = (date(2024, 5, 1), {1: Decimal(2)})
    assert given == [(value, value)]


async def test_arguments_that_wait_for_a_person_can_be_copied_and_told_as_json(runtime):
    code = "await it.gated(value=[Decimal('1.10'), (1, date(2024, 5, 1)), {1: 2}])"
    outcome = await runtime.execute(IMPORTS.replace("import datetime\n", "") + code, language="python")
    [waiting] = outcome.pending
    copied = copy.deepcopy(waiting.args)
    assert native(copied) == {"value": [Decimal("1.10"), (1, date(2024, 5, 1)), {1: 2}]}
    assert json.loads(json.dumps(outcome.to_wire()))["pending"][0]["args"] == {
        "value": ["1.10", [1, "2024-05-01"], {"1": 2}]
    }


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("1+2j", "is of type complex"),
        ("object()", "is of type object"),
        ("print", "is of type builtin"),
        ("(n for n in [1])", "Make a list of it"),
        ("it.keep(value=1)", "Await it first"),
        ("10 ** 5000", "more than 4,300 digits"),
    ],
)
async def test_what_is_no_data_is_refused_where_it_is_passed(runtime, value, why):
    outcome = await runtime.execute(f"x = 1\nawait it.keep(value=[{value}])", language="python")
    assert (outcome.error.code, outcome.error.line) == ("not_storable", 2)
    assert "at ['value'][0]" in outcome.error.message
    assert why in outcome.error.message
