"""The two TypeScript constructs with a meaning at run time that models write: enums and parameter properties.

Each becomes JavaScript by edits inside the lines it stands on. Never touches anything else.
What the constructs mean is TypeScript's handbook's: enums (numeric ones map back from value to name) and
parameter properties.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from tree_sitter import Node

from codemode_jupyter.program.edits import Edit
from codemode_jupyter.program.parsing import find_child, named_children, text_of

_PROPERTY_MODIFIERS = ("accessibility_modifier", "override_modifier", "readonly")
_IDENTIFIER = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_RESERVED = frozenset(
    """
    arguments await break case catch class const continue debugger default delete do else enum eval export extends
    false finally for function if implements import in instanceof interface let new null package private protected
    public return static super switch this throw true try typeof var void while with yield
    """.split()  # noqa: SIM905 -- a list of words reads better as words
)
_TEXTS = ("string", "template_string")


def enum_edits(enum: Node) -> list[Edit]:
    """Make an object of an enum: ``enum Size { S = 1, M }`` has ``Size.M === 2`` and ``Size[2] === "M"``.

    Members may be texts, numbers or any expression, which may name earlier members; two enums of one name
    are one object. Lines stay; what follows on the line moves.

    Raises
    ------
    ValueError
        For a member without a value after one that is a text.
    """
    name_node, body = enum.child_by_field_name("name"), enum.child_by_field_name("body")
    if name_node is None or body is None:
        return []
    name = text_of(name_node)
    edits = []
    if (keyword := find_child(enum, "const")) is not None:
        edits.append(_replaced(keyword, " " * len("const")))
    edits += [_replaced(keyword, "var ") for keyword in enum.children if keyword.type == "enum"]
    edits.append(_replaced(body.children[0], f"= (({name}) => {{"))
    edits += list(_member_edits(name, body))
    edits += [_replaced(child, " ") for child in body.children if child.type == ","]
    edits.append(_replaced(body.children[-1], f"return {name}; }})({name} ?? {{}});"))
    return edits


def _member_edits(enum_name: str, body: Node) -> Iterator[Edit]:
    previous: str | None = None
    previous_is_text = False
    for member in named_children(body):
        key_node = (member.child_by_field_name("name") or member) if member.type == "enum_assignment" else member
        value = member.child_by_field_name("value")
        key = _key(key_node)
        place = f"{enum_name}[{key}]"
        constant = json.loads(key) if key.startswith('"') else ""
        target = place
        if _IDENTIFIER.fullmatch(constant) and constant not in _RESERVED and constant != enum_name:
            target = f"const {constant} = {place}"
        reverse = f' if (typeof {place} === "number") {enum_name}[{place}] = {key};'
        if value is None:
            if previous_is_text:
                raise ValueError(f"The enum member `{text_of(member)}` needs a value, for the one before it is a text.")
            number = "0" if previous is None else f"{previous} + 1"
            yield _replaced(key_node, f"{target} = {number};{reverse}")
        else:
            yield _replaced(key_node, target)
            yield Edit(member.end_byte, member.end_byte, ";" if value.type in _TEXTS else f";{reverse}")
        previous, previous_is_text = place, value is not None and value.type in _TEXTS


def _key(node: Node) -> str:
    """Write the member's name as a JavaScript expression."""
    text = text_of(node)
    if node.type == "property_identifier":
        return json.dumps(text, ensure_ascii=False)
    if node.type == "computed_property_name":
        return text[1:-1].strip()
    return text


def parameter_property_edits(method: Node) -> list[Edit]:
    """Assign the parameters of a constructor that carry a modifier: ``constructor(private x) {}`` sets ``this.x``.

    The assignments follow the opening brace, or the call of ``super`` in a class that extends another.
    The modifiers themselves are erased like any other.

    Raises
    ------
    ValueError
        For a modifier outside a constructor, on a pattern, or without a statement ``super(…)`` to follow.
    """
    parameters, body = method.child_by_field_name("parameters"), method.child_by_field_name("body")
    if parameters is None or body is None:
        return []
    names = []
    for parameter in named_children(parameters):
        if find_child(parameter, *_PROPERTY_MODIFIERS) is None:
            continue
        pattern = parameter.child_by_field_name("pattern")
        if pattern is None or pattern.type != "identifier":
            raise ValueError("A parameter property must be a plain name; assign to `this` in the body.")
        names.append(text_of(pattern))
    if not names:
        return []
    name = method.child_by_field_name("name")
    if name is None or text_of(name) != "constructor":
        raise ValueError("Only a constructor can have parameter properties; assign to `this` in the body.")
    assignments = ";" + "".join(f" this.{name} = {name};" for name in names)
    place = _assignment_place(method, body)
    return [Edit(place, place, assignments)]


def _assignment_place(method: Node, body: Node) -> int:
    holder = method.parent.parent if method.parent is not None else None
    heritage = find_child(holder, "class_heritage") if holder is not None else None
    if heritage is None or find_child(heritage, "extends_clause") is None:
        return _after_directives(body)
    for statement in named_children(body):
        call = named_children(statement)[0] if statement.type == "expression_statement" else None
        function = call.child_by_field_name("function") if call is not None and call.type == "call_expression" else None
        if function is not None and function.type == "super":
            return statement.end_byte
    raise ValueError("Call `super(…)` as a statement of its own in a constructor with parameter properties.")


def _after_directives(body: Node) -> int:
    place = body.start_byte + 1
    for statement in named_children(body):
        value = named_children(statement)[:1] if statement.type == "expression_statement" else []
        if not value or value[0].type != "string":
            break
        place = statement.end_byte
    return place


def _replaced(node: Node, text: str) -> Edit:
    return Edit(node.start_byte, node.end_byte, text)
