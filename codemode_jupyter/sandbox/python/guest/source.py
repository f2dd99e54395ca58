"""The program's text as a function that can be awaited.

Owns: what value a program has: a ``return`` at the top, else the last expression; of definitions alone, the last
function that nothing else refers to is called with ``input``. Never runs anything.

The statements become the body of one ``async def`` whose names are all declared global, so ``await`` and ``return``
may stand at the top and everything else means what it means in a module.
"""

from __future__ import annotations
import __future__

import ast
import functools
import inspect
import operator
import types
import warnings
from typing import Any, NoReturn

FUNCTION = "__program__"
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_DEFINITIONS = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Import,
    ast.ImportFrom,
    ast.Assign,
    ast.AnnAssign,
)


def compile_program(text: str, filename: str) -> types.CodeType:
    """Return the code of a coroutine function that is the program.

    Raises
    ------
    SyntaxError
        With the place in ``text``.
    """
    tree = ast.parse(text, filename)
    flags = _take_futures(tree.body)
    tree = _Top(filename).visit(tree)
    body: list[ast.stmt] = tree.body
    _add_value(tree, body)
    # Compiled once to learn which names it binds, and once more with these declared global.
    with warnings.catch_warnings(action="ignore"):
        first = _compiled(body, (), filename, flags)
    names = tuple(name for name in (*first.co_varnames, *first.co_cellvars) if name.isidentifier())
    code = _compiled(body, names, filename, flags)
    # Its locals are its globals, as a module's: `exec`, `locals()`, `vars()` and `dir()` see and change them.
    as_module = code.co_flags & ~(inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS)
    return code.replace(co_name="<module>", co_qualname="<module>", co_flags=as_module)


def _take_futures(body: list[ast.stmt]) -> int:
    """Take ``from __future__`` imports off the beginning, where no function may have them; return what they ask for."""
    flags = 0
    for place, statement in enumerate(body):
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            names = [name.name for name in statement.names]
            if set(names) <= set(__future__.all_feature_names):  # what is none the compiler refuses
                flags |= functools.reduce(operator.or_, (getattr(__future__, name).compiler_flag for name in names))
                body[place] = ast.copy_location(ast.Pass(), statement)
        elif not _is_text(statement):
            break
    return flags


def _module(body: list[ast.stmt], names: tuple[str, ...]) -> ast.Module:
    declared: list[ast.stmt] = [ast.Global(list(names))] if names else []
    function = ast.AsyncFunctionDef(
        name=FUNCTION,
        args=ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[]),
        body=[*declared, *body] or [ast.Pass()],
        decorator_list=[],
        returns=None,
        type_params=[],  # type: ignore[call-arg]  # the typing stubs are of the oldest Python
    )
    return ast.fix_missing_locations(ast.Module([function], []))


def _compiled(body: list[ast.stmt], names: tuple[str, ...], filename: str, flags: int) -> types.CodeType:
    code = compile(_module(body, names), filename, "exec", flags, dont_inherit=True)
    [function] = [one for one in code.co_consts if isinstance(one, types.CodeType) and one.co_name == FUNCTION]
    return function


class _Top(ast.NodeTransformer):
    """Changes what a function's body could not hold, outside of functions and classes."""

    def __init__(self, filename: str) -> None:
        self._filename = filename
        self._asyncio = {"asyncio"}  # the names that asyncio has in the program
        self._run: set[str] = set()  # and those of its function `run`

    def visit(self, node: ast.AST) -> Any:
        return node if isinstance(node, _SCOPES) else super().visit(node)

    def visit_Global(self, node: ast.Global) -> ast.stmt:
        return ast.copy_location(ast.Pass(), node)  # all names of the top are global

    def visit_Yield(self, node: ast.Yield) -> NoReturn:
        self._refuse_yield(node)

    def visit_YieldFrom(self, node: ast.YieldFrom) -> NoReturn:
        self._refuse_yield(node)

    def _refuse_yield(self, node: ast.expr) -> NoReturn:
        place = (self._filename, node.lineno, node.col_offset + 1, None)
        raise SyntaxError("'yield' outside function", place)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if not isinstance(node.target, ast.Name):
            return node
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        value: ast.expr = self.visit(node.value)
        return ast.copy_location(ast.Assign([node.target], value), node)

    def visit_Import(self, node: ast.Import) -> ast.stmt:
        self._asyncio |= {one.asname or one.name for one in node.names if one.name == "asyncio"}
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt:
        if node.module == "asyncio":
            self._run |= {one.asname or one.name for one in node.names if one.name == "run"}
        if node.names[0].name != "*":
            return node
        call = ast.Call(ast.Name("__import_all__", ast.Load()), [ast.Constant(node.module)], [])
        return ast.copy_location(ast.Expr(call), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Make ``asyncio.run(x)`` and ``loop.run_until_complete(x)`` an ``await x``: the loop runs already."""
        self.generic_visit(node)
        if len(node.args) == 1 and self._runs_a_loop(node.func):
            return ast.copy_location(ast.Await(node.args[0]), node)
        return node

    def _runs_a_loop(self, function: ast.expr) -> bool:
        match function:
            case ast.Attribute(value=ast.Name(id=name), attr="run"):
                return name in self._asyncio
            case ast.Attribute(attr="run_until_complete"):
                return True
            case ast.Name(id=name):
                return name in self._run
        return False


def _add_value(tree: ast.Module, body: list[ast.stmt]) -> None:
    if not body:
        return
    last = body[-1]
    if isinstance(last, ast.If) and _asks_whether_main(last.test):
        _add_value(tree, last.body)
    elif isinstance(last, ast.Expr):
        body[-1] = ast.copy_location(ast.Return(_asked("__value__", last.value)), last)
    elif all(isinstance(statement, _DEFINITIONS) or _is_text(statement) for statement in body):
        main = _main_function(tree, body)
        if main is not None:
            call = ast.Return(_asked("__call__", ast.Name(main.name, ast.Load())))
            ast.copy_location(call, main).end_lineno = main.lineno  # a traceback shows the function's first line
            body.append(call)


def _asks_whether_main(test: ast.expr) -> bool:
    """Tell ``__name__ == "__main__"``."""
    return ast.unparse(test) in ("__name__ == '__main__'", "'__main__' == __name__")


def _asked(function: str, value: ast.expr) -> ast.expr:
    return ast.Await(ast.Call(ast.Name(function, ast.Load()), [value], []))


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _main_function(tree: ast.Module, body: list[ast.stmt]) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    functions = [one for one in body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    for function in reversed(functions):
        inside = {id(node) for node in ast.walk(function)}
        used = (
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and node.id == function.name and isinstance(node.ctx, ast.Load)
        )
        if all(id(node) in inside for node in used):
            return function
    return None
