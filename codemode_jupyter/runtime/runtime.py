"""The runtime: the object a user holds.

Owns: the public operations, and which executions are being driven in this process. Never does: the work itself; each
operation is a few lines over one module of this room.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from codemode_jupyter.connectors.base import Connector
from codemode_jupyter.connectors.catalogue import Language
from codemode_jupyter.connectors.http.outbound import Outbound, Send
from codemode_jupyter.connectors.questions import answer_in_flight
from codemode_jupyter.connectors.schemas.validation import load_checker
from codemode_jupyter.connectors.search.model import semantic
from codemode_jupyter.connectors.search.vectors import Embed
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.program import ModuleSet
from codemode_jupyter.runtime import (
    approvals,
    detaching,
    discovery,
    failures,
    interrupts,
    outcome,
    recovery,
    retention,
    snippet_library,
)
from codemode_jupyter.runtime.announcements import Announcements, WaitHook
from codemode_jupyter.runtime.beginning import new_execution
from codemode_jupyter.runtime.blocking import is_loop_running, run_blocking
from codemode_jupyter.runtime.built_in import built_in_tools
from codemode_jupyter.runtime.call_ids import CallId, read_call_id, read_execution_id
from codemode_jupyter.runtime.capabilities import Capabilities
from codemode_jupyter.runtime.delivery import Deliveries
from codemode_jupyter.runtime.detached_exit import DetachedExit, ExitHook
from codemode_jupyter.runtime.detaching import Detach
from codemode_jupyter.runtime.driven import DrivenExecutions, Driving
from codemode_jupyter.runtime.driver import ExecutionDriver, Surroundings
from codemode_jupyter.runtime.environment import current_environment
from codemode_jupyter.runtime.hooks import close_connectors, dispose
from codemode_jupyter.runtime.lease import is_alive, new_owner
from codemode_jupyter.runtime.names import check_runtime_name
from codemode_jupyter.runtime.options import (
    check_age,
    check_count,
    check_function,
    check_path,
    check_seconds,
    check_text,
    may_interrupt,
)
from codemode_jupyter.runtime.records import ExecutionRecord, Outcome, PendingCall, Snippet
from codemode_jupyter.runtime.rollback import RollbackReport, roll_back
from codemode_jupyter.runtime.store import Store
from codemode_jupyter.runtime.store.rows import ExecutionRow
from codemode_jupyter.runtime.tool import RuntimeTool, runtime_tool
from codemode_jupyter.runtime.tool_description import ToolLanguage
from codemode_jupyter.runtime.transforming import transformed
from codemode_jupyter.runtime.watchers import Watchers
from codemode_jupyter.sandbox.protocol import Executor
from codemode_jupyter.sandbox.python.packages.package import Package
from codemode_jupyter.sandbox.python.packages.package_set import PackageSet

_OTHER_PROCESS_SECONDS = 1.0
"""How often an execution that is awaited here but not driven here is looked at."""

_log = logging.getLogger(__name__)


class Runtime:
    """Executions, approvals, replay, rollback and snippets over a set of connectors.

    Parameters
    ----------
    connectors : iterable of Connector, default ()
        What programs may call; each becomes a global of that name.
    executor : Executor or None, default None
        Where programs run; ``None``: what the place offers (the page of the notebook, else the headless sandbox).
        An executor that was passed in is not closed by the runtime.
    name : str, default "default"
        Keeps histories and snippets in one file apart. Letters, digits, ``_``, ``-``, ``.``.
    path : path or None, default None
        The SQLite file; ``None``: beside the notebook, else ``codemode.sqlite3`` in the working directory.
    max_executions : int, default 50
        How many finished executions are kept; older ones are deleted when a new one begins.
    transform_result : callable or None
        Reshapes the result of a completed execution for the caller; the store keeps the raw value.
    timeout : float, default 30.0
        Running time in seconds that each pass of a program may use; waiting for tools does not count.
    tool_timeout : float, default 60.0
        Seconds that one tool call may take, unless the tool has a limit of its own.
    outbound : Outbound, iterable of str, async function or None, default None
        Gives programs ``fetch``: to these origins only (httpx sends; extra ``[outbound]``), or by way of a function of
        an ``OutboundRequest`` that returns an ``OutboundResponse``. Requests are calls of connector ``fetch``; all but
        GET, HEAD and OPTIONS need approval, unless ``Outbound(…, approve=…)`` says otherwise. ``None``: no ``fetch``.
    modules : mapping of str to str or None, default None
        ES modules (JavaScript or TypeScript texts) that programs may ``import`` by name; nothing else can be imported.
        Their exports are values, not live bindings. An execution goes on only with the modules it began with.
    packages : iterable of str or path, default ()
        What programs in Python may ``import`` beside the standard library: requirements (``"humanize"``,
        ``"humanize>=4"``), folders of projects (``"./mylib"``) and wheels, with all that they depend on. The kernel's
        pip fetches or builds them when a program first needs them; only wheels are taken from an index. An execution is
        recorded with the packages it began with, and goes on with the very same bytes.
    pyodide_distribution : str, path or None, default None
        Folder or https address of a Pyodide distribution (where its ``pyodide-lock.json`` lies), for compiled packages
        that no index has for the sandbox's platform.
    embed : callable, "semantic" or None, default None
        Lets ``search`` go by meaning as well as by words: a function of a list of texts that returns a vector for each
        (called in a thread; the vectors of tools are kept in memory), or ``"semantic"`` for the small English model of
        the extra ``[semantic]``, which runs here and downloads nothing.

    on_wait : callable or None, default None
        Hears a ``PendingCall`` when a call begins to wait for a person, of whatever kind; plain or async, called beside
        the run. Each wait is told once, also over restarts; what began to wait when its kernel died is told by
        ``recover``.
    on_interrupt : {"replay", "fail"}, default "replay"
        What ``ToolContext.interrupt`` does. ``"replay"``: the run pauses, and the tool runs again with the answer.
        ``"fail"``: it raises ``interrupts_off``, for runs that nobody watches.
    on_detached_exit : callable or None, default None
        Hears a ``DetachedExit`` when an execution that was detached has ended; plain or async. It is called at least
        once: one that raised, or did not return before the process ended, is called again with the same exit by the
        next runtime on the file, and by ``recover``. ``None``: the notebook's inbox; elsewhere nothing can be detached.
    detach_note : str
        What a model is told when its run was detached.

    Raises
    ------
    CodemodeError
        ``invalid_name``, ``reserved_name``, ``duplicate_name``, ``invalid_option``, ``missing_extra``; for modules
        ``syntax_error``, ``import_not_available``, ``invalid_module``; for packages ``invalid_package``,
        ``package_not_found``, ``invalid_distribution``. The store is opened by the first operation,
        which may raise ``not_a_store``, ``newer_schema``, ``store_locked``, ``store_read_only`` or
        ``store_unavailable``.
    """

    def __init__(  # noqa: PLR0913  all but the connectors are keywords with defaults
        self,
        connectors: Iterable[Connector] = (),
        *,
        executor: Executor | None = None,
        name: str = "default",
        path: str | Path | None = None,
        max_executions: int = 50,
        transform_result: Callable[[Any], Any] | None = None,
        timeout: float = 30.0,
        tool_timeout: float = 60.0,
        outbound: Outbound | Send | Iterable[str] | None = None,
        modules: Mapping[str, str] | None = None,
        packages: Iterable[str | PathLike[str]] = (),
        pyodide_distribution: str | PathLike[str] | None = None,
        embed: Embed | Literal["semantic"] | None = None,
        on_wait: WaitHook | None = None,
        on_interrupt: Literal["replay", "fail"] = "replay",
        on_detached_exit: ExitHook | None = None,
        detach_note: str = detaching.NOTE,
    ) -> None:
        check_runtime_name(name)
        check_seconds("timeout", timeout)
        check_seconds("tool_timeout", tool_timeout)
        check_count("max_executions", max_executions)
        check_path("path", path)
        check_function("transform_result", transform_result)
        check_function("on_wait", on_wait)
        check_function("on_detached_exit", on_detached_exit)
        check_text("detach_note", detach_note)
        self.name = name
        self.timeout = timeout
        self.tool_timeout = tool_timeout
        self.max_executions = max_executions
        built_in = built_in_tools(self.search, self.describe, self._snippet_source)
        self._capabilities = Capabilities(
            connectors,
            built_in,
            _outbound(outbound),
            ModuleSet(modules),
            _embedding(embed),
            PackageSet(packages, pyodide_distribution),
        )
        self._executor = executor
        self._path = None if path is None else Path(path)
        self._transform_result = transform_result
        self._owner = new_owner()
        self._opened: Store | None = None
        self._driven = DrivenExecutions()
        self._watchers = Watchers()
        self._may_interrupt = may_interrupt(on_interrupt)
        self._announcements: Announcements | None = None
        if on_wait is not None:
            self._announcements = Announcements(on_wait, self.pending, lambda: self._store)
            self._watchers.subscribe(self._announcements.look)
        self._on_detached_exit = on_detached_exit
        self._detach_note = detach_note
        self._deliveries = Deliveries(self._owner, self._shaped_exit)
        self._opening = self._open_soon()

    def __repr__(self) -> str:
        return f"Runtime(name={self.name!r}, connectors={list(self._capabilities.names)!r})"

    @property
    def connectors(self) -> tuple[Connector, ...]:
        """The connectors, in the order given."""
        return self._capabilities.connectors

    @property
    def path(self) -> Path:
        """The file of the store, also before it is made."""
        if self._path is None:
            self._path = current_environment().database_path()
        return self._path

    async def execute(  # noqa: PLR0913  all but the program are keywords with defaults
        self,
        code: str,
        *,
        language: str = "javascript",
        timeout: float | None = None,  # noqa: ASYNC109  a limit on the program, not on this coroutine
        on_start: Callable[[str], None] | None = None,
        detach: Detach | bool | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Outcome:
        """Run a program until it completes, fails, waits for a person, or is detached.

        Parameters
        ----------
        code : str
            The program as a model or a person wrote it.
        language : str, default "javascript"
            The language of ``code``: ``"javascript"``, which includes TypeScript, or ``"python"``.
        timeout : float or None
            Running time in seconds; ``None``: the runtime's.
        on_start : callable or None
            Called with the execution's id once it is recorded, before anything runs; its errors are logged.
        detach : bool, float or None, default None
            ``True``: detach the run when it waits for a person. A number: also after so many seconds. A run that has
            ended by then returns as usual; how a detached one ends, ``on_detached_exit`` hears, and nobody else.
        metadata : mapping or None
            JSON values that the hook gets with the exit.

        Returns
        -------
        Outcome
            Failures are returned, not raised; ``execution_id`` is empty when nothing was recorded. Cancelling the
            task that awaits this ends the run, recorded with the error code ``stopped``. Of a detached run the status
            is ``waiting`` or ``running``.
        """
        try:
            detach = detaching.check_detach(detach)
            if detach is not None:
                self._exit_hook()
            seconds = self.timeout if timeout is None else timeout
            row = new_execution(
                code, language, seconds, self._capabilities.required, self._owner, self._capabilities.modules
            )
            row.packages = None if self._capabilities.packages.names else "[]"
            row.detachable, row.metadata = detach is not None, detaching.metadata_text(metadata)
            store = self._store
            with store.transaction(durable=False) as connection:  # the commit of its first calls makes it durable
                store.executions.prune(connection, self.max_executions)
                store.executions.insert(connection, row)
        except CodemodeError as refusal:
            return Outcome("error", "", error=failures.detail_of(refusal))
        self._changed(row.id)
        if on_start is not None:
            try:
                on_start(row.id)
            except Exception:  # noqa: BLE001  the execution is recorded as running: it must be driven
                _log.exception("on_start failed for %s.", row.id)
        if row.status == "error":
            return await self._outcome(row.id)
        return await self._drive(row, detach)

    def run(self, code: str, **options: Any) -> Outcome:
        """Run a program like ``execute`` and block until then; works with no loop, and inside a notebook's loop.

        In a notebook prefer ``await runtime.execute(...)``: while this blocks, a program in the page gets no answers on
        kernels that read messages between cells only.

        Raises
        ------
        CodemodeError
            ``cannot_block``; ``cannot_detach``: what is let go while it runs needs a loop that goes on.
        """
        if options.get("detach") not in (None, False, True) and not is_loop_running():
            raise CodemodeError(
                "cannot_detach",
                "The loop of a blocking call ends with it, and would end a run that was detached while it runs.",
                hint="Use `detach=True`, which lets go of a run that waits, or `await runtime.execute(…)` in a loop.",
            )
        return run_blocking(self.execute(code, **options), self._release)

    def tool(
        self,
        description: str | None = None,
        hints: Mapping[str, str] | None = None,
        *,
        language: ToolLanguage = "javascript",
        detach: Detach | bool | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> RuntimeTool:
        """Return this runtime as the one tool of a model.

        Parameters
        ----------
        description : str or None
            Replaces the whole text that explains the tool.
        hints : mapping or None
            A short remark for each connector by name, in place of its instructions' first line.
        language : {"javascript", "python", "both"}, default "javascript"
            In what the model writes programs; with ``"both"`` it says of each by an argument ``language``.
        detach, metadata
            As for ``execute``. The description then tells the model what a reply of a detached run means.

        Raises
        ------
        CodemodeError
            ``invalid_option``, ``unknown_language``; ``no_exit_hook``: nobody would hear how a detached run ended.
        """
        letting_go = detaching.check_detach(detach)
        detaching.metadata_text(metadata)
        if letting_go is not None:
            self._exit_hook()

        async def execute(code: str, language: str) -> Outcome:
            return await self.execute(code, language=language, detach=letting_go, metadata=metadata)

        return runtime_tool(
            self._capabilities,
            execute,
            self,
            description,
            hints or {},
            language=language,
            detaches=letting_go is not None,
        )

    async def detach(self, execution_id: str, metadata: Mapping[str, Any] | None = None) -> bool:
        """Let an execution go on by itself; ``on_detached_exit`` hears how it ends. ``False``: it has ended already.

        Whoever awaits it in this process gets the reply of a detached run at once; whoever does in another process, at
        the end. ``metadata`` replaces what ``execute`` was given.

        Raises
        ------
        CodemodeError
            ``no_exit_hook``, ``invalid_option``, ``unknown_execution``
        """
        return self._detach(execution_id, detaching.metadata_text(metadata))

    async def approve(
        self, execution_id: str, seq: int | Sequence[int] | None = None, *, digest: str | None = None
    ) -> Outcome:
        """Approve waiting calls and go on with the program.

        Parameters
        ----------
        seq : int, sequence of int or None
            Which of the waiting calls; ``None``: all that wait now.
        digest : str or None
            ``PendingCall.digest`` of the call that was shown, or ``combined_digest`` of several; the decision is
            refused when anything else waits under these numbers.

        Returns
        -------
        Outcome
            Also for refusals (``unknown_execution``, ``not_paused``, ``stale_decision``, ``missing_connectors``,
            ``missing_tools``, ``connector_failed``, ``modules_changed``): nothing changed then. A detached execution
            goes on in the background: this returns once it does, and the hook hears how it ends.
        """
        try:
            if seq is None:  # what comes to wait while tools are loaded was not meant
                seq = approvals.waiting(self._store, execution_id) or None
            await self._capabilities.load()
            row = approvals.approve(self._store, self._capabilities, self._owner, execution_id, seq, digest)
        except CodemodeError as refusal:
            return Outcome("error", execution_id, error=failures.detail_of(refusal))
        self._changed(execution_id)
        return await self._drive(row)

    async def reject(
        self,
        execution_id: str,
        seq: int | Sequence[int] | None = None,
        *,
        digest: str | None = None,
        reason: str | None = None,
    ) -> bool:
        """Reject waiting calls, which ends the execution.

        Tell whether there was something to reject. Nothing is undone.
        """
        if not approvals.reject(self._store, execution_id, seq, digest, reason):
            return False
        self._ended(execution_id)
        await dispose(self._capabilities, execution_id, "rejected")
        return True

    async def recover(self) -> list[Outcome]:
        """Take up the executions of this runtime whose kernel died, by replay; return what came of each.

        A call whose outcome was not recorded may or may not have happened. Tools declared idempotent run again under
        the same idempotency key; for any other the execution is paused, and ``pending`` lists the call with kind
        ``in_doubt`` until ``respond`` has answered. Detached executions go on in the background. Ends of detached
        executions that the hook refused or did not hear are told again.
        """
        self._deliveries.look(self._store, self._hook, again=True)
        if self._announcements is not None:
            self._announcements.look()
        await self._capabilities.load()
        stale = recovery.stale(self._store, self._owner, list(self._driven))
        return list(await asyncio.gather(*(self._recover(row) for row in stale)))

    async def stale(self) -> list[ExecutionRecord]:
        """Return the executions that are recorded as running but whose kernel is gone, newest first, without logs.

        ``recover`` takes them up.
        """
        return [
            outcome.execution_record(row, ()) for row in recovery.stale(self._store, self._owner, list(self._driven))
        ]

    async def respond(self, call_id: str, answer: Any, *, result: Any = None, digest: str | None = None) -> Outcome:
        """Answer what ``pending`` lists with a kind other than ``approval``, and go on.

        Parameters
        ----------
        call_id : str
            ``PendingCall.call_id``.
        answer : any
            Of an ``interrupt``: the answer itself, which fits the question's schema. Of a ``question``: the form's
            fields by name (``{}`` says yes where there are none), ``"decline"``, or ``"cancel"`` without a choice. Of a
            call ``in_doubt``: ``"run_again"``, ``"happened"`` with its ``result``, or ``"give_up"``, which ends the
            execution.
        digest : str or None
            ``PendingCall.digest`` of what was shown; the answer is refused when it was given for another.

        Returns
        -------
        Outcome
            What the run came to, or ``paused`` at the next question. Refusals changed nothing: ``unknown_call``,
            ``invalid_answer`` (``error`` names every fault), ``stale_decision``, ``already_answered`` (another answer
            came first), ``missing_connectors``, ``missing_tools``, ``connector_failed``, ``modules_changed``. The same
            answer a second time changes nothing either, and ``note`` says so.
        """
        try:
            call = read_call_id(call_id)
            if call.live is not None:
                self._driven.respond(call, digest, *answer_in_flight(answer))
                return await self._rested(call.execution_id)
            if call.number is not None or answer != "give_up":
                await self._capabilities.load()
            if call.number is None:
                return await self._settle_doubt(call, answer, result, digest)
            if interrupts.is_checked(self._store, call):
                await load_checker()
            given = interrupts.give_answer(self._store, self._capabilities, self._owner, call, answer, digest)
            if given.again:
                return replace(await self._rested(call.execution_id), note=interrupts.ANSWERED_ALREADY)
        except CodemodeError as refusal:
            return Outcome("error", read_execution_id(call_id), error=failures.detail_of(refusal))
        self._changed(call.execution_id)
        return await (self._rested(call.execution_id) if given.to_drive is None else self._drive(given.to_drive))

    async def rollback(self, execution_id: str) -> RollbackReport:
        """Undo the applied calls of an execution that can be undone, newest first.

        Raises
        ------
        CodemodeError
            ``still_running``
        """
        await self._capabilities.load()
        report = await roll_back(self._store, self._capabilities, execution_id, lambda: self._changed(execution_id))
        self._ended(execution_id)
        if report.reverted:
            await dispose(self._capabilities, execution_id, "rolled_back")
        return report

    async def stop(self, execution_id: str) -> bool:
        """End an execution that is running in this process; tell whether it was."""
        return await self._driven.stop(execution_id)

    async def wait(self, execution_id: str) -> Outcome:
        """Wait until an execution is neither running nor paused, whoever drives it, and return its outcome.

        Raises
        ------
        CodemodeError
            ``unknown_execution``
        """
        while True:
            row = self._row(execution_id)
            if row.status not in ("running", "paused"):
                return await self._outcome(execution_id)
            if row.status == "running" and not is_alive(row.owner, row.heartbeat, time.time()):
                return Outcome("error", execution_id, error=failures.detail_of(_ownerless(row)))
            await self._change(execution_id)

    async def pending(self, execution_id: str | None = None) -> list[PendingCall]:
        """Return the calls that wait for a person, of one execution or of all, newest execution first.

        Questions of running calls come first; only the process that runs them knows them. Those that tools ask with
        ``interrupt`` are listed also while other calls of their execution run, and may be answered then.
        """
        await self._load_if_possible()
        store = self._store
        running = [id_ for id_ in self._driven if execution_id in (None, id_)]
        questions = [asked for id_ in reversed(running) for asked in self._questions(id_)]
        if execution_id is None:
            rows = [row for status in ("paused", "running") for row in store.executions.with_status(status)]
        else:
            one = store.executions.get(execution_id)
            rows = [one] if one is not None and one.status in ("paused", "running") else []
        return questions + [
            call for row in sorted(rows, key=lambda row: row.id, reverse=True) for call in self._waiting(row)
        ]

    async def execution(self, execution_id: str) -> ExecutionRecord:
        """Return one execution with its log.

        Raises
        ------
        CodemodeError
            ``unknown_execution``
        """
        row = self._row(execution_id)
        logs, live = self._driven.console(execution_id), self._driven.live_calls(execution_id)
        record = outcome.execution_record(row, self._store.calls.of(execution_id), logs, live)
        waits, preparation = self._driven.waits_for_turn(execution_id), self._driven.preparation(execution_id)
        return replace(record, waits_for_turn=waits, preparation=preparation)

    async def executions(self, limit: int | None = None, *, with_calls: bool = False) -> list[ExecutionRecord]:
        """Return executions, newest first; their logs are left out unless asked for (``execution`` has one).

        Raises
        ------
        CodemodeError
            ``invalid_option``
        """
        if limit is not None:
            check_count("limit", limit)
        store = self._store
        return [
            outcome.execution_record(row, store.calls.of(row.id) if with_calls else ())
            for row in store.executions.newest(limit)
        ]

    async def save_snippet(self, name: str, *, execution_id: str, description: str = "") -> Snippet:
        """Save the program of an execution under a name, in place of an older one of that name.

        Raises
        ------
        CodemodeError
            ``invalid_name``, ``unknown_execution``
        """
        return snippet_library.save(self._store, name, execution_id, description)

    async def snippets(self) -> list[Snippet]:
        """Return the saved programs by name."""
        return snippet_library.all_snippets(self._store)

    async def delete_snippet(self, name: str) -> bool:
        """Delete a saved program; tell whether it existed."""
        return snippet_library.delete(self._store, name)

    async def packages(self, *, update: bool = False) -> tuple[Package, ...]:
        """Return the packages that programs in Python may import, with what they depend on; fetch them if need be.

        Parameters
        ----------
        update : bool, default False
            Resolve them anew, such as to have newer versions; without it they stay as they were resolved first, also in
            other kernels of this machine. Executions that have begun keep theirs.

        Raises
        ------
        CodemodeError
            One of them cannot be had; says why and what to do.
        """
        return await self._capabilities.packages.resolved(update=update)

    async def search(self, query: str, limit: int = 10) -> dict[str, Any]:
        """Return the methods and snippets that answer a question, best first: ``{"results", "total", "truncated"}``.

        Parameters
        ----------
        query : str
            A question as a person asks it, or some words.
        limit : int, default 10
            Most results, 1 to 50.
        """
        check_text("query", query)
        check_count("limit", limit)
        await self._capabilities.load()
        return await discovery.search(self._store, self._capabilities, query, limit)

    async def describe(self, target: str, language: Language = "javascript") -> dict[str, Any]:
        """Describe a connector, a method or a snippet: ``{"path", "kind", "description", "types"}``.

        ``types`` are TypeScript declarations, or Python stubs for ``language="python"``.
        """
        check_text("target", target)
        await self._capabilities.load()
        return discovery.describe(self._store, self._capabilities, target, language)

    async def delete_execution(self, execution_id: str) -> bool:
        """Delete an execution and its log; tell whether it existed. One that is running here is stopped first."""
        await self.stop(execution_id)
        status = retention.delete(self._store, execution_id)
        self._ended(execution_id)
        if status in ("paused", "running"):
            await dispose(self._capabilities, execution_id, "rejected")
        return status is not None

    async def prune_executions(self, keep: int) -> int:
        """Delete finished executions but the newest ``keep``; return how many were deleted.

        Raises
        ------
        CodemodeError
            ``invalid_option``
        """
        check_count("keep", keep)
        return retention.prune(self._store, keep)

    async def expire_paused(self, max_age: float = retention.EXPIRE_SECONDS) -> list[str]:
        """End paused executions, and running ones whose kernel is gone, that have not changed for ``max_age`` seconds.

        Return their ids.
        """
        check_age("max_age", max_age)
        ended = retention.expire(self._store, max_age)
        for execution_id, status in ended:
            self._ended(execution_id)
            await dispose(self._capabilities, execution_id, status)
        return [execution_id for execution_id, _ in ended]

    def subscribe(self, callback: Callable[[str], None]) -> Callable[[], None]:
        """Call ``callback(execution_id)`` on the event loop whenever that execution's status, calls or console change.

        Changes of one tick are told once. Returns a function that ends the subscription.
        """
        return self._watchers.subscribe(callback)

    async def close(self) -> None:
        """Stop what is running here, close the connectors and the file. A second call does nothing."""
        for execution_id in self._driven:
            await self.stop(execution_id)
        if self._opening is not None:
            self._opening.cancel()
        if self._opened is not None:
            await self._deliveries.close(self._opened)
        if self._announcements is not None:
            await self._announcements.settle()
        await close_connectors(self._capabilities)
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    @property
    def _store(self) -> Store:
        if self._opened is None:
            self._opened = Store(self.path, self.name)
            self._deliveries.look(self._opened, self._hook)  # what an earlier process did not come to
        return self._opened

    def _open_soon(self) -> asyncio.Handle | None:
        """Open a file that is there in the loop's next turn: ends that an earlier process did not come to are told.

        Without a running loop, or a hook, the first use does that.
        """

        def open_file() -> None:
            try:
                if self._hook is not None and self.path.exists():
                    _ = self._store
            except (CodemodeError, OSError):
                _log.warning("The ends of detached runs are delivered at the first use of %r.", self, exc_info=True)

        try:
            return asyncio.get_running_loop().call_soon(open_file)
        except RuntimeError:
            return None

    @property
    def _hook(self) -> ExitHook | None:
        if self._on_detached_exit is not None:  # a callable may be false, such as an empty list that is one
            return self._on_detached_exit
        return current_environment().exit_hook()

    def _exit_hook(self) -> ExitHook:
        if (hook := self._hook) is None:
            raise detaching.no_exit_hook()
        return hook

    def _detach(self, execution_id: str, metadata: str | None = None) -> bool:
        self._exit_hook()
        self._row(execution_id)
        store = self._store
        with store.transaction(durable=False) as connection:
            if not store.executions.detach(connection, execution_id, time.time(), metadata):
                return False
        self._driven.release(execution_id)
        self._changed(execution_id)
        return True

    async def _drive(self, row: ExecutionRow, detach: Detach | None = None) -> Outcome:
        """Drive an execution that is ours until it is paused or over, or let it go."""
        try:
            driver = ExecutionDriver(self._surroundings(), row)
        except CodemodeError as failure:
            return Outcome("error", row.id, error=failures.detail_of(failure))
        driving = self._driven.start(row.id, driver, partial(self._driving_over, row))
        if row.detached_at is not None:
            self._driven.release(row.id)
            while not (driver.has_begun or driving.task.done()):
                await self._watchers.changed(row.id)
        elif detach is None:
            await driving.attend()
        else:
            await driving.attend(None if detach is True else detach, self._asking(row.id))
            if not (driving.task.done() or driving.released.done()) and not self._detach(row.id):
                await driving.attend()
        if (fault := driving.fault) is not None:
            return Outcome("error", row.id, error=failures.detail_of(fault))
        try:
            while not driving.released.done() and self._row(row.id).status == "running":
                # Approved in the moment it paused: somebody drives it on.
                await self._change(row.id)
            return await self._told(row.id, driver)
        except CodemodeError as failure:  # deleted meanwhile, or a store that fails
            return Outcome("error", row.id, error=failures.detail_of(failure))

    def _driving_over(self, row: ExecutionRow, driving: Driving, fault: BaseException | None) -> None:
        if fault is not None:
            _log.error("Execution %s is not driven any more.", row.id, exc_info=fault)
        if row.detachable or driving.released.done():
            self._ended(row.id)
        else:
            self._changed(row.id)

    def _ended(self, execution_id: str) -> None:
        """Tell whom it concerns that an execution may have ended."""
        self._changed(execution_id)
        if self._opened is not None:
            self._deliveries.look(self._opened, self._hook)

    async def _asking(self, execution_id: str) -> None:
        """Return when a running call asks a person."""
        while not self._questions(execution_id):
            await self._watchers.changed(execution_id)

    async def _recover(self, row: ExecutionRow) -> Outcome:
        try:
            taken = recovery.take_over(self._store, self._capabilities, self._owner, row)
        except CodemodeError as refusal:
            return Outcome("error", row.id, error=failures.detail_of(refusal))
        self._changed(row.id)
        if taken is not None and taken.status == "running":
            return await self._drive(taken)
        return await self._told(row.id)

    async def _told(self, execution_id: str, driver: ExecutionDriver | None = None) -> Outcome:
        """Return what an execution came to, or that it goes on by itself: the one place that decides who is told."""
        row = self._row(execution_id)
        if row.detached_at is None:
            return await self._outcome(execution_id, driver)
        if row.status not in ("running", "paused"):
            self._ended(execution_id)  # detached by another process: nobody here knew
        waiting = [*self._questions(execution_id), *self._waiting(row)]
        return detaching.reply(row, waiting, self._detach_note, self._driven.console(execution_id))

    async def _shaped_exit(self, exit_: DetachedExit) -> DetachedExit:
        if exit_.status != "completed" or self._transform_result is None:
            return exit_
        return replace(exit_, result=await transformed(self._transform_result, exit_.result))

    async def _outcome(self, execution_id: str, driver: ExecutionDriver | None = None) -> Outcome:
        """Return what an execution came to; ``driver``, which drove it, has the log and may have the whole result."""
        row = self._row(execution_id)
        calls = None if driver is None else driver.calls_as_of(row.updated_at)
        if calls is None:
            calls = self._store.calls.of(execution_id)
        result = None if driver is None else driver.result
        questions = self._store.journal.open_questions(row.id) if row.status == "paused" else ()
        told = outcome.outcome_of(row, calls, self._capabilities, result, questions)
        if told.status != "completed" or self._transform_result is None:
            return told
        return replace(told, result=await transformed(self._transform_result, told.result))

    async def _settle_doubt(self, call: CallId, answer: object, result: Any, digest: str | None) -> Outcome:
        row = recovery.respond(self._store, self._capabilities, self._owner, call, answer, result, digest)
        self._changed(row.id)
        if row.status == "running":
            return await self._drive(row)
        if row.status == "error":
            self._ended(row.id)
            await dispose(self._capabilities, row.id, "error")
        return await self._told(row.id)

    async def _rested(self, execution_id: str) -> Outcome:
        """Wait until a run that somebody drives has ended or waits for a person; of a detached one say only that."""
        while (row := self._row(execution_id)).status == "running" and row.detached_at is None:
            if asked := self._questions(execution_id):
                return Outcome("paused", execution_id, pending=tuple(asked))
            if not is_alive(row.owner, row.heartbeat, time.time()):
                raise _ownerless(row)
            await self._change(execution_id)
        return await self._told(execution_id)

    async def _change(self, execution_id: str) -> None:
        """Return when something changed in an execution.

        What this runtime changes wakes at once. SQLite tells nobody what another process wrote, so what is not driven
        here is looked at now and then, for as long as somebody awaits it.
        """
        timeout = None if execution_id in self._driven else _OTHER_PROCESS_SECONDS
        await self._watchers.changed(execution_id, timeout=timeout)

    def _waiting(self, row: ExecutionRow) -> Sequence[PendingCall]:
        questions = self._store.journal.open_questions(row.id)
        if row.status == "running" and not questions:
            return ()
        calls = self._store.calls.with_state(row.id, *outcome.ASKING)
        return outcome.pending_of(row, calls, self._capabilities, questions)

    def _questions(self, execution_id: str) -> list[PendingCall]:
        live = self._driven.live_calls(execution_id)
        if not any(call.questions for call in live.values()):
            return []
        return outcome.open_questions(execution_id, self._store.calls.of(execution_id), live, self._capabilities)

    def _surroundings(self) -> Surroundings:
        return Surroundings(
            self._store,
            self._capabilities,
            self._current_executor,
            self._owner,
            self.tool_timeout,
            self._changed,
            may_interrupt=self._may_interrupt,
        )

    def _row(self, execution_id: str) -> ExecutionRow:
        row = self._store.executions.get(execution_id)
        if row is None:
            raise CodemodeError("unknown_execution", f'There is no execution "{execution_id}".')
        return row

    async def _release(self) -> None:
        """Close the connectors and the executor of a loop that ends; an executor passed in is its owner's to close."""
        if self._announcements is not None:
            await self._announcements.settle()
        await close_connectors(self._capabilities)
        if self._executor is None:
            await (await current_environment().executor()).close()

    async def _current_executor(self) -> Executor:
        return self._executor if self._executor is not None else await current_environment().executor()

    async def _snippet_source(self, name: str) -> dict[str, object]:
        return snippet_library.source_of(self._store, self._capabilities, name)

    async def _load_if_possible(self) -> None:
        try:
            await self._capabilities.load()
        except CodemodeError:
            _log.exception("Descriptions of tools are missing.")

    def _changed(self, execution_id: str) -> None:
        self._watchers.tell(execution_id)


def _outbound(option: Outbound | Send | Iterable[str] | None) -> Outbound | None:
    return option if option is None or isinstance(option, Outbound) else Outbound(option)


def _embedding(option: Embed | Literal["semantic"] | None) -> Embed | None:
    if option is None or callable(option):
        return option
    if option != "semantic":
        hint = 'Use a function of a list of texts that returns a vector for each, "semantic", or None.'
        raise CodemodeError("invalid_option", f"`embed` is {option!r:.100}.", hint=hint)
    return semantic


def _ownerless(row: ExecutionRow) -> CodemodeError:
    return CodemodeError(
        "owner_gone",
        f"Execution {row.id} is recorded as running, but the kernel that ran it is gone.",
        hint="`recover()` takes it up again.",
    )
