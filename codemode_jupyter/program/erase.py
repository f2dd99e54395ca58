"""TypeScript to JavaScript: types become blanks, so that every line and column stays as it was written.

Owns: what is a type and what is not. The two constructs that have a meaning at run time and that models do
write, enums and parameter properties, are handed to ``transform``; what cannot be erased otherwise is
refused with the place and the way to write it. Never checks types.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tree_sitter import Node

from codemode_jupyter.program.edits import Edit, blanked
from codemode_jupyter.program.parsing import after_trivia, find_child, named_children, text_of
from codemode_jupyter.program.transform import enum_edits, parameter_property_edits

_TYPES = frozenset(
    (
        "type_annotation",
        "type_parameters",
        "type_arguments",
        "type_predicate_annotation",
        "asserts_annotation",
        "implements_clause",
        "adding_type_annotation",
        "omitting_type_annotation",
        "opting_type_annotation",
    )
)
_MODIFIERS = frozenset(("accessibility_modifier", "override_modifier", "readonly", "declare", "abstract"))
_TYPE_STATEMENTS = frozenset(
    (
        "interface_declaration",
        "type_alias_declaration",
        "ambient_declaration",
        "abstract_method_signature",
        "index_signature",
    )
)
_REFUSED = {
    "internal_module": "A namespace cannot run here; write an object or plain functions.",
    "module": "A module declaration cannot run here; write an object or plain functions.",
    "decorator": "Decorators cannot run here; call the function yourself.",
    "type_assertion": "`<T>value` cannot be erased; write `value as T`.",
    "import_alias": "`import x = …` cannot run here; write `const x = …`.",
}
_CASTS = ("as_expression", "satisfies_expression")
_STATEMENTS = frozenset(
    (
        "expression_statement",
        "lexical_declaration",
        "variable_declaration",
        "return_statement",
        "throw_statement",
        "export_statement",
        "public_field_definition",
        "type_alias_declaration",
    )
)
_JOINS_THE_LINE_BEFORE = (b"(", b"[", b"`", b"+", b"-", b"/", b"*")
_LINE_BREAKS = ("\n", "\r", "\u2028", "\u2029")


class NotErasableError(Exception):
    """A construct that erasing cannot make runnable: the byte where it stands, and how to write it instead."""

    def __init__(self, offset: int, problem: str, *, code: str = "syntax_error") -> None:
        self.offset = offset
        self.problem = problem
        self.code = code
        super().__init__(problem)


def erasing_edits(data: bytes, root: Node) -> list[Edit]:
    """List the edits that make JavaScript of a TypeScript tree without errors.

    Raises
    ------
    NotErasableError
        For namespaces, decorators, ``<T>x``, ``accessor``, ``import x =``, ``export =``, and functions without a body.
    """
    return _Eraser(data).edits_of(root)


class _Eraser:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.edits: list[Edit] = []
        self.statement_end = len(data)

    def edits_of(self, root: Node) -> list[Edit]:
        stack = [(root, self.statement_end)]
        while stack:
            node, self.statement_end = stack.pop()
            if node.type in _STATEMENTS:
                self.statement_end = node.end_byte
            stack.extend((child, self.statement_end) for child in reversed(list(self.visit(node))))
        return self.edits

    def visit(self, node: Node) -> Iterable[Node]:
        """Note the edits of one node; the children that are left to look at."""
        kind = node.type
        if kind in _TYPES or kind in _MODIFIERS:
            self.blank(node, at_end=self.end_of_statement(node))
            return ()
        if kind in _TYPE_STATEMENTS:
            self.blank(node, first=";")
            return ()
        if kind in _REFUSED and node.is_named:
            raise NotErasableError(node.start_byte, _REFUSED[kind])
        special = getattr(self, f"visit_{kind}", None) if node.is_named else None
        return special(node) if special is not None else node.children

    # Expressions

    def visit_as_expression(self, node: Node) -> Iterable[Node]:
        value = named_children(node)[0]
        self.blank_range(value.end_byte, node.end_byte, last=self.end_of_statement(node))
        return (value,)

    visit_satisfies_expression = visit_as_expression

    def visit_call_expression(self, node: Node) -> Iterable[Node]:
        """End the statement of a type before a ``(`` on the next line, where the grammar sees a call."""
        function = node.child_by_field_name("function")
        if function is None or function.type not in _CASTS:
            return node.children
        value = named_children(function)[0]
        self.blank_range(value.end_byte, function.end_byte, last=";")
        return [value, *node.children[1:]]

    def visit_non_null_expression(self, node: Node) -> Iterable[Node]:
        return self.without(node, "!")

    def visit_arrow_function(self, node: Node) -> Iterable[Node]:
        """No line may break between ``async`` and ``(``, between ``return`` and the function, or before ``=>``."""
        parameters = node.child_by_field_name("parameters")
        if parameters is None:
            return node.children
        moved: list[Node] = []
        generic = node.child_by_field_name("type_parameters")
        result = node.child_by_field_name("return_type")
        if generic is not None and _spans_lines(generic):
            self.blank(generic, first="(")
            moved += [generic, parameters.children[0]]
            self.blank(parameters.children[0])
        if result is not None and _spans_lines(result):
            self.blank(result, last=")")
            moved += [result, parameters.children[-1]]
            self.blank(parameters.children[-1])
        return [child for child in _flattened(node, parameters) if child not in moved]

    # Functions and parameters

    def visit_formal_parameters(self, node: Node) -> Iterable[Node]:
        return list(self.parameters(node.children))

    def parameters(self, children: list[Node]) -> Iterator[Node]:
        """Yield the parameters without ``this``, which is a type."""
        for index, child in enumerate(children):
            pattern = child.child_by_field_name("pattern")
            if pattern is not None and pattern.type == "this":
                self.blank(child)
                if index + 1 < len(children) and children[index + 1].type == ",":
                    self.blank(children[index + 1])
            else:
                yield child

    def visit_required_parameter(self, node: Node) -> Iterable[Node]:
        return self.without(node, "?", "readonly")

    visit_optional_parameter = visit_required_parameter

    def visit_method_definition(self, node: Node) -> Iterable[Node]:
        try:
            self.edits += parameter_property_edits(node)
        except ValueError as error:
            raise NotErasableError(node.start_byte, str(error)) from None
        return self.member(node, "?")

    def visit_function_signature(self, node: Node) -> Iterable[Node]:
        self.blank_overload(node, node)
        return ()

    visit_method_signature = visit_function_signature

    def blank_overload(self, statement: Node, signature: Node) -> None:
        """Take an overload for a type, but not a function that lost its body."""
        following = statement.next_named_sibling
        while following is not None and following.type == "comment":
            following = following.next_named_sibling
        if following is not None and following.type == "export_statement":
            following = following.child_by_field_name("declaration")
        if following is None or _name(following) != _name(signature):
            raise NotErasableError(signature.start_byte, f"The function `{_name(signature)}` has no body.")
        self.blank(statement, first=";")

    # Declarations

    def visit_variable_declarator(self, node: Node) -> Iterable[Node]:
        return self.without(node, "!")

    def visit_abstract_class_declaration(self, node: Node) -> Iterable[Node]:
        return self.without(node, "abstract")

    def visit_public_field_definition(self, node: Node) -> Iterable[Node]:
        if (keyword := find_child(node, "accessor")) is not None:
            raise NotErasableError(keyword.start_byte, "`accessor` fields cannot run here; write a plain field.")
        if find_child(node, "declare", "abstract") is not None:
            self.blank(node, first=";")
            return ()
        children = list(self.member(node, "?", "!"))
        annotation = find_child(node, "type_annotation")
        if annotation is None or find_child(node, "=") is not None:
            return children
        # The name may be a word such as `get`, which would take the next member for its own.
        self.blank(annotation, first=";")
        return [child for child in children if child != annotation]

    def visit_enum_declaration(self, node: Node) -> Iterable[Node]:
        try:
            self.edits += enum_edits(node)
        except ValueError as error:
            raise NotErasableError(node.start_byte, str(error)) from None
        body = node.child_by_field_name("body")
        members = named_children(body) if body is not None else []
        return [value for member in members if (value := member.child_by_field_name("value")) is not None]

    # Modules

    def visit_export_statement(self, node: Node) -> Iterable[Node]:
        if find_child(node, "=", "namespace") is not None:
            raise NotErasableError(node.start_byte, "This export cannot run here; write `export default …`.")
        declaration = node.child_by_field_name("declaration")
        if declaration is not None and declaration.type == "function_signature":
            self.blank_overload(node, declaration)
            return ()
        if find_child(node, "type") is not None or (declaration is not None and declaration.type in _TYPE_STATEMENTS):
            self.blank(node, first=";")
            return ()
        return node.children

    def visit_import_statement(self, node: Node) -> Iterable[Node]:
        if find_child(node, "import_require_clause") is not None:
            raise NotErasableError(
                node.start_byte, "`import x = require(…)` is not available here.", code="import_not_available"
            )
        if find_child(node, "type", "typeof") is not None or _imports_only_types(node):
            self.blank(node, first=";")
            return ()
        return node.children

    def visit_export_clause(self, node: Node) -> Iterable[Node]:
        for index, child in enumerate(node.children):
            if find_child(child, "type") is not None:
                self.blank(child)
                if node.children[index + 1].type == ",":
                    self.blank(node.children[index + 1])
        return ()

    visit_named_imports = visit_export_clause

    # Helpers

    def member(self, node: Node, *marks: str) -> Iterable[Node]:
        """Take the modifiers off a member; ``;`` keeps a name in brackets or a ``*`` from the line before."""
        children = list(self.without(node, *marks))
        if children and children[0].type in _MODIFIERS:
            self.blank(children[0], first=";")
            return children[1:]
        return children

    def without(self, node: Node, *marks: str) -> Iterable[Node]:
        """Make the given marks and keywords blank and return the other children."""
        left = []
        for child in node.children:
            if child.type in marks and not child.is_named:
                self.blank(child)
            else:
                left.append(child)
        return left

    def end_of_statement(self, node: Node) -> str:
        """Return a semicolon where the type ended its statement and the next line would now continue it."""
        if node.end_byte != self.statement_end:
            return ""
        following = after_trivia(self.data, node.end_byte)
        return ";" if self.data[following : following + 1] in _JOINS_THE_LINE_BEFORE else ""

    def blank(self, node: Node, *, first: str = "", last: str = "", at_end: str = "") -> None:
        self.blank_range(node.start_byte, node.end_byte, first=first, last=last or at_end)

    def blank_range(self, start: int, end: int, *, first: str = "", last: str = "") -> None:
        self.edits.append(blanked(self.data, start, end, first=first, last=last))


def _spans_lines(node: Node) -> bool:
    return any(line_break in text_of(node) for line_break in _LINE_BREAKS)


def _flattened(node: Node, parameters: Node) -> Iterator[Node]:
    """Yield the children, with those of the parameter list in its place."""
    for child in node.children:
        if child == parameters:
            yield from child.children
        else:
            yield child


def _name(node: Node) -> str:
    name = node.child_by_field_name("name")
    return "" if name is None else text_of(name)


def _imports_only_types(node: Node) -> bool:
    clause = find_child(node, "import_clause")
    if clause is None or [child.type for child in named_children(clause)] != ["named_imports"]:
        return False
    specifiers = named_children(named_children(clause)[0])
    return bool(specifiers) and all(find_child(specifier, "type") is not None for specifier in specifiers)
