"""Mistakes that the grammar accepts and an engine would refuse before running anything.

Owns: names declared twice, ``const`` without a value, ``await`` and ``yield`` outside their functions,
``break`` and ``continue`` without a target, ``return`` in a static block, octal numbers, ``with``, JSX,
decorators, ``import.meta`` and HTML-like comments. A module's rules hold, as ECMA-262 has them.

Left to the engine, which refuses the program before its first line, too: wrong targets of an assignment,
reserved words as names, bad regular expressions, private names that no class declares, ``super`` and
``new.target`` outside their functions, duplicate constructors, ``??`` mixed with ``||``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from tree_sitter import Node

from codemode_jupyter.program.parsing import find_child, named_children, text_of
from codemode_jupyter.program.specifiers import import_bindings
from codemode_jupyter.program.syntax import Fault

_FUNCTIONS = frozenset(
    (
        "function_declaration",
        "function_expression",
        "generator_function_declaration",
        "generator_function",
        "arrow_function",
        "method_definition",
    )
)
_LOOPS = frozenset(("for_statement", "for_in_statement", "while_statement", "do_statement"))
_BLOCKS = frozenset(("statement_block", "for_statement", "for_in_statement", "switch_body", "catch_clause"))
_FORBIDDEN = {
    "with_statement": "`with` is not allowed in strict code.",
    "decorator": "Decorators cannot run here; call the function yourself.",
    "html_comment": "HTML-like comments are not allowed; write `// …`.",
    "jsx_element": "JSX cannot run here; there is no page to render it.",
    "jsx_self_closing_element": "JSX cannot run here; there is no page to render it.",
}
_DEEPEST = 1000
_OCTAL = re.compile(r"0\d")


@dataclass(slots=True)
class _Scope:
    """The names of one block, and the scope around it within the same function."""

    outer: _Scope | None = None
    lexical: set[str] = field(default_factory=set)
    hoisted: set[str] = field(default_factory=set)
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        self.depth = 0 if self.outer is None else self.outer.depth + 1


@dataclass(frozen=True, slots=True)
class _Context:
    """What the code at a place may do."""

    scope: _Scope
    may_await: bool = True
    may_yield: bool = False
    may_return: bool = True
    in_loop: bool = False
    in_switch: bool = False
    labels: frozenset[str] = frozenset()
    at_function_top: bool = False


def first_early_error(root: Node) -> Fault | None:
    """Return the first such mistake in the order of the text, or None. The tree must have no parse errors."""
    stack: list[tuple[Node, _Context]] = [(root, _Context(_Scope()))]
    while stack:
        node, context = stack.pop()
        fault = _fault(node, context)
        if fault is not None:
            return fault
        stack.extend(reversed(list(_children(node, context))))
    return None


def _fault(node: Node, context: _Context) -> Fault | None:
    kind = node.type
    if context.scope.depth > _DEEPEST:
        return Fault(node.start_byte, "Blocks are nested too deeply here.")
    if kind in _FORBIDDEN:
        return Fault(node.start_byte, _FORBIDDEN[kind])
    check = _CHECKS.get(kind)
    return check(node, context) if check is not None and node.is_named else None


# What may stand where


def _check_await(node: Node, context: _Context) -> Fault | None:
    if context.may_await:
        return None
    return Fault(node.start_byte, "`await` needs an async function; write `async` before the function around it.")


def _check_yield(node: Node, context: _Context) -> Fault | None:
    return None if context.may_yield else Fault(node.start_byte, "`yield` needs a generator function (`function*`).")


def _check_return(node: Node, context: _Context) -> Fault | None:
    return None if context.may_return else Fault(node.start_byte, "`return` cannot stand in a static block.")


def _check_jump(node: Node, context: _Context) -> Fault | None:
    word = node.children[0].type
    label = node.child_by_field_name("label")
    if label is not None:
        known = text_of(label) in context.labels
        return None if known else Fault(label.start_byte, f"There is no label `{text_of(label)}` around this `{word}`.")
    if context.in_loop or (word == "break" and context.in_switch):
        return None
    return Fault(node.start_byte, f"`{word}` needs a loop around it.")


def _check_meta_property(node: Node, _: _Context) -> Fault | None:
    is_import = text_of(node).startswith("import")
    return Fault(node.start_byte, "`import.meta` does not exist here.") if is_import else None


def _check_number(node: Node, _: _Context) -> Fault | None:
    is_octal = _OCTAL.match(text_of(node)) is not None
    return Fault(node.start_byte, "A number cannot begin with 0; write 0o… for octal.") if is_octal else None


# Names


def _check_declaration(node: Node, context: _Context) -> Fault | None:
    """``let``, ``const`` and ``var`` statements."""
    keyword = node.children[0].type
    for declarator in named_children(node):
        name = declarator.child_by_field_name("name")
        if name is None:
            continue
        if keyword == "const" and declarator.child_by_field_name("value") is None:
            return Fault(name.start_byte, f"The constant `{text_of(name)}` needs a value.")
        if (fault := _declare_pattern(name, keyword, context)) is not None:
            return fault
    return None


def _check_for_in(node: Node, context: _Context) -> Fault | None:
    kind, left = node.child_by_field_name("kind"), node.child_by_field_name("left")
    awaits = find_child(node, "await")
    if awaits is not None and not context.may_await:
        return _check_await(awaits, context)
    if kind is None or left is None:
        return None
    return _declare_pattern(left, kind.type, replace(context, scope=_Scope(context.scope)))


def _check_import(node: Node, context: _Context) -> Fault | None:
    for binding in import_bindings(node):
        if (fault := _declare(binding.local, "import", context.scope)) is not None:
            return fault
    return None


def _check_class(node: Node, context: _Context) -> Fault | None:
    name = node.child_by_field_name("name")
    return None if name is None else _declare(name, "class", context.scope)


def _check_function(node: Node, context: _Context) -> Fault | None:
    """Check a name that is a block's own, but at the top of a function may be a ``var``'s, too."""
    name = node.child_by_field_name("name")
    if name is None:
        return None
    return _declare(name, "var" if context.at_function_top else "function", context.scope)


def _declare_pattern(pattern: Node, keyword: str, context: _Context) -> Fault | None:
    for name in bound_names(pattern):
        if (fault := _declare(name, keyword, context.scope)) is not None:
            return fault
    return None


def _declare(node: Node, keyword: str, scope: _Scope) -> Fault | None:
    name = text_of(node)
    fault = Fault(node.start_byte, f"`{name}` is declared twice in one block.")
    if keyword != "var":
        if name in scope.lexical or name in scope.hoisted:
            return fault
        scope.lexical.add(name)
        return None
    around: _Scope | None = scope
    while around is not None and name not in around.hoisted:
        if name in around.lexical:
            return fault
        around.hoisted.add(name)
        around = around.outer
    return None


def bound_names(pattern: Node) -> Iterator[Node]:
    """Yield the identifiers that a pattern declares."""
    stack = [pattern]
    while stack:
        node = stack.pop()
        if node.type in ("identifier", "shorthand_property_identifier_pattern"):
            yield node
        elif node.type in ("assignment_pattern", "object_assignment_pattern"):
            stack += [left for left in (node.child_by_field_name("left"),) if left is not None]
        elif node.type == "pair_pattern":
            stack += [value for value in (node.child_by_field_name("value"),) if value is not None]
        elif node.type in ("object_pattern", "array_pattern", "rest_pattern"):
            stack += reversed(named_children(node))


# The way down


def _children(node: Node, context: _Context) -> Iterable[tuple[Node, _Context]]:
    """Give the children, each with what holds for it."""
    kind = node.type
    if context.at_function_top:
        context = replace(context, at_function_top=False)
    if kind in _FUNCTIONS:
        return _function_children(node, context)
    if kind == "class_static_block":
        return _body_children(node, context, _Context(_Scope(), may_await=False, may_return=False))
    if kind == "field_definition":
        value, inside = node.child_by_field_name("value"), _Context(_Scope(), may_await=False)
        return [(child, inside if child == value else context) for child in node.named_children]
    inside = _inside_statement(node, context)
    return [(child, inside) for child in node.named_children]


def _inside_statement(node: Node, context: _Context) -> _Context:
    """Return what holds inside a block, a loop, a switch or a labelled statement."""
    kind = node.type
    label = node.child_by_field_name("label") if kind == "labeled_statement" else None
    if label is not None:
        context = replace(context, labels=context.labels | {text_of(label)})
    if kind in _BLOCKS:
        scope = _Scope(context.scope)
        if kind == "for_in_statement":
            _redeclare_loop_names(node, scope)
        context = replace(context, scope=scope)
    if kind in _LOOPS:
        context = replace(context, in_loop=True)
    if kind == "switch_body":
        context = replace(context, in_switch=True)
    return context


def _redeclare_loop_names(node: Node, scope: _Scope) -> None:
    """Put the head's names, already checked, in the scope around the body, which may shadow them."""
    kind, left = node.child_by_field_name("kind"), node.child_by_field_name("left")
    if kind is not None and left is not None and kind.type != "var":
        for name in bound_names(left):
            scope.lexical.add(text_of(name))


def _function_children(node: Node, context: _Context) -> Iterable[tuple[Node, _Context]]:
    is_generator = "generator" in node.type or find_child(node, "*") is not None
    inside = _Context(_Scope(), may_await=find_child(node, "async") is not None, may_yield=is_generator)
    parameters = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
    if parameters is not None:
        patterns = named_children(parameters) if parameters.type == "formal_parameters" else [parameters]
        for pattern in patterns:
            inside.scope.hoisted.update(text_of(name) for name in bound_names(pattern))
    return _body_children(node, context, inside)


def _body_children(node: Node, around: _Context, inside: _Context) -> Iterable[tuple[Node, _Context]]:
    """Yield the children of a function; its body is not another scope, the parameters belong to it."""
    name = node.child_by_field_name("name")
    for child in node.named_children:
        if child == name:
            yield child, around
        elif child.type == "statement_block":
            top = replace(inside, at_function_top=True)
            yield from ((statement, top) for statement in child.named_children)
        else:
            yield child, inside


_CHECKS = {
    "await_expression": _check_await,
    "yield_expression": _check_yield,
    "return_statement": _check_return,
    "break_statement": _check_jump,
    "continue_statement": _check_jump,
    "meta_property": _check_meta_property,
    "number": _check_number,
    "lexical_declaration": _check_declaration,
    "variable_declaration": _check_declaration,
    "for_in_statement": _check_for_in,
    "class_declaration": _check_class,
    "import_statement": _check_import,
    "function_declaration": _check_function,
    "generator_function_declaration": _check_function,
}
