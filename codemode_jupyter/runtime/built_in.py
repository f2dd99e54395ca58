"""The tools of the ``codemode`` namespace: search, describe, run.

Owns: making them tools like any other, so that their answers are recorded and replay. Never does: run a snippet; the
sandbox evaluates it inside the same program.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from codemode_jupyter.connectors.tool import Arguments, Tool, ToolContext
from codemode_jupyter.errors import CodemodeError

Operation = Callable[..., Awaitable[object]]


def built_in_tools(search: Operation, describe: Operation, snippet_source: Operation) -> tuple[Tool, ...]:
    """Return the three tools over the runtime's operations; each takes the first argument, ``search`` also a limit."""

    async def limited(query: str, limit: object = None) -> object:
        if isinstance(limit, Mapping):  # search("words", { limit: 20 })
            limit = limit.get("limit")
        return await (search(query) if limit is None else search(query, limit))

    async def described(target: str, language: object = None) -> object:
        return await (describe(target, "python") if language == "python" else describe(target))

    return (
        _tool("search", "Find methods and snippets by words.", limited, "query", "limit"),
        _tool("describe", "Say how a connector, a method or a snippet is used.", described, "target", "language"),
        _tool("run", "Run a saved snippet.", snippet_source, "name", "input"),
    )


def _tool(name: str, description: str, operation: Operation, *parameters: str) -> Tool:
    async def call(arguments: Arguments, context: ToolContext) -> object:  # noqa: ARG001  the shape of every tool
        more = [arguments[one] for one in parameters[1:] if one in arguments and one != "input"]
        return await operation(arguments[parameters[0]], *more)

    def validate(arguments: Arguments) -> Arguments:
        if not isinstance(arguments.get(parameters[0]), str):
            raise CodemodeError(
                "invalid_arguments",
                f"codemode.{name} takes a text as its first argument ({parameters[0]}).",
            )
        return arguments

    schema = {
        "type": "object",
        "properties": {parameter: {"type": "string"} if parameter == parameters[0] else {} for parameter in parameters},
        "required": [parameters[0]],
    }
    # Nothing is lost by asking again: these only read.
    return Tool(name, call, description, schema, parameters=parameters, validate=validate, idempotent=True)
