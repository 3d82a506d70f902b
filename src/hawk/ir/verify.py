"""Check that a program is well formed; every stage may rely on what is checked here.

* A value is defined once, and used only after its definition, in the same block or one inside.
* Operands fit the operation's row, and its result has the type the row gives.
* Both blocks of an If, and the params, inits and yields of a Loop, have the results' types.
* `launch` sees uniform planes only, `sample` inputs too, `step` everything.
* A TABLE or SHARED is the first operand of a `lookup` or a `near`, and of nothing else.
* STATE, MASK and OUTPUT planes are stored, once each, in order; no others are.
* A reduction has a uniform plane of the type it gives, or a table of them, one for each line.
* A scatter has a shared plane, and what it gives is stored in two outputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from hawk.ir.nodes import (
    TABLES,
    Apply,
    Block,
    Const,
    Function,
    If,
    Lines,
    Loop,
    Reduction,
    Role,
    Scatter,
    Statement,
    Value,
)
from hawk.ir.ops import LOOKUPS, OPS, result_type
from hawk.ir.reduce import KINDS, result_of
from hawk.ir.scatter import kinds_of
from hawk.ir.types import DType

_VISIBLE_FROM = {
    Role.UNIFORM: "launch",
    Role.TABLE: "launch",
    Role.SHARED: "launch",
    Role.INPUT: "sample",
    Role.INDEX: "sample",
    Role.STATE: "step",
}
_STORED = (Role.STATE, Role.MASK, Role.OUTPUT)


class InvalidProgram(Exception):
    """A program that breaks a rule of the IR, with its text. The mistake is hawk's own."""


def verify(fn: Function) -> None:
    """Raise InvalidProgram, with the text of `fn`, if it breaks a rule."""
    try:
        _function(fn)
    except InvalidProgram as broken:
        raise InvalidProgram(f"internal error: {broken}\n\n{_text(fn)}") from None


def _text(fn: Function) -> str:
    from hawk.ir.printer import to_text  # only when something is wrong

    return to_text(fn)


def _function(fn: Function) -> None:
    scope = _Scope()
    _planes(fn)
    for body in ("launch", "sample", "step"):
        scope.define(
            plane.read
            for plane in fn.planes
            if plane.read is not None and _VISIBLE_FROM[plane.role] == body
        )
        if body == "launch":
            scope.tables.update(p.read for p in fn.planes if p.read and p.role in TABLES)
        _statements(getattr(fn, body), scope)
    _stores(fn, scope)
    for each in fn.reductions:
        _reduction(fn, each, scope)
    for each in fn.scatters:
        _scatter(fn, each)


def _scatter(fn: Function, each: Scatter) -> None:
    where = f"the scatter to `{each.plane}`"
    planes = {plane.name: plane for plane in fn.planes}
    _need({each.plane, each.spot, each.value} <= planes.keys(), f"{where} lacks a plane")
    table, spot, value = planes[each.plane], planes[each.spot], planes[each.value]
    _need(table.role is Role.SHARED, f"{where}: it is {table.role.value}")
    _need(each.kind in kinds_of(table.dtype), f"{where}: no kind {each.kind}")
    outputs = [plane.role is Role.OUTPUT for plane in (spot, value)]
    _need(all(outputs), f"{where} has no outputs")
    _need(spot.dtype is DType.I32, f"{where}: a spot is {spot.dtype}")
    _need(value.dtype is table.dtype, f"{where} gives {value.dtype}")


def _reduction(fn: Function, each: Reduction, scope: _Scope) -> None:
    where = f"the reduction of `{each.plane}`"
    scope.use([each.value] if each.keep is None else [each.value, each.keep], where)
    _need(each.kind in KINDS, f"{where}: no kind {each.kind}")
    _need(each.keep is None or each.keep.dtype is DType.BOOL, f"{where}: keeps {each.keep}")
    plane = next((plane for plane in fn.planes if plane.name == each.plane), None)
    role = Role.UNIFORM if each.lines is None else Role.TABLE
    _need(plane is not None and plane.role is role, f"{where} has no {role.value} plane")
    due = result_of(each.kind, each.value.dtype)
    _need(plane is not None and plane.dtype is due, f"{where} gives {due}")
    if each.lines is not None:
        _lines(fn, each.lines, where)


def _lines(fn: Function, lines: Lines, where: str) -> None:
    held = {p.name for p in fn.planes if p.role is Role.UNIFORM and p.dtype is DType.I32}
    named = {extent for extent in lines.extents if isinstance(extent, str)}
    _need(named <= held, f"{where}: {sorted(named - held)} hold no extents")
    over, axes = lines.over, len(lines.extents)
    rising = list(over) == sorted(set(over)) and set(over) < set(range(axes))
    _need(rising and bool(over), f"{where} goes along {over} of {axes} dimensions")


def _planes(fn: Function) -> None:
    names = [plane.name for plane in fn.planes]
    _need(len(set(names)) == len(names), f"two planes of one name: {names}")
    _need(fn.real.is_float, f"the float width is {fn.real}")
    for plane in fn.planes:
        where = f"plane `{plane.name}`"
        if plane.role in _VISIBLE_FROM:
            _need(plane.read is not None, f"{where} is {plane.role.value} and has no read")
        else:
            _need(plane.read is None, f"{where} is {plane.role.value} and has a read")
        if plane.read is not None:
            _need(plane.read.dtype is plane.dtype, f"{where}: its read is {plane.read.dtype}")
            _need(not isinstance(plane.read, Const), f"{where}: its read is a constant")
        if plane.role is Role.MASK:
            _need(plane.dtype is DType.BOOL, f"{where} is a mask of {plane.dtype}")


def _stores(fn: Function, scope: _Scope) -> None:
    due = [plane for plane in fn.planes if plane.role in _STORED]
    stored = [name for name, _ in fn.stores]
    _need(stored == [p.name for p in due], f"stores {stored}, due {[p.name for p in due]}")
    for plane, (_, value) in zip(due, fn.stores, strict=True):
        scope.use([value], f"the store of `{plane.name}`")
        _need(value.dtype is plane.dtype, f"`{plane.name}` gets a {value.dtype}")


class _Scope:
    """The values that may be used here: those of the open blocks."""

    def __init__(self) -> None:
        self.visible: set[Value] = set()
        self.ever: set[Value] = set()
        self.tables: set[Value] = set()

    def define(self, values: Iterable[Value]) -> None:
        for value in values:
            _need(value not in self.ever, f"{_shown(value)} is defined twice")
            _need(not isinstance(value, Const), f"the constant {_shown(value)} is defined")
            self.visible.add(value)
            self.ever.add(value)

    def use(self, values: Sequence[Value], where: str) -> None:
        for value in values:
            if isinstance(value, Const):
                _constant(value)
            else:
                known = "outside the block of" if value in self.ever else "before"
                _need(value in self.visible, f"{where} uses {_shown(value)} {known} its definition")
                _need(value not in self.tables, f"{where} uses the table {_shown(value)}")


def _statements(items: Sequence[Statement], scope: _Scope) -> None:
    for statement in items:
        match statement:
            case Apply():
                _apply(statement, scope)
            case If():
                _if(statement, scope)
            case Loop():
                _loop(statement, scope)
            case _ as never:
                assert_never(never)
        scope.define(statement.results)


def _apply(statement: Apply, scope: _Scope) -> None:
    _need(statement.op in OPS, f"no operation `{statement.op}`")
    where = f"`{statement.op}`"
    args = statement.args
    if statement.op in LOOKUPS:
        _need(args[0] in scope.tables, f"{_shown(args[0])} is no table")
        args = args[1:]
    scope.use(args, where)
    try:
        due = result_type(statement.op, tuple(arg.dtype for arg in statement.args))
    except TypeError as error:
        raise InvalidProgram(str(error)) from None
    _need(statement.result.dtype is due, f"{where} gives {due}, not {statement.result.dtype}")


def _if(statement: If, scope: _Scope) -> None:
    scope.use([statement.test], "an if")
    _need(statement.test.dtype is DType.BOOL, f"an if tests a {statement.test.dtype}")
    for block in (statement.then, statement.orelse):
        _need(not block.params, "a block of an if has params")
        _block(block, scope)
        _alike(block.yields, statement.results, "an if yields")


def _loop(statement: Loop, scope: _Scope) -> None:
    scope.use(statement.inits, "a loop")
    _alike(statement.inits, statement.results, "a loop starts with")
    for block in (statement.test, statement.body):
        _alike(block.params, statement.results, "a block of a loop takes")
        _block(block, scope)
    tested = [value.dtype for value in statement.test.yields]
    _need(tested == [DType.BOOL], f"a loop tests {tested}")
    _alike(statement.body.yields, statement.results, "a loop yields")


def _block(block: Block, scope: _Scope) -> None:
    """Check a block; what it defines is out of sight afterwards."""
    outside = set(scope.visible)
    scope.define(block.params)
    _statements(block.items, scope)
    scope.use(block.yields, "a yield")
    scope.visible = outside


def _constant(value: Const) -> None:
    kind = bool if value.dtype is DType.BOOL else int if value.dtype.is_int else float
    _need(type(value.number) is kind, f"a {value.dtype} constant holds {value.number!r}")


def _alike(values: Sequence[Value], results: Sequence[Value], where: str) -> None:
    got, due = ([value.dtype.value for value in side] for side in (values, results))
    _need(got == due, f"{where} {got}, and its results are {due}")


def _shown(value: Value) -> str:
    return f"`{value.name or '(unnamed)'}` ({value.dtype.value}, {value.loc.short()})"


def _need(true: bool, otherwise: str) -> None:  # noqa: FBT001 - it is the condition itself
    if not true:
        raise InvalidProgram(otherwise)
