"""The layout of a waiting call's arguments: everything that will run, completely readable.

Owns: when a value may stand without quotation marks, and what scrolls. Never does: shortening; what is long scrolls,
under a note that says how long it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TypeGuard

from codemode_jupyter.notebook.card.element import Element, element
from codemode_jupyter.notebook.card.value_text import count, key_text, pretty
from codemode_jupyter.notebook.card.visible import visible, visible_nodes

_LONG = 400
_LONG_LINES = 6
_ROWS = 100
"""Up to this many arguments have a row each; more are one text, which is as complete."""


def arguments_layout(args: object) -> Element:
    """Return all arguments of a call, each under its name."""
    if args in ({}, [], None):
        return element("div", "No arguments.", class_="cm-soft cm-no-args")
    if isinstance(args, Mapping) and len(args) <= _ROWS:
        rows = [(key if _plain(key) else key_text(key), value) for key, value in args.items()]
    else:
        rows = [("arguments", args)]
    return element(
        "div",
        [
            element("div", element("span", visible_nodes(name), class_="cm-soft"), " ", _argument(name, value))
            for name, value in rows
        ],
        class_="cm-ask-args",
    )


def _argument(name: str, value: object) -> Element:
    prose = isinstance(value, str) and _plain(value)
    text = value if isinstance(value, str) and prose else pretty(value).text
    lines = text.count("\n") + 1
    style = "cm-prose" if prose else "cm-code"
    if len(text) <= _LONG and lines <= _LONG_LINES:
        return element("pre", visible_nodes(text), class_=f"cm-text {style}")
    size = count(len(text), "character") + (f", {lines:,} lines" if lines > 1 else "")
    shown = element(
        "pre",
        visible_nodes(text),
        class_=f"cm-text cm-scroll {style}",
        tabindex=0,
        role="region",
        aria_label=f"{visible(name[:80])}, {size}",
    )
    return element(
        "div", element("div", f"{size}, complete (the box scrolls if they do not fit)", class_="cm-soft cm-size"), shown
    )


def _plain(text: object) -> TypeGuard[str]:
    """Tell whether a text may stand without quotation marks and still be taken for nothing but a text."""
    if not isinstance(text, str) or not text or text != text.strip() or text[0] in "\"'[{":
        return False
    try:
        json.loads(text)
    except ValueError:
        return text not in ("undefined", "NaN", "None", "True", "False")
    return False
