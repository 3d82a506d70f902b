"""asin, acos, atan and atan2."""

from __future__ import annotations

import math
from collections.abc import Callable

from hawk.math import coefficients as c
from hawk.math.terms import (
    Term,
    copysign,
    fast_two_sum,
    fma,
    isnan,
    polynomial,
    quotient,
    select,
    sqrt,
    unless,
)


def _angle(y: Term, x: Term, turns: Callable[[Term], tuple[Term, Term]]) -> Term:
    """The angle of (x, y) in the first quadrant, turned.

    `turns` says, given whether y is above x, to how many quarter turns the angle to the nearer axis
    is to be added, 0, 1 or 2, and whether it is to be subtracted. Neither side is infinite or
    subnormal, nor is their quotient subnormal.
    """
    steep = y > x
    small, large = select(steep, x, y), select(steep, y, x)
    r, low = quotient(small, 0.0, large, 0.0)
    v = fma(r, r, -0.5)
    rest = polynomial(v, x.of(c.ATAN_64, c.ATAN_32))
    low = low * fma(v, -0.5, 0.75)  # about 1 / (1 + r**2) of it
    quarters, negative = turns(steep)
    r, low = select(negative, -r, r), select(negative, -low, low)
    half, half_low = x.of(c.HALF_PI_64, c.HALF_PI_32)[:2]
    # The products are exact, and r is less than the first where that is not 0.
    head = fma(quarters, half, r)
    lost = r - fma(-quarters, half, head)
    return head + fma(r, rest, lost + fma(quarters, half_low, low))


def atan(x: Term) -> Term:
    """The arc tangent, from -pi/2 to pi/2."""
    size = abs(x)
    limit = x.of(2.0**60, 2.0**30)

    def turns(steep: Term) -> tuple[Term, Term]:
        return select(steep, x.like(1.0), 0.0), steep

    return copysign(_angle(select(size > limit, limit, size), x.like(1.0), turns), x)


def atan2(y: Term, x: Term) -> Term:
    """The angle of the point (x, y), from -pi to pi; of the origin as C99 has it."""
    b, a = abs(y), abs(x)
    usual = copysign(_turned(b, a, x < 0.0), y)
    least, most = x.of((2.0**-450, 2.0**500), (2.0**-50, 2.0**60))
    steep = b > a
    ordinary = (select(steep, a, b) > least) & (select(steep, b, a) < most)
    return unless(ordinary, lambda: _atan2_anywhere(y, x), usual)


def _turned(b: Term, a: Term, negative: Term) -> Term:
    """The angle of (a, b), or of (-a, b) where `negative`."""

    def turns(steep: Term) -> tuple[Term, Term]:
        quarters = select(steep, a.like(1.0), select(negative, a.like(2.0), 0.0))
        return quarters, steep ^ negative

    return _angle(b, a, turns)


def _atan2_anywhere(y: Term, x: Term) -> Term:
    """`atan2` of a point on an axis, or with a side that is huge, tiny, infinite or NaN."""
    nan = isnan(x) | isnan(y)
    one = x.like(1.0)
    sign_y, sign_x = copysign(one, select(nan, 1.0, y)), copysign(one, select(nan, 1.0, x))
    b, a = abs(y), abs(x)
    both = a.equals(math.inf) & b.equals(math.inf)
    a, b = select(both, 1.0, a), select(both, 1.0, b)
    origin = a.equals(0.0) & b.equals(0.0)
    # Of an infinite side only the direction counts.
    a, b = (
        select(b.equals(math.inf), 0.0, select(a.equals(math.inf), 1.0, a)),
        select(a.equals(math.inf), 0.0, select(b.equals(math.inf), 1.0, b)),
    )
    a = select(origin, 1.0, a)
    up, down, factor = x.of((2.0**1000, 2.0**-900, 2.0**-60), (2.0**120, 2.0**-90, 2.0**-30))
    large = (a > up) | (b > up)
    small = (a < down) & (b < down)
    scale = select(large, x.like(factor), select(small, 1.0 / factor, one))
    a, b = a * scale, b * scale
    # A side that is far smaller than the other one only has to stay so; a small angle is divided
    # once more, since its low part may be less than the least float.
    negative = sign_x < 0.0
    tiny = (b < a * x.of(2.0**-60, 2.0**-30)) & (negative ^ True)
    angle = select(tiny, b / a, _turned(b, a, negative))
    angle = select(origin, select(negative, x.like(x.of(c.PI_64, c.PI_32)[0]), 0.0), angle)
    return select(nan, x + y, copysign(angle, sign_y))


def _arc(x: Term) -> tuple[Term, Term, Term, Term]:
    """What asin and acos share: |x|, is it large, and the asin of x or of the root, as a pair."""
    size = abs(x)
    large = size > 0.5
    z = select(large, (1.0 - size) * 0.5, size * size)
    root = sqrt(z)
    base = select(large, root, size)
    divisor = select(root > 0.0, root + root, 1.0)
    low = select(large, fma(-root, root, z) / divisor, 0.0)
    tail = fma(base * z, polynomial(z, x.of(c.ASIN_64, c.ASIN_32)), low)
    return size, large, base, tail


def asin(x: Term) -> Term:
    """The arc sine, from -pi/2 to pi/2; NaN beyond 1."""
    size, large, base, tail = _arc(x)
    half, half_low = x.of(c.HALF_PI_64, c.HALF_PI_32)[:2]
    head, lost = fast_two_sum(x.like(half), base * -2.0)
    steep = head + (lost + (half_low - 2.0 * tail))
    result = copysign(select(large, steep, base + tail), select(isnan(x), 1.0, x))
    result = select(size > 1.0, math.nan, result)
    small = size < x.of(2.0**-27, 2.0**-13)
    return select(small | isnan(x), x, result)


def acos(x: Term) -> Term:
    """The arc cosine, from 0 to pi; NaN beyond 1."""
    size, large, base, tail = _arc(x)
    half, half_low = x.of(c.HALF_PI_64, c.HALF_PI_32)[:2]
    turn, turn_low = x.of(c.PI_64, c.PI_32)
    negative = x < 0.0
    signed, signed_tail = select(negative, -base, base), select(negative, -tail, tail)
    head, lost = fast_two_sum(x.like(half), -signed)
    middle = head + (lost + (half_low - signed_tail))
    double, double_tail = base + base, tail + tail
    head, lost = fast_two_sum(x.like(turn), -double)
    left = head + (lost + (turn_low - double_tail))
    result = select(large, select(negative, left, double + double_tail), middle)
    return select(isnan(x), x, select(size > 1.0, math.nan, result))
