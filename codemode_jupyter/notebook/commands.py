"""The commands of ``%codemode``: look at executions and snippets, decide about them, undo.

Owns: the commands' words, what they print, and finding what an abbreviated id means. Never does: an operation
itself; every one is a method of the runtime.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from IPython.core.error import UsageError
from IPython.core.getipython import get_ipython

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.notebook import upkeep
from codemode_jupyter.notebook.answering import question_meant, split_answer, typed_answer
from codemode_jupyter.notebook.card import InboxView, RunView, show_execution
from codemode_jupyter.notebook.doctor import diagnose
from codemode_jupyter.notebook.doctor.report import Diagnosis
from codemode_jupyter.notebook.environment import NotebookEnvironment
from codemode_jupyter.notebook.failures import returned_or_raised
from codemode_jupyter.notebook.ids import find_execution, short_id
from codemode_jupyter.notebook.options import OptionParser
from codemode_jupyter.notebook.packages import packages
from codemode_jupyter.notebook.runtimes import find_runtime
from codemode_jupyter.notebook.stop import until_done
from codemode_jupyter.notebook.tables import as_json, local_time, one_line, table
from codemode_jupyter.runtime.environment import current_environment
from codemode_jupyter.runtime.records import Outcome, PendingCall
from codemode_jupyter.runtime.runtime import Runtime

HISTORY_LENGTH = 20


@dataclass(frozen=True, slots=True)
class Command:
    """One command: how it is written, what it does, and the coroutine function that does it.

    ``run`` returns text to print, or what the line is worth as an expression.
    """

    usage: str
    summary: str
    run: Callable[[Runtime, Namespace], Awaitable[Any]]
    least: int = 0
    most: int = 0


async def run_command(namespace: dict[str, Any], line: str) -> Any:
    """Run ``%codemode`` with the rest of its line; return what the line is worth as an expression.

    Raises
    ------
    UsageError
        The command is unknown or has the wrong arguments.
    CodemodeError
        The runtime refused.
    """
    given = _parse(line)
    name = given.command or "help"
    if name not in COMMANDS:
        near = get_close_matches(name, COMMANDS, n=2)
        hint = f"did you mean {' or '.join(near)}?" if near else "%codemode help lists what there is"
        raise UsageError(f"%codemode has no command {name!r}: {hint}")
    command = COMMANDS[name]
    if not command.least <= len(given.arguments) <= command.most:
        raise UsageError(f"write %codemode {command.usage}")
    result: Any
    if name == "help":
        result = _help()
    elif name == "doctor":
        result = await _doctor(namespace, given.runtime)
    else:
        result = await command.run(find_runtime(namespace, given.runtime), given)
    if not isinstance(result, str):
        return result
    print(result)  # noqa: T201  the output of a command
    return None


def _parse(line: str) -> Namespace:
    parser = OptionParser("%codemode")
    parser.add_argument("-r", "--runtime")
    parser.add_argument("-d", "--description", default="")
    parser.add_argument("command", nargs="?")
    parser.add_argument("arguments", nargs="*")
    options, answer = split_answer(line)
    given = parser.parse_line(options)
    given.arguments += [] if answer is None else [answer]
    return given


def _help() -> str:
    rows = [(f"%codemode {command.usage}", command.summary) for command in COMMANDS.values()]
    return (
        table(("COMMAND", "WHAT IT DOES"), rows)
        + "\n\nID is the end of an execution's id. -r NAME says which runtime, where there are several."
    )


async def _find(runtime: Runtime, text: str) -> str:
    return find_execution(text, [execution.id for execution in await runtime.executions()])


def _seq(given: Namespace) -> int | None:
    if len(given.arguments) == 1:
        return None
    try:
        return int(given.arguments[1])
    except ValueError:
        raise UsageError(f"SEQ is the number of a call, not {given.arguments[1]!r}") from None


# -- looking -----------------------------------------------------------------------------------------------------------


async def _pending(runtime: Runtime, _given: Namespace) -> str:
    calls = await runtime.pending()
    parts = [_waiting(calls)] if calls else []
    if stale := await runtime.stale():
        parts.append(f"{_runs(stale)} cut off when the kernel ended: %codemode recover takes up again what can go on.")
    if arrived := len(_environment().inbox.unseen):
        parts.append(f"{_runs([0] * arrived)[:-4]} ended in the background: %codemode inbox shows how.")
    return "\n\n".join(parts) or "Nothing is waiting for approval."


_QUESTIONS = {
    "approval": "may it run?",
    "in_doubt": "did it happen?",
    "question": "it asks you",
    "interrupt": "it asks you",
}


def _waiting(calls: Sequence[PendingCall]) -> str:
    rows = [
        (
            short_id(call.execution_id),
            str(call.seq),
            one_line(f"{call.connector}.{call.method}", 40),
            _QUESTIONS[call.kind],
            as_json(call.args if call.kind != "interrupt" else call.payload, 80),
        )
        for call in calls
    ]
    kinds = {call.kind for call in calls}
    decide = "Decide with %codemode approve ID [SEQ] or %codemode reject ID [SEQ]."
    doubt = (
        "It is not known whether a call happened that was under way when the kernel ended: %codemode show ID asks you."
    )
    asked = "A tool asks you something: %codemode show ID brings the form, %codemode respond ID ANSWER answers."
    hints = (
        [decide] * ("approval" in kinds)
        + [doubt] * ("in_doubt" in kinds)
        + [asked] * bool(kinds & {"question", "interrupt"})
    )
    return "\n".join([table(("ID", "SEQ", "CALL", "QUESTION", "ARGUMENTS"), rows), "", *hints])


async def _history(runtime: Runtime, _given: Namespace) -> str:
    executions = await runtime.executions(HISTORY_LENGTH)
    if not executions:
        return "Nothing has been run yet."
    stale = {execution.id for execution in await runtime.stale()}
    rows = [
        (
            short_id(execution.id),
            local_time(execution.created_at),
            "cut off" if execution.id in stale else execution.status.replace("_", " "),
            one_line(execution.code, 70),
        )
        for execution in executions
    ]
    return table(("ID", "BEGUN", "STATUS", "PROGRAM"), rows)


async def _show(runtime: Runtime, given: Namespace) -> None:
    await show_execution(runtime, await _find(runtime, given.arguments[0]))


async def _snippets(runtime: Runtime, _given: Namespace) -> str:
    snippets = await runtime.snippets()
    if not snippets:
        return "No snippet has been saved yet: %codemode save NAME ID saves the program of an execution."
    rows = [
        (one_line(snippet.name, 40), snippet.language, local_time(snippet.saved_at), one_line(snippet.description, 70))
        for snippet in snippets
    ]
    return table(("NAME", "LANGUAGE", "SAVED", "DESCRIPTION"), rows)


async def _inbox(runtime: Runtime, _given: Namespace) -> None:
    await InboxView(runtime, _environment().inbox).show()


# -- deciding ----------------------------------------------------------------------------------------------------------


async def _approve(runtime: Runtime, given: Namespace) -> Outcome:
    execution_id = await _find(runtime, given.arguments[0])
    seq = _seq(given)
    view = RunView(runtime)
    view.show()
    view.attach(execution_id)
    try:
        outcome = await until_done(runtime.approve(execution_id, seq))
    finally:
        await view.settle()
    return returned_or_raised(outcome)


async def _respond(runtime: Runtime, given: Namespace) -> Outcome:
    call = question_meant(given.arguments[0], await runtime.pending())
    assert call.question is not None  # noqa: S101  it is one
    answer = typed_answer(call.question, given.arguments[1])
    view = RunView(runtime)
    view.show()
    view.attach(call.execution_id)
    try:
        outcome = await until_done(runtime.respond(call.call_id, answer, digest=call.digest))
    finally:
        await view.settle()
    return returned_or_raised(outcome)


async def _reject(runtime: Runtime, given: Namespace) -> str:
    execution_id = await _find(runtime, given.arguments[0])
    if await runtime.reject(execution_id, _seq(given)):
        return f"Rejected: execution {short_id(execution_id)} has ended."
    raise CodemodeError(
        "not_pending",
        f"Nothing of execution {short_id(execution_id)} that could be rejected is waiting.",
        hint="`%codemode pending` lists what is.",
    )


async def _detach(runtime: Runtime, given: Namespace) -> str:
    execution_id = await _find(runtime, given.arguments[0])
    if await runtime.detach(execution_id):
        return f"Detached: run {short_id(execution_id)} goes on by itself; %codemode inbox will show how it ended."
    return f"Run {short_id(execution_id)} has ended already: %codemode show {short_id(execution_id)} shows how."


async def _rollback(runtime: Runtime, given: Namespace) -> str:
    execution_id = await _find(runtime, given.arguments[0])
    return one_line(str(await until_done(runtime.rollback(execution_id))), 400)


# -- after a kernel has ended ------------------------------------------------------------------------------------------


async def _recover(runtime: Runtime, _given: Namespace) -> str:
    """Take up what was cut off. Each such run, and each with a call in doubt, gets its card with its buttons."""
    stale = await runtime.stale()
    doubtful = dict.fromkeys(call.execution_id for call in await runtime.pending() if call.kind == "in_doubt")
    shown = [execution.id for execution in stale] + list(doubtful)
    if not shown:
        return "No run was cut off, and no call is in doubt."
    views = []
    for execution_id in shown:
        view = RunView(runtime)
        view.show()
        view.attach(execution_id)
        views.append(view)
    try:
        outcomes = await until_done(runtime.recover())
    finally:
        for view in views:
            await view.settle()
    if not outcomes:
        return "No run was cut off; what is in doubt is shown above."
    rows = [(short_id(outcome.execution_id), one_line(_came_to(outcome), 100)) for outcome in outcomes]
    return f"{_runs(rows)} cut off when the kernel ended.\n\n{table(('ID', 'CAME TO'), rows)}"


def _came_to(outcome: Outcome) -> str:
    if outcome.error is not None:
        return f"{outcome.error.code}: {outcome.error}"
    doubtful = [call for call in outcome.pending if call.kind == "in_doubt"]
    if doubtful:
        return "in doubt: " + ", ".join(f"{call.connector}.{call.method}" for call in doubtful)
    return "waits for approval" if outcome.status == "paused" else outcome.status


def _runs(runs: Sequence[object]) -> str:
    return "1 run was" if len(runs) == 1 else f"{len(runs):,} runs were"


# -- snippets ----------------------------------------------------------------------------------------------------------


async def _save(runtime: Runtime, given: Namespace) -> str:
    name, text = given.arguments
    execution_id = await _find(runtime, text)
    snippet = await runtime.save_snippet(name, execution_id=execution_id, description=given.description)
    return f"Saved. Programs run it with codemode.run({as_json(snippet.name, 60)}, input)."


async def _remove(runtime: Runtime, given: Namespace) -> str:
    name = given.arguments[0]
    if await runtime.delete_snippet(name):
        return f"Removed {one_line(name, 60)}."
    near = get_close_matches(name, [snippet.name for snippet in await runtime.snippets()], n=3)
    hint = f"Did you mean {' or '.join(near)}?" if near else "`%codemode snippets` lists what there is."
    raise CodemodeError("unknown_snippet", f"There is no snippet {name!r}.", hint=hint)


# -- without a runtime ------------------------------------------------------------------------------------------------


def _environment() -> NotebookEnvironment:
    environment = current_environment()
    if not isinstance(environment, NotebookEnvironment):
        raise UsageError("the extension is not loaded: run `%load_ext codemode_jupyter` first")
    return environment


async def _doctor(namespace: dict[str, Any], name: str | None) -> Diagnosis:
    environment = _environment()
    values = [find_runtime(namespace, name)] if name is not None else list(namespace.values())
    runtimes = [value for value in values if isinstance(value, Runtime)]
    return await until_done(diagnose(get_ipython(), environment, runtimes))


async def _nothing(_runtime: Runtime, _given: Namespace) -> None:
    """Do nothing: help and doctor are done before a runtime is looked for."""


COMMANDS = {
    "pending": Command("pending", "list the calls that wait for you", _pending),
    "history": Command("history", f"list the newest {HISTORY_LENGTH} executions", _history),
    "inbox": Command("inbox", "show what waits for you, and how detached runs ended", _inbox),
    "show": Command("show ID", "show an execution's card again", _show, 1, 1),
    "approve": Command("approve ID [SEQ]", "approve all that waits, or one call, and go on", _approve, 1, 2),
    "reject": Command("reject ID [SEQ]", "reject it; the execution ends", _reject, 1, 2),
    "respond": Command("respond ID ANSWER", "answer what a tool asks, and go on", _respond, 2, 2),
    "detach": Command("detach ID", "let a run go on by itself; the inbox will show how it ended", _detach, 1, 1),
    "stop": Command("stop ID", "end a run that is under way", upkeep.stop, 1, 1),
    "recover": Command("recover", "go on with runs that were cut off when the kernel ended; ask about doubt", _recover),
    "rollback": Command("rollback ID", "undo what an execution did, newest first", _rollback, 1, 1),
    "expire": Command("expire [HOURS]", "end what has waited for so long (24 hours)", upkeep.expire, 0, 1),
    "delete": Command("delete ID", "forget an execution and its log", upkeep.delete, 1, 1),
    "prune": Command("prune KEEP", "forget finished executions but the newest KEEP", upkeep.prune, 1, 1),
    "search": Command("search WORDS", "find methods and snippets, as programs do", upkeep.search, 1, 10_000),
    "describe": Command("describe NAME", "declare a connector, a method or a snippet", upkeep.describe, 1, 1),
    "packages": Command(
        "packages [update | ID]", "list what programs in Python may import, or what a run could", packages, 0, 1
    ),
    "snippets": Command("snippets", "list the saved programs", _snippets),
    "save": Command("save NAME ID [-d TEXT]", "save the program of an execution as a snippet", _save, 2, 2),
    "rm": Command("rm NAME", "remove a snippet", _remove, 1, 1),
    "doctor": Command("doctor", "test what is needed to run programs, and say how to mend what is missing", _nothing),
    "help": Command("help", "show this list", _nothing),
}
