"""The tree as HTML text, for the static output that a saved notebook keeps.

Owns: escaping, the style sheet that goes with it. Never does: layout, or markup that is not in the tree.
The root carries the class names by which MathJax 3 and 2 leave text alone. Legible without the style sheet, which an
untrusted notebook loses: order, words and blanks between elements do not depend on it.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from pathlib import Path

from codemode_jupyter.notebook.card.element import Element, Node

STYLE_FILE = Path(__file__).parent.parent / "js" / "card.css"
_EMPTY_TAGS = frozenset({"input"})


@cache
def _style() -> str:
    without_comments = re.sub(r"/\*.*?\*/", "", STYLE_FILE.read_text(encoding="utf-8"), flags=re.DOTALL)
    return "\n".join(line.strip() for line in without_comments.splitlines() if line.strip())


def to_html(tree: Element) -> str:
    """Return ``tree`` as a fragment of HTML with its style sheet."""
    return f"<style>{_style()}</style>{markup(tree)}"


def markup(node: Node) -> str:
    """Return ``node`` as escaped HTML."""
    parts: list[str] = []
    _write(node, parts)
    return "".join(parts)


def _write(node: Node, parts: list[str]) -> None:
    if isinstance(node, str):
        parts.append(escape(node))
        return
    attributes = "".join(
        f' {name}="{escape(value)}"' if value else f" {name}" for name, value in node.attributes.items()
    )
    parts.append(f"<{node.tag}{attributes}>")
    if node.tag in _EMPTY_TAGS:
        return
    if node.tag == "pre":
        parts.append("\n")  # a parser drops one line break after <pre>: ours, not one of the text's own
    for child in node.children:
        _write(child, parts)
    parts.append(f"</{node.tag}>")
