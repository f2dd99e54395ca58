"""What a server tells and asks by itself while it serves a call: messages, and questions to the person.

Owns: passing these on to the call they belong to, without secrets. Never does: answer for the person; nobody there, or
no answer in time, is a cancelled question.
"""

from __future__ import annotations

import asyncio
import json
import logging

import mcp_types as types
from mcp.client.session import ClientRequestContext

from codemode_jupyter.connectors.mcp.calls import CallsUnderWay
from codemode_jupyter.connectors.mcp.elicitation import question_of, result_of
from codemode_jupyter.connectors.questions import Answer
from codemode_jupyter.connectors.redaction import Redactor
from codemode_jupyter.errors import CodemodeError

_LEVELS = {"debug": "debug", "info": "info", "notice": "info", "warning": "warn"}
_LINE = 4_000
_log = logging.getLogger(__name__)


class Conversation:
    """What the servers of one connector say."""

    def __init__(self, connector: str, redaction: Redactor, seconds: float) -> None:
        self._connector = connector
        self._redaction = redaction
        self._seconds = seconds
        self.calls = CallsUnderWay()

    async def log(self, params: types.LoggingMessageNotificationParams) -> None:
        """Show a message of the server in the card of the call that it belongs to."""
        call = self.calls.current()
        if call is not None:
            data = params.data
            text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, default=str)
            logger = f"{params.logger}: " if params.logger else ""
            text = self._redaction.text(f"{logger}{text}")[:_LINE]
            call.log(_LEVELS.get(params.level, "error"), text, self._connector)

    async def elicit(
        self,
        context: ClientRequestContext,  # noqa: ARG002  the SDK passes it
        params: types.ElicitRequestParams,
    ) -> types.ElicitResult | types.ErrorData:
        """Ask the person what the server wants to know."""
        try:
            return result_of(await self.ask(params))
        except ValueError as error:
            return types.ErrorData(code=types.INVALID_PARAMS, message=f"This cannot be asked: {error}.")

    async def ask(self, params: types.ElicitRequestParams) -> Answer:
        """Return what the person answers.

        Raises
        ------
        ValueError
            It cannot be asked.
        """
        question = question_of(params, self._connector, self._redaction)
        call = self.calls.current()
        if call is None:
            return Answer("cancel")
        try:
            async with asyncio.timeout(self._seconds):
                return await call.ask(question)
        except (TimeoutError, CodemodeError) as error:
            _log.info("A question of %s was cancelled: %s", self._connector, error)
            return Answer("cancel")
