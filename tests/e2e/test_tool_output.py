"""What tools print: it belongs to the cell, in the first pass and in those that a button resumes."""

TOOLS = '''
%load_ext codemode_jupyter
import asyncio
from codemode_jupyter import FunctionConnector, Runtime, tool


def look() -> int:
    """Look, on a thread."""
    print("a thread looked")
    return 1


async def listen() -> int:
    """Listen, on the loop."""
    await asyncio.sleep(0.01)
    print("the loop listened")
    return 2


@tool(requires_approval=True)
async def speak() -> int:
    """Speak when allowed."""
    await asyncio.sleep(0.01)
    print("the tool spoke")
    return 3


runtime = Runtime(connectors=[FunctionConnector("senses", [look, listen, speak])])
'''

PROGRAM = """
%%codemode
const before = [await senses.look(), await senses.listen()];
const spoken = await senses.speak();
return [...before, spoken];
"""


def test_what_tools_print_shows_in_the_cell_before_and_after_an_approval(desk):
    desk.write(TOOLS, PROGRAM)
    tab = desk.open()
    cell = tab.run(0, 1).shows("Waiting for you", "a thread looked", "the loop listened")
    cell.press("Approve").shows("Completed", "the tool spoke")
    assert cell.text.count("a thread looked") == 1
