"""The card as a tree of elements: the one structure that both outputs (HTML text and live widget) are made from.

Owns: the element type, the list of tags and attributes that a card may have, the tree's wire form.
Never does: HTML, values, or anything about executions. There is no way to put markup in: text is text, and whatever is
not on the lists is refused when the element is made (``js/card.js`` checks the same lists again).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

_TAGS = """
bdi button code details div header input label li ol option pre section select span strong summary
table tbody td textarea th thead tr ul
"""
_ATTRIBUTES = """
class title role dir open hidden type name value selected placeholder maxlength scope tabindex autocomplete
aria-label aria-live aria-hidden aria-disabled aria-expanded aria-invalid
data-key data-state data-action data-execution data-seq data-digest data-form data-field data-busy
"""

TAGS = frozenset(_TAGS.split())
"""Every tag that a card may have. No link, image or script, and no heading (JupyterLab lists headings as chapters)."""

ATTRIBUTES = frozenset(_ATTRIBUTES.split())
"""Every attribute that a card may have. No event handler, no style, no address, no id."""

Node: TypeAlias = "Element | str"
Child: TypeAlias = "Node | Iterable[Child] | None"
Wire: TypeAlias = "str | list[object]"


@dataclass(frozen=True, slots=True)
class Element:
    """One element: a tag, its attributes, its children in order.

    Raises
    ------
    ValueError
        The tag or an attribute is not one that a card may have.
    """

    tag: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: tuple[Node, ...] = ()

    def __post_init__(self) -> None:
        if self.tag not in TAGS:
            raise ValueError(f"A card has no <{self.tag}>.")
        for name in self.attributes:
            if name not in ATTRIBUTES:
                raise ValueError(f"A card's <{self.tag}> has no attribute {name!r}.")


def element(tag: str, *children: Child, **attributes: str | int | bool | None) -> Element:
    """Make an element.

    Parameters
    ----------
    tag : str
        One of ``TAGS``.
    *children : Element, str, None or an iterable of these
        ``None`` and empty text are left out.
    **attributes : str, int, bool or None
        Underscores stand for dashes (``aria_label``), a last one is dropped (``class_``). ``True`` is an attribute
        without a value; ``None`` and ``False`` leave it out.
    """
    named: dict[str, str] = {}
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        named[name.rstrip("_").replace("_", "-")] = "" if value is True else whole_text(str(value))
    return Element(tag, MappingProxyType(named), tuple(_flatten(children)))


def _flatten(children: Iterable[Child]) -> Iterable[Node]:
    for child in children:
        if isinstance(child, Element):
            yield child
        elif isinstance(child, str):
            if child:
                yield whole_text(child)
        elif child is not None:
            yield from _flatten(child)


def whole_text(text: str) -> str:
    """Return ``text`` with lone surrogates replaced: a message with one in it could not be sent as UTF-8."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def to_wire(node: Node) -> Wire:
    """Return the tree as JSON-like lists: text, or ``[tag, attributes, children]``."""
    if isinstance(node, str):
        return node
    return [node.tag, dict(node.attributes), [to_wire(child) for child in node.children]]
