"""The tool a model gets: one text parameter in, one JSON outcome out.

Owns: its name, schema and call; what it is told is ``tool_description.py``'s. Never does: return the program's source
or the log of calls.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.program import LANGUAGES
from codemode_jupyter.runtime.capabilities import Capabilities
from codemode_jupyter.runtime.failures import detail_of
from codemode_jupyter.runtime.records import Outcome
from codemode_jupyter.runtime.tool_description import TOOL_LANGUAGES, ToolLanguage, tool_description

if TYPE_CHECKING:
    from codemode_jupyter.runtime.runtime import Runtime

_FORMS = {
    "javascript": "The program: one async arrow function.",
    "python": "The program: statements of Python.",
    "both": "The program: one async arrow function, or statements of Python.",
}


@dataclass(frozen=True, slots=True)
class RuntimeTool:
    """A runtime as one tool, in the neutral form that agent libraries adapt.

    ``await tool({"code": "..."})`` or ``await tool(code="...")`` returns the outcome's wire form and never raises for
    what a model did. ``execute`` takes the code and its language; ``language`` is what programs the tool takes.
    """

    name: str
    description: str
    input_schema: dict[str, Any]
    execute: Callable[[str, str], Awaitable[Outcome]]
    runtime: Runtime = field(repr=False)
    """For what the host does and no model may: ``pending``, ``approve``, ``respond``, ``detach``, ``subscribe`` …"""
    language: ToolLanguage = "javascript"

    async def __call__(self, arguments: Mapping[str, Any] | None = None, /, **keywords: Any) -> dict[str, Any]:
        """Run the program in ``code``."""
        given = {**(arguments or {}), **keywords}
        try:
            code, language = self._read(given)
        except CodemodeError as refusal:
            return Outcome("error", "", error=detail_of(refusal)).to_wire()
        return (await self.execute(code, language)).to_wire()

    def _read(self, given: dict[str, Any]) -> tuple[str, str]:
        code, takes = given.pop("code", None), "one argument, `code`, which is a text"
        language: object = self.language
        if language == "both":
            language = given.pop("language", LANGUAGES[0])
            takes = f"`code`, which is a text, and `language`, which is {' or '.join(LANGUAGES)}"
        if not isinstance(code, str) or not isinstance(language, str) or language not in LANGUAGES or given:
            raise CodemodeError("invalid_code", f"The tool takes {takes}.")
        return code, language


def runtime_tool(  # noqa: PLR0913  a tool in all its parts
    capabilities: Capabilities,
    execute: Callable[[str, str], Awaitable[Outcome]],
    runtime: Runtime,
    description: str | None,
    hints: Mapping[str, str],
    *,
    language: ToolLanguage,
    detaches: bool,
) -> RuntimeTool:
    """Return the tool over a runtime.

    ``hints`` are short remarks by connector, ``description`` replaces the whole text. ``detaches``: runs are let go.

    Raises
    ------
    CodemodeError
        ``unknown_language``
    """
    if language not in TOOL_LANGUAGES:
        raise CodemodeError(
            "unknown_language",
            f"A tool cannot take programs in {language!r}.",
            hint=f"Use one of: {', '.join(TOOL_LANGUAGES)}.",
        )
    properties: dict[str, Any] = {"code": {"type": "string", "description": _FORMS[language]}}
    if language == "both":
        properties["language"] = {
            "type": "string",
            "enum": list(LANGUAGES),
            "default": LANGUAGES[0],
            "description": "The language of the program.",
        }
    schema = {"type": "object", "properties": properties, "required": ["code"], "additionalProperties": False}
    if description is None:
        description = tool_description(capabilities, hints, language, detaches=detaches)
    return RuntimeTool("codemode", description, schema, execute, runtime, language)
