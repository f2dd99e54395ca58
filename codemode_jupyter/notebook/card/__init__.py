"""The run card: what a cell shows of an execution, live and for good.

Owns: the looks of an execution in a notebook and the buttons on it. Never does: running or deciding anything; it
reads the runtime and calls its methods. ``layout`` makes one tree of elements, ``html``/``text`` write it down for
the static output, ``widget`` with ``js/card.js`` shows it live, ``view`` says which of them when.
"""

from codemode_jupyter.notebook.card.inbox_view import Badge, InboxView
from codemode_jupyter.notebook.card.outcome import register_formatters, unregister_formatters
from codemode_jupyter.notebook.card.view import RunView, show_execution

__all__ = ["Badge", "InboxView", "RunView", "register_formatters", "show_execution", "unregister_formatters"]
