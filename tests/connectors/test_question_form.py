"""Forms made of JSON schemas: which field a schema gets, how a typed answer is read, and which faults are told."""

from __future__ import annotations

import datetime as dt
from typing import Literal

import pytest
from pydantic import BaseModel, Field

from codemode_jupyter.connectors.question_form import MOST_FIELDS, check_value, form_of
from codemode_jupyter.connectors.questions import read_form
from codemode_jupyter.errors import CodemodeError


class Booking(BaseModel):
    """What a person fills in."""

    name: str = Field(title="Name", min_length=2)
    nights: int = Field(2, ge=1, description="At least one")
    price: float | None = None
    day: dt.date
    room: Literal["single", "double"] = "single"
    breakfast: bool = True
    guests: list[str] = []


SCHEMA = Booking.model_json_schema()


def kinds(schema):
    return [(field.kind, field.format) for field in form_of("?", schema, "x").fields]


def test_a_model_becomes_a_field_for_each_of_its_own_in_their_order():
    form = form_of("Book", SCHEMA, "hotel.book")
    assert [field.name for field in form.fields] == list(Booking.model_fields)
    assert [field.kind for field in form.fields] == ["text", "integer", "number", "text", "choice", "boolean", "json"]
    name, nights, price, day, room, breakfast, _ = form.fields
    assert (name.title, name.required, name.minimum) == ("Name", True, 2)
    assert (nights.default, nights.required, nights.minimum, nights.description) == (2, False, 1, "At least one")
    assert (price.required, day.format, day.required) == (False, "date", True)
    assert (room.options, room.default) == ((("single", "single"), ("double", "double")), "single")
    assert breakfast.default is True


def test_what_is_typed_into_it_is_a_value_that_fits():
    typed = {
        "name": "Edda",
        "nights": "3",
        "day": "2031-02-03",
        "room": "double",
        "breakfast": "false",
        "guests": "[1]",
    }
    value = read_form(form_of("Book", SCHEMA, "x"), typed)
    assert value == {
        "name": "Edda", "nights": 3, "day": "2031-02-03", "room": "double", "breakfast": False, "guests": [1],
    }  # fmt: skip
    with pytest.raises(CodemodeError) as refusal:
        check_value(SCHEMA, value)
    assert [fault["path"] for fault in refusal.value.data["faults"]] == ["guests[0]"]
    check_value(SCHEMA, {**value, "guests": ["Bo"]})


@pytest.mark.parametrize(
    ("schema", "kind", "typed", "value"),
    [
        (None, "text", "any words", "any words"),
        ({"type": "string"}, "text", "x", "x"),
        ({"type": "number"}, "number", "1.5", 1.5),
        ({"type": ["integer", "null"]}, "integer", "7", 7),
        ({"type": "boolean"}, "boolean", "true", True),
        ({"type": "string", "format": "date"}, "text", "2031-02-03", "2031-02-03"),
        ({"enum": [1, 2, None]}, "choice", "2", 2),
        ({"enum": [1, 2, None]}, "choice", "null", None),
        ({"oneOf": [{"const": "p", "title": "Port"}, {"const": "s"}]}, "choice", "Port", "p"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, "choices", "b, a", ["b", "a"]),
        ({"type": "array", "items": {"type": "integer"}}, "json", "[1, 2]", [1, 2]),
        ({"$ref": "#/$defs/One", "$defs": {"One": {"type": "integer"}}}, "integer", "4", 4),
        ({"$ref": "#"}, "json", "1", 1),
        ({"type": "object", "additionalProperties": True}, "json", '{"a": 1}', {"a": 1}),
        ({}, "json", '"text"', "text"),
    ],
)
def test_a_schema_of_one_value_is_one_field(schema, kind, typed, value):
    form = form_of("?", schema, "x")
    assert (form.is_single, [field.kind for field in form.fields]) == (True, [kind])
    assert read_form(form, {form.fields[0].name: typed}) == value
    if schema is not None:
        check_value(schema, value)


@pytest.mark.parametrize(
    ("schema", "typed"),
    [
        (None, ""),
        ({"type": "integer"}, "x"),
        ({"type": "string", "format": "date"}, "tomorrow"),
        ({"enum": ["a"]}, "b"),
        ({"type": "array"}, "[1"),
        ({"type": "boolean"}, ""),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_field(schema, typed):
    form = form_of("?", schema, "x")
    with pytest.raises(CodemodeError) as refusal:
        read_form(form, {form.fields[0].name: typed})
    assert (refusal.value.code, len(refusal.value.data["faults"])) == ("invalid_answer", 1)


def test_a_date_that_there_is_not_is_refused():
    for wrong in ("2031-02-31", "tomorrow"):
        with pytest.raises(CodemodeError, match="must be a date"):
            check_value({"type": "string", "format": "date"}, wrong)
        with pytest.raises(CodemodeError, match="day must be a date"):
            check_value(SCHEMA, {"name": "Edda", "day": wrong})


def test_one_of_very_many_choices_is_typed_and_still_checked():
    many = {"type": "string", "enum": [f"choice {number}" for number in range(500)]}
    form = form_of("?", many, "x")
    assert form.fields[0].kind == "text"
    check_value(many, read_form(form, {"": "choice 499"}))
    with pytest.raises(CodemodeError, match="must be one of"):
        check_value(many, "choice 500")


def test_a_schema_of_very_many_properties_is_answered_as_json():
    many = {"type": "object", "properties": {f"p{number}": {"type": "string"} for number in range(MOST_FIELDS + 1)}}
    assert kinds(many) == [("json", "")]
