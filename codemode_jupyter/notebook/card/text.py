"""The tree as plain text, for terminals, ``nbclient`` logs and whoever reads ``text/plain``.

Owns: line breaks, aligned columns of tables. Never does: layout decisions; what is folded away in the card
(a closed ``details``) is its summary line here, buttons and fields are left out.
"""

from __future__ import annotations

from codemode_jupyter.notebook.card.element import Element, Node

_BLOCKS = frozenset(
    {"details", "div", "dl", "dt", "footer", "header", "li", "ol", "p", "pre", "section", "summary", "table", "ul"}
)
_LEFT_OUT = frozenset({"button", "input", "label", "textarea"})
_COLUMN_WIDTH = 40


def to_text(tree: Element) -> str:
    """Return ``tree`` as lines of text."""
    lines = [""]
    _write(tree, lines, preformatted=False)
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _write(node: Node, lines: list[str], *, preformatted: bool) -> None:
    if isinstance(node, str):
        first, *rest = node.split("\n") if preformatted else [" ".join(node.split("\n"))]
        lines[-1] += first if preformatted or not lines[-1].endswith(" ") else first.lstrip(" ")
        lines.extend(rest)
        return
    if node.tag in _LEFT_OUT or node.attributes.get("aria-hidden"):
        return
    block = node.tag in _BLOCKS
    if block and lines[-1].strip():
        lines.append("")
    if node.tag == "table":
        lines.extend(_table(node))
    else:
        indent = node.tag == "li" or "cm-indent" in node.attributes.get("class", "").split()
        start = len(lines) - 1
        for child in _shown(node):
            _write(child, lines, preformatted=preformatted or node.tag == "pre")
        if indent:
            lines[start:] = [f"  {line}" for line in lines[start:]]
    if block and lines[-1].strip():
        lines.append("")


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
    lines = [""]
    _write(node, lines, preformatted=False)
    text = " ".join(" ".join(lines).split())
    return text if len(text) <= _COLUMN_WIDTH else text[: _COLUMN_WIDTH - 1] + "…"
