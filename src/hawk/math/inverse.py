"""asin, acos, atan and atan2."""

from __future__ import annotations

import math

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
    two_sum,
)

FLAT, STEEP = 0.4142135679721832, 2.4142136573791504
"""tan(pi / 8) and its inverse, as float32 has them."""


def _angle(y: Term, x: Term) -> tuple[Term, Term]:
    """The angle of (x, y) in the first quadrant, as a pair; neither is infinite, not both are 0.

    By turning it by 0, -pi/4 or -pi/2 it comes between -pi/8 and pi/8.
    """
    steep, middle = y > x * STEEP, y > x * FLAT
    total, total_low = two_sum(x, y)
    less, less_low = two_sum(y, -x)
    above = select(steep, -x, select(middle, less, y))
    above_low = select(steep, 0.0, select(middle, less_low, 0.0))
    below = select(steep, y, select(middle, total, x))
    below_low = select(steep, 0.0, select(middle, total_low, 0.0))
    r, low = quotient(above, above_low, below, below_low)
    z = r * r
    tail = fma(r * z, polynomial(z, x.of(c.ATAN_64, c.ATAN_32)), low)
    half, quarter = x.of(c.HALF_PI_64, c.HALF_PI_32), x.of(c.QUARTER_PI_64, c.QUARTER_PI_32)
    offset = select(steep, x.like(half[0]), select(middle, quarter[0], x.like(0.0)))
    offset_low = select(steep, x.like(half[1]), select(middle, quarter[1], x.like(0.0)))
    head, lost = two_sum(offset, r)
    return fast_two_sum(head, lost + (tail + offset_low))


def atan(x: Term) -> Term:
    """The arc tangent, from -pi/2 to pi/2."""
    size = abs(x)
    limit = x.of(2.0**60, 2.0**30)
    bounded = select(size < limit, size, limit)
    head, low = _angle(bounded, x.like(1.0))
    small = size < x.of(2.0**-27, 2.0**-13)
    result = copysign(head + low, select(isnan(x), 1.0, x))
    return select(small | isnan(x), x, result)


def atan2(y: Term, x: Term) -> Term:
    """The angle of the point (x, y), from -pi to pi; of the origin as C99 has it."""
    nan = isnan(x) | isnan(y)
    one = x.like(1.0)
    sign_y, sign_x = copysign(one, select(nan, 1.0, y)), copysign(one, select(nan, 1.0, x))
    b, a = abs(x), abs(y)
    both = a.equals(math.inf) & b.equals(math.inf)
    a, b = select(both, 1.0, a), select(both, 1.0, b)
    origin = a.equals(0.0) & b.equals(0.0)
    # Of an infinite side only the direction counts.
    a, b = (
        select(b.equals(math.inf), 0.0, select(a.equals(math.inf), 1.0, a)),
        select(a.equals(math.inf), 0.0, select(b.equals(math.inf), 1.0, b)),
    )
    b = select(origin, 1.0, b)
    up, down, factor = x.of((2.0**1000, 2.0**-900, 2.0**-60), (2.0**120, 2.0**-90, 2.0**-30))
    large = (a > up) | (b > up)
    small = (a < down) & (b < down)
    scale = select(large, x.like(factor), select(small, 1.0 / factor, one))
    a, b = a * scale, b * scale
    # A side that is far smaller than the other one only has to stay so.
    head, low = _angle(a, b)
    turn, turn_low = x.of(c.PI_64, c.PI_32)
    away, lost = fast_two_sum(x.like(turn), -head)
    left = away + (lost + (turn_low - low))
    result = select(sign_x < 0.0, left, head + low)
    return select(nan, x + y, copysign(result, sign_y))


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
