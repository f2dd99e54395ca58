"""The layout of a call in doubt: a kernel ended while it was under way, and nobody has recorded what became of it.

Owns: the words that explain this, and the three answers. Never does: answering; a person looks what is true.
"""

from __future__ import annotations

from collections.abc import Mapping

from codemode_jupyter.notebook.card.decision import decision_button
from codemode_jupyter.notebook.card.drawer import drawer, field
from codemode_jupyter.notebook.card.element import Element, element
from codemode_jupyter.runtime.records import PendingCall

RESULT_LENGTH = 100_000
"""Longest result that can be typed into the card, in characters."""

_MEANINGS = (
    ("Run again", "runs it now, with these arguments. If it did happen, it happens a second time."),
    ("It happened", "does not run it. The program goes on with the result that you give."),
    ("Give up", "ends the run. What it has done so far stays."),
)


def doubt_layout() -> Element:
    """Return the words that stand above the arguments of a call in doubt."""
    return element(
        "div",
        element("strong", "It is not known whether this call happened."),
        " The kernel ended while it was under way, before its outcome was recorded. It is not run again by itself, "
        "because the tool does not say that running it twice is harmless.",
        class_="cm-doubt",
    )


def answers_layout(call: PendingCall, name: str, deciding: Mapping[int, str]) -> Element:
    """Return the three answers; ``name`` is the name of the call as screen readers are to say it."""
    happened = decision_button("happened", "Go on", f"{name} happened, go on", [call], deciding)
    return element(
        "div",
        element(
            "div",
            "Look where the call would have left a trace, then say how to go on:",
            element("ul", [element("li", element("strong", label), f" {meaning}") for label, meaning in _MEANINGS]),
            class_="cm-meanings cm-soft",
        ),
        element(
            "div",
            decision_button("run_again", "Run again", f"Run {name} again", [call], deciding),
            " ",
            drawer(
                "It happened…",
                "happened",
                field("Its result as JSON (empty: null)", "result", RESULT_LENGTH),
                happened,
                accessible=f"{name} happened…",
            ),
            " ",
            decision_button("give_up", "Give up", f"Give up {name} and end the run", [call], deciding),
            class_="cm-actions",
        ),
    )
