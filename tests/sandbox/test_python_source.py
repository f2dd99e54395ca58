"""What value a program in Python has, by its text alone; run here, in the kernel's own Python."""

import asyncio
import types

import pytest

from codemode_jupyter.sandbox.python.guest.program import _import_all, _value
from codemode_jupyter.sandbox.python.guest.source import compile_program


async def value_of(source, given=None):
    space = {"__name__": "__main__", "asyncio": asyncio, "echo": _echo}
    space["__value__"] = space["__call__"] = lambda value: _value(value, given)
    space["__import_all__"] = lambda name: _import_all(space, name)
    return await types.FunctionType(compile_program(source, "program.py"), space)()


async def _echo(value):
    return value


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("1 + 1", 2),
        ("x = 20\nx * 2", 40),
        ("x = 1", None),
        ("", None),
        ("# nothing", None),
        ("return 7", 7),
        ("for i in range(9):\n    if i == 3:\n        return i", 3),
        ("try:\n    return 1\nfinally:\n    x = 2", 1),
        ("await echo(2)", 2),
        ("echo(3)", 3),
        ("async def main():\n    return await echo(4)", 4),
        ("def helper(n):\n    return n + 1\n\ndef main():\n    return helper(1)", 2),
        ("def main():\n    return helper(1)\n\ndef helper(n):\n    return n + 1", 2),
        ("async def main():\n    return 5\n\nawait main()", 5),
        ("async def main():\n    return 6\n\nasyncio.run(main())", 6),
        ("if __name__ == '__main__':\n    x = asyncio.run(echo(7))\nx", 7),
        ("lambda: 8", 8),
        (
            '"""Doc."""\nfrom __future__ import annotations\ndef f(x: undefined): ...\nf.__annotations__["x"]',
            "undefined",
        ),
        ("async def main():\n    return 10\nif __name__ == '__main__':\n    asyncio.run(main())", 10),
        ("n = 0\ndef add():\n    global n\n    n += 1\nadd(); add()\nn", 2),
        ("from math import *\nfloor(pi)", 3),
        ("total: int = 2\nname: str\ntotal", 2),
        ("import asyncio as aio\nasync def f():\n    return 2\naio.run(f())", 2),
        ("from asyncio import run as go\nasync def f():\n    return 2\nprint(go(f()))\ngo(f())", 2),
        ("import asyncio\nasync def f():\n    return 2\nasyncio.get_event_loop().run_until_complete(f())", 2),
        ("def run(x):\n    return x\nrun(3)", 3),
        ("global g\ng = 1\ng", 1),
        ("if (x := 1):\n    y = [i for i in range(3) if i != x]\ny", [0, 2]),
        ("[await echo(i) for i in range(3)]", [0, 1, 2]),
        ("class A:\n    x = 1\n    def y(self):\n        return self.x + z\nz = 2\nA().y()", 3),
        ("import os.path\nos.path.join('a', 'b')", "a/b"),
        ("try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    seen = str(e)\nseen", "division by zero"),
        ('"""Doc."""\ndef main():\n    return 9', 9),
    ],
)
async def test_a_program_has_the_value_that_a_reader_expects(source, value):
    assert await value_of(source) == value


async def test_the_function_of_definitions_alone_gets_the_input():
    assert await value_of("async def main(input):\n    return input['n']", {"n": 3}) == 3
    assert await value_of("def main(input=None):\n    return input") is None


async def test_a_function_that_wants_more_than_the_input_is_refused():
    with pytest.raises(TypeError, match="takes 2 arguments; a program is called with its input alone"):
        await value_of("async def main(desk, codemode):\n    return 1")


@pytest.mark.parametrize(
    ("source", "place"),
    [("x = (1 +\ny = 2", (1, 5)), ("return 1\nbreak", (2, 1)), ("x = 1\n[(yield x)]", (2, 3))],
)
def test_a_text_that_does_not_compile_is_refused_with_its_place(source, place):
    with pytest.raises(SyntaxError) as refusal:
        compile_program(source, "program.py")
    assert refusal.value.filename == "program.py"
    assert (refusal.value.lineno, refusal.value.offset) == place


def test_the_program_becomes_one_function():
    assert isinstance(compile_program("1", "program.py"), types.CodeType)
