"""Python's own objects become what their users expect in JSON, or are refused with their path."""

from __future__ import annotations

import enum
import types
import uuid
from collections import OrderedDict, UserDict, deque, namedtuple
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from pydantic import BaseModel, Field, SecretStr, field_serializer
from pydantic.dataclasses import dataclass as pydantic_dataclass

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime.values import decode, encode


class Colour(enum.Enum):
    RED = "red"
    CODE = 7


class Word(enum.StrEnum):
    YES = "yes"


class Size(enum.IntEnum):
    BIG = 3


class Point(NamedTuple):
    x: int
    y: float


@dataclass
class Box:
    corner: Point
    colour: Colour = Colour.RED
    tags: list[str] = field(default_factory=list)


@pydantic_dataclass
class Checked:
    at: datetime


class Ticket(BaseModel):
    title: str
    opened: datetime = datetime(2024, 5, 1, tzinfo=UTC)
    inner: Box | None = None
    weight: float = 0.5
    key: SecretStr = SecretStr("hidden")
    short: int = Field(default=1, serialization_alias="shortName")

    @field_serializer("weight", when_used="json")
    def shown(self, weight: float) -> str:
        return f"{weight} kg"


class Attachment(BaseModel):
    data: bytes
    size: float = float("nan")
    at: date = date(2024, 5, 1)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Colour.RED, "red"),
        (Colour.CODE, 7),
        (Word.YES, "yes"),
        (Size.BIG, 3),
        ((1, (2, 3)), [1, [2, 3]]),
        (Point(1, 2.5), [1, 2.5]),
        (deque([1, 2]), [1, 2]),
        (range(3), [0, 1, 2]),
        ({"a": 1}.items(), [["a", 1]]),
        ({"a": 1}.values(), [1]),
        (frozenset([5]), [5]),
        (OrderedDict(a=1), {"a": 1}),
        (UserDict(a=1), {"a": 1}),
        (types.MappingProxyType({"a": 1}), {"a": 1}),
        (datetime(2024, 5, 1, 12, tzinfo=UTC), "2024-05-01T12:00:00Z"),
        (datetime(2024, 5, 1, 12), "2024-05-01T12:00:00"),  # noqa: DTZ001  a naive time is kept as one
        (date(2024, 5, 1), "2024-05-01"),
        (timedelta(minutes=90), "PT1H30M"),
        (Decimal("1.10"), "1.10"),
        (Path("a/b.txt"), "a/b.txt"),
        (uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"),
        (bytearray(b"ab"), b"ab"),
        (memoryview(b"abcdef")[1:3], b"bc"),
        (Box(Point(1, 2.0)), {"corner": [1, 2], "colour": "red", "tags": []}),
        (Checked(datetime(2024, 5, 1, tzinfo=UTC)), {"at": "2024-05-01T00:00:00Z"}),
        (
            Ticket(title="t", inner=Box(Point(0, 0.0))),
            {
                "title": "t",
                "opened": "2024-05-01T00:00:00Z",
                "inner": {"corner": [0, 0], "colour": "red", "tags": []},
                "weight": "0.5 kg",
                "key": "**********",
                "shortName": 1,
            },
        ),
        (
            {1: "a", None: "b", False: "c", 2.5: "d", Word.YES: "e"},
            {"1": "a", "null": "b", "false": "c", "2.5": "d", "yes": "e"},
        ),
        ({date(2024, 5, 1): 1, uuid.UUID(int=0): 2}, {"2024-05-01": 1, "00000000-0000-0000-0000-000000000000": 2}),
    ],
)
def test_objects_become_json(value: Any, expected: Any) -> None:
    assert decode(encode(value)) == expected
    assert decode(encode([{"in": value}])) == [{"in": expected}]


def test_the_bytes_of_a_model_stay_bytes() -> None:
    decoded = decode(encode(Attachment(data=b"\xff\0")))
    assert decoded["data"] == b"\xff\0"
    assert decoded["size"] != decoded["size"]
    assert decoded["at"] == "2024-05-01"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.int64(2**60), 2**60),
        (np.float32(0.5), 0.5),
        (np.float64(1.5), 1.5),
        (np.bool_(True), True),
        (np.str_("x"), "x"),
        (np.bytes_(b"x"), b"x"),
        (np.array(5), 5),
        (np.arange(4).reshape(2, 2), [[0, 1], [2, 3]]),
        (np.array(["a", "b"]), ["a", "b"]),
        (np.array([(1, 2.5)], dtype=[("n", int), ("w", float)]), [{"n": 1, "w": 2.5}]),
        (np.datetime64("2024-05-01T10:00:00.123456789"), "2024-05-01T10:00:00.123456"),
        (np.array(["2024-05-01", "NaT"], dtype="datetime64[ns]"), ["2024-05-01T00:00:00", None]),
        (np.timedelta64(90, "s"), "PT1M30S"),
    ],
)
def test_numpy_values_become_plain_ones(value: Any, expected: Any) -> None:
    assert decode(encode(value)) == expected


def test_a_table_becomes_records_with_null_for_what_is_missing() -> None:
    table = pd.DataFrame(
        {
            "n": [1, 2],
            "w": [1.5, float("nan")],
            "t": pd.to_datetime(["2024-05-01", None]),
            "s": ["x", None],
            "big": [2**60, 1],
            "c": pd.Categorical(["u", "v"]),
            "i": pd.array([1, None], dtype="Int64"),
        }
    )
    assert decode(encode(table)) == [
        {"n": 1, "w": 1.5, "t": "2024-05-01T00:00:00", "s": "x", "big": 2**60, "c": "u", "i": 1},
        {"n": 2, "w": None, "t": None, "s": None, "big": 1, "c": "v", "i": None},
    ]
    assert decode(encode(table[table.n > 1][["n"]])) == [{"n": 2}]
    assert decode(encode(pd.DataFrame())) == []


def test_labels_of_tables_and_series_are_kept() -> None:
    table = pd.DataFrame({"g": ["a", "a", "b"], "v": [1, 2, 4]})
    assert decode(encode(table.groupby("g").sum())) == [{"g": "a", "v": 3}, {"g": "b", "v": 4}]
    assert decode(encode(table.g.value_counts())) == {"a": 2, "b": 1}
    assert decode(encode(table.v)) == [1, 2, 4]
    assert decode(encode(pd.Series([1, 2], index=["a", "a"]))) == [
        {"index": "a", "value": 1},
        {"index": "a", "value": 2},
    ]
    assert decode(encode(table.columns)) == ["g", "v"]
    assert decode(encode(table.iloc[0])) == {"g": "a", "v": 1}


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (object(), "has no JSON form"),
        (print, "function"),
        (lambda: 1, "function"),
        (partial(print), "function"),
        (Box, "class"),
        ((n for n in [1]), "iterator"),
        (iter([1]), "iterator"),
        ({(1, 2): 1}, "key of type tuple"),
        ({b"a": 1}, "key of type bytes"),
        ({1: "a", "1": "b"}, "two keys"),
        pytest.param(10**5000, "digits", id="a huge integer"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns"),
        (np.longdouble(1), "JSON form"),
    ],
)
def test_what_has_no_json_form_is_refused_with_its_path(value: Any, what: str) -> None:
    with pytest.raises(CodemodeError, match=what) as refusal:
        encode({"items": [0, value]})
    assert refusal.value.code == "not_storable"
    assert refusal.value.data == {"path": "items[1]"}
    assert "items[1]" in refusal.value.message


async def test_a_coroutine_that_nobody_awaited_is_refused() -> None:
    async def later() -> int:
        return 1

    waiting = later()
    with pytest.raises(CodemodeError, match="awaitable"):
        encode([waiting])
    await waiting


def test_a_named_tuple_of_the_old_form_is_a_list() -> None:
    pair = namedtuple("pair", "a b")  # noqa: PYI024  the untyped form is what is tested
    assert decode(encode(pair(1, 2))) == [1, 2]
