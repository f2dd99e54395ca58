"""Arguments checked against a tool's JSON schema: every fault, with its path.

Owns: validation against schemas that others wrote (a tool made by hand, MCP, OpenAPI, tool sets).
Never does: fetch what a schema refers to, or fail on a schema: a part that cannot be read asks for nothing, and the
rest still holds. It converts nothing but a ``Decimal`` of a program, which is a number where a text does not fit.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any

from codemode_jupyter.connectors.faults import refuse_arguments
from codemode_jupyter.connectors.functions.native_values import NativeText
from codemode_jupyter.connectors.schemas.dialect import as_2020_12

if TYPE_CHECKING:
    from codemode_jupyter.connectors.schemas.checker import SchemaChecker

MOST_FAULTS = 100
"""Most faults that are looked for in one value."""

MOST_DIGITS = 308
"""Most digits of a ``Decimal`` that becomes a number; a float has no more before its point."""


@dataclass(frozen=True)
class SchemaValidator:
    """Checks arguments against a JSON schema, and returns them.

    Parameters
    ----------
    name : str
        How messages name the tool.
    schema : dict
        JSON Schema of any draft, with local references; foreign ones are not fetched and ask for nothing.
    """

    name: str
    schema: Mapping[str, Any] | bool

    def __call__(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments.

        Raises
        ------
        CodemodeError
            ``invalid_arguments``; ``data["faults"]`` lists every fault with its path.
        """
        faults = self.faults(arguments)
        if faults and (with_numbers := _with_numbers(arguments)) != arguments and not self.faults(with_numbers):
            return with_numbers  # type: ignore[no-any-return]  # a dict as before
        if faults:
            properties = self.schema.get("properties") if isinstance(self.schema, Mapping) else None
            raise refuse_arguments(self.name, faults, [str(key) for key in properties or ()])
        return arguments

    def faults(self, value: object) -> list[dict[str, str]]:
        """Return what does not fit, each with a ``path`` and a ``message``; at most ``MOST_FAULTS``."""
        return self._checker.faults(value)

    @cached_property
    def _checker(self) -> SchemaChecker:
        from codemode_jupyter.connectors.schemas.checker import SchemaChecker  # noqa: PLC0415  slow to import

        return SchemaChecker(as_2020_12(self.schema), MOST_FAULTS)


def _with_numbers(value: Any) -> Any:
    """Return a value in which every ``Decimal`` is a number."""
    if isinstance(value, NativeText) and isinstance(value.native, Decimal):
        return _number(value)
    if isinstance(value, dict):
        return {key: _with_numbers(item) for key, item in value.items()}
    return [_with_numbers(item) for item in value] if isinstance(value, list) else value


def _number(value: NativeText) -> Any:
    decimal = value.native
    if not decimal.is_finite() or decimal.adjusted() > MOST_DIGITS:  # written out, `1E+999999999` fills the memory
        return value
    return int(decimal) if decimal == decimal.to_integral_value() else float(decimal)


async def load_checker() -> None:
    """Import what validates, in a thread: with all its formats ``jsonschema`` takes a second or more to load.

    For connectors, when they list tools: the first call would hold the event loop meanwhile.
    """
    await asyncio.to_thread(importlib.import_module, "codemode_jupyter.connectors.schemas.checker")
