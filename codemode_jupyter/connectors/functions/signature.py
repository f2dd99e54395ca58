"""A Python signature as a JSON schema, and arguments that were validated against it.

Owns: the schema of a function's arguments and result, their validation by pydantic, and how they are passed.
Never does: call the function.
"""

from __future__ import annotations

import inspect
import math
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Optional

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PydanticSchemaGenerationError,
    PydanticUndefinedAnnotation,
    PydanticUserError,
    TypeAdapter,
    ValidationError,
    create_model,
)
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.json_schema import GenerateJsonSchema, PydanticJsonSchemaWarning
from pydantic_core import SchemaError

from codemode_jupyter.connectors.faults import invalid_arguments
from codemode_jupyter.connectors.functions.annotations import (
    behind_partials,
    has_description,
    is_context,
    type_hints,
    unpacked,
    with_native_values,
)
from codemode_jupyter.connectors.functions.docstrings import read_docstring
from codemode_jupyter.connectors.schemas.shapes import PYTHON_KEYWORD
from codemode_jupyter.connectors.tool import Arguments, JsonSchema
from codemode_jupyter.errors import CodemodeError

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_UNSET: Any = object()
_NO_SCHEMA = (
    PydanticSchemaGenerationError,
    PydanticInvalidForJsonSchema,
    PydanticUndefinedAnnotation,
    PydanticUserError,
)


@dataclass(frozen=True, slots=True)
class BoundCall:
    """Validated arguments, as the function takes them."""

    positional: tuple[Any, ...] = ()
    keywords: dict[str, Any] = field(default_factory=dict)


class FunctionSignature:
    """The signature of one function.

    Parameters
    ----------
    function : callable
        A function, method, partial or callable object.
    name : str
        How messages name it.

    Raises
    ------
    CodemodeError
        ``invalid_tool``: it has no signature, or an annotation that cannot be resolved or described.
    """

    def __init__(self, function: Callable[..., object], name: str) -> None:
        self._name = name
        try:
            signature = inspect.signature(function)
        except (ValueError, TypeError):
            raise _unusable(name, "it has no signature that Python can tell", "Wrap it in a function.") from None
        try:
            hints = type_hints(function)
        except TypeError as error:
            raise _unusable(name, str(error)) from None
        self.context_parameter = next((key for key in signature.parameters if is_context(hints.get(key))), None)
        self._parameters = [p for p in _parameters(function, signature, hints) if p.name != self.context_parameter]
        context = signature.parameters.get(self.context_parameter or "")
        if context is not None and context.kind is inspect.Parameter.POSITIONAL_ONLY:
            raise _unusable(name, "its ToolContext parameter is positional only", "Take the `/` out of its signature.")
        self._model = self._make_model(hints, read_docstring(behind_partials(function)).parameters)
        self.input_schema = self._input_schema()
        self.output_schema = _output_schema(hints.get("return"))

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names in positional order; a last one that starts with ``*`` takes the rest."""
        names = [p.name for p in self._parameters if p.kind in _POSITIONAL]
        rest = [f"*{p.name}" for p in self._parameters if p.kind is inspect.Parameter.VAR_POSITIONAL]
        return (*names, *rest)

    def validate(self, arguments: Arguments) -> BoundCall:
        """Return validated arguments.

        Raises
        ------
        CodemodeError
            ``invalid_arguments``; ``data["faults"]`` lists every fault with its path.
        """
        try:
            values = self._model.model_validate(arguments)
        except ValidationError as error:
            known = [f"**{p.name}" if p.kind is inspect.Parameter.VAR_KEYWORD else p.name for p in self._parameters]
            raise invalid_arguments(self._name, arguments, error, known) from None
        except RecursionError:
            raise _nested_too_deeply(self._name) from None
        return self._bound(values)

    def _bound(self, values: BaseModel) -> BoundCall:
        given = {
            parameter.name: getattr(values, _field(index))
            for index, parameter in enumerate(self._parameters)
            if _field(index) in values.model_fields_set
        }
        rest: list[Any] = []
        for parameter in self._parameters:
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                rest = given.pop(parameter.name, [])
        unnamed = _POSITIONAL if rest else (inspect.Parameter.POSITIONAL_ONLY,)
        first = [parameter for parameter in self._parameters if parameter.kind in unnamed]
        while not rest and first and first[-1].name not in given:
            first.pop()
        positional = [given.pop(parameter.name, parameter.default) for parameter in first]
        return BoundCall((*positional, *rest), {**given, **(values.__pydantic_extra__ or {})})

    def _make_model(self, hints: Mapping[str, Any], descriptions: Mapping[str, str]) -> type[BaseModel]:
        fields: dict[str, Any] = {}
        extra: Any = None
        for index, parameter in enumerate(self._parameters):
            annotation = with_native_values(hints.get(parameter.name, Any))
            description = descriptions.get(parameter.name)
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                extra = types.GenericAlias(dict, (str, annotation))
                continue
            default: Any = parameter.default
            if default is None:  # what PEP 484 once took for an optional one, and many still write
                annotation = Optional[annotation]  # noqa: UP045  the annotation is known only now
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                annotation, default = types.GenericAlias(list, (annotation,)), []
            if has_description(annotation):
                description = None
            # Fields are numbered, since a parameter may have a name that a model's field cannot have.
            about = Field(alias=parameter.name, description=description) if description else Field(alias=parameter.name)
            fields[_field(index)] = (Annotated[annotation, about], _shown_default(default))
        config = ConfigDict(extra="forbid" if extra is None else "allow", arbitrary_types_allowed=True)
        try:
            base = create_model("Arguments", __config__=config, **fields)
            return base if extra is None else _with_extra(base, extra)
        except Exception as error:  # noqa: BLE001  a type may say in its own code how it is validated
            raise _unusable(self._name, f"its parameters cannot be validated ({_why(error)})") from None

    def _input_schema(self) -> JsonSchema:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PydanticJsonSchemaWarning)  # a default that JSON cannot show is left out
            try:
                schema = self._model.model_json_schema(schema_generator=_WithoutTitles)
            except _NO_SCHEMA as error:
                hint = "Annotate it with types that JSON can carry."
                raise _unusable(self._name, f"its parameters have no JSON schema ({_why(error)})", hint) from None
        schema.pop("title", None)
        schema.setdefault("properties", {})
        return schema


def _parameters(
    function: Callable[..., object], signature: inspect.Signature, hints: dict[str, Any]
) -> Iterator[inspect.Parameter]:
    """Yield the parameters, those of an unpacked ``TypedDict`` one by one; ``hints`` gets their types."""
    dispatches = hasattr(behind_partials(function), "dispatch")  # `singledispatch` looks at the first by position
    for position, parameter in enumerate(signature.parameters.values()):
        keys = unpacked(hints.get(parameter.name)) if parameter.kind is inspect.Parameter.VAR_KEYWORD else {}
        for key, (hint, required) in keys.items():
            hints[key] = hint
            default = inspect.Parameter.empty if required else _UNSET
            yield inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default)
        if not keys:
            by_position = dispatches and position == 0
            yield parameter.replace(kind=inspect.Parameter.POSITIONAL_ONLY) if by_position else parameter


def _shown_default(default: Any) -> Any:
    """Return a default as a field has it: what JSON has no word for is not shown."""
    if default is inspect.Parameter.empty:
        return ...
    hidden = default is _UNSET or default is ... or (isinstance(default, float) and not math.isfinite(default))
    return Field(default_factory=lambda: default) if hidden else default


def _with_extra(base: type[BaseModel], annotation: Any) -> type[BaseModel]:
    """Return the model with a type for the arguments that it does not name."""
    namespace = {"__annotations__": {"__pydantic_extra__": annotation}, "__module__": __name__}
    return types.new_class("Arguments", (base,), {}, lambda body: body.update(namespace))


class _WithoutTitles(GenerateJsonSchema):
    """Leaves out the titles that pydantic makes of names: they say nothing new."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  the base class' signature
        return False


class _OfResults(_WithoutTitles):
    """Says of what a program in Python gets as another type than JSON's; a model's fields are as it writes them."""

    _models = 0

    def model_schema(self, schema: Any) -> JsonSchema:
        self._models += 1
        try:
            return super().model_schema(schema)
        finally:
            self._models -= 1

    def datetime_schema(self, schema: Any) -> JsonSchema:
        return self._said(super().datetime_schema(schema), "datetime.datetime")

    def date_schema(self, schema: Any) -> JsonSchema:
        return self._said(super().date_schema(schema), "datetime.date")

    def time_schema(self, schema: Any) -> JsonSchema:
        return self._said(super().time_schema(schema), "datetime.time")

    def timedelta_schema(self, schema: Any) -> JsonSchema:
        return self._said(super().timedelta_schema(schema), "datetime.timedelta")

    def decimal_schema(self, schema: Any) -> JsonSchema:
        return self._said(super().decimal_schema(schema), "decimal.Decimal")

    def uuid_schema(self, schema: Any) -> JsonSchema:
        return self._said(super().uuid_schema(schema), "uuid.UUID")

    def set_schema(self, schema: Any) -> JsonSchema:
        return self._said(super().set_schema(schema), "set")

    def frozenset_schema(self, schema: Any) -> JsonSchema:
        return self._said(super().frozenset_schema(schema), "set")

    def dict_schema(self, schema: Any) -> JsonSchema:
        made = super().dict_schema(schema)
        return self._said(made, "dict[int]") if schema.get("keys_schema", {}).get("type") == "int" else made

    def _said(self, made: JsonSchema, kind: str) -> JsonSchema:
        return made if self._models else {**made, PYTHON_KEYWORD: kind}


def _output_schema(annotation: Any) -> JsonSchema | None:
    """Return the JSON schema of a result, or ``None`` where the annotation does not tell one."""
    if annotation is None or annotation is Any:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PydanticJsonSchemaWarning)
            schema = TypeAdapter(annotation).json_schema(mode="serialization", schema_generator=_OfResults)
    except (*_NO_SCHEMA, NameError, TypeError):
        return None
    return schema or None


def _field(index: int) -> str:
    return f"argument_{index}"


def _why(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[-1 if isinstance(error, SchemaError) else 0].strip().rstrip(".")


def _unusable(name: str, why: str, hint: str | None = None) -> CodemodeError:
    return CodemodeError("invalid_tool", f"{name} cannot be a tool: {why}.", hint=hint)


def _nested_too_deeply(name: str) -> CodemodeError:
    fault = {"path": "", "message": "nested too deeply"}
    return CodemodeError("invalid_arguments", f"Arguments to {name} are nested too deeply.", data={"faults": [fault]})
