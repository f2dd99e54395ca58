"""``%%codemode`` and ``%codemode`` as IPython knows them: their help, their names, and how their work is awaited.

Owns: registration and the bridge from a magic (a plain function) to a coroutine. Never does: the work; ``cell.py`` and
``commands.py`` do, imported when a magic is first used.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from codemode_jupyter.notebook.transform import MAGIC_NAME

if TYPE_CHECKING:
    from codemode_jupyter.notebook.card import Badge
    from codemode_jupyter.notebook.cell import ProgramCells
    from codemode_jupyter.notebook.inbox import Inbox

CELL_HELP = """Run a program in the sandbox of the notebook's page.

::

    %%codemode [-r RUNTIME] [-l LANGUAGE] [-o VARIABLE] [--wait | --detach [SECONDS]]

The body is one program in JavaScript, TypeScript or Python that composes the tools of a runtime. ``%%codemode`` must be
the first line of its cell.

-r NAME, --runtime NAME
    The variable that holds the runtime, or the runtime's own name. Without it: the variable ``runtime``, else the
    only runtime there is. Where there is none, one without connectors is made and kept in the variable ``runtime``.
-l LANGUAGE, --language LANGUAGE
    ``js`` (default), or ``python``, which needs the extra ``[python]`` and runs beside the page, not in it.
-o VARIABLE, --output VARIABLE
    The variable that gets the program's result. It is ``None`` until the run has completed, which may be after an
    approval in a later cell.
--wait
    Go on waiting while calls wait for approval. Without it the cell ends at the pause, so that "Run All" goes on.
--detach [SECONDS]
    Let the run go when it waits for you, or after so many seconds: it goes on by itself, Stop does not end it, and the
    inbox (``%codemode inbox``) keeps how it ended until you have seen it, also over a restart of the kernel.

The value of the cell is the outcome (``_``). A program that fails makes the cell fail. Stop ends the run; while a
person decides it only ends the waiting.
"""

LINE_HELP = """Look at executions and decide about them.

``%codemode help`` lists the commands.
"""


class CodemodeMagics:
    """The two magics of one shell."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._cells: ProgramCells | None = None
        self._badge: Badge | None = None

    def register(self) -> None:
        """Add both magics to the shell."""
        from IPython.core.magic import no_var_expand  # noqa: PLC0415  IPython is there when a shell is

        @no_var_expand
        def cell(line: str, body: str) -> Any:
            return self._awaited(self.run_cell(line, body))

        @no_var_expand
        def command(line: str) -> Any:
            return self._awaited(self.run_line(line))

        cell.__doc__, command.__doc__ = CELL_HELP, LINE_HELP
        self._shell.register_magic_function(cell, magic_kind="cell", magic_name=MAGIC_NAME)
        self._shell.register_magic_function(command, magic_kind="line", magic_name=MAGIC_NAME)

    async def run_cell(self, line: str, body: str) -> Any:
        """Run a cell."""
        if self._cells is None:
            from codemode_jupyter.notebook.cell import ProgramCells  # noqa: PLC0415  quick loading

            self._cells = ProgramCells(self._shell.user_ns)
        return await self._cells.run(line, body)

    async def run_line(self, line: str) -> Any:
        """Run a command."""
        from codemode_jupyter.notebook.commands import run_command  # noqa: PLC0415  quick loading

        return await run_command(self._shell.user_ns, line)

    def show_arrivals(self, inbox: Inbox) -> None:
        """Say below the cell that has just been run what arrived in the inbox meanwhile."""
        if not inbox.unseen:
            return
        if self._badge is None:
            from codemode_jupyter.notebook.card import Badge  # noqa: PLC0415  imports widgets

            self._badge = Badge(inbox)
        self._badge.show()

    def close(self) -> None:
        """Forget what cells still wait for."""
        if self._cells is not None:
            self._cells.close()

    def _awaited(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Return ``work`` for the cell to await, or its result where no loop runs (``run_cell_magic`` in a script)."""
        from IPython.core.error import UsageError  # noqa: PLC0415  quick loading

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self._shell.loop_runner(work)
        if self._shell.autoawait:
            return work
        work.close()
        raise UsageError("this magic is awaited, and automatic awaiting is off here: run `%autoawait on` first")
