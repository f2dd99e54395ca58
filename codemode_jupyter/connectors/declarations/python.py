"""Tools as Python stubs: what a model reads before it writes a Python program.

Owns: the declared namespace and its methods, as a class of the connector's name (PEP 484 stub syntax).
Never does: types of schemas (``python_types.py``).
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Mapping

from codemode_jupyter.connectors.declarations.comments import text_lines
from codemode_jupyter.connectors.declarations.python_types import IMPORTED, TAKEN, PythonTypes, is_parameter
from codemode_jupyter.connectors.declarations.typescript import needs_arguments, takes_arguments, tool_notes
from codemode_jupyter.connectors.names import sanitize_name
from codemode_jupyter.connectors.schemas.reader import SchemaReader, ShapeNames
from codemode_jupyter.connectors.schemas.shapes import ANY_OBJECT, UNKNOWN, Named, Record, Shape
from codemode_jupyter.connectors.tool import Tool

_LONGEST_LINE = 100
_MODULES = ("builtins", "datetime", "decimal", "typing", "uuid")
"""Modules whose types the stubs may name."""


def generate_stubs(tools: Iterable[Tool] | Mapping[str, Tool], namespace: str = "codemode") -> str:
    """Return the Python stubs of a namespace of tools.

    Parameters
    ----------
    tools : iterable or mapping of Tool
        The tools, in the order in which they are declared.
    namespace : str, default "codemode"
        Name of the global.

    Returns
    -------
    str
        Stub syntax: the imports, a ``TypedDict`` for each object, and a class whose static methods are the tools. A
        tool whose parameters can all be written as keywords takes them so; any other takes one object.
    """
    listed = list(tools.values() if isinstance(tools, Mapping) else tools)
    own = _identifier(namespace)
    methods = {tool.name: _identifier(tool.name) for tool in listed}
    names = ShapeNames(TAKEN | {own, *methods.values()})
    signatures = [_read(tool, names) for tool in listed]
    types = PythonTypes(names, frozenset(methods.values()))
    types.declare_named()
    lines: list[str] = []
    for tool, (given, result) in zip(listed, signatures, strict=True):
        lines += ["", *_method(tool, methods[tool.name], given, result, types)]
    body = lines[1:] or ["    ..."]
    text = "\n".join([*types.lines, "", f"class {own}:", *body] if types.lines else [f"class {own}:", *body])
    return f"{_imports(text)}{text}"


def _read(tool: Tool, names: ShapeNames) -> tuple[Shape | None, Shape | None]:
    """Return the shapes of what a tool takes and gives; ``None`` for nothing, and for what is not known."""
    given: Shape | None = None
    if takes_arguments(tool.input_schema):
        given = SchemaReader(tool.input_schema, names).whole()
        if not _as_keywords(given):
            given = Named(names.declare(tool.input_schema, f"{tool.name}-input"))
    if tool.output_schema is None:
        return given, None
    name = names.declare(tool.output_schema, f"{tool.name}-output")
    shape = names.declarations[name].shape
    if isinstance(shape, Record) and shape.fields:
        return given, Named(name)
    del names.declarations[name]  # short enough to be written where it is used
    return given, shape


def _as_keywords(shape: Shape) -> bool:
    """Say whether an object of arguments can be written as keywords."""
    if not isinstance(shape, Record):
        return False
    return bool(shape.fields) and not shape.says_others and all(is_parameter(one.name) for one in shape.fields)


def _method(tool: Tool, name: str, given: Shape | None, result: Shape | None, types: PythonTypes) -> list[str]:
    notes = [line for note in tool_notes(tool) for line in text_lines(note)]
    parameters: list[str] = []
    if isinstance(given, Record) and given != ANY_OBJECT:
        parameters.append("*")
        for one in given.fields:
            text = types.write(one.shape, f"{tool.name}-{one.name}")
            parameters.append(f"{one.name}: {text}" if one.required else f"{one.name}: {text} = ...")
            said = [line for note in one.notes for line in text_lines(note)]
            notes += [f"{one.name}: {said[0]}", *(f"    {line}" for line in said[1:])] if said else []
    elif given is not None:
        text = types.write(given, f"{tool.name}-input")
        parameters.append(f"input: {text}" if needs_arguments(tool.input_schema) else f"input: {text} = ...")
    returned = types.write(UNKNOWN if result is None else result, f"{tool.name}-output")
    shown = [f"# {tool.name!a} is called {name} here"] if name != tool.name else []
    inside = ["..."]
    if notes:
        first, *others = _documented(notes)
        inside = [f'"""{first}', *others]
        inside[-1] += '"""'
    return [
        f"    {line}".rstrip()
        for line in (
            *shown,
            "@staticmethod",
            *_signature(name, parameters, returned),
            *(f"    {one}" for one in inside),
        )
    ]


def _signature(name: str, parameters: list[str], returned: str) -> list[str]:
    """Return the head of a method, on several lines where it is long."""
    line = f"async def {name}({', '.join(parameters)}) -> {returned}:"
    if len(line) <= _LONGEST_LINE:
        return [line]
    return [f"async def {name}(", *(f"    {parameter}," for parameter in parameters), f") -> {returned}:"]


def _documented(lines: list[str]) -> list[str]:
    """Return lines as the inside of a docstring; nothing in them can end it."""
    *others, last = lines
    if last.endswith('"'):  # it would join the quotes that close
        return [*map(_escaped, others), _escaped(last[:-1]) + '\\"']
    return [*map(_escaped, others), _escaped(last)]


def _escaped(line: str) -> str:
    return line.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def _imports(text: str) -> str:
    """Return the import lines that a text needs."""
    used = [name for name in IMPORTED if re.search(rf"\b{name}\b", text)]
    lines = [f"import {module}" for module in _MODULES if re.search(rf"\b{module}\.[A-Za-z]", text)]
    lines += [f"from typing import {', '.join(used)}"] if used else []
    return "\n".join([*lines, "", ""]) if lines else ""


def _identifier(name: str) -> str:
    """Return a name as Python can write it: JavaScript also allows ``$``."""
    made = name.replace("$", "_") if name.replace("$", "_").isidentifier() else sanitize_name(name).replace("$", "_")
    return f"{made}_" if keyword.iskeyword(made) else made
