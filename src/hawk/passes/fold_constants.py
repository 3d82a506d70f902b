"""Compute what is known now, and drop operations that change no bit.

Only identities that hold for every number are used: `x * 1.0` is `x`, but `x + 0.0` is not (-0.0),
and `x * 0.0` is not 0.0 (NaN).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias, assert_never

from hawk.ir.builder import Builder
from hawk.ir.meaning import same
from hawk.ir.nodes import Apply, Const, Function, If, Loop, Number, Statement, Value
from hawk.ir.types import DType
from hawk.passes.rewrite import rewrite

Made: TypeAlias = dict[Value, Apply]
"""The operation that made a value."""


def fold_constants(fn: Function) -> Function:
    """Replace operations on known numbers, and choices whose outcome is known, by the outcome."""
    made: Made = {}

    def folded(statement: Statement, builder: Builder) -> Sequence[Value] | None:
        match statement:
            case Apply():
                value = _folded_apply(statement, builder, made)
                if value is None:
                    made[statement.result] = statement
                return None if value is None else [value]
            case If():
                return _folded_if(statement, builder)
            case Loop():
                never_runs = _is(statement.test.yields[0], number=False)
                return statement.inits if never_runs else None
            case _ as never:
                assert_never(never)

    return rewrite(fn, folded)


def _folded_if(statement: If, builder: Builder) -> Sequence[Value] | None:
    test, then, orelse = statement.test, statement.then, statement.orelse
    if isinstance(test, Const):
        chosen = then if test.number else orelse
        builder.items.extend(chosen.items)
        return chosen.yields
    pairs = list(zip(then.yields, orelse.yields, statement.results, strict=True))
    if not any(_equal(yes, no) for yes, no, _ in pairs):
        return None
    builder.items.append(statement)
    return [yes if _equal(yes, no) else result for yes, no, result in pairs]


def _folded_apply(statement: Apply, builder: Builder, made: Made) -> Value | None:
    op, args, result = statement.op, statement.args, statement.result
    known = [isinstance(arg, Const) for arg in args]
    if all(known):
        return builder.apply(op, *args, loc=result.loc, name=result.name)
    identity = _IDENTITIES.get(op)
    if identity is None or not (any(known) or op in _WORTH_WITHOUT_CONSTANTS):
        return None
    builder.loc = result.loc
    return identity(_Context(builder, made), *args)


class _Context:
    """What an identity may look at and write to."""

    __slots__ = ("builder", "made")

    def __init__(self, builder: Builder, made: Made) -> None:
        self.builder, self.made = builder, made

    def made_by(self, value: Value, op: str) -> tuple[Value, ...] | None:
        """The operands of `value` if the operation `op` made it."""
        maker = self.made.get(value)
        return maker.args if maker is not None and maker.op == op else None


def _select(context: _Context, test: Value, yes: Value, no: Value) -> Value | None:
    if isinstance(test, Const):
        return yes if test.number else no
    if _equal(yes, no):
        return yes
    if yes.dtype is DType.BOOL:
        if _is(no, number=False):
            return test if _is(yes, number=True) else context.builder.apply("and", test, yes)
        if _is(yes, number=True):
            return context.builder.apply("or", test, no)
    return None


def _not(context: _Context, x: Value) -> Value | None:
    inner = context.made_by(x, "not")
    return inner[0] if inner else None


def _neg(context: _Context, x: Value) -> Value | None:
    inner = context.made_by(x, "neg")
    return inner[0] if inner else None


def _and(_: _Context, x: Value, y: Value) -> Value | None:
    for one, other in ((x, y), (y, x)):
        if isinstance(one, Const):
            return one if not one.number else other if _all_bits(one) else None
    return x if x is y else None


def _or(_: _Context, x: Value, y: Value) -> Value | None:
    for one, other in ((x, y), (y, x)):
        if isinstance(one, Const):
            return other if not one.number else one if _all_bits(one) else None
    return x if x is y else None


def _xor(context: _Context, x: Value, y: Value) -> Value | None:
    for one, other in ((x, y), (y, x)):
        if isinstance(one, Const):
            if not one.number:
                return other
            inner = context.made_by(other, "xor")
            if inner and _equal(inner[1], one):  # a `not` of a `not`, once they are decomposed
                return inner[0]
    return None


def _add(_: _Context, x: Value, y: Value) -> Value | None:
    zero = -0.0 if x.dtype.is_float else 0
    return y if _is(x, zero) else x if _is(y, zero) else None


def _sub(_: _Context, x: Value, y: Value) -> Value | None:
    return x if _is(y, 0.0 if x.dtype.is_float else 0) else None


def _mul(context: _Context, x: Value, y: Value) -> Value | None:
    one: Number = 1.0 if x.dtype.is_float else 1
    for known, other in ((x, y), (y, x)):
        if _is(known, one):
            return other
        if _is(known, -one):
            return context.builder.apply("neg", other)
    return None


def _div(context: _Context, x: Value, y: Value) -> Value | None:
    if not isinstance(y, Const) or not isinstance(y.number, float):
        return None
    fraction, exponent = math.frexp(y.number)
    if abs(fraction) != 0.5 or abs(exponent) > 100:
        return None
    # By a power of two: the product with its reciprocal, itself a power of two, is the same.
    factor = context.builder.const(1 / y.number, y.dtype)
    return _mul(context, x, factor) or context.builder.apply("mul", x, factor)


def _fma(context: _Context, x: Value, y: Value, z: Value) -> Value | None:
    if _is(z, -0.0):
        return context.builder.apply("mul", x, y)
    for known, other in ((x, y), (y, x)):
        if _is(known, 1.0):
            return context.builder.apply("add", other, z)
    return None


def _conversion(target: DType) -> Callable[[_Context, Value], Value | None]:
    return lambda _, x: x if x.dtype is target else None


_IDENTITIES: dict[str, Callable[..., Value | None]] = {
    "select": _select,
    "not": _not,
    "neg": _neg,
    "and": _and,
    "or": _or,
    "xor": _xor,
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "fma": _fma,
    **{f"to_{target.value}": _conversion(target) for target in DType},
}
_WORTH_WITHOUT_CONSTANTS = frozenset(_IDENTITIES) - {"xor", "add", "sub", "mul", "div", "fma"}


def _is(value: Value, number: Number) -> bool:
    """Is `value` known to be this number, to the bit?"""
    return isinstance(value, Const) and same(value.number, number)


def _equal(a: Value, b: Value) -> bool:
    """Are the two known to be the same number, to the bit?"""
    return a is b or (isinstance(a, Const) and _is(b, a.number))


def _all_bits(value: Const) -> bool:
    return value.number == {DType.BOOL: True, DType.U32: 2**32 - 1}.get(value.dtype, -1)
