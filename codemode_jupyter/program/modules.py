"""Modules that programs may import by name: each an async function of the importing function, giving its namespace.

Owns: the set of modules of one runtime, what each exports, and the refusals of what cannot be one. Never runs anything.
A name that ends with ``.py`` is a module for programs in Python, whose text goes to the sandbox as it is.

An ES module becomes statements: its imports are what ``imports.py`` makes of them, ``export`` is taken off its
declarations, and the exported values are returned at the end. So exports are values, not live bindings, and modules may
not import each other in a circle.
"""

from __future__ import annotations

import hashlib
import json
import keyword
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.program.early_errors import bound_names
from codemode_jupyter.program.edits import Edit, apply_edits, blanked
from codemode_jupyter.program.imports import ExportsOf, Imports
from codemode_jupyter.program.parsing import find_child, named_children, outside_functions, text_of
from codemode_jupyter.program.python_syntax import check_python
from codemode_jupyter.program.script import Script, read_script
from codemode_jupyter.program.specifiers import export_renamings
from codemode_jupyter.program.wrapper import LINES_BEFORE, wrapped

PYTHON_ENDING = ".py"


@dataclass(frozen=True, slots=True)
class Module:
    """A module that a sandbox can evaluate.

    ``source`` is an expression of an async function that takes the function ``(name) => Promise`` by which it imports
    and returns an object of what it exports; line ``n`` of it is line ``n - line_offset`` of what was written.
    ``digest`` is the SHA-256 of what was written.
    """

    name: str
    source: str
    line_offset: int
    exports: tuple[str, ...]
    digest: str


class ModuleSet:
    """The modules that a runtime's programs may import.

    Parameters
    ----------
    sources : mapping of str to str
        JavaScript or TypeScript by the name that ``import`` has; any text can be a name, and none means more than
        that. ``"name.py"`` is Python, for ``import name``.

    Raises
    ------
    CodemodeError
        ``invalid_option``: not texts by name; ``syntax_error``, ``import_not_available``, ``invalid_module`` with the
        module's name and the place.
    """

    def __init__(self, sources: Mapping[str, str] | None = None) -> None:
        self._sources = _checked({} if sources is None else sources)
        self._modules: dict[str, Module] = {}
        self._under_way: list[str] = []
        self.names = tuple(name for name in self._sources if not _is_python(name))
        """What JavaScript imports, by the same names."""
        self.python_names = tuple(name.removesuffix(PYTHON_ENDING) for name in self._sources if _is_python(name))
        """What Python imports."""
        for name in self._sources:
            self.exports_of(name)

    def __iter__(self) -> Iterator[Module]:
        return (self._modules[name] for name in self._sources)

    def exports_of(self, name: str) -> tuple[str, ...]:
        """Return what a module exports."""
        if name not in self._modules:
            self._modules[name] = self._prepared(name)
        return self._modules[name].exports

    @property
    def digests(self) -> dict[str, str]:
        """SHA-256 of each module's text, by name."""
        return {module.name: module.digest for module in self}

    def _prepared(self, name: str) -> Module:
        if name in self._under_way:
            circle = " → ".join(json.dumps(each) for each in (*self._under_way[self._under_way.index(name) :], name))
            raise CodemodeError("invalid_module", f"Modules import each other in a circle: {circle}.")
        written = self._sources[name]
        digest = hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()
        if _is_python(name):
            return _python_module(name, written, digest)
        self._under_way.append(name)
        try:
            script = read_script(written)
            body = _ModuleBody(script, self.names, self.exports_of)
            source = body.source()
        except CodemodeError as fault:
            raise _of_module(name, fault) from None
        finally:
            self._under_way.pop()
        return Module(name, source, LINES_BEFORE, tuple(body.exports), digest)


class _ModuleBody:
    """The statements of a module, and the edits that take imports and exports out of them."""

    def __init__(self, script: Script, names: tuple[str, ...], exports_of: ExportsOf) -> None:
        self.script = script
        self.data = script.text.encode()
        self.exports_of = exports_of
        self.imports = Imports(script, names, exports_of)
        self.edits: list[Edit] = []
        self.exports: dict[str, str] = {}
        """Expressions by exported name."""
        self.passed_on: dict[str, str] = {}
        """The same of ``export * from``: an export of the module's own comes first."""

    def source(self) -> str:
        for node in outside_functions(self.script.root):
            if node.type == "return_statement":
                raise self.script.error(node.start_byte, "A module cannot return; it exports what it makes.")
        for statement in named_children(self.script.root):
            if statement.type == "import_statement":
                self.imports.read(statement)
            elif statement.type == "export_statement":
                self.read_export(statement)
        self.imports.read_dynamic()
        self.exports = {**self.passed_on, **self.exports}
        text, _ = apply_edits(self.script.text, [*self.edits, *self.imports.edits])
        fields = "".join(f", [{json.dumps(name)}]: {value}" for name, value in self.exports.items())
        closing = f"return {{ __proto__: null{fields} }}; "
        return wrapped(text, self.imports.function, before=self.imports.declarations, closing=closing)

    def read_export(self, statement: Node) -> None:
        declaration = statement.child_by_field_name("declaration")
        value = statement.child_by_field_name("value")
        if statement.child_by_field_name("source") is not None:
            self.pass_on(statement)
        elif declaration is not None:
            self.export_declaration(statement, declaration)
        elif value is not None:
            self.export_default_value(statement, value)
        else:
            for renaming in export_renamings(statement):
                if not renaming.is_variable:
                    raise self.script.error(statement.start_byte, f"`{renaming.name}` is not the name of a variable.")
                self.export(statement, renaming.exported, renaming.name)
            self.imports.take_out(statement)

    def pass_on(self, statement: Node) -> None:
        """``export … from "m"``."""
        module = self.imports.module_of(statement)
        exported = self.exports_of(module)
        variable = self.imports.namespace(module)
        namespace = find_child(statement, "namespace_export")
        if namespace is not None:
            name = named_children(namespace)[0]
            text = text_of(name)[1:-1] if name.type == "string" else text_of(name)
            self.export(statement, text, variable)
        elif find_child(statement, "export_clause") is not None:
            for renaming in export_renamings(statement):
                self.imports.check_exported(statement, module, renaming.name, exported)
                self.export(statement, renaming.exported, f"{variable}[{json.dumps(renaming.name)}]")
        else:
            for name_ in exported:
                if name_ in self.passed_on:
                    problem = f"Two modules export `{name_}`; say which one is meant: `export {{ {name_} }} from …`."
                    raise self.script.error(statement.start_byte, problem, code="invalid_module")
                if name_ != "default":
                    self.passed_on[name_] = f"{variable}[{json.dumps(name_)}]"
        self.imports.take_out(statement)

    def export_declaration(self, statement: Node, declaration: Node) -> None:
        keyword, default = statement.children[0], find_child(statement, "default")
        self.edits.append(blanked(self.data, keyword.start_byte, keyword.end_byte))
        if default is not None:
            self.edits.append(blanked(self.data, default.start_byte, default.end_byte))
        for name in _declared_names(declaration):
            self.export(statement, "default" if default is not None else text_of(name), text_of(name))

    def export_default_value(self, statement: Node, value: Node) -> None:
        keyword, default = statement.children[0], find_child(statement, "default")
        variable = "default_" + hashlib.sha256(self.data).hexdigest()[:16]
        self.edits.append(Edit(keyword.start_byte, keyword.end_byte, "const"))
        if default is not None:
            self.edits.append(Edit(default.start_byte, default.end_byte, f"{variable} ="))
        self.edits.append(Edit(value.end_byte, value.end_byte, ";"))
        self.export(statement, "default", variable)

    def export(self, statement: Node, name: str, value: str) -> None:
        if name in self.exports:
            raise self.script.error(statement.start_byte, f"`{name}` is exported twice.")
        if name == "then":
            problem = "A module cannot export `then`: whoever imports it would take it for a promise."
            raise self.script.error(statement.start_byte, problem, code="invalid_module")
        self.exports[name] = value


def _declared_names(declaration: Node) -> Iterator[Node]:
    if declaration.type in ("lexical_declaration", "variable_declaration"):
        for declarator in named_children(declaration):
            pattern = declarator.child_by_field_name("name")
            if pattern is not None:
                yield from bound_names(pattern)
    elif (name := declaration.child_by_field_name("name")) is not None:
        yield name


def _checked(sources: object) -> dict[str, str]:
    if not isinstance(sources, Mapping):
        raise CodemodeError("invalid_option", f"modules={sources!r} is not a mapping of names to texts.")
    for name, source in sources.items():
        if not isinstance(name, str) or not name or not name.isprintable() or not isinstance(source, str):
            raise CodemodeError(
                "invalid_option",
                f"modules[{name!r}] is not a module: a printable name and its text are needed.",
                hint='Write modules={"name": "export const answer = 42"}.',
            )
        if _is_python(name) and not (name[:-3].isidentifier() and not keyword.iskeyword(name[:-3])):
            raise CodemodeError(
                "invalid_option", f"modules[{name!r}] cannot be imported: {name[:-3]!r} is no name in Python."
            )
    return dict(sources)


def _is_python(name: str) -> bool:
    return name.endswith(PYTHON_ENDING)


def _python_module(name: str, written: str, digest: str) -> Module:
    try:
        check_python(written)
    except CodemodeError as fault:
        raise _of_module(name, fault) from None
    return Module(name, written, 0, (), digest)


def _of_module(name: str, fault: CodemodeError) -> CodemodeError:
    """Return a fault with the module it was found in; one of a module that it imports stays as it is."""
    data = fault.data or {}
    if "module" in data:
        return fault
    place = f", line {data['line']}, column {data['column']}" if "line" in data else ""
    message = f"Module {json.dumps(name, ensure_ascii=False)}{place}: {fault.message}"
    return CodemodeError(fault.code, message, hint=fault.hint, data={**data, "module": name})
