"""Imports of a text: taken out of it, and given back by a function that the sandbox hands in.

Owns: what stands in for an import, in programs and in modules. ``import { a as b } from "m"`` becomes
``const {["a"]: b} = await import_…("m");`` before the first line of the text (its own line is left blank), and
``import("m")`` becomes ``import_…("m")``. The function's name is derived from the text, so no text can hold its own.
Never does: load anything. No engine ever sees an import, so there is nothing it could fetch.

A name has the value that the module's evaluation left it with: a later change in the module is not seen.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Sequence

from tree_sitter import Node

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.program.edits import Edit, blanked
from codemode_jupyter.program.parsing import descendants, find_child, text_of
from codemode_jupyter.program.script import Script
from codemode_jupyter.program.specifiers import import_bindings, module_name

ExportsOf = Callable[[str], Sequence[str]]
"""The names that a module exports; asked only for modules that there are."""


class Imports:
    """The imports of one text.

    Attributes
    ----------
    function : str
        The name of the function that imports; a parameter of the wrapper.
    edits : list of Edit
        What takes the imports out of the text.
    """

    def __init__(self, script: Script, names: Collection[str], exports_of: ExportsOf) -> None:
        self._script = script
        self._names = names
        self._exports_of = exports_of
        self._data = script.text.encode()
        self._digest = hashlib.sha256(self._data).hexdigest()[:16]
        self._declarations: list[str] = []
        self.function = f"import_{self._digest}"
        self.edits: list[Edit] = []
        self.are_used = False

    @property
    def declarations(self) -> str:
        """The declarations that stand in for the imports, on one line."""
        return "".join(self._declarations)

    def read(self, statement: Node) -> None:
        """Take an import out of the text.

        Raises
        ------
        CodemodeError
            ``import_not_available``, with its place.
        """
        module = self.module_of(statement)
        exported = self._exports_of(module)
        names = []
        for binding in import_bindings(statement):
            local = text_of(binding.local)
            if binding.imported is None:
                self._declare(f"const {local} = ", module)
                continue
            self.check_exported(statement, module, binding.imported, exported)
            names.append(f"[{json.dumps(binding.imported)}]: {local}")
        self._declare(f"const {{{', '.join(names)}}} = " if names else "", module)
        self.take_out(statement)

    def read_dynamic(self) -> None:
        """Send ``import(…)`` to the function as well."""
        for node in descendants(self._script.root):
            function = node.child_by_field_name("function") if node.type == "call_expression" else None
            if function is not None and function.type == "import":
                self.edits.append(Edit(function.start_byte, function.end_byte, self.function))
                self.are_used = True

    def namespace(self, module: str) -> str:
        """Declare a variable for a module's namespace and return its name."""
        variable = f"module_{len(self._declarations)}_{self._digest}"
        self._declare(f"const {variable} = ", module)
        return variable

    def take_out(self, statement: Node) -> None:
        """Leave blanks in the place of a statement."""
        self.edits.append(blanked(self._data, statement.start_byte, statement.end_byte, first=";"))

    def module_of(self, statement: Node) -> str:
        """Return the name of the module that a statement is about, or refuse it."""
        name = module_name(statement)
        if name is None or name not in self._names:
            raise import_not_available(self._script, statement, self._names)
        if (attribute := find_child(statement, "import_attribute")) is not None:
            raise self._script.error(attribute.start_byte, "Modules here have no import attributes; leave them out.")
        return name

    def check_exported(self, statement: Node, module: str, name: str, exported: Sequence[str]) -> None:
        """Refuse a name that a module does not export."""
        if name in exported:
            return
        has = ", ".join(f"`{known}`" for known in exported[:20]) or "nothing"
        raise self._script.error(
            statement.start_byte,
            f"The module {json.dumps(module, ensure_ascii=False)} does not export `{name}`; it exports {has}.",
            hint="A name that is only a type is imported with `import type`.",
            code="import_not_available",
        )

    def _declare(self, start: str, module: str) -> None:
        self._declarations.append(f"{start}await {self.function}({json.dumps(module)}); ")
        self.are_used = True


def import_not_available(script: Script, statement: Node, names: Collection[str]) -> CodemodeError:
    """Return the refusal of an import of a module that there is not."""
    source = statement.child_by_field_name("source")
    module = "" if source is None else f" of {text_of(source)}"
    hint = "Leave it out: standard JavaScript, `codemode` and the connectors are there without imports."
    if names:
        hint = f"What can be imported: {', '.join(json.dumps(name, ensure_ascii=False) for name in names)}. {hint}"
    return script.error(
        statement.start_byte,
        f"An import{module} is not available in a program.",
        hint=hint,
        code="import_not_available",
    )
