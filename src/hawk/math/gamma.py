"""tgamma and lgamma.

From 4 on both are Stirling's formula, with a polynomial in 1 / x**2 for what it lacks. Below that
tgamma(x) = tgamma(x + n) / (x * (x + 1) * ...), and lgamma goes down to polynomials around 1 and 2,
where it has zeros. Of negative numbers they are tgamma(x) * tgamma(-x) = -pi / (x * sin(pi * x)).
"""

from __future__ import annotations

import math
from typing import Any

from hawk.math import coefficients as c
from hawk.math.exponential import near_one_parts, scaled
from hawk.math.logarithm import log_pair, parts
from hawk.math.power import log2_pair
from hawk.math.terms import (
    Term,
    fast_two_sum,
    fma,
    isnan,
    polynomial,
    quotient,
    rint,
    select,
    trunc,
    two_product,
    two_sum,
    where,
)
from hawk.math.trigonometry import sine_of_turns

FROM = 4.0
"""Where Stirling's formula begins."""


def _product(a: Term, a_low: Any, b: Term, b_low: Any) -> tuple[Term, Term]:
    """The product of two pairs, as a pair."""
    product, low = two_product(a, b)
    return fast_two_sum(product, fma(a, b_low, fma(b, a_low, low)))


def _lacks(x: Term) -> Term:
    """What Stirling's formula lacks of lgamma(x), for x from 4."""
    inverse = 1.0 / x
    return inverse * polynomial(inverse * inverse, x.of(c.STIRLING_64, c.STIRLING_32))


def _positive(a: Term) -> tuple[Term, Term, Term, Term, Term]:
    """tgamma(a) as (head + low) * 2**n / (below + below_low)."""
    one = a.like(1.0)
    y, y_low, below, below_low = a, a.like(0.0), one, a.like(0.0)
    for _ in range(int(FROM)):
        short = y < FROM
        times, times_low = _product(below, below_low, y, y_low)
        below, below_low = select(short, times, below), select(short, times_low, below_low)
        more, lost = two_sum(y, one)
        y, y_low = select(short, more, y), select(short, lost + y_low, y_low)
    # Its logarithm to base 2: (y - 1/2) * (log2(y) - log2(e)), a constant, and what is lacking.
    log, log_low = log2_pair(*parts(y))
    per, per_low = a.of(c.LOG2_E_FULL_64, c.LOG2_E_FULL_32)
    log_e, lost = two_sum(log, a.like(-per))
    factor, factor_low = fast_two_sum(y, a.like(-0.5))
    exponent, low = _product(factor, factor_low, log_e, lost + (log_low - per_low))
    constant, constant_low = a.of(c.LOG2_STIRLING_64, c.LOG2_STIRLING_32)
    exponent, lost = two_sum(exponent, a.like(constant))
    low = fma(y_low, log, low + (lost + constant_low))
    n = rint(exponent)
    ln2, ln2_low = a.of(c.LN2_FULL_64, c.LN2_FULL_32)
    f = exponent - n
    r, r_low = two_product(f, ln2)
    r, r_low = two_sum(r, fma(f, ln2_low, fma(low, ln2, r_low)) + _lacks(y))
    head, low = fast_two_sum(*near_one_parts(r, r_low))
    return head, low, n, below, below_low


def tgamma(x: Term) -> Term:
    """The gamma function; NaN where it has no value, infinite at 0."""
    size = abs(x)
    tiny, most = x.of((2.0**-60, 186.0), (2.0**-30, 44.0))
    a = select(size > tiny, select(size < most, size, most), 1.0)
    above, above_low, n, below, below_low = _positive(a)

    def reflected() -> tuple[Term, ...]:
        sine, sine_low = sine_of_turns(x)
        first, first_low = _product(a, 0.0, above, above_low)
        first, first_low = _product(first, first_low, sine, sine_low)
        pi, pi_low = x.of(c.PI_64, c.PI_32)
        second, second_low = _product(below, below_low, x.like(pi), pi_low)
        return second, second_low, -n, first, first_low

    plain = (above, above_low, n, below, below_low)
    above, above_low, n, below, below_low = where(x < -tiny, reflected, plain)
    head, low = quotient(above, above_low, select(below.equals(0.0), 1.0, below), below_low)
    result = scaled(head + low, n)
    result = select(size > tiny, result, 1.0 / x)
    result = select((x < 0.0) & trunc(x).equals(x), math.nan, result)
    return select(isnan(x) | x.equals(math.inf), x, result)


def lgamma(x: Term) -> Term:
    """The logarithm of the size of tgamma(x); infinite at 0 and the negative integers."""
    size = abs(x)
    tiny, huge, factor = x.of((2.0**-60, 2.0**900, 2.0**-80), (2.0**-30, 2.0**100, 2.0**-20))
    ordinary = (size > 0.0) & (size < math.inf)
    a = select(ordinary, size, 1.0)
    far = a >= FROM

    # Near: down to between 1.5 and 2.5, or up by 1 to between 1 and 2.
    t, w = a, a.like(1.0)
    for _ in range(2):
        long = t >= 2.5
        less = t - 1.0
        w, t = select(long, w * less, w), select(long, less, t)
    low = t < 1.0
    w = select(low, t, w)
    one = (t < 0.5) | ((t >= 1.0) & (t < 1.5))
    t = select(t < 0.5, t, select(low | one, t - 1.0, t - 2.0))
    t = select(far, 0.0, t)
    near = t * _around(t, one)

    log, log_low = log_pair(select(far, a, w))
    # Far: (a - 1/2) * (log(a) - 1), a constant, and what is lacking; scaled where that is infinite.
    less, lost = two_sum(log, x.like(-1.0))
    scale = select(a > huge, x.like(factor), 1.0)
    half_less, half_low = fast_two_sum(select(far, a, FROM), x.like(-0.5))
    product, rest = _product(half_less * scale, half_low * scale, less, lost + log_low)
    constant, constant_low = x.of(c.LN_STIRLING_64, c.LN_STIRLING_32)
    total, lost = two_sum(product, scale * constant)
    stirling = total + (lost + (rest + (_lacks(select(far, a, FROM)) + constant_low) * scale))
    stirling = select(a > huge, stirling * (1.0 / factor), stirling)

    signed, signed_low = select(low, -log, log), select(low, -log_low, log_low)
    total, lost = two_sum(signed, near)
    result = select(far, stirling, total + (lost + signed_low))

    def reflected() -> tuple[Term, ...]:
        sine, sine_low = sine_of_turns(x)
        pi, pi_low = x.of(c.PI_64, c.PI_32)
        below, below_low = _product(a, 0.0, abs(sine), select(sine < 0.0, -sine_low, sine_low))
        pole = below.equals(0.0)
        head, rest = quotient(x.like(pi), pi_low, select(pole, 1.0, below), below_low)
        head, rest = fast_two_sum(head, rest)
        log, log_low = log_pair(head)
        mirrored = log - (result - (log_low + rest / head))
        return (select(pole, math.inf, mirrored),)

    (result,) = where((x < -tiny) & (x > -math.inf), reflected, (result,))
    result = select(size.equals(math.inf) | x.equals(0.0), math.inf, result)
    return select(isnan(x), x, result)


def _around(t: Term, one: Term) -> Term:
    """lgamma(1 + t) / t where `one`, else lgamma(2 + t) / t."""
    pairs = zip(
        t.of(c.LGAMMA_ONE_64, c.LGAMMA_ONE_32),
        t.of(c.LGAMMA_TWO_64, c.LGAMMA_TWO_32),
        strict=True,
    )
    *lower, result = (select(one, t.like(first), second) for first, second in pairs)
    for coefficient in reversed(lower):
        result = fma(result, t, coefficient)
    return result
