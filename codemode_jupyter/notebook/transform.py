"""Rewriting of cells so that ``%%codemode`` and ``%codemode`` are awaited: IPython itself never awaits a magic.

Owns: two input transformers. Never does: parsing options or running anything.

The body of a cell must reach the sandbox exactly as written, so `AwaitedCell` has to come before IPython's own clean-up
(which removes prompts and indentation). What it does not recognise, such as a pasted cell that begins with a prompt, is
left to IPython and then awaited by `AwaitedMagics`, which works on the Python text that came out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from textwrap import dedent
from typing import Any

MAGIC_NAME = "codemode"

_FIRST_LINE = re.compile(rf"(?P<indent>[ \t]*)%%{MAGIC_NAME}(?P<options>|[ \t].*)")
_PYTHON_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_RUNNERS = frozenset({"run_cell_magic", "run_line_magic"})


class AwaitedCell:
    """Turn a cell whose first line is ``%%codemode …`` into one awaited call; every other cell is left alone.

    Where automatic awaiting is off (``%autoawait off``) the call is a plain one.
    """

    has_side_effects = True  # for IPython: not to be tried out on half-typed cells, whose magic it knows better

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def __call__(self, lines: list[str]) -> list[str]:
        """Return ``lines`` or the rewritten cell."""
        cell = "".join(lines)
        start = len(cell) - len(cell.lstrip())
        start = cell.rfind("\n", 0, start) + 1  # keeps the indentation of the first line that is not blank
        first, _, body = cell[start:].partition("\n")
        match = _FIRST_LINE.fullmatch(first.rstrip())
        if match is None:
            return lines
        if match["indent"]:  # an indented block was pasted
            body = dedent(cell[start:]).partition("\n")[2]
        waiting = "await " if self._shell.autoawait else ""
        call = f"run_cell_magic({MAGIC_NAME!r}, {match['options'].strip()!r}, {body!r})"
        return [f"{waiting}get_ipython().{call}\n"]


class AwaitedMagics:
    """Await what IPython made of ``%codemode …`` (and of ``name = %codemode …``), wherever ``await`` may stand."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def __call__(self, lines: list[str]) -> list[str]:
        """Return ``lines`` with ``await`` in front of the calls of our magics."""
        text = "".join(lines)
        if f"_magic({MAGIC_NAME!r}" not in text or not self._shell.autoawait:
            return lines
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            return lines  # Python says it better when the cell is run
        rows = _PYTHON_LINE.findall(text)
        for call in sorted(_calls(tree), key=lambda node: (node.lineno, node.col_offset), reverse=True):
            row = rows[call.lineno - 1].encode()
            rows[call.lineno - 1] = (row[: call.col_offset] + b"await " + row[call.col_offset :]).decode()
        return "".join(rows).splitlines(keepends=True)


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls of our magics that are a statement or the value of an assignment, where ``await`` may stand."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            continue
        match child:
            case ast.Expr(value=ast.Call() as call) | ast.Assign(value=ast.Call() as call) if _is_our_magic(call):
                yield call
            case _:
                yield from _calls(child)


def _is_our_magic(call: ast.Call) -> bool:
    match call:
        case ast.Call(
            func=ast.Attribute(value=ast.Call(func=ast.Name(id="get_ipython")), attr=runner),
            args=[ast.Constant(value=name), *_],
        ):
            return runner in _RUNNERS and name == MAGIC_NAME
    return False
