"""Where this runtime answers otherwise than the reference, scenario by scenario, and why that is better.

``DIFFERENCES``: name of the scenario → (statuses of our outcomes, why). The statuses are those of ``exec`` and
``approve`` in order. A scenario that is not in the table must agree in all facts that ``vectors.comparable`` keeps;
one that is must differ in some. ``ELSEWHERE``: scenarios that cannot be told through the public face, and the tests
that stand for them.
"""

from __future__ import annotations

DIFFERENCES: dict[str, tuple[str, str]] = {
    "reject": (
        "paused error",
        "A rejected call is `rejected`; `reverted` is kept for calls that were undone.",
    ),
    "divergence: arguments": (
        "paused completed",
        "Random numbers are part of the recorded run: the program that the reference cannot approve is approved.",
    ),
    "divergence: another method": (
        "paused completed completed",
        "Search and describe are recorded as reads: a snippet saved meanwhile does not change what the program read.",
    ),
    "step renamed between passes": (
        "paused completed",
        "Random numbers repeat, so a name made of one is the same name in every pass.",
    ),
    "step that throws, caught": (
        "paused completed",
        "A failed step is recorded as failed and its function does not run again.",
    ),
    "step holding a connector call": (
        "error error",
        "A call inside a step is refused at once and says what to do; in the reference the run can never be approved.",
    ),
    "step result types": (
        "paused completed",
        "The program sees the stored form in the first pass, too, and a Date survives: both passes take one branch.",
    ),
    "undefined results": (
        "paused completed",
        "A Python tool that returns None gives null, which it is in JSON; it stays null in every pass.",
    ),
    "tool error, not caught": (
        "error",
        "The call is `failed`, with its error, and the console lines are kept beside the error.",
    ),
    "tool error, caught, then a pause": (
        "paused completed",
        "The failure is recorded and replays as the same throw: the tool runs once, and the run can be approved.",
    ),
    "approved action throws": ("paused error", "The call that failed is `failed`, not for ever `executing`."),
    "unknown method and unknown global": (
        "error error error",
        "A refused call is recorded as failed, also one to `codemode`, so a program that catches it replays alike.",
    ),
    "only the first argument is passed": (
        "error completed",
        "No argument is dropped without a word: positional ones are bound to parameters, too many are refused.",
    ),
    "Promise.all of two gated calls": (
        "paused completed error",
        "Both calls are shown at once and decided together; a further approval finds nothing to approve.",
    ),
    "call not awaited": ("completed", "The call is waited for and in the log, marked as late."),
    "throwing what is not an Error": (
        "error error error error",
        "Whatever is thrown is an error, and says what it was.",
    ),
    "arrow with a trailing semicolon": ("completed completed", "The program is correct, and runs."),
    "fence, export default, statements": (
        "completed completed completed",
        "A sentence before the fence, which models write, is no syntax error.",
    ),
    "console": (
        "completed paused completed error",
        "All levels are captured, objects are readable, and the lines of paused and failed passes are kept.",
    ),
    "timeout": (
        "error completed",
        "The second program completes: time spent waiting for a tool is no running time of its own.",
    ),
    "snippet that pauses": (
        "completed paused paused completed",
        "A snippet runs inside the program: one log, whose entry `codemode.run` pins the snippet's text.",
    ),
    "snippet that throws, snippet logs, snippet in snippet": (
        "completed completed error",
        "Errors of snippets arrive unwrapped, and their console lines are the program's.",
    ),
    "snippet with step": (
        "completed paused completed",
        "As above: the entry `codemode.run` stands before the snippet's calls.",
    ),
    "forged records of a read": ("error", "The log is out of the program's reach: no such operation exists."),
    "sandbox internals in scope": ("error", "The harness is not in scope: a ReferenceError that names the globals."),
    "a tool result that looks like the control object": ("completed", "Data never poses as control."),
    "a tool result that looks like the binary tag": (
        "paused completed",
        "Data never poses as bytes: it stays what it was, in both passes.",
    ),
    "a poisonous tool result": (
        "completed completed completed",
        "Every value that was stored can be read; listing goes on whatever a tool returned.",
    ),
    "sizes": (
        "completed error completed completed error error",
        "An oversized result or argument fails the call, with advice; a program that catches it goes on.",
    ),
    "final result too large / not storable": (
        "completed completed completed completed completed",
        "A Map, a function, a symbol as the final result are told as far as they can be; nothing is lost or refused.",
    ),
    "rollback of a paused run": (
        "paused error",
        "The call that can no longer be approved is `cancelled`, not `pending`.",
    ),
    "parallel chains, then a pause": (
        "paused completed",
        "Calls are numbered in issue order and settle in the recorded order: parallel chains replay exactly.",
    ),
    "tool error with a constant text, caught, then a pause": (
        "paused paused completed",
        "The failing tool runs once in all passes, not once in each.",
    ),
    "result of a call that ends after the timeout": (
        "completed",
        "Waiting for a tool is no running time of the program; the tool has a limit of its own.",
    ),
    "search and describe inside the program": (
        "completed error",
        "Both are recorded as reads; `search()` without words is refused instead of searching for “undefined”.",
    ),
}

ELSEWHERE: dict[str, str] = {
    "facet: decide on a missing run; record without entry": (
        "Operations on the reference's own storage object; all changes of ours are conditional (see test_approvals)."
    ),
    "facet: reject while running leaves": (
        "As above; test_approvals.test_a_reject_while_the_call_runs_changes_nothing stands for it."
    ),
    "host crash and restart (two runs: one paused, one in a call)": (
        "Told with real processes and SIGKILL in test_kill; in-doubt calls are asked about, and reported by a rollback."
    ),
}
