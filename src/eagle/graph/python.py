"""Runs what a builder says in Python itself, expressions and statements, with its own names.

A builder's text is walked for its branches and loops; everything between them is ordinary Python,
compiled from the same text and run by CPython at the same lines. Its names are cells, as those of
any closure, so a function that a builder makes sees them as they are when it is called.
"""

from __future__ import annotations

import ast
import types
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from hawk.frontend.frame import Frame
from hawk.frontend.source import bound_names, read_names
from hawk.frontend.values import Unusable

_FUTURE = 0x1FF0000
"""The bits of a code's flags that say what it imported from `__future__`."""


class _Piece(NamedTuple):
    """Compiled text, and the names it binds."""

    code: types.CodeType
    binds: tuple[str, ...]
    reads: tuple[ast.Name, ...]


_INNER = "<builder>"
"""No name of a user, who may call the builder's own function in it."""


class Python:
    """CPython, with the names of one call of a builder."""

    def __init__(self, frame: Frame) -> None:
        source = frame.source
        self._source = source
        self._pieces: WeakKeyDictionary[ast.AST, _Piece] = WeakKeyDictionary()
        function: types.FunctionType = source.function
        self._globals = function.__globals__
        self._flags = function.__code__.co_flags & _FUTURE
        self._own = {name: types.CellType() for name in sorted(source.locals)}
        self._cells: dict[str, types.CellType] = {**source.cells, **self._own}

    def value(self, frame: Frame, node: ast.expr) -> Any:
        """What an expression gives."""
        back = ast.copy_location(ast.Return(value=node), node)
        return self._run(frame, node, [back])

    def run(self, frame: Frame, node: ast.stmt) -> None:
        """Run a statement; the names it binds are bound."""
        self._run(frame, node, [node])

    def apply(
        self, frame: Frame, node: ast.AST, names: list[str], body: list[ast.stmt], args: list[Any]
    ) -> Any:
        """Call a function with parameters `names` and this body, made of text at `node`."""
        return self._run(frame, node, body, names, args)

    def _run(
        self,
        frame: Frame,
        node: ast.AST,
        body: list[ast.stmt],
        parameters: list[str] | None = None,
        args: list[Any] | None = None,
    ) -> Any:
        piece = self._pieces.get(node)
        if piece is None:
            piece = self._pieces[node] = self._compiled(node, body, parameters or [])
        names = frame.names
        for read in piece.reads:
            value = names.get(read.id)
            if isinstance(value, Unusable):
                raise value.why(read.id, frame.loc(read))
        for name, cell in self._own.items():
            _fill(cell, names, name)
        free = tuple(self._cells[name] for name in piece.code.co_freevars)
        run = types.FunctionType(piece.code, self._globals, self._source.name, None, free)
        result = run(*args or ())
        for name in piece.binds:
            names.pop(name, None)
        for name, cell in self._own.items():  # a function that was called may bind them too
            _take(cell, names, name)
        return result

    def _compiled(self, node: ast.AST, body: list[ast.stmt], parameters: list[str]) -> _Piece:
        binds: tuple[str, ...] = ()
        if isinstance(node, (ast.expr, ast.stmt)):
            binds = tuple(sorted(bound_names(body) & set(self._own)))
        head: list[ast.stmt] = [ast.Nonlocal(names=list(binds))] if binds else []
        inner = _function(_INNER, [*head, *body], parameters)
        known = [ast.Name(id=name, ctx=ast.Store()) for name in self._cells]
        outer: list[ast.stmt] = []
        if known:
            outer.append(ast.Assign(targets=list(known), value=ast.Constant(value=None)))
        outer.append(inner)
        module = ast.Module(body=[_function("factory", outer, [])], type_ignores=[])
        for each in (module, *module.body, *outer, *head, *body):
            ast.copy_location(each, node)
        ast.fix_missing_locations(module)
        code = compile(module, self._source.file, "exec", flags=self._flags, dont_inherit=True)
        for name in ("factory", _INNER):
            code = next(
                each
                for each in code.co_consts
                if isinstance(each, types.CodeType) and each.co_name == name
            )
        code = code.replace(co_name=self._source.name, co_qualname=self._source.name)
        return _Piece(code, binds, tuple(_read_now(node)))


def _function(name: str, body: list[ast.stmt], parameters: list[str]) -> ast.FunctionDef:
    args = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(arg=each) for each in parameters],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[],
    )
    fields: dict[str, Any] = {
        "name": name,
        "args": args,
        "body": body,
        "decorator_list": [],
        "type_params": [],
    }
    return ast.FunctionDef(**fields)  # before Python 3.12 nobody looks at the last one


def _read_now(node: ast.AST) -> list[ast.Name]:
    """The names that are read when it runs: not those that a function in it reads when called."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return []
    return list(read_names(node))


def _fill(cell: types.CellType, names: dict[str, Any], name: str) -> None:
    value = names.get(name, _NOTHING)
    if value is _NOTHING or isinstance(value, Unusable):
        _empty(cell)
    else:
        cell.cell_contents = value


def _take(cell: types.CellType, names: dict[str, Any], name: str) -> None:
    try:
        names[name] = cell.cell_contents
    except ValueError:  # it holds nothing, or nothing that can be used
        return


def _empty(cell: types.CellType) -> None:
    try:
        del cell.cell_contents
    except ValueError:
        return


_NOTHING: Any = object()
