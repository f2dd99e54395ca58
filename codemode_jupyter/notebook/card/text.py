"""The tree as plain text, for terminals, ``nbclient`` logs and whoever reads ``text/plain``.

Owns: line breaks, aligned columns of tables. Never does: layout decisions; what is folded away in the card
(a closed ``details``) is its summary line here, buttons and fields are left out.
"""

from __future__ import annotations

from codemode_jupyter.notebook.card.element import Element, Node

_BLOCKS = frozenset({"details", "div", "header", "li", "ol", "section", "summary", "table", "ul"})
_END_A_LINE = _BLOCKS | {"pre"}
_LEFT_OUT = frozenset({"button", "input", "label", "select"})
_COLUMN_WIDTH = 40


def to_text(tree: Element) -> str:
    """Return ``tree`` as lines of text."""
    lines = _Lines()
    _write(tree, lines, preformatted=False)
    return "\n".join(line.rstrip() for line in lines.lines if line.strip())


class _Lines:
    """Lines under construction. A line gets its indentation with its first text."""

    def __init__(self) -> None:
        self.lines = [""]
        self.indentation = ""

    def flow(self, text: str) -> None:
        """Go on with the line; blanks at its beginning, and a second blank, are dropped."""
        text = text.replace("\n", " ")
        self.keep(text.lstrip(" ") if not self.lines[-1] or self.lines[-1].endswith(" ") else text)

    def keep(self, text: str) -> None:
        """Go on with the line with text that stays as it is."""
        for number, line in enumerate(text.split("\n")):
            if number:
                self.lines.append("")
            if line:
                self.lines[-1] = (self.lines[-1] or self.indentation) + line

    def end_line(self) -> None:
        """Begin a new line unless nothing stands on this one."""
        if self.lines[-1].strip():
            self.lines.append("")
        else:
            self.lines[-1] = ""


def _write(node: Node, lines: _Lines, *, preformatted: bool) -> None:
    if isinstance(node, str):
        (lines.keep if preformatted else lines.flow)(node)
        return
    if node.tag in _LEFT_OUT or node.attributes.get("aria-hidden") or "hidden" in node.attributes:
        return
    if node.tag in _BLOCKS:
        lines.end_line()
    outer = lines.indentation
    if node.tag == "li" or node.attributes.get("class") == "cm-ask-args":
        lines.indentation += "  "
    if node.tag == "table":
        lines.keep("\n".join(_table(node)))
    else:
        for child in _shown(node):
            _write(child, lines, preformatted=preformatted or node.tag == "pre")
    lines.indentation = outer
    if node.tag in _END_A_LINE:
        lines.end_line()


def _shown(node: Element) -> tuple[Node, ...]:
    if node.tag == "details" and "open" not in node.attributes:
        return tuple(child for child in node.children if isinstance(child, Element) and child.tag == "summary")
    return node.children


def _table(table: Element) -> list[str]:
    rows = [[_cell(cell) for cell in row.children] for row in _rows(table)]
    widths = [max(len(row[i]) if i < len(row) else 0 for row in rows) for i in range(max(map(len, rows), default=0))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)) for row in rows]


def _rows(node: Element) -> list[Element]:
    if node.tag == "tr":
        return [node]
    return [row for child in node.children if isinstance(child, Element) for row in _rows(child)]


def _cell(node: Node) -> str:
    lines = _Lines()
    _write(node, lines, preformatted=False)
    text = " ".join(" ".join(lines.lines).split())
    return text if len(text) <= _COLUMN_WIDTH else text[: _COLUMN_WIDTH - 1] + "…"
