"""Arguments against their JSON Schema (2020-12).

Owns: which keywords are checked and the wording of faults. Never does: fail on a schema: what it cannot check, the
service will.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

from codemode_jupyter.connectors.faults import path_of, refuse_arguments
from codemode_jupyter.connectors.names import did_you_mean
from codemode_jupyter.connectors.openapi.extra import needed
from codemode_jupyter.connectors.tool import Arguments, JsonSchema

_LONGEST = 200


class ArgumentsCheck:
    """Checks the arguments of one tool.

    Patterns are not checked: a document's regular expressions are ECMA-262's, not Python's, and an evil one would hold
    up the kernel. ``format`` is a note (JSON Schema Validation 2020-12, 7.2.1), but ``binary`` allows bytes.
    """

    def __init__(self, name: str, schema: JsonSchema) -> None:
        self._name = name
        self._schema = schema

    def check(self, arguments: Arguments) -> None:
        """Refuse arguments that do not fit.

        Raises
        ------
        CodemodeError
            ``invalid_arguments``, with every fault and its path.
        """
        try:
            errors = list(self._validator.iter_errors(arguments))
        except Exception:  # noqa: BLE001  a broken schema raises anything: the service knows what it takes
            errors = [
                error
                for error in self._required_validator.iter_errors(arguments)
                if error.validator in ("required", "additionalProperties")
            ]
        if errors:
            known = list(self._schema["properties"])
            faults = [fault for one in errors for fault in _faults(one, arguments, known)]
            raise refuse_arguments(self._name, faults, known)

    @cached_property
    def _validator(self) -> Any:
        return _validator_class()(self._schema)

    @cached_property
    def _required_validator(self) -> Any:
        outer = {**self._schema, "properties": dict.fromkeys(self._schema["properties"], True)}
        return _validator_class()({key: value for key, value in outer.items() if key != "$defs"})


def _validator_class() -> Any:
    jsonschema = needed("jsonschema")
    base = jsonschema.Draft202012Validator
    standard: Mapping[str, Callable[..., Any]] = base.VALIDATORS

    def type_(validator: Any, value: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
        allows_text = value == "string" or (isinstance(value, list) and "string" in value)
        if not (isinstance(instance, bytes) and allows_text and schema.get("format") == "binary"):
            yield from standard["type"](validator, value, instance, schema) or ()

    def unchecked(*_: object) -> Iterator[Any]:
        return iter(())

    def additional(validator: Any, value: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
        if "patternProperties" not in schema:
            yield from standard["additionalProperties"](validator, value, instance, schema) or ()

    changed = {"type": type_, "pattern": unchecked, "patternProperties": unchecked, "additionalProperties": additional}
    return jsonschema.validators.extend(base, changed)


def _faults(error: Any, arguments: Arguments, known: list[str]) -> Iterator[dict[str, str]]:
    path: list[str | int] = list(error.absolute_path)
    if error.validator == "required":  # one error for each that is missing, named only in its message
        missing = [name for name in error.validator_value if error.message.startswith(f"{name!r} ")]
        yield {"path": path_of([*path, *missing[:1]]), "message": "is missing"}
    elif error.validator == "additionalProperties" and not path and error.validator_value is False:
        for name in arguments:
            if name not in known:
                near = did_you_mean(name, known)
                yield {"path": path_of([name]), "message": f"unknown argument. {near}".strip().rstrip(".")}
    else:
        message = str(error.message)
        yield {"path": path_of(path), "message": message if len(message) <= _LONGEST else f"{message[:_LONGEST]}…"}
