"""Checking values against the JSON schemas of a server.

Owns: compiling a schema when it is first needed, and the list of faults of the arguments. Never does: fetch what a
schema refers to, or run its regular expressions: a server could stop the kernel with one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import Any

from jsonschema import exceptions, validators
from jsonschema.protocols import Validator
from referencing import Registry

from codemode_jupyter.connectors.faults import path_of, refuse_arguments
from codemode_jupyter.connectors.tool import Arguments, JsonSchema

_MOST_FAULTS = 50
_log = logging.getLogger(__name__)


class SchemaCheck:
    """The check of one schema; a schema that is broken refuses nothing, which is said in the log once."""

    def __init__(self, schema: Mapping[str, Any], name: str) -> None:
        self._schema = dict(schema)
        self._name = name

    def arguments(self, given: Arguments) -> Arguments:
        """Return the arguments.

        Raises
        ------
        CodemodeError
            ``invalid_arguments``, with every fault and its path.
        """
        faults = [_fault(error) for error in self._errors(given)]
        if faults:
            properties = self._schema.get("properties")
            raise refuse_arguments(self._name, faults, list(properties) if isinstance(properties, Mapping) else [])
        return dict(given)

    def first_fault(self, value: Any) -> str | None:
        """Return what does not fit, ``None`` when all does."""
        fault = next((_fault(error) for error in self._errors(value)), None)
        return None if fault is None else f"{fault['path']}: {fault['message']}".lstrip(": ")

    def _errors(self, value: Any) -> list[exceptions.ValidationError]:
        if self._validator is None:
            return []
        try:
            return list(islice(self._validator.iter_errors(value), _MOST_FAULTS))
        except Exception as error:  # noqa: BLE001  a reference to nowhere, or to itself
            _log.warning("The schema of %s cannot be used: %s.", self._name, type(error).__name__)
            return []

    @cached_property
    def _validator(self) -> Validator | None:
        try:
            cls = validators.validator_for(self._schema, default=validators.Draft202012Validator)
            cls.check_schema(self._schema)
            tolerant = validators.extend(cls, {"pattern": _passes, "patternProperties": _passes})  # type: ignore[no-untyped-call]
            made: Validator = tolerant(self._schema, registry=Registry())
        except Exception as error:  # noqa: BLE001  whatever a schema is, it costs no more than its own check
            _log.warning("The schema of %s is broken and not checked: %s.", self._name, type(error).__name__)
            return None
        return made


def input_schema(schema: Mapping[str, Any]) -> JsonSchema:
    """Return the schema of an arguments object; one that says nothing of an object is an open object."""
    if schema.get("type") == "object" or any(key in schema for key in ("properties", "$ref")):
        return {**schema, "type": "object"} if "$ref" not in schema else dict(schema)
    return {"type": "object"}


def _passes(*_: object) -> Iterator[exceptions.ValidationError]:
    return iter(())


def _fault(error: exceptions.ValidationError) -> dict[str, str]:
    path = path_of([part if isinstance(part, int) else str(part) for part in error.absolute_path])
    return {"path": path, "message": error.message[:300]}
