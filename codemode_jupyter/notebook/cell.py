"""A ``%%codemode`` cell: from its options and body to the outcome it returns.

Owns: the options, and the run's place in the cell: its card, its variable, waiting and stopping.
Never does: running the program, which is the runtime's, or drawing the card.
"""

from __future__ import annotations

import asyncio
import contextlib
import keyword
from argparse import Namespace
from typing import Any

from IPython.core.error import UsageError

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.notebook.card import RunView
from codemode_jupyter.notebook.failures import returned_or_raised
from codemode_jupyter.notebook.ids import short_id
from codemode_jupyter.notebook.options import OptionParser
from codemode_jupyter.notebook.runtimes import find_runtime
from codemode_jupyter.notebook.stop import CLEAN_UP, Stopped, until_done
from codemode_jupyter.runtime.records import Outcome
from codemode_jupyter.runtime.runtime import Runtime

LANGUAGES = {
    "js": "javascript",
    "javascript": "javascript",
    "ts": "javascript",
    "typescript": "javascript",
    "py": "python",
    "python": "python",
}
"""TypeScript is JavaScript whose types are erased."""


def _seconds(text: str) -> float:
    """Return a number of seconds, 0 or more."""
    seconds = float(text)
    if not seconds >= 0:
        raise ValueError(text)
    return seconds


def parse_options(line: str) -> Namespace:
    """Return the options ``runtime``, ``language``, ``output``, ``wait`` and ``detach`` of the first line of a cell.

    Raises
    ------
    UsageError
        An option is unknown or has no proper value.
    """
    parser = OptionParser("%%codemode")
    parser.add_argument("-r", "--runtime")
    parser.add_argument("-l", "--language", default="js")
    parser.add_argument("-o", "--output")
    parser.add_argument("--wait", action="store_true")
    parser.add_argument("--detach", nargs="?", const=True, type=_seconds, metavar="SECONDS")
    options = parser.parse_line(line)
    if options.wait and options.detach is not None:
        raise UsageError("--wait waits for the end and --detach does not: use one of them")
    if options.output is not None and (not options.output.isidentifier() or keyword.iskeyword(options.output)):
        raise UsageError(f"-o {options.output}: that is not a name for a variable")
    language = options.language.lower()
    if language not in LANGUAGES:
        raise UsageError(f"-l {options.language}: there is no such language; js and python are available")
    options.language = LANGUAGES[language]
    return options


def _said(stop: Stopped, execution_ids: list[str]) -> Stopped:
    """Return ``stop`` with its sentence, if it has none yet."""
    if str(stop):
        return stop
    which = f"run {short_id(execution_ids[0])}" if execution_ids else "the run"
    if stop.has_ended:
        return Stopped(f"{which} was ended.")
    return Stopped(f"{which} is ending; a tool that was under way may still finish.", has_ended=False)


class ProgramCells:
    """The program cells of one shell, whose variables are in ``namespace``."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self._owners: dict[str, str] = {}
        self._deliveries: set[asyncio.Task[None]] = set()

    async def run(self, line: str, program: str) -> Outcome:
        """Run the program of one cell.

        Raises
        ------
        UsageError, CodemodeError
            Refused before anything ran.
        ProgramFailedError
            The program failed.
        Stopped
            A person pressed Stop.
        """
        options = parse_options(line)
        runtime = find_runtime(self._namespace, options.runtime)
        if options.output:
            self._namespace[options.output] = None
            self._owners.pop(options.output, None)
        view = RunView(runtime)
        execution_ids: list[str] = []

        def begin(execution_id: str) -> None:
            execution_ids.append(execution_id)
            if options.output:
                self._owners[options.output] = execution_id
            view.show()
            view.attach(execution_id)

        try:
            running = runtime.execute(program, language=options.language, on_start=begin, detach=options.detach)
            outcome = await until_done(running)
            if outcome.status == "paused" and options.wait:
                outcome = await self._wait(runtime, outcome.execution_id)
        except Stopped as stop:
            raise _said(stop, execution_ids) from None
        finally:
            await view.settle()
        if options.output:
            if outcome.status == "completed":
                self._namespace[options.output] = outcome.result
            elif outcome.status == "paused" or outcome.is_detached:
                self._deliver_later(runtime, outcome.execution_id, options.output)
        return returned_or_raised(outcome)

    def close(self) -> None:
        """Stop waiting for runs that are to be delivered into variables."""
        for task in self._deliveries:
            task.cancel()

    async def _wait(self, runtime: Runtime, execution_id: str) -> Outcome:
        """Wait for the end of a paused run. Stop ends the waiting, or the pass where one is under way again."""
        try:
            return await until_done(runtime.wait(execution_id))
        except Stopped:
            if (await runtime.execution(execution_id)).status != "running":
                raise Stopped(
                    f"no longer waiting; run {short_id(execution_id)} stays paused. Decide in its card, "
                    f"or with `%codemode approve {short_id(execution_id)}`."
                ) from None
            stopping = asyncio.ensure_future(runtime.stop(execution_id))
            ended, _ = await asyncio.wait({stopping}, timeout=CLEAN_UP)
            raise Stopped(has_ended=bool(ended)) from None

    def _deliver_later(self, runtime: Runtime, execution_id: str, variable: str) -> None:
        async def deliver() -> None:
            with contextlib.suppress(CodemodeError):  # the execution was deleted: there is nothing to deliver
                outcome = await runtime.wait(execution_id)
                if outcome.status == "completed" and self._owners.get(variable) == execution_id:
                    self._namespace[variable] = outcome.result

        task = asyncio.get_running_loop().create_task(deliver())
        self._deliveries.add(task)
        task.add_done_callback(self._deliveries.discard)
