"""log and its relatives.

x = 2**k * m with m between the roots of 1/2 and 2. With f = m - 1 and s = f / (2 + f),
log(m) = log((1 + s) / (1 - s)) = 2 s + s * R(s**2), which is f - f**2/2 + s * (f**2/2 + R): the
large terms of that are exact, and the small ones take what the division lost. The arrangement is
that of FDLIBM's logarithm (Sun Microsystems, 1993).
"""

from __future__ import annotations

import math
from typing import Any

from hawk.math import coefficients as c
from hawk.math.terms import (
    Term,
    bits_of,
    fast_two_sum,
    fma,
    from_bits,
    isnan,
    polynomial,
    select,
    two_sum,
    unless,
)


def is_normal(x: Term) -> Term:
    """Is x positive and finite, and not subnormal?"""
    return (x >= x.of(2.0**-1022, 2.0**-126)) & (x < math.inf)


def parts_of_normal(x: Term) -> tuple[Term, Term]:
    """For a normal x: k, as a float, and m with x = 2**k * m."""
    shift, ones, root, integral, bias = x.of(
        (52, 0x3FF0000000000000, 0x3FE6A09E667F3BCD, 0x4330000000000000, 2.0**52 + 1023),
        (23, 0x3F800000, 0x3F3504F3, 0x4B000000, 2.0**23 + 127),
    )
    bits = bits_of(x) + (ones - root)
    m = from_bits((bits & ((1 << shift) - 1)) + root)
    return from_bits((bits >> shift) | integral) - bias, m


def parts(x: Term) -> tuple[Term, Term]:
    """For a positive finite x: k, as a float, and m with x = 2**k * m."""
    least, up = x.of((2.0**-1022, 54), (2.0**-126, 25))
    small = x < least
    k, m = parts_of_normal(select(small, x * 2.0**up, x))
    return select(small, k - up, k), m


def _tail(f: Term) -> tuple[Term, Term]:
    """For 1 + f: half of f**2, and s * (half + R)."""
    s = f / (2.0 + f)
    z = s * s
    half = (f * f) * 0.5
    return half, s * (half + z * polynomial(z, f.of(c.LOG_64, c.LOG_32)))


def _special(x: Term, result: Term) -> Term:
    """The logarithm of whatever x is, given that of a positive number."""
    result = select(x.equals(0.0), -math.inf, result)
    result = select(x < 0.0, math.nan, result)
    return select(isnan(x) | x.equals(math.inf), x, result)


def log(x: Term) -> Term:
    """The natural logarithm."""
    usual = _log_of(x, *parts_of_normal(x))
    return unless(is_normal(x), lambda: _special(x, _log_of(x, *parts(x))), usual)


def _log_of(x: Term, k: Term, m: Term) -> Term:
    """The logarithm of 2**k * m."""
    f = m - 1.0
    half, tail = _tail(f)
    high, low = x.of(c.LN2_64, c.LN2_32)
    return fma(k, high, f - (half - fma(k, low, tail)))


def _pair(x: Term) -> tuple[Term, Term, Term]:
    """k, and log(m) as a pair of which the first has few bits."""
    k, m = parts(x)
    f = m - 1.0
    half, tail = _tail(f)
    mask = x.of(-(1 << 32), -(1 << 12))
    high = from_bits(bits_of(f - half) & mask)
    return k, high, ((f - high) - half) + tail


def log2(x: Term) -> Term:
    """The logarithm to base 2."""
    k, high, low = _pair(x)
    first, second = x.of(c.LOG2_E_64, c.LOG2_E_32)
    head = high * first  # exact: both have few bits
    rest = fma(low + high, second, low * first)
    total, lost = fast_two_sum(k, head)
    # Where k is 0 the sum is `head` itself.
    lost = select(k.equals(0.0), 0.0, lost)
    return _special(x, select(k.equals(0.0), head, total) + (lost + rest))


def log10(x: Term) -> Term:
    """The logarithm to base 10."""
    k, high, low = _pair(x)
    first, second = x.of(c.LOG10_E_64, c.LOG10_E_32)
    two_high, two_low = x.of(c.LOG10_2_64, c.LOG10_2_32)
    head = high * first
    rest = fma(low + high, second, low * first) + k * two_low
    whole = k * two_high
    total, lost = fast_two_sum(whole, head)
    nought = k.equals(0.0)
    return _special(x, select(nought, head, total) + (select(nought, 0.0, lost) + rest))


def log_of_one_and(x: Term, x_low: Any, doublings: Any) -> Term:
    """log((1 + x + x_low) * 2**doublings), for a finite x above -1."""
    u = 1.0 + x
    k, m = parts(u)
    near = k.equals(0.0)
    # What 1 + x lost, on the scale of m; where x is large it does not count.
    lost = select(near, 0.0, select(x > 1.0, 1.0 - (u - x), x - (u - 1.0)))
    correction = (lost + x_low) / u
    f = select(near, x, m - 1.0)
    half, tail = _tail(f)
    high, low = x.of(c.LN2_64, c.LN2_32)
    k = k + doublings
    return fma(k, high, f - (half - (fma(k, low, tail) + correction)))


def log_pair(x: Term) -> tuple[Term, Term]:
    """The logarithm of a positive finite number, as a pair: what the division lost is in it."""
    k, m = parts(x)
    f = m - 1.0
    half, tail = _tail(f)
    high, low = x.of(c.LN2_64, c.LN2_32)
    head, lost = two_sum(k * high, f)  # the product is exact: both have few bits
    less, rest = two_sum(head, -half)
    return fast_two_sum(less, fma(k, low, tail) + (lost + rest))


def log1p(x: Term) -> Term:
    """log(1 + x), with all its places where x is small."""
    u = 1.0 + x
    result = log_of_one_and(x, 0.0, 0.0)
    result = select(u.equals(0.0), -math.inf, result)
    result = select(u < 0.0, math.nan, result)
    tiny = abs(x) < x.of(2.0**-54, 2.0**-25)
    return select(tiny | isnan(x) | x.equals(math.inf), x, result)
