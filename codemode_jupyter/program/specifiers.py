"""What import and export statements say: the module, and each pair of names.

Owns: reading these statements from the tree (ECMAScript 16.2). Never judges whether a module or a name exists.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from codemode_jupyter.program.parsing import find_child, named_children, text_of


class Binding(NamedTuple):
    """One name that an import declares; ``imported`` is ``None`` for the whole namespace (``* as name``)."""

    imported: str | None
    local: Node


class Renaming(NamedTuple):
    """One entry of an export list: the name on its left, the exported name, and whether the left one is a variable."""

    name: str
    exported: str
    is_variable: bool


def module_name(statement: Node) -> str | None:
    """Return the module's name; ``None`` when the statement has none, or one that is written with escapes."""
    source = statement.child_by_field_name("source")
    if source is None or find_child(source, "escape_sequence") is not None:
        return None
    return string_value(source)


def import_bindings(statement: Node) -> Iterator[Binding]:
    """Yield what an import declares, in the order of the text."""
    clause = find_child(statement, "import_clause")
    for node in named_children(clause) if clause is not None else []:
        if node.type == "identifier":
            yield Binding("default", node)
        elif node.type == "namespace_import":
            yield Binding(None, named_children(node)[0])
        elif node.type == "named_imports":
            for specifier in named_children(node):
                left, right = _sides(specifier)
                yield Binding(_name(left), right)


def export_renamings(statement: Node) -> Iterator[Renaming]:
    """Yield the entries of ``export { … }``."""
    clause = find_child(statement, "export_clause")
    for specifier in named_children(clause) if clause is not None else []:
        left, right = _sides(specifier)
        yield Renaming(_name(left), _name(right), left.type == "identifier")


def string_value(node: Node) -> str:
    """Return the value of a string without escapes."""
    return text_of(node)[1:-1]


def _sides(specifier: Node) -> tuple[Node, Node]:
    """Return the nodes before and after ``as``; the grammar has no field for a side that is ``default``."""
    sides = [child for child in specifier.children if child.type not in ("as", "comment")]
    return sides[0], sides[-1]


def _name(node: Node) -> str:
    return string_value(node) if node.type == "string" else text_of(node)
