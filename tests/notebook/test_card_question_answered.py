"""A question of a running tool, from the card to the tool and back."""

import asyncio

import pytest

from codemode_jupyter.connectors.tool import Tool
from tests.notebook.card_examples import FORM
from tests.notebook.test_card_layout import elements
from tests.notebook.test_card_view import (  # noqa: F401  fixtures
    begin,
    outputs,
    runtime,
    shelf,
    until,
    widgets,
)

BOOKING = {
    "type": "object",
    "properties": {"n": {"type": "integer", "multipleOf": 5}, "day": {"type": "string", "format": "date"}},
    "required": ["n"],
}


async def asked(p):
    return await p.call("shelf.ask", {})


@pytest.fixture
def asking(shelf):  # noqa: F811  the fixture
    """A shelf that can ask, before a runtime is made with it."""

    async def ask(_arguments, context):
        answer = await context.ask(FORM)
        return [answer.action, dict(answer.content)]

    async def book(_arguments, context):
        return [await context.interrupt({"house": "Seaview"}, BOOKING), await context.interrupt("Why?")]

    shelf.extra += [Tool("ask", ask, "Ask."), Tool("book", book, "Book.")]


async def test_the_answer_typed_into_the_card_reaches_the_tool(asking, runtime, outputs, widgets):  # noqa: F811
    running = asyncio.ensure_future(begin(runtime, asked))
    await until(lambda: widgets.made and widgets.made[0].says("Which ship is it?"), "the form shows")
    widgets.made[0].click("accept", **{"answer-0": "E"})
    await until(lambda: widgets.made[0].says("length is needed"), "the refusal shows")
    widgets.made[0].click("accept", **{"answer-0": "Ever", "answer-1": "400"})
    assert (await running).result == ["accept", {"name": "Ever", "length": 400}]
    await until(lambda: not outputs.made[0].is_live, "the card is static")


async def test_where_nobody_can_answer_a_question_is_cancelled(asking, runtime, outputs, widgets, monkeypatch):  # noqa: F811
    monkeypatch.setattr("codemode_jupyter.notebook.card.outputs.current_place", lambda: "file")
    async with asyncio.timeout(10):
        assert (await begin(runtime, asked)).result == ["cancel", {}]


async def booked(p):
    return await p.call("shelf.book", {})


async def test_a_schema_s_form_says_at_its_fields_what_does_not_fit(asking, runtime, outputs, widgets):  # noqa: F811
    await begin(runtime, booked)
    await until(lambda: widgets.made and widgets.made[0].says("Seaview"), "the form shows")
    card = widgets.made[0]
    card.click("accept", **{"answer-0": "7", "answer-1": "2031-02-31"})
    await until(lambda: card.says("must be a date"), "what cannot be read stands at its field")
    card.click("accept", **{"answer-0": "7", "answer-1": "2031-02-28"})
    await until(lambda: card.says("must be a multiple of 5"), "what the schema refuses stands at its field")
    assert [one.attributes["data-field"] for one in elements(card.trees[-1], aria_invalid="true")] == ["answer-0"]
    card.click("accept", **{"answer-0": "10", "answer-1": ""})
    await until(lambda: card.says("Why?"), "the next question shows")
    card.click("accept", **{"answer-0": "because"})
    await until(lambda: not outputs.made[0].is_live, "the card is static")
    [record] = await runtime.executions()
    assert record.result == [{"n": 10}, "because"]
