"""The annotations of a function, as pydantic can take them.

Owns: resolving annotations, finding the context parameter among them, and where they say nothing about a value.
Never does: schemas.
"""

from __future__ import annotations

import enum
import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable
from datetime import date, datetime
from typing import Annotated, Any, Union

import typing_extensions
from pydantic import AfterValidator, BeforeValidator

from codemode_jupyter.connectors.functions.native_values import DateText, NativeText, native
from codemode_jupyter.connectors.tool import ToolContext

NATIVE = Annotated[Any, AfterValidator(native)]
"""Any value of a program, in Python's own types."""

_OF_ANYTHING: dict[Any, Any] = {
    Any: NATIVE,
    object: NATIVE,
    dict: dict[Any, NATIVE],
    list: list[NATIVE],
    set: set[NATIVE],
    frozenset: frozenset[NATIVE],
    tuple: tuple[NATIVE, ...],
    bytearray: Annotated[bytes, AfterValidator(bytearray)],
    memoryview: Annotated[bytes, AfterValidator(memoryview)],
}


def with_native_values(annotation: Any) -> Any:
    """Return an annotation that takes the values of a program as what Python has for them.

    Where it asks for no type, a Date is a ``datetime`` and a Set a ``set``; where a union has a choice, a Date is a
    ``datetime`` and no text, and what a program in Python had as one of its types is of that type; where a literal
    names members of an enumeration, their values are these members.
    """
    said = annotation if typing.get_args(annotation) else typing.get_origin(annotation) or annotation
    for anything, with_native in _OF_ANYTHING.items():
        if said is anything:
            return with_native
    changed = _with_arguments(annotation, with_native_values)
    origin, members = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (Union, types.UnionType):
        if datetime in members or date in members:
            changed = Annotated[changed, BeforeValidator(_moment if datetime in members else _day)]
        return Annotated[changed, BeforeValidator(functools.partial(_one_of, members))]
    if origin is typing.Literal and any(isinstance(member, enum.Enum) for member in members):
        return Annotated[changed, BeforeValidator(functools.partial(_member, members))]
    return changed


def _moment(value: Any) -> Any:
    return native(value) if isinstance(value, DateText) else value


def _day(value: Any) -> Any:
    moment = _moment(value)
    return moment.date() if moment is not value and not any(moment.timetuple()[3:6]) else value


def _one_of(types_: tuple[Any, ...], value: Any) -> Any:
    return value.native if isinstance(value, NativeText) and type(value.native) in types_ else value


def _member(members: tuple[Any, ...], value: Any) -> Any:
    found = (one for one in members if isinstance(one, enum.Enum) and one.value == value)
    return value if value in members else next(found, value)


def type_hints(function: Callable[..., object]) -> dict[str, Any]:
    """Return the resolved annotations of a function, method, partial or callable object.

    Raises
    ------
    TypeError
        An annotation cannot be resolved; the message ends a sentence about the function.
    """
    target = behind_partials(function)
    hinted = target if inspect.isroutine(target) else type(target).__call__
    hinted = inspect.unwrap(getattr(hinted, "__func__", hinted))
    try:
        closure = inspect.getclosurevars(hinted).nonlocals if inspect.isfunction(hinted) else {}
        hints = typing.get_type_hints(hinted, localns=dict(closure), include_extras=True)
    except NameError as error:
        message = f"an annotation cannot be resolved ({error}); import or define that name first"
        raise TypeError(message) from None
    except (TypeError, SyntaxError, AttributeError) as error:
        raise TypeError(f"an annotation is not a type ({error})") from None
    return {name: _portable(hint, ()) for name, hint in hints.items()}


def behind_partials(function: object) -> Any:
    """Return the function behind partials: what holds the annotations and the docstring."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def unpacked(annotation: Any) -> dict[str, tuple[Any, bool]]:
    """Return the keys of ``**more: Unpack[SomeTypedDict]``, each with its type and whether it is required."""
    if typing.get_origin(annotation) not in (typing.Unpack, typing_extensions.Unpack):
        return {}
    keys = typing.get_args(annotation)[0]
    hints = typing.get_type_hints(keys, include_extras=True)
    marks = (typing.Required, typing.NotRequired)
    return {
        name: (typing.get_args(hint)[0] if typing.get_origin(hint) in marks else hint, name in keys.__required_keys__)
        for name, hint in hints.items()
    }


def is_context(annotation: Any) -> bool:
    """Say whether a parameter wants the context of the call."""
    if annotation is ToolContext:
        return True
    origin = typing.get_origin(annotation)
    return origin in (Annotated, Union, types.UnionType) and any(map(is_context, typing.get_args(annotation)))


def has_description(annotation: Any) -> bool:
    """Say whether an annotation brings its own description."""
    return any(getattr(part, "description", None) for part in getattr(annotation, "__metadata__", ()))


def _portable(annotation: Any, within: tuple[Any, ...]) -> Any:
    """Replace ``typing.TypedDict`` by the form of ``typing_extensions``, the only one pydantic takes before 3.12."""
    if sys.version_info >= (3, 12) or annotation in within:
        return annotation
    if typing.is_typeddict(annotation) and type(annotation).__module__ == "typing":
        return _portable_typed_dict(annotation, (*within, annotation))
    return _with_arguments(annotation, lambda argument: _portable(argument, within))


def _with_arguments(annotation: Any, change: Callable[[Any], Any]) -> Any:
    """Return a generic annotation with each of its arguments changed."""
    origin = typing.get_origin(annotation)
    if origin is Annotated:
        return Annotated[(change(annotation.__origin__), *annotation.__metadata__)]
    args = typing.get_args(annotation) if origin is not typing.Literal else ()
    changed = tuple(arg if isinstance(arg, list) or arg is ... else change(arg) for arg in args)
    if all(new is old for new, old in zip(changed, args, strict=True)):
        return annotation
    return _rebuilt(annotation, origin, changed)


def _rebuilt(annotation: Any, origin: Any, args: tuple[Any, ...]) -> Any:
    if origin in (Union, types.UnionType):
        return Union[args]  # noqa: UP007  the members are known only now
    return (
        types.GenericAlias(origin, args) if isinstance(annotation, types.GenericAlias) else annotation.copy_with(args)
    )


def _portable_typed_dict(annotation: Any, within: tuple[Any, ...]) -> Any:
    fields = {}
    for name, hint in typing.get_type_hints(annotation, include_extras=True).items():
        said = typing.get_origin(hint) in (typing.Required, typing.NotRequired)
        required = typing.get_origin(hint) is typing.Required if said else name in annotation.__required_keys__
        inner = _portable(typing.get_args(hint)[0] if said else hint, within)
        fields[name] = typing.Required[inner] if required else typing.NotRequired[inner]
    make: Any = typing_extensions.TypedDict  # the functional form, with a name that is known only now
    ported = make(annotation.__name__, fields)
    ported.__doc__ = annotation.__doc__
    return ported
