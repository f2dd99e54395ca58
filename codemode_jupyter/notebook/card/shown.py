"""Which executions the current cell already shows, so that an outcome that is its value is not shown a second time.

Owns: that one memory, of the newest cell only. Never does: displaying.
"""

from __future__ import annotations

from IPython.core.getipython import get_ipython


class ShownExecutions:
    """The executions shown by a card in the current cell."""

    def __init__(self) -> None:
        self._cell: object = None
        self._ids: set[str] = set()

    def add(self, execution_id: str) -> None:
        """Remember that the current cell shows this execution."""
        self._turn_page()
        self._ids.add(execution_id)

    def __contains__(self, execution_id: object) -> bool:
        self._turn_page()
        return execution_id in self._ids

    def _turn_page(self) -> None:
        cell = getattr(get_ipython(), "execution_count", None)
        if cell != self._cell:
            self._cell = cell
            self._ids.clear()


shown_executions = ShownExecutions()
"""One kernel has one current cell."""
