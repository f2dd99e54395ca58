"""A new call is let in: bound, validated, and recorded as executing, pending or at once as failed.

Owns: turning what the program sent into the row of the log and the tool to run. Never does: run the tool or write the
row.

A refused call (unknown name, arguments that do not fit, too large) is a failed row, so that a replay takes the same
branch.
"""

from __future__ import annotations

import logging
import secrets
from typing import Any

from codemode_jupyter.connectors.arguments import bind_arguments
from codemode_jupyter.connectors.functions.native_values import native
from codemode_jupyter.connectors.tool import Tool
from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.runtime import values
from codemode_jupyter.runtime.capabilities import Capabilities
from codemode_jupyter.runtime.decisions import kept_arguments
from codemode_jupyter.runtime.digest import call_digest
from codemode_jupyter.runtime.store.rows import CallRow
from codemode_jupyter.runtime.user_code import ends_the_task
from codemode_jupyter.runtime.value_writer import message_of
from codemode_jupyter.sandbox.protocol import STEP_CONNECTOR, CallRequest

_log = logging.getLogger(__name__)


def admit(capabilities: Capabilities, execution_id: str, request: CallRequest) -> CallRow:
    """Return the row under which a new call is recorded."""
    row = CallRow(
        seq=request.seq,
        connector=readable(request.connector),
        method=readable(request.method),
        arguments=kept_arguments(request.arguments),
        state="executing",
    )
    if request.connector == STEP_CONNECTOR:
        row.token = secrets.token_hex(16)
        return row
    try:
        values.check_size(request.arguments, f"What was passed to {row.name}")
        tool = capabilities.find(request.connector, request.method)
        _bind(row, tool, request.arguments)
        row.digest = call_digest(execution_id, row.seq, row.connector, row.method, row.shown_arguments)
    except CodemodeError as refusal:
        row.state, row.outcome, row.code = "failed", values.encode_error(refusal), refusal.code
    return row


def arguments_of(row: CallRow) -> dict[str, Any]:
    """Return the arguments object of a recorded call."""
    decoded = values.decode_arguments(row.shown_arguments)
    return decoded[0] if decoded else {}


def readable(text: str) -> str:
    """Return a text from the sandbox in a form that can be stored: halves of surrogate pairs are replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _bind(row: CallRow, tool: Tool, sent: str) -> None:
    arguments = bind_arguments(tool, values.decode_arguments(sent), row.name)
    _validate(tool, row, arguments)
    bound = values.encode(arguments)
    row.bound = None if bound == row.arguments else bound
    row.ephemeral = tool.replay == "reexecute"
    row.can_revert = tool.revert is not None
    row.requires_approval = _requires_approval(tool, row, arguments)
    if row.requires_approval:
        row.state = "pending"


def _validate(tool: Tool, row: CallRow, arguments: dict[str, Any]) -> None:
    try:
        tool.validate(arguments)
    except CodemodeError:
        raise
    except BaseException as fault:
        if ends_the_task(fault):
            raise
        message = f"Arguments to {row.name} do not fit: {message_of(fault) or type(fault).__name__}"
        raise CodemodeError("invalid_arguments", message) from fault


def _requires_approval(tool: Tool, row: CallRow, arguments: dict[str, Any]) -> bool:
    if isinstance(tool.requires_approval, bool):
        return tool.requires_approval
    try:
        return bool(tool.requires_approval(native(arguments)))
    except BaseException as error:  # the rule is the user's own; asking a person is the safe answer
        if ends_the_task(error):
            raise
        _log.exception("The approval rule of %s failed; a person is asked.", row.name)
        return True
