"""A tool that asks in its middle: its form in the card, before and after a restart of the kernel; what it did, once."""

import re

import pytest

from tests.e2e.lab import DARK, LIGHT
from tests.e2e.notebooks import SETUP

ASKING = '''
from codemode_jupyter import HumanConnector, ToolContext

FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name of the guest", "minLength": 2},
        "nights": {"type": "integer", "title": "Nights", "minimum": 1, "maximum": 30, "default": 2},
        "from": {"type": "string", "format": "date", "title": "First night"},
        "room": {"enum": ["single", "double"], "title": "Room", "description": "Both have a view"},
        "breakfast": {"type": "boolean", "title": "Breakfast", "default": True},
        "guests": {"type": "array", "items": {"type": "string"}, "title": "Other guests"},
    },
    "required": ["name", "nights", "from", "room"],
}


async def book(context: ToolContext) -> dict:
    """Book a room."""
    await context.step("hold", lambda: note("hold a room"))
    wish = await context.interrupt({"house": "Seaview", "free rooms": 3}, FORM)
    await context.step("book", lambda: note(f"book for {wish['name']}"))
    return {**wish, "greeting": await context.interrupt("What shall the card on the table say?")}


runtime = Runtime(connectors=[FunctionConnector("hotel", [book]), HumanConnector()])
'''
PROGRAM = """
%%codemode -o outcome
const booked = await hotel.book();
const tip = await human.ask("How much do you tip?", ["nothing", "a little", "a lot"]);
return { booked, tip };
"""


@pytest.fixture
def asked(desk):
    """A tab whose second cell waits with the form."""
    desk.write(SETUP + ASKING, PROGRAM, "%codemode pending", "1")
    tab = desk.open()
    tab.run(0, 1)
    return tab


def test_forms_are_filled_in_in_the_card_also_after_a_restart_and_every_effect_happens_once(desk, asked, screenshots):
    cell = asked.cell(1).shows("Waiting for you", "hotel.book asks you:", "Seaview", "no place for passwords")
    cell.field("Name of the guest").fill("E")
    cell.field("First night").fill("2031-02-03")
    cell.press("Send").shows("The answer does not fit", "must have at least 2 characters", "is needed")
    for theme, word in ((DARK, "dark"), (LIGHT, "light")):
        asked.theme(theme)
        cell.picture(screenshots / f"lab-question-{word}.png")
    cell.field("Name of the guest").fill("Edda")
    cell.field("Nights").fill("3")
    cell.field("Room").select_option("double")
    cell.field("Other guests").fill('["Bo"]')
    cell.press("Send").shows("What shall the card on the table say?")
    assert desk.effects == ["hold a room", "book for Edda"]

    asked.save()
    asked.restart_kernel()
    asked.run(0)
    asked.run(2).shows("it asks you", "What shall the card", "%codemode show ID")
    execution = re.search(r"(\S+)\s+0\s+hotel\.book", asked.cell(2).text)[1]
    asked.cell(3).write(f"%codemode show {execution}")
    cell = asked.run(3).shows("What shall the card on the table say?")
    cell.field("Your answer").fill("Welcome,\n<b>Edda</b>")
    cell.press("Send").shows("human.ask asks you:", "How much do you tip?")
    cell.field("Your answer").select_option("a little")
    cell.press("Send").shows("Completed", "a little", "<b>Edda</b>", "2031-02-03", "double")
    assert desk.effects == ["hold a room", "book for Edda"]
    asked.run(2).shows("Nothing is waiting")
