"""Python functions as tools.

Owns: the ``@tool`` declaration, the tool made of a function, and the connector that holds such tools.
Never does: decide whether a call may run; it declares what the runtime asks.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar, overload

from codemode_jupyter.connectors.base import Connector, check_options
from codemode_jupyter.connectors.functions.annotations import behind_partials
from codemode_jupyter.connectors.functions.docstrings import read_docstring
from codemode_jupyter.connectors.functions.plain_call import call_in_thread, call_on_loop
from codemode_jupyter.connectors.functions.signature import BoundCall, FunctionSignature
from codemode_jupyter.connectors.names import check_tool_name, is_identifier, sanitize_name, unique_by_name
from codemode_jupyter.connectors.tool import Arguments, Tool, ToolContext
from codemode_jupyter.errors import CodemodeError

F = TypeVar("F", bound=Callable[..., Any])
Revert = Callable[[Mapping[str, Any], Any], object]

_MARK = "__codemode_tool__"


@dataclass(frozen=True, slots=True)
class ToolOptions:
    """What ``@tool`` declares about a function."""

    requires_approval: bool | Callable[[Arguments], bool] = False
    revert: Revert | None = None
    replay: Literal["record", "reexecute"] = "record"
    idempotent: bool = False
    timeout: float | None = None
    name: str | None = None
    description: str | None = None


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(
    *,
    requires_approval: bool | Callable[[Arguments], bool] = False,
    revert: Revert | None = None,
    replay: Literal["record", "reexecute"] = "record",
    idempotent: bool = False,
    timeout: float | None = None,
    name: str | None = None,
    description: str | None = None,
) -> Callable[[F], F]: ...
def tool(function: Any = None, /, **options: Any) -> Any:
    """Declare how a function behaves as a tool; the function itself stays as it is.

    Parameters
    ----------
    requires_approval : bool or callable, default False
        ``True``, or a function of the arguments object: whether a person is asked before it runs.
    revert : callable, optional
        ``revert(arguments, result)``, plain or coroutine function, undoes an applied call on rollback.
    replay : {"record", "reexecute"}, default "record"
        ``"reexecute"``: the result is not stored; the function runs again in every pass.
    idempotent : bool, default False
        Running it twice under one idempotency key (``ToolContext.idempotency_key``) has the effect of running it once.
    timeout : float, optional
        Limit of one run in seconds; the runtime's ``tool_timeout`` by default.
    name : str, optional
        Name in the sandbox; the function's name by default.
    description : str, optional
        What a model reads; the docstring by default.

    Raises
    ------
    CodemodeError
        ``invalid_tool``: ``requires_approval`` together with ``replay="reexecute"``; when a connector is made of it,
        another option that is not what is said here.

    Examples
    --------
    >>> @tool(requires_approval=True)
    ... def delete_issue(id: int) -> None:
    ...     '''Delete an issue.'''
    """
    if function is not None:
        return _mark(function, ToolOptions())
    declared = ToolOptions(**options)
    return lambda function: _mark(function, declared)


def function_tool(function: Callable[..., Any], name: str | None = None) -> Tool:
    """Return the tool that a function is.

    Parameters
    ----------
    function : callable
        A plain or async function, bound method, partial or callable object, with or without ``@tool``.
    name : str, optional
        Name in the sandbox; what ``@tool`` says or the function's own by default.

    Raises
    ------
    CodemodeError
        ``invalid_tool``: the function cannot be a tool; the message says why.
    """
    options: ToolOptions = getattr(function, _MARK, None) or ToolOptions()
    named = name or options.name or _own_name(function)
    _refuse_unusable(function, named)
    signature = FunctionSignature(function, named)
    call = _Call(function, signature.context_parameter, named)
    made = Tool(
        name=named if is_identifier(named) else sanitize_name(named),
        call=call,
        description=options.description
        if options.description is not None
        else read_docstring(behind_partials(function)).description,
        input_schema=signature.input_schema,
        output_schema=signature.output_schema,
        parameters=signature.parameters,
        validate=signature.validate,
        requires_approval=options.requires_approval,
        revert=options.revert,
        replay=options.replay,
        idempotent=options.idempotent,
        timeout=options.timeout,
        cancellable=call.is_async,
    )
    check_options(made, named)
    return made


class FunctionConnector(Connector):
    """Python functions as a namespace of tools.

    Parameters
    ----------
    name : str
        Name of the global in programs.
    functions : iterable, mapping or object
        Functions, bound methods, partials, callable objects or ``Tool``s, given in a list or by name in a dict; an
        object stands for its public methods, a class for its public class and static methods.
    instructions : str, default ""
        What a model should know before it uses any of them.

    Raises
    ------
    CodemodeError
        ``invalid_name``, ``reserved_name``, ``duplicate_name`` or ``invalid_tool``.

    Examples
    --------
    >>> FunctionConnector("issues", [list_issues, create_issue])
    >>> FunctionConnector("tracker", Tracker("issues.sqlite3"))
    """

    def __init__(
        self, name: str, functions: Iterable[Any] | Mapping[str, Any] | object, instructions: str = ""
    ) -> None:
        super().__init__(name, instructions)
        made = list(_tools(functions))
        for one, _ in made:
            check_tool_name(one.name, name)
        unique_by_name(name, ((one.name, source) for one, source in made))
        self._tools = tuple(one for one, _ in made)

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools in the order given."""
        return self._tools


class _Call:
    """Runs the function: on the loop if it is async, else in a thread with the caller's context variables."""

    def __init__(self, function: Callable[..., Any], context_parameter: str | None, name: str) -> None:
        self._function = function
        self._context_parameter = context_parameter
        self._name = name
        self.is_async = inspect.iscoroutinefunction(behind_partials(function)) or inspect.iscoroutinefunction(
            getattr(behind_partials(function), "__call__", None)  # noqa: B004  the question is not whether it can be called
        )

    async def __call__(self, arguments: BoundCall, context: ToolContext) -> Any:
        keywords = dict(arguments.keywords)
        if self._context_parameter is not None:
            keywords[self._context_parameter] = context
        call = partial(self._function, *arguments.positional, **keywords)
        if self.is_async:
            return await call_on_loop(self._name, call)
        result = await call_in_thread(self._name, call)
        return await call_on_loop(self._name, lambda: result)


def _tools(functions: object) -> Iterator[tuple[Tool, str]]:
    """Yield each tool with a text that says where it comes from."""
    if isinstance(functions, Mapping):
        for name, function in functions.items():
            yield (function if isinstance(function, Tool) else function_tool(function, str(name))), f"key {name!r}"
    elif isinstance(functions, Iterable) and not isinstance(functions, type | str | bytes):
        for item in functions:
            yield from _tools_of(item)
    else:
        yield from _tools_of(functions)


def _tools_of(item: Any) -> Iterator[tuple[Tool, str]]:
    if isinstance(item, Tool):
        yield item, f'Tool "{item.name}"'
    elif callable(item) and not isinstance(item, type):
        yield function_tool(item), _source(item)
    else:
        methods = list(_public_methods(item))
        if not methods:
            what = f"class {item.__name__}" if isinstance(item, type) else f"{item!r:.80}"
            hint = f"Pass an instance: {item.__name__}(…)." if isinstance(item, type) else "Pass functions in a list."
            raise CodemodeError("invalid_tool", f"{what} has no public methods that could be tools.", hint=hint)
        for name, method in methods:
            yield function_tool(method, _declared_name(method) or name), _source(method)


def _public_methods(owner: Any) -> Iterator[tuple[str, Any]]:
    """Yield the public methods by name, those of base classes first, in the order in which they were written."""
    is_class = isinstance(owner, type)
    seen: set[str] = set()
    classes = (owner if is_class else type(owner)).__mro__[:-1]
    for cls in reversed([cls for cls in classes if not cls.__module__.startswith("pydantic.")]):
        for name, member in vars(cls).items():
            bindable = isinstance(member, classmethod | staticmethod) or (not is_class and _is_method(member))
            if name.startswith("_") or name in seen or not bindable:
                continue
            seen.add(name)
            yield name, getattr(owner, name)


def _is_method(member: object) -> bool:
    """Say whether a member of a class becomes a bound callable; a property is not, and is never read."""
    wrapped = callable(member) and hasattr(member, "__wrapped__") and hasattr(type(member), "__get__")
    return inspect.isfunction(member) or isinstance(member, functools.partialmethod) or wrapped


def _declared_name(function: object) -> str | None:
    options: ToolOptions | None = getattr(function, _MARK, None)
    return None if options is None else options.name


def _mark(function: Any, options: ToolOptions) -> Any:
    if options.requires_approval is not False and options.replay == "reexecute":
        raise CodemodeError(
            "invalid_tool",
            'A tool cannot combine requires_approval with replay="reexecute": it would act again in every pass.',
            hint='Leave out `requires_approval`, or use replay="record".',
        )
    marked = function.__func__ if isinstance(function, staticmethod | classmethod) else function
    try:
        setattr(marked, _MARK, options)
    except (AttributeError, TypeError):  # a builtin or a bound method has no attributes of its own
        function = marked = partial(function)
        setattr(marked, _MARK, options)
    return function


def _own_name(function: Any) -> str:
    target = behind_partials(function)
    name: str = getattr(target, "__name__", type(target).__name__)
    return name


def _refuse_unusable(function: Any, name: str) -> None:
    target = behind_partials(function)
    why = hint = None
    if not callable(function):
        why, hint = f"it is a {type(function).__name__}", "Pass a function."
    elif isinstance(function, type):
        why, hint = "it is a class", "Pass an instance, or a function that makes one."
    elif name == "<lambda>":
        why, hint = "a lambda has no name", 'Pass it in a dict: {"name": lambda …}.'
    elif inspect.isgeneratorfunction(target) or inspect.isasyncgenfunction(target):
        why, hint = "it is a generator", "Return a list."
    elif inspect.isfunction(function) and next(iter(inspect.signature(function).parameters), "") == "self":
        why, hint = "it is a method without its object", f"Pass it bound: instance.{name}."
    if why is not None:
        raise CodemodeError("invalid_tool", f"{name} cannot be a tool: {why}.", hint=hint)


def _source(function: Any) -> str:
    target = behind_partials(function)
    where = getattr(target, "__module__", None)
    name = getattr(target, "__qualname__", type(target).__qualname__)
    return f"{where}.{name}" if where else str(name)
