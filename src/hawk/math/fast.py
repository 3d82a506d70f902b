"""Functions of `math="fast"`: off by up to 4 units in the last place, for fewer operations.

They compute ordinary numbers. Of others (NaN, infinities, what would overflow, huge angles) the
functions of `math="portable"` take care, in a branch that is skipped where no sample needs it: so
special values are the same. These are of single operations too, so their bits are the same on
every machine and at every width.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from hawk.math import coefficients as c
from hawk.math import exponential, inverse, logarithm, power, trigonometry
from hawk.math import fast_coefficients as q
from hawk.math.exponential import magic, power_of_two, scaled_by_bits
from hawk.math.logarithm import is_normal, parts_of_normal
from hawk.math.terms import (
    Term,
    bits_of,
    copysign,
    fast_two_sum,
    fma,
    from_bits,
    polynomial,
    select,
    sqrt,
    unless,
    where,
)

# -- exponentials ----------------------------------------------------------------------------------


def _reduced(x: Term) -> tuple[Term, Term, Term]:
    """For x = n * ln 2 + r: `magic` plus n, n, and r."""
    high, low = x.of(c.LN2_64, c.LN2_32)
    turned = fma(x, x.of(c.PER_LN2_64, c.PER_LN2_32)[0], magic(x))
    n = turned - magic(x)
    return turned, n, fma(-n, low, fma(-n, high, x))


def _less_one(r: Term) -> Term:
    """e**r - 1 for abs(r) up to half the logarithm of 2."""
    return fma(r * r, polynomial(r, r.of(c.EXP_64, c.EXP_32)), r)


def exp(x: Term) -> Term:
    """The exponential."""
    turned, _, r = _reduced(x)
    usual = scaled_by_bits(1.0 + _less_one(r), turned)
    return unless(abs(x) < x.of(708.0, 87.0), lambda: exponential.exp(x), usual)


def exp2(x: Term) -> Term:
    """The power of 2."""
    turned = x + magic(x)
    r = (x - (turned - magic(x))) * x.of(c.LN2_FULL_64, c.LN2_FULL_32)[0]
    usual = scaled_by_bits(1.0 + _less_one(r), turned)
    return unless(abs(x) < x.of(1021.0, 125.0), lambda: exponential.exp2(x), usual)


def _less_one_anywhere(x: Term) -> Term:
    """e**x - 1 where it neither overflows nor is -1."""
    _, n, r = _reduced(x)
    scale = power_of_two(n)
    return fma(scale, _less_one(r), scale - 1.0)


def expm1(x: Term) -> Term:
    """The exponential less one."""
    usual = copysign(_less_one_anywhere(x), x)
    ordinary = (x > x.of(-40.0, -20.0)) & (x < x.of(700.0, 85.0))
    return unless(ordinary, lambda: exponential.expm1(x), usual)


def sinh(x: Term) -> Term:
    """The hyperbolic sine: with m = e**abs(x) - 1 it is (m + m / (m + 1)) / 2."""
    m = _less_one_anywhere(abs(x))
    usual = copysign((m + m / (m + 1.0)) * 0.5, x)
    return unless(abs(x) < x.of(700.0, 85.0), lambda: exponential.sinh(x), usual)


def cosh(x: Term) -> Term:
    """The hyperbolic cosine."""
    turned, _, r = _reduced(abs(x))
    half = scaled_by_bits(fma(_less_one(r), 0.5, 0.5), turned)
    usual = half + 0.25 / half
    return unless(abs(x) < x.of(700.0, 85.0), lambda: exponential.cosh(x), usual)


def tanh(x: Term) -> Term:
    """The hyperbolic tangent: with m = e**2x - 1 it is m / (m + 2); from `far` on it is 1."""
    size, far = abs(x), x.of(20.0, 10.0)
    m = _less_one_anywhere(select(size > far, far, size) * 2.0)  # a NaN stays
    return copysign(m / (m + 2.0), x)


# -- logarithms ------------------------------------------------------------------------------------


def _of_near_one(m: Term) -> Term:
    """The logarithm of a number between the roots of 1/2 and 2."""
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    return fma(s * z, polynomial(z, m.of(c.LOG_64, c.LOG_32)), s + s)


def log(x: Term) -> Term:
    """The natural logarithm."""
    k, m = parts_of_normal(x)
    high, low = x.of(c.LN2_64, c.LN2_32)
    usual = fma(k, high, fma(k, low, _of_near_one(m)))
    return unless(is_normal(x), lambda: logarithm.log(x), usual)


def log2(x: Term) -> Term:
    """The logarithm to base 2."""
    k, m = parts_of_normal(x)
    usual = fma(_of_near_one(m), x.of(c.PER_LN2_64, c.PER_LN2_32)[0], k)
    return unless(is_normal(x), lambda: logarithm.log2(x), usual)


def log10(x: Term) -> Term:
    """The logarithm to base 10."""
    k, m = parts_of_normal(x)
    high, low = x.of(c.LOG10_2_64, c.LOG10_2_32)
    factor = x.of(q.LOG10_E_64, q.LOG10_E_32)[0]
    usual = fma(k, high, fma(_of_near_one(m), factor, k * low))
    return unless(is_normal(x), lambda: logarithm.log10(x), usual)


# -- powers ----------------------------------------------------------------------------------------


def _log2_pair(x: Term) -> tuple[Term, Term]:
    """The logarithm to base 2 of a normal number, to 2**-62 of it.

    With z = s**2 that of m is s * (2 / ln 2 + z * (2/3 / ln 2) + z**2 * P(z)); the first two terms
    are more exact than a float.
    """
    k, m = parts_of_normal(x)
    f, d = m - 1.0, m + 1.0
    s = f / d
    s_low = fma(-s, m - (d - 1.0), fma(-s, d, f)) * fma(s, -0.5, 0.5)  # (1 - s) / 2 is 1 / d
    z = s * s
    z_low = fma(s + s, s_low, fma(s, s, -z))
    first, first_low = x.of(q.LOG2_FIRST_64, q.LOG2_FIRST_32)
    second, second_low = x.of(q.LOG2_SECOND_64, q.LOG2_SECOND_32)
    product = z * second
    rest = fma(z_low, second, fma(z, second_low, fma(z, second, -product)))
    rest = fma(z * z, polynomial(z, x.of(q.LOG2_TAIL_64, q.LOG2_TAIL_32)), rest)
    factor, lost = fast_two_sum(x.like(first), product)
    rest = rest + (lost + first_low)
    head = s * factor
    tail = fma(s_low, factor, fma(s, rest, fma(s, factor, -head)))
    total, lost = fast_two_sum(k, head)  # k is 0 or larger
    return total, lost + tail


def pow(x: Term, y: Term) -> Term:
    """The power."""
    head, low = _log2_pair(x)
    exponent = y * head
    lost = fma(y, low, fma(y, head, -exponent))
    turned = exponent + magic(x)
    f = (exponent - (turned - magic(x))) + lost
    r = f * x.of(c.LN2_FULL_64, c.LN2_FULL_32)[0]
    usual = scaled_by_bits(1.0 + _less_one(r), turned)
    ordinary = is_normal(x) & (abs(exponent) < x.of(1021.0, 125.0))
    return unless(ordinary, lambda: power.pow_anywhere(x, y), usual)


HALVES = frozenset({-2.5, -1.5, -0.5, 0.5, 1.5, 2.5})
"""Exponents for which a power is a root and products, which are off by a unit each at most."""


def half_power(x: Term, exponent: float) -> Term:
    """The power for one of `HALVES`; the portable one has the values of C99 for negative x."""
    whole = x + 0.0  # of -0 it is 0
    usual = sqrt(whole)
    for _ in range(int(abs(exponent))):
        usual = usual * whole
    ordinary = usual >= 0.0
    if exponent < 0.0:
        # Outside, the inverse of what was rounded or overflowed is not that of the power.
        ordinary = (usual >= x.of(2.0**-1022, 2.0**-126)) & (usual < math.inf)
        usual = 1.0 / usual
    return unless(ordinary, lambda: power.pow_anywhere(x, x.like(exponent)), usual)


def rsqrt(x: Term) -> Term:
    """1 / sqrt(x)."""
    return 1.0 / sqrt(x)


def hypot(x: Term, y: Term) -> Term:
    """The length of (x, y)."""
    a, b = abs(x), abs(y)
    large = select(a > b, a, b)
    least, most = x.of((2.0**-450, 2.0**500), (2.0**-50, 2.0**60))
    usual = sqrt(fma(a, a, b * b))
    ordinary = (large > least) & (large < most)
    return unless(ordinary, lambda: power.hypot(x, y), usual)


# -- angles ----------------------------------------------------------------------------------------


def _less_turns(x: Term, n: Term, share: float) -> Term:
    """The rest x - n * pi * share, where x is `_near`: the first two products are exact."""
    r = x
    for part in x.of(q.PI_PARTS_64, q.PI_PARTS_32):
        r = fma(-n, part * share, r)
    return r


def _near(x: Term) -> Term:
    """Is it small enough for three parts of pi?"""
    return abs(x) < x.of(2.0**15, 2.0**8)


def _sine(r: Term, turned: Term) -> Term:
    """The sine of r + n * pi for abs(r) up to pi / 2; `turned` is `magic` plus n.

    It is never above 1: errors add up to less than half a unit there.
    """
    z = r * r
    sine = fma(r * z, polynomial(z, r.of(q.SIN_HALF_64, q.SIN_HALF_32)), r)
    return from_bits(bits_of(sine) ^ (bits_of(turned) << r.of(63, 31)))


def _as_odd(x: Term, result: Term) -> Term:
    """What an odd function is of x, given that of abs(x)."""
    return from_bits(bits_of(result) ^ (bits_of(x) ^ bits_of(abs(x))))


def sin(x: Term) -> Term:
    """The sine, by the nearest multiple of pi."""
    size = abs(x)
    turned = fma(size, x.of(q.PER_PI_64, q.PER_PI_32)[0], magic(x))
    usual = _as_odd(x, _sine(_less_turns(size, turned - magic(x), 1.0), turned))
    return unless(_near(x), lambda: trigonometry.sin(x), usual)


def cos(x: Term) -> Term:
    """The cosine, by the nearest odd multiple of pi / 2."""
    size = abs(x)
    turned = fma(size, x.of(q.PER_PI_64, q.PER_PI_32)[0], 0.5) + magic(x)
    usual = _sine(_less_turns(size, (turned - magic(x)) - 0.5, 1.0), turned)
    return unless(_near(x), lambda: trigonometry.cos(x), usual)


def _quarters(x: Term) -> tuple[Term, Term, Term]:
    """For x = n * pi / 2 + r: n in the low bits of an integer, and the sine and cosine of r."""
    turned = fma(x, x.of(c.TWO_OVER_PI_64, c.TWO_OVER_PI_32)[0], magic(x))
    r = _less_turns(x, turned - magic(x), 0.5)
    z = r * r
    sine = fma(r * z, polynomial(z, r.of(c.SIN_64, c.SIN_32)), r)
    cosine = fma(z * z, polynomial(z, r.of(c.COS_64, c.COS_32)), fma(z, -0.5, 1.0))
    return bits_of(turned), sine, cosine


def _signed(x: Term, quadrant: Term) -> Term:
    """x, or -x in the third and fourth quadrant."""
    return from_bits(bits_of(x) ^ ((quadrant & 2) << x.of(62, 30)))


def sincos(x: Term) -> tuple[Term, Term]:
    """The sine and the cosine."""
    quadrant, sine, cosine = _quarters(abs(x))
    odd = (quadrant & 1).differs(0)
    s = _as_odd(x, _signed(select(odd, cosine, sine), quadrant))
    k = _signed(select(odd, sine, cosine), quadrant + 1)
    s, k = where(_near(x) ^ True, lambda: trigonometry.sincos(x), (s, k))
    return s, k


def tan(x: Term) -> Term:
    """The tangent."""
    quadrant, sine, cosine = _quarters(abs(x))
    odd = (quadrant & 1).differs(0)
    usual = _as_odd(x, select(odd, -cosine, sine) / select(odd, sine, cosine))
    return unless(_near(x), lambda: trigonometry.tan(x), usual)


def _arc(b: Term, a: Term, negative: Term | None) -> Term:
    """The angle of (a, b), both positive, or of (-a, b) where `negative`."""
    half, quarter = a.of(c.HALF_PI_64, c.HALF_PI_32)[0], a.of(c.QUARTER_PI_64, c.QUARTER_PI_32)[0]
    steep = b > a
    small, large = select(steep, a, b), select(steep, b, a)
    wide = small > large * 0.4140625  # beyond an eighth of a turn: from the diagonal
    r = select(wide, small - large, small) / select(wide, small + large, large)
    z = r * r
    angle = fma(r * z, polynomial(z, a.of(q.ATAN_EIGHTH_64, q.ATAN_EIGHTH_32)), r)
    angle = angle + select(wide, a.like(quarter), 0.0)
    base, turned = select(steep, a.like(half), 0.0), steep
    if negative is not None:
        base = select(steep, a.like(half), select(negative, a.like(a.of(c.PI_64, c.PI_32)[0]), 0.0))
        turned = steep ^ negative
    return base + select(turned, -angle, angle)


def atan(x: Term) -> Term:
    """The arc tangent."""
    return copysign(_arc(abs(x), x.like(1.0), None), x)


def atan2(y: Term, x: Term) -> Term:
    """The angle of (x, y)."""
    b, a = abs(y), abs(x)
    usual = copysign(_arc(b, a, x < 0.0), y)
    large = select(b > a, b, a)
    least, most = x.of((2.0**-1000, 2.0**1022), (2.0**-100, 2.0**126))
    ordinary = (large > least) & (large < most)
    return unless(ordinary, lambda: inverse.atan2(y, x), usual)


def _small_arc(x: Term) -> tuple[Term, Term, Term]:
    """The size of x, is it above 1/2, and the arc sine of it or of the root of (1 - size) / 2."""
    size = abs(x)
    large = size > 0.5
    z = select(large, fma(size, -0.5, 0.5), size * size)
    base = select(large, sqrt(z), size)
    return size, large, fma(base * z, polynomial(z, x.of(c.ASIN_64, c.ASIN_32)), base)


def asin(x: Term) -> Term:
    """The arc sine."""
    _, large, arc = _small_arc(x)
    return copysign(select(large, fma(arc, -2.0, x.of(c.HALF_PI_64, c.HALF_PI_32)[0]), arc), x)


def acos(x: Term) -> Term:
    """The arc cosine."""
    _, large, arc = _small_arc(x)
    half, turn = x.of(c.HALF_PI_64, c.HALF_PI_32)[0], x.of(c.PI_64, c.PI_32)[0]
    double = arc + arc
    left = select(x < 0.0, turn - double, double)
    return select(large, left, half - copysign(arc, x))


FAST: Mapping[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (
        *(exp, exp2, expm1, sinh, cosh, tanh, log, log2, log10, pow, hypot, rsqrt),
        *(sin, cos, sincos, tan, atan, atan2, asin, acos),
    )
}
"""The functions of `hawk.math` that have a fast form, by name; the others are the portable ones."""
