"""Finding the program in what a model sent: Markdown fences, and sentences around them.

Owns: which part of a text is the program. Everything else becomes blanks, so that every position stays.
Never judges whether the program is correct.

Fences follow CommonMark, and are taken more loosely where models write them so: any indentation, a closing
fence on the last line of code, a fence on one line, a fence that is never closed or was never opened.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tree_sitter import Node

from codemode_jupyter.program.parsing import descendants, parse_javascript, parse_typescript
from codemode_jupyter.program.positions import blank

_FENCE_LINE = re.compile(r"^[ \t]*(`{3,}|~{3,})([^\n\r]*)", re.MULTILINE)
_ONE_LINE = re.compile(r"[ \t]*(`{3,})(?!`)(.+?)\1[ \t]*$")
_CLOSED_ON_CODE_LINE = re.compile(r"(`{3,}|~{3,})\s*\Z")
_LANGUAGE = re.compile(r"[\s{.]*([\w#+-]*)")
_JAVASCRIPT_NAMES = frozenset(
    ("javascript", "js", "mjs", "cjs", "jsx", "node", "typescript", "ts", "mts", "cts", "tsx", "ecmascript")
)
_INLINE_CODE = re.compile(r"\s*`([^`\\$]+)`\s*\Z")


class Block(NamedTuple):
    """The code of one fence: its place in the text, and the language its info string names."""

    start: int
    end: int
    language: str


def isolate_program(text: str) -> str:
    """Replace everything that is not the program by blanks.

    Of several fences, those that name JavaScript or TypeScript are the program, one after the other; if none
    does, those that name no language; if all name another one, all of them. A text without fences, or one
    that is a program in which the fences stand inside a template or a comment, is returned as it is.
    """
    if _FENCE_LINE.search(text) is None:
        return _inline_code(text)
    if _is_program_with_fences_inside(text):
        return text
    blocks = _chosen(fenced_blocks(text))
    if not blocks:
        return text
    pieces, done = [], 0
    for block in blocks:
        between = blank(text[done : block.start])
        # A statement of one fence never runs on into the next.
        pieces += [_ended(between) if done else between, text[block.start : block.end]]
        done = block.end
    pieces.append(blank(text[done:]))
    return "".join(pieces)


def _ended(blanks: str) -> str:
    """Put a semicolon in the last blank: there is one, for the fences' own marks stood there."""
    index = blanks.rindex(" ")
    return f"{blanks[:index]};{blanks[index + 1 :]}"


def _inline_code(text: str) -> str:
    """Take a function in single backticks for inline code, not for a template that nobody reads."""
    match = _INLINE_CODE.match(text)
    if match is None:
        return text
    root = parse_javascript(match[1].encode()).root_node
    if root.has_error or root.named_child_count != 1:
        return text
    statement = root.named_children[0]
    body = statement.named_children[0] if statement.type == "expression_statement" else statement
    if body.type not in ("arrow_function", "function_expression", "function_declaration"):
        return text
    return blank(text[: match.start(1)]) + match[1] + blank(text[match.end(1) :])


def _is_program_with_fences_inside(text: str) -> bool:
    data = text.encode()
    offsets = [len(text[: match.start(1)].encode()) for match in _FENCE_LINE.finditer(text)]
    for parse in (parse_javascript, parse_typescript):
        root = parse(data).root_node
        if not root.has_error:
            return all(_is_inside_text(root, offset) for offset in offsets)
    return False


def _is_inside_text(root: Node, offset: int) -> bool:
    return any(
        node.type in ("template_string", "comment") and node.start_byte < offset < node.end_byte
        for node in descendants(root)
    )


def fenced_blocks(text: str) -> list[Block]:
    """All fences, in order."""
    blocks: list[Block] = []
    position = 0
    while (opening := _FENCE_LINE.search(text, position)) is not None:
        if (line := _ONE_LINE.match(text, opening.start(), opening.end())) is not None:
            blocks.append(_one_line_block(line))
            position = opening.end()
            continue
        start = opening.end()
        language = _language(opening[2])
        closing = _closing(text, start, opening[1])
        if closing is not None:
            blocks.append(Block(start, closing.start(), language))
            position = closing.end()
            continue
        if not blocks and not text[start:].strip() and not opening[2].strip():
            return [Block(0, opening.start(), "")]
        blocks.append(Block(start, _end_of_unclosed(text, start), language))
        break
    return blocks


def _one_line_block(line: re.Match[str]) -> Block:
    """Read a fence that is opened and closed on one line: a first word that names a language is not code."""
    start, end = line.span(2)
    language = _language(line[2])
    if language in _JAVASCRIPT_NAMES:
        match = _LANGUAGE.match(line[2])
        return Block(start + (match.end() if match else 0), end, language)
    return Block(start, end, "")


def _closing(text: str, start: int, opening: str) -> re.Match[str] | None:
    """Find the line that closes a fence: the same mark, at least as long, and nothing else."""
    mark, length = opening[0], len(opening)
    return re.compile(rf"^[ \t]*{mark}{{{length},}}[ \t]*$", re.MULTILINE).search(_unified(text), start)


def _unified(text: str) -> str:
    """End every line by a line feed, so that ``$`` finds the ends; lengths are kept."""
    return re.sub(r"\r\n", " \n", text).replace("\r", "\n")


def _end_of_unclosed(text: str, start: int) -> int:
    """Without a closing line the code goes to the end, or to a fence at the end of its last line."""
    match = _CLOSED_ON_CODE_LINE.search(text, start)
    return match.start() if match else len(text)


def _language(info: str) -> str:
    match = _LANGUAGE.match(info)
    return match[1].lower() if match else ""


def _chosen(blocks: list[Block]) -> list[Block]:
    for wanted in (
        [block for block in blocks if block.language in _JAVASCRIPT_NAMES],
        [block for block in blocks if not block.language],
    ):
        if wanted:
            return wanted
    return blocks
