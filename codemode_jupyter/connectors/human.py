"""The person as a tool: a program asks, and goes on when the answer is there.

Owns: the one tool ``ask``. Never does: wait; the call is kept like any that a tool interrupts.
"""

from __future__ import annotations

from collections.abc import Sequence

from codemode_jupyter.connectors.base import Connector
from codemode_jupyter.connectors.functions.function import function_tool
from codemode_jupyter.connectors.tool import JsonSchema, Tool, ToolContext

_INSTRUCTIONS = "Ask the person who watches this run, where only they can know or decide. The answer may take hours."


class HumanConnector(Connector):
    """Lets programs ask the person: ``await human.ask("Which one?", ["red", "blue"])``.

    The question shows in the card and the answer comes from there, or by ``Runtime.respond``; the program waits however
    long that takes, over restarts too. It is the program, hence mostly a model, that words the question.

    Parameters
    ----------
    name : str, default "human"
        Name of the global in programs.

    Examples
    --------
    >>> Runtime([HumanConnector(), FunctionConnector("orders", [refund])])
    """

    def __init__(self, name: str = "human") -> None:
        super().__init__(name, _INSTRUCTIONS)
        self._tools = (function_tool(ask),)

    def tools(self) -> Sequence[Tool]:
        """Return the tool ``ask``."""
        return self._tools


async def ask(question: str, context: ToolContext, choices: list[str] | None = None) -> str:
    """Ask the person a question and return the answer: a text, or one of the choices where these are given."""
    schema: JsonSchema | None = {"type": "string", "enum": choices} if choices else None
    answer: str = await context.interrupt(question, schema)
    return answer
