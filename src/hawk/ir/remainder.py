"""Quotients and remainders of floats, exact for all operands, written with other operations.

What is left of `x / y` is found without a table and without a division that the machine does bit
by bit: with n the integer next to the quotient, `fma(-n, y, x)` is a number that a float holds
exactly, so it is exact. Three lemmas carry this file; u(y) is the unit in the last place of y.

1. If `|x| >= |y|` and `|n - x/y| <= 1`, then `x - n*y` is a multiple of u(y) and no larger than y.
2. If `|x| < |y|`, then n is 0, or 1 because `|x| >= |y| / 2`, and `x - y` is exact (Sterbenz).
3. If q is `x/y` rounded and so large that it is an integer, then `x - q*y` is a multiple of
   u(q)*u(y) and no larger than u(q)*y/2. So one round takes 53 bits (24) off the quotient.

The quotient comes from `x * (1/y)`, because `1/y` is computed once a launch where y is the same
for all samples. It is off by two roundings, which lemma 1 allows up to a quotient of NEAR and lemma
2 because half is rounded to even. What is beyond (and inf, NaN, 0 and denormal divisors) takes a
branch that no ordinary sample enters, with a loop of lemma 3 that ends for all numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hawk.ir.nodes import Block, Const
from hawk.ir.types import DType

if TYPE_CHECKING:
    from hawk.ir.builder import Builder
    from hawk.ir.nodes import Value

NEAR: Mapping[DType, float] = {DType.F64: 2.0**50, DType.F32: 2.0**21}
"""Up to this quotient two roundings put it off by less than a half."""
LARGE: Mapping[DType, float] = {DType.F64: 2.0**1022, DType.F32: 2.0**126}
"""Below this a divisor's reciprocal is no denormal, which would be rounded more coarsely."""
STRIDE: Mapping[DType, float] = {DType.F64: 2.0**600, DType.F32: 2.0**80}
"""A divisor this much larger makes an infinite quotient finite, in one or two strides."""


def fmod(b: Builder, x: Value, y: Value) -> Value:
    """C's `fmod`: what is left of the quotient truncated, with the sign of `x`."""
    rest = _rest(b, x, y)
    sign = b.apply("fit_copysign", b.const(1.0, x.dtype), _not_nan(b, x))
    size = b.apply("mul", b.apply("abs", y), sign)
    rest = _on_the_side_of(b, rest, sign, size)
    return b.apply("mul", b.apply("abs", rest), sign)


def mod(b: Builder, x: Value, y: Value) -> Value:
    """Python's `x % y`: what is left of the floored quotient, with the sign of `y`."""
    if isinstance(y, Const) and y.number == 1.0:
        return b.apply("sub", x, b.apply("floor", x))
    rest = _rest(b, x, y)
    sign = _sign(b, y)
    rest = _on_the_side_of(b, rest, sign, y)
    return b.apply("mul", b.apply("abs", rest), sign)  # what is left is 0: with the sign of y


def floordiv(b: Builder, x: Value, y: Value) -> Value:
    """Python's `x // y`, rounded as CPython rounds it; by 0 it is `x / y`."""
    reciprocal = _exact_reciprocal(y)
    if reciprocal:
        whole = _floored(b, *_scaled(b, x, y, reciprocal), y)
        finite = b.apply("lt", b.apply("abs", x), b.const(math.inf, x.dtype))
        return b.apply("select", finite, whole, b.const(math.nan, x.dtype))
    whole, rest, near = _close(b, x, y)
    whole = _floored(b, whole, rest, y)
    with b.block() as items:
        far = _floored_as_cpython(b, x, y)
    (whole,) = b.branch(near, Block((), (whole,)), Block(tuple(items), (far,)))
    return whole


def _floored(b: Builder, whole: Value, rest: Value, y: Value) -> Value:
    """The floor of a quotient next to `whole`, which leaves `rest`."""
    less = b.apply("sub", whole, b.const(1.0, y.dtype))
    return b.apply("select", _other_side(b, rest, _sign(b, y)), less, whole)


def _floored_as_cpython(b: Builder, x: Value, y: Value) -> Value:
    """`x // y` step by step as `float_floor_div` computes it, rounding by rounding."""
    one, half = b.const(1.0, x.dtype), b.const(0.5, x.dtype)
    rest = _far_rest(b, x, y)
    sign = _sign(b, x)
    rest = _on_the_side_of(b, rest, sign, b.apply("mul", b.apply("abs", y), sign))
    quotient = b.apply("div", b.apply("sub", x, rest), y)
    less = b.apply("sub", quotient, one)
    quotient = b.apply("select", _other_side(b, rest, _sign(b, y)), less, quotient)
    whole = b.apply("floor", quotient)
    below = b.apply("gt", b.apply("sub", quotient, whole), half)
    whole = b.apply("select", below, b.apply("add", whole, one), whole)
    true = b.apply("div", x, y)
    zero = b.apply("mul", true, b.const(0.0, x.dtype))  # with the sign of the true quotient
    whole = b.apply("select", _is_zero(b, quotient), zero, whole)
    return b.apply("select", _is_zero(b, y), true, whole)


# --- what is left, on either side of 0 -----------------------------------------------------------


def _rest(b: Builder, x: Value, y: Value) -> Value:
    """What is left of `x`, less than `y` and on either side of 0."""
    reciprocal = _exact_reciprocal(y)
    if reciprocal:
        return _scaled(b, x, y, reciprocal)[1]
    _, rest, near = _close(b, x, y)
    with b.block() as items:
        far = _far_rest(b, x, y)
    (rest,) = b.branch(near, Block((), (rest,)), Block(tuple(items), (far,)))
    return rest


def _exact_reciprocal(y: Value) -> float | None:
    """1 / y if that is known and exact: of a power of two, neither of the two denormal."""
    if not isinstance(y, Const) or not isinstance(y.number, float):
        return None
    size, most = abs(y.number), LARGE[y.dtype]
    return 1 / y.number if math.frexp(size)[0] == 0.5 and 1 / most <= size <= most else None


def _scaled(b: Builder, x: Value, y: Value, reciprocal: float) -> tuple[Value, Value]:
    """An integer next to `x / y`, and what it leaves. A denormal quotient counts as 0."""
    quotient = b.apply("mul", x, b.const(reciprocal, x.dtype))
    whole = b.apply("rint", quotient)
    rest = b.apply("fma", b.apply("neg", whole), y, x)
    if abs(reciprocal) > 1:  # the quotient may be infinite, and then nothing is left
        near = b.apply("lt", b.apply("abs", quotient), b.const(NEAR[x.dtype] * 2**10, x.dtype))
        rest = b.apply("select", near, rest, b.apply("sub", x, x))
    return whole, rest


def _close(b: Builder, x: Value, y: Value) -> tuple[Value, Value, Value]:
    """An integer next to `x / y`, and what it leaves, where the third value is True."""
    ordinary = b.apply("lt", b.apply("abs", y), b.const(LARGE[x.dtype], x.dtype))
    reciprocal = b.apply("div", b.const(1.0, x.dtype), y)
    reciprocal = b.apply("select", ordinary, reciprocal, b.const(math.nan, x.dtype))
    quotient = b.apply("mul", x, reciprocal)
    whole = b.apply("rint", quotient)
    rest = b.apply("fma", b.apply("neg", whole), y, x)
    return whole, rest, b.apply("lt", b.apply("abs", quotient), b.const(NEAR[x.dtype], x.dtype))


def _far_rest(b: Builder, x: Value, y: Value) -> Value:
    """What is left of `x`, less than `y` and of either sign, whatever the two are."""
    dtype = x.dtype
    y = b.apply("select", _is_zero(b, y), b.const(math.nan, dtype), y)
    start = (x, y, b.apply("div", x, y))
    rest, _, quotient = b.loop(start, _too_far(b, dtype), _round(b, y))
    rest = b.apply("fma", b.apply("neg", b.apply("rint", quotient)), y, rest)
    less = b.apply("lt", b.apply("abs", x), b.apply("abs", y))  # by inf, too
    return b.apply("select", less, x, rest)


def _too_far(b: Builder, dtype: DType) -> Block:
    """Is the quotient beyond NEAR? A NaN is not, so the loop ends."""
    params = tuple(b.param(dtype) for _ in range(3))
    with b.block() as items:
        size = b.apply("abs", params[2])
        test = b.apply("ge", size, b.const(NEAR[dtype], dtype))
    return Block(tuple(items), (test,), params)


def _round(b: Builder, y: Value) -> Block:
    """Take as many `step` off `rest` as the quotient says; where that is infinite, step wider.

    An infinite `rest` makes the step infinite and then the quotient NaN.
    """
    dtype = y.dtype
    rest, step, quotient = params = tuple(b.param(dtype) for _ in range(3))
    with b.block() as items:
        wider = b.apply("eq", b.apply("abs", quotient), b.const(math.inf, dtype))
        less = b.apply("fma", b.apply("neg", b.apply("rint", quotient)), step, rest)
        rest = b.apply("select", wider, rest, less)
        wide = b.apply("mul", step, b.const(STRIDE[dtype], dtype))
        step = b.apply("select", wider, wide, y)
        quotient = b.apply("div", rest, step)
    return Block(tuple(items), (rest, step, quotient), params)


# --- signs ---------------------------------------------------------------------------------------


def _sign(b: Builder, x: Value) -> Value:
    """-1 below 0, else 1."""
    negative = b.apply("lt", x, b.const(0.0, x.dtype))
    return b.apply("select", negative, b.const(-1.0, x.dtype), b.const(1.0, x.dtype))


def _other_side(b: Builder, rest: Value, sign: Value) -> Value:
    """Is `rest` on the other side of 0 than `sign`? 0 is on neither."""
    return b.apply("lt", b.apply("mul", rest, sign), b.const(0.0, rest.dtype))


def _on_the_side_of(b: Builder, rest: Value, sign: Value, y: Value) -> Value:
    """`rest` moved by `y`, which has this sign, if it is on the other side."""
    moved = b.apply("add", rest, y)
    return b.apply("select", _other_side(b, rest, sign), moved, rest)


def _is_zero(b: Builder, x: Value) -> Value:
    return b.apply("eq", x, b.const(0.0, x.dtype))


def _not_nan(b: Builder, x: Value) -> Value:
    """`x`, or 1 in the place of a NaN."""
    return b.apply("select", b.apply("isnan", x), b.const(1.0, x.dtype), x)
