"""The annotations of a function, as pydantic can take them.

Owns: resolving annotations, and finding the context parameter among them. Never does: schemas.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable
from typing import Annotated, Any, Union

import typing_extensions

from codemode_jupyter.connectors.tool import ToolContext


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
    origin = typing.get_origin(annotation)
    if origin is Annotated:
        return Annotated[(_portable(annotation.__origin__, within), *annotation.__metadata__)]
    args = typing.get_args(annotation) if origin is not typing.Literal else ()
    ported = tuple(_portable(arg, within) if not isinstance(arg, list) else arg for arg in args)
    if all(new is old for new, old in zip(ported, args, strict=True)):
        return annotation
    return _rebuilt(annotation, origin, ported)


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
