"""A button that says what a person decides about a waiting call.

Owns: what such a button carries (execution, ``seq``, digest of what is shown), and its words while the decision is
under way. Never does: the decision, or the words around the button.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codemode_jupyter.notebook.card.element import Element, element
from codemode_jupyter.runtime.digest import combined_digest
from codemode_jupyter.runtime.records import PendingCall

_UNDER_WAY = {
    "approve": "approving…",
    "approve_all": "approving…",
    "reject": "rejecting…",
    "run_again": "running again…",
    "happened": "going on…",
    "give_up": "ending the run…",
    "accept": "sending…",
    "decline": "declining…",
    "cancel": "cancelling…",
}

_PRIMARY = ("approve", "approve_all", "accept")
"""What most people want. Of the answers about a call in doubt none is: it depends on what is true."""


def decision_button(
    action: str, label: str, accessible: str, calls: Sequence[PendingCall], deciding: Mapping[int, str]
) -> Element:
    """Return the button that decides about ``calls``, shown to screen readers as ``accessible``.

    ``deciding`` maps the ``seq`` of a call whose decision is under way to the action. As long as there is one, no
    button of the card can be pressed.
    """
    under_way = len(calls) == 1 and deciding.get(calls[0].seq) == action
    return element(
        "button",
        _UNDER_WAY[action] if under_way else label,
        type="button",
        class_="cm-button cm-primary" if action in _PRIMARY else "cm-button",
        aria_label=accessible,
        aria_disabled="true" if deciding else None,
        data_action=action,
        data_busy=_UNDER_WAY[action],
        data_execution=calls[0].execution_id,
        data_seq=calls[0].seq if len(calls) == 1 else None,
        data_digest=combined_digest(calls),
    )
