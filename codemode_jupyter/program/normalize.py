"""A program in the one form that a sandbox runs: an expression that evaluates to ``async (input) => …``.

Owns: which value a program has, and the wrapper. Never runs anything and never looks at meaning beyond that.

What a program is worth
-----------------------
A function alone (an arrow, a function, in parentheses or not) is called with ``input``. Statements run in
order; ``return`` ends them, and a last expression is returned, called if it is a function or the name of
one. Only declarations: the last function that nothing else refers to is called. ``export default`` is the
value (called if it is a function); other exports are plain declarations. ``{a: 1}`` at the end is an object.

The wrapper (``wrapper.py``) holds even where the parser here and an engine read a text differently.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from tree_sitter import Node

from codemode_jupyter.program.edits import Edit, Shift, apply_edits, blanked, column_before
from codemode_jupyter.program.imports import Imports, import_not_available
from codemode_jupyter.program.modules import ModuleSet
from codemode_jupyter.program.parsing import descendants, find_child, named_children, outside_functions, text_of
from codemode_jupyter.program.script import Script, read_script
from codemode_jupyter.program.wrapper import LINES_BEFORE, wrapped

_FUNCTION_VALUES = frozenset(("arrow_function", "function_expression", "generator_function"))
_FUNCTION_DECLARATIONS = frozenset(("function_declaration", "generator_function_declaration"))
_DECLARATIONS = _FUNCTION_DECLARATIONS | {"class_declaration", "lexical_declaration", "variable_declaration"}


@dataclass(frozen=True, slots=True)
class Program:
    """A program that a sandbox can run.

    Attributes
    ----------
    source : str
        One JavaScript expression; evaluated in strict code, alone between parentheses on lines of their own,
        it gives a function of one parameter, ``input``, that returns a promise of the program's value.
    line_offset : int
        Line ``n`` of ``source`` is line ``n - line_offset`` of what was written.
    shifts : tuple of Shift
        Where something had to be put into a line; see ``written_column``.
    """

    source: str
    line_offset: int
    shifts: tuple[tuple[Shift, ...], ...] = ()

    def written_column(self, line: int, column: int) -> int:
        """Return the column as it was written, for a place that an engine reported.

        Columns are those of the source except on a line that got a ``return`` before its expression, an enum or a
        parameter property. ``line`` is the line as written, both count from 1.
        """
        for shifts in self.shifts:
            column = column_before(shifts, line, column)
        return column


def normalize_code(code: str) -> str:
    """Return the ``source`` of ``prepare_program``: an expression that evaluates to ``async (input) => …``.

    Raises
    ------
    CodemodeError
        As ``prepare_program``.
    """
    return prepare_program(code).source


def prepare_program(code: str, modules: ModuleSet | None = None) -> Program:
    """Make the one form that a sandbox runs of what a model or a person wrote.

    Parameters
    ----------
    code : str
        JavaScript or TypeScript: a function, statements, or a module with a default export; a Markdown fence
        and the sentences around it are taken off. Of any length; the runtime limits it.
    modules : ModuleSet or None, default None
        What it may import. The function then takes a second argument: ``(name) => Promise`` of a module's namespace.
        ``None``: nothing, and ``import(…)`` is left to the engine.

    Returns
    -------
    Program

    Raises
    ------
    CodemodeError
        ``syntax_error`` or ``import_not_available``, with ``line``, ``column`` (from 1, in ``code``) and
        ``excerpt`` in its data. What only an engine can see is left to it; see ``early_errors``.
    """
    script = read_script(code)
    imports = None if modules is None else Imports(script, modules.names, modules.exports_of)
    body = _Body(script, imports)
    body.read()
    if imports is None or not imports.are_used:
        text, shifts = apply_edits(script.text, body.edits)
        source = wrapped(text, "input", closing=body.closing)
    else:
        text, shifts = apply_edits(script.text, [*body.edits, *imports.edits])
        parameters = f"input, {imports.function}"
        source = wrapped(text, parameters, before=imports.declarations, closing=body.closing)
    return Program(source, LINES_BEFORE, (shifts, script.shifts))


class _Body:
    """The statements of a program, and the edits that give them a value."""

    def __init__(self, script: Script, imports: Imports | None) -> None:
        self.script = script
        self.imports = imports
        self.data = script.text.encode()
        self.edits: list[Edit] = []
        self.closing = ""
        self.statements: list[Node] = []
        self.default_name: str | None = None
        self.default_value: Node | None = None

    def read(self) -> None:
        for statement in _statements(self.script.root):
            if statement.type == "import_statement":
                if self.imports is None:
                    raise import_not_available(self.script, statement, ())
                self.imports.read(statement)
            elif statement.type == "export_statement":
                self.read_export(statement)
            else:
                self.statements.append(statement)
        if self.imports is not None:
            self.imports.read_dynamic()
        if self.default_value is not None:
            self.return_default_value(self.default_value)
        elif self.default_name is not None:
            self.return_name(self.default_name)
        elif not self.return_last_expression():
            self.call_main_function()

    # Exports

    def read_export(self, statement: Node) -> None:
        if statement.child_by_field_name("source") is not None:
            raise import_not_available(self.script, statement, ())
        keyword, default = statement.children[0], find_child(statement, "default")
        declaration = statement.child_by_field_name("declaration")
        value = statement.child_by_field_name("value")
        if default is not None and (self.default_name is not None or self.default_value is not None):
            raise self.script.error(default.start_byte, "A program can have only one default export.")
        if default is not None and value is not None:
            self.default_value = value
            self.statements.append(statement)
            return
        if declaration is None:
            self.default_name = _name_exported_as_default(statement) or self.default_name
            self.edits.append(blanked(self.data, statement.start_byte, statement.end_byte, first=";"))
            return
        self.statements.append(declaration)
        self.edits.append(blanked(self.data, keyword.start_byte, keyword.end_byte))
        if default is not None:
            self.edits.append(blanked(self.data, default.start_byte, default.end_byte))
            name = declaration.child_by_field_name("name")
            self.default_name = None if name is None else text_of(name)

    def return_default_value(self, value: Node) -> None:
        """Make the value where it stands; a function is called after everything else."""
        statement = next(node for node in self.statements if node.child_by_field_name("value") == value)
        keyword, default = statement.children[0], find_child(statement, "default")
        name = "default_" + hashlib.sha256(self.data).hexdigest()[:16]
        self.edits.append(Edit(keyword.start_byte, keyword.end_byte, "const"))
        if default is not None:
            self.edits.append(Edit(default.start_byte, default.end_byte, f"{name} ="))
        self.edits.append(Edit(value.end_byte, value.end_byte, ";"))
        self.closing = f"return {name}{'(input)' if self.is_function(value) else ''}; "

    def return_name(self, name: str) -> None:
        self.closing = f"return {name}{'(input)' if name in self.functions() else ''}; "

    # Values

    def return_last_expression(self) -> bool:
        """Return the last statement's value, if it is an expression; functions after it do nothing when reached."""
        statements = self.statements
        while running := [node for node in statements if node.type not in _FUNCTION_DECLARATIONS]:
            last = running[-1]
            while last.type == "labeled_statement" and (body := last.child_by_field_name("body")) is not None:
                last = body
            if last.type == "expression_statement":
                self.return_expression(named_children(last)[0], last.start_byte)
                return True
            if last.type != "statement_block":
                return False
            if _is_object(last):
                self.return_expression(last, last.start_byte)
                return True
            statements = _statements(last)
        return False

    def return_expression(self, value: Node, start: int) -> None:
        """Put ``return (`` right before the value.

        On a line of its own it would leave the columns alone, but V8 gives the place of a missing name in a returned
        expression as that of the ``return``.
        """
        end = ")(input);" if self.is_function(value) else ");"
        self.edits.append(Edit(start, start, "return ("))
        self.edits.append(Edit(value.end_byte, value.end_byte, end))

    def call_main_function(self) -> None:
        """Of declarations alone, call the last function that nothing else refers to."""
        if any(node.type not in _DECLARATIONS or _awaits(node) for node in self.statements):
            return
        used: dict[str, list[int]] = {}
        for node in descendants(self.script.root):
            if node.type in ("identifier", "shorthand_property_identifier"):
                used.setdefault(text_of(node), []).append(node.start_byte)
        for name, declaration in reversed(self.functions().items()):
            inside = range(declaration.start_byte, declaration.end_byte)
            if all(offset in inside for offset in used[name]):
                self.closing = f"return {name}(input); "
                return

    def functions(self) -> dict[str, Node]:
        """Collect the functions that the program declares at its top, by name."""
        functions: dict[str, Node] = {}
        for statement in self.statements:
            if statement.type in _FUNCTION_DECLARATIONS:
                declarators = [statement]
            elif statement.type in _DECLARATIONS:
                declarators = [node for node in named_children(statement) if node.type == "variable_declarator"]
            else:
                continue
            for node in declarators:
                name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
                if name is not None and name.type == "identifier" and (node is statement or _is_function(value)):
                    functions[text_of(name)] = node
        return functions

    def is_function(self, value: Node) -> bool:
        """Whether a value is a function, written out or named."""
        value = _without_parentheses(value)
        return _is_function(value) or (value.type == "identifier" and text_of(value) in self.functions())


def _statements(node: Node) -> list[Node]:
    return [child for child in named_children(node) if child.type not in ("empty_statement", "hash_bang_line")]


def _name_exported_as_default(statement: Node) -> str | None:
    clause = find_child(statement, "export_clause")
    for specifier in named_children(clause) if clause is not None else []:
        name, alias = specifier.child_by_field_name("name"), specifier.child_by_field_name("alias")
        if name is not None and alias is not None and text_of(alias) == "default":
            return text_of(name)
    return None


def _without_parentheses(node: Node) -> Node:
    while node.type == "parenthesized_expression":
        node = named_children(node)[0]
    return node


def _is_function(node: Node | None) -> bool:
    return node is not None and _without_parentheses(node).type in _FUNCTION_VALUES


def _is_object(block: Node) -> bool:
    """Whether a block holds nothing but names: ``{ a, b }`` is an object to everybody but the grammar."""
    inside = [child for child in block.children if child.type not in ("{", "}", "comment")]
    if len(inside) != 1 or inside[0].type != "expression_statement" or find_child(inside[0], ";") is not None:
        return False
    names = named_children(inside[0])[0]
    parts = named_children(names) if names.type == "sequence_expression" else [names]
    return all(part.type == "identifier" for part in parts)


def _awaits(statement: Node) -> bool:
    """Whether a declaration waits for something, and so does the program's work itself."""
    return any(node.type == "await_expression" for node in outside_functions(statement))
