"""Which executions the current cell already shows, so that an outcome that is its value is not shown a second time.

Owns: that one memory, of the newest cell only. Never does: displaying.
"""

from __future__ import annotations

from codemode_jupyter.notebook.card.outputs import current_number


class ShownExecutions:
    """The executions shown by a card in the current cell."""

    def __init__(self) -> None:
        self._cell: int | None = None
        self._ids: set[str] = set()

    def add(self, execution_id: str, cell: int | None) -> None:
        """Remember that the cell with this number shows this execution; forgotten if that is not the current cell."""
        self._turn_page()
        if cell == self._cell:
            self._ids.add(execution_id)

    def __contains__(self, execution_id: object) -> bool:
        self._turn_page()
        return execution_id in self._ids

    def _turn_page(self) -> None:
        cell = current_number()
        if cell != self._cell:
            self._cell = cell
            self._ids.clear()


shown_executions = ShownExecutions()
"""One kernel has one current cell."""
