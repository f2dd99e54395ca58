"""A button that opens a small form behind it.

Owns: the elements; ``js/card.js`` opens and closes them. Never does: what the form is for.
"""

from __future__ import annotations

from codemode_jupyter.notebook.card.element import Element, element


def drawer(label: str, key: str, *content: Element | None, accessible: str | None = None) -> Element:
    """Return a button that opens what stands behind it (``card.js`` opens and closes it)."""
    return element(
        "div",
        element(
            "button",
            label,
            type="button",
            class_="cm-button",
            aria_expanded="false",
            aria_label=accessible,
            data_action="toggle",
            data_key="toggle",
        ),
        element("div", content, class_="cm-form", hidden=True, data_form=key, data_key="form"),
        class_="cm-drawer",
        data_key=key,
    )


def field(label: str, name: str, length: int) -> Element:
    """Return a labelled line to type in; its text comes with the message of the form's button under ``name``."""
    return element(
        "label",
        element("span", label, class_="cm-label"),
        " ",
        element("input", type="text", data_field=name, maxlength=length, autocomplete="off"),
        data_key=name,
    )
