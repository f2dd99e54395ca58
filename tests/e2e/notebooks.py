"""Notebooks for the tests, made of cells written as text.

Owns: the cells that many tests share. The tools write each effect as a line of ``effects.txt`` beside the notebook,
so that a test counts what really happened.
"""

import nbformat

SETUP = '''
%load_ext codemode_jupyter
from pathlib import Path
from codemode_jupyter import FunctionConnector, Runtime, tool

effects = Path("effects.txt")


def note(line):
    with effects.open("a") as file:
        file.write(line + "\\n")


def read(number: int = 0) -> int:
    """Read a number; every real read leaves a line."""
    note(f"read {number}")
    return number


@tool(requires_approval=True, revert=lambda arguments, result: note(f"undo {arguments['word']}"))
def act(word: str) -> dict:
    """Do something in the world."""
    note(f"act {word}")
    return {"done": word}


def fail(why: str = "no reason") -> None:
    """Fail."""
    raise ValueError(why)


runtime = Runtime(connectors=[FunctionConnector("world", [read, act, fail])])
'''

GATED = """
%%codemode -o outcome
async () => {
  const number = await world.read({ number: 7 });
  console.log("read", number);
  const answer = await world.act({ word: "seven" });
  return { number, answer };
}
"""

QUICK = """
%%codemode
return 6 * 7;
"""


def write_notebook(path, *cells, kernel="python3"):
    """Write a notebook of code cells."""
    nodes = [nbformat.v4.new_code_cell(cell.strip("\n")) for cell in cells]
    metadata = {"kernelspec": {"name": kernel, "display_name": kernel, "language": "python"}}
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=nodes, metadata=metadata), path)
    return path
