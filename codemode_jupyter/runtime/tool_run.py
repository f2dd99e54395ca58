"""One run of one tool, from arguments to a recorded outcome.

Owns: the limit in time, and turning whatever happens into an outcome. Never does: write to the log.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Literal

from codemode_jupyter.connectors.tool import Tool, ToolContext
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime import values
from codemode_jupyter.runtime.live_call import LiveCall
from codemode_jupyter.runtime.user_code import ends_the_task
from codemode_jupyter.runtime.value_writer import message_of


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """What a call came to: the tagged text of its value or error, and for an error its code."""

    state: Literal["applied", "failed"]
    text: str
    code: str | None = None


async def run_tool(tool: Tool, name: str, arguments: dict[str, Any], context: ToolContext, limit: float) -> CallOutcome:
    """Run a tool and return its outcome; never raises but ``CancelledError`` and what ends the process.

    Parameters
    ----------
    limit : float
        Seconds after which the tool is cancelled, unless the tool has a limit of its own. They do not count while the
        tool waits for a person.
    """
    seconds = limit if tool.timeout is None else tool.timeout
    live = context.channel
    clock = live.limit(seconds) if isinstance(live, LiveCall) else asyncio.timeout(seconds)
    try:
        async with clock:
            value = await tool.call(tool.validate(arguments), context)
    except TimeoutError as error:
        return failed(_tool_timeout(name, tool, seconds) if clock.expired() else error)
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # whatever a tool raises is its result
        if ends_the_task(error):
            raise
        return failed(error)
    return _encoded(name, value, stored=tool.replay == "record")


RUNS_ON = "It is a plain function, which cannot be ended from outside: it runs to its end, and nobody waits for it."
RAN_ANYWAY = ("tool_timeout", "stopped", "tool_cancelled", "result_too_large", "result_not_storable", "connection_lost")
"""Codes of failed calls that may have had their effect nevertheless."""


def failed(error: BaseException) -> CallOutcome:
    """Return the outcome of a call that raised ``error``."""
    return CallOutcome("failed", values.encode_error(error), error.code if isinstance(error, CodemodeError) else None)


def stopped(name: str, tool: Tool) -> CallOutcome:
    """Return the outcome of a call that was cancelled, or abandoned, because its execution ended."""
    if not tool.cancellable:
        return failed(CodemodeError("stopped", f"{name} was under way when the run was stopped.", hint=RUNS_ON))
    return failed(
        CodemodeError(
            "stopped",
            f"{name} was cancelled because the run was stopped.",
            hint="What it had done by then is not known.",
        )
    )


def cancelled(name: str) -> CallOutcome:
    """Return the outcome of a call that raised ``CancelledError`` though nobody had cancelled it."""
    return failed(
        CodemodeError(
            "tool_cancelled",
            f"{name} was cancelled from within: by itself, or by what it waited for.",
            hint="What it had done by then is not known.",
        )
    )


def _encoded(name: str, value: object, *, stored: bool) -> CallOutcome:
    try:
        return CallOutcome("applied", values.encode(value, limit=values.MAX_BYTES if stored else None, native=True))
    except CodemodeError as refusal:
        its_result = f"{name} ran, but its result"
        if refusal.code == "too_large":
            code, message = "result_too_large", refusal.message.replace("The value", its_result, 1)
        else:
            code = "result_not_storable"
            message = f"{its_result} could not be recorded durably (not serializable): {refusal.message}"
        return failed(CodemodeError(code, message, hint=refusal.hint, data=refusal.data))
    except Exception as error:  # noqa: BLE001  a property of the value may raise anything
        why = f"{type(error).__name__}: {message_of(error)}"
        return failed(
            CodemodeError("result_not_storable", f"{name} ran, but its result could not be recorded durably: {why}")
        )


def _tool_timeout(name: str, tool: Tool, seconds: float) -> CodemodeError:
    if not tool.cancellable:
        message = f"{name} took longer than {seconds:g} s."
        return CodemodeError("tool_timeout", message, hint=f"{RUNS_ON} Give the tool a longer `timeout`.")
    return CodemodeError(
        "tool_timeout",
        f"{name} took longer than {seconds:g} s and was cancelled.",
        hint="Whether it had an effect is not known. Give the tool a longer `timeout`, or make it do less.",
    )
