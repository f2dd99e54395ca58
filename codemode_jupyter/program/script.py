"""From what a model sent to JavaScript that parses: the stage before a program gets its wrapper.

Owns: the choice between the two grammars, and turning every fault into one refusal with its place.
Never changes what the program means.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node, Tree

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.program.early_errors import first_early_error
from codemode_jupyter.program.edits import Shift, apply_edits, column_before
from codemode_jupyter.program.erase import NotErasableError, erasing_edits
from codemode_jupyter.program.fences import isolate_program
from codemode_jupyter.program.parsing import descendants, find_child, parse_javascript, parse_typescript, text_of
from codemode_jupyter.program.positions import Position, blank, position_at
from codemode_jupyter.program.syntax import first_fault, language_hint, position_of, syntax_error

_BEGINNING = re.compile(r"\ufeff?\s*(?:#![^\n\r\u2028\u2029]*)?")
_NOT_TEXT = re.compile("[\x00\ud800-\udfff]")
_TYPE_NAMES = frozenset(("any", "bigint", "boolean", "never", "number", "object", "string", "symbol", "unknown"))
_CALL_LIKE = ("call_expression", "new_expression")


@dataclass(frozen=True, slots=True)
class Script:
    """A program as JavaScript, with its tree, what was written, and the way back to its columns."""

    written: str
    text: str
    root: Node
    shifts: tuple[Shift, ...]

    def error(self, offset: int, problem: str, *, hint: str | None = None, code: str = "syntax_error") -> CodemodeError:
        """Make the refusal for a byte of ``text``, in the place where it was written."""
        line, column = position_of(self.text.encode(), offset)
        place = Position(line, column_before(self.shifts, line, column))
        return syntax_error(self.written, place, problem, hint=hint, error_code=code)


def read_script(written: str) -> Script:
    """Find the program in a text, erase its types and make sure that it parses.

    Raises
    ------
    CodemodeError
        ``syntax_error``, with ``line``, ``column`` and ``excerpt`` in its data.
    """
    _refuse_what_is_not_text(written)
    beginning = _BEGINNING.match(written)
    start = beginning.end() if beginning else 0
    text = isolate_program(blank(written[:start]) + written[start:])
    data = text.encode()
    tree = parse_javascript(data)
    shifts: tuple[Shift, ...] = ()
    if tree.root_node.has_error or _reads_like_types(tree.root_node):
        text, shifts = _erased(written, text, data, tree)
        tree = parse_javascript(text.encode())
    script = Script(written, text, tree.root_node, shifts)
    if tree.root_node.has_error:
        raise script.error(*first_fault(text.encode(), tree), hint=language_hint(written))
    if (fault := first_early_error(tree.root_node)) is not None:
        raise script.error(*fault)
    return script


def _erased(written: str, text: str, data: bytes, javascript: Tree) -> tuple[str, tuple[Shift, ...]]:
    """Erase the types, unless the text is JavaScript after all."""
    typescript = parse_typescript(data)
    if typescript.root_node.has_error:
        if not javascript.root_node.has_error:
            return text, ()
        # The parser that came further understood more of it.
        faults = (first_fault(data, javascript), first_fault(data, typescript))
        fault = max(faults, key=lambda fault: fault.offset)
        raise syntax_error(written, position_of(data, fault.offset), fault.problem, hint=language_hint(written))
    if not javascript.root_node.has_error and not _has_type_arguments(typescript.root_node):
        return text, ()
    try:
        return apply_edits(text, erasing_edits(data, typescript.root_node))
    except NotErasableError as error:
        place = position_of(data, error.offset)
        raise syntax_error(written, place, error.problem, error_code=error.code) from None


def _refuse_what_is_not_text(written: str) -> None:
    """NUL and halves of surrogate pairs do not survive the way to an engine unchanged."""
    match = _NOT_TEXT.search(written)
    if match is None:
        return
    name = "A NUL character" if match[0] == "\x00" else "Half of a surrogate pair"
    place = position_at(written, match.start())
    raise syntax_error(written, place, f"{name} cannot stand in a program; write it as an escape, such as `\\u0000`.")


def _reads_like_types(root: Node) -> bool:
    """Whether JavaScript holds what is a generic call in TypeScript and makes no sense otherwise.

    ``f<T>(x)`` is two comparisons in a row, of a truth value with something; ``f<string, T>(x)`` compares with
    a variable that has the name of a type. ``[a < b, c > (d)]`` may be meant and stays JavaScript.
    """
    for node in descendants(root):
        if node.type != "binary_expression":
            continue
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            continue
        if find_child(node, ">") is not None and right.type == "parenthesized_expression" and _is_less_than(left):
            return True
        if _is_less_than(node) and right.type == "identifier" and text_of(right) in _TYPE_NAMES:
            return True
    return False


def _is_less_than(node: Node) -> bool:
    return node.type == "binary_expression" and find_child(node, "<") is not None


def _has_type_arguments(root: Node) -> bool:
    return any(
        node.type in _CALL_LIKE and node.child_by_field_name("type_arguments") is not None for node in descendants(root)
    )
