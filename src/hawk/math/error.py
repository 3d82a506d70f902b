"""erf and erfc.

Up to 1 erf(x) = x + x * P(x**2 - 1 / 2). From there erfc(x) = exp(-x**2) * t * G(t) with
t = 1 / (x + 3); x**2, t and the product are known to more places than one float has.
"""

from __future__ import annotations

from hawk.math import coefficients as c
from hawk.math.exponential import between, near_one_parts, reduced, scaled
from hawk.math.terms import (
    Term,
    copysign,
    fast_two_sum,
    fma,
    isnan,
    polynomial_in_order,
    select,
    two_product,
    two_sum,
)


def _far(size: Term) -> Term:
    """The erfc of a number from 1 on."""
    a = between(size, *size.of((1.0, 28.0), (1.0, 11.0)))
    square, square_low = two_product(a, a)
    n, r, lost = reduced(-square)
    r, lost = two_sum(r, lost - square_low)
    power, rest = fast_two_sum(*near_one_parts(r, lost))
    below, low = fast_two_sum(a, size.like(c.ERFC_SHIFT))
    t = 1.0 / below
    t_low = (fma(-t, below, 1.0) - t * low) * t
    first, *others = size.of(c.ERFC_64, c.ERFC_32)
    v = (t - c.ERFC_MIDDLE) + t_low
    head, head_low = fast_two_sum(size.like(first), v * polynomial_in_order(v, tuple(others)))
    product, low = two_product(power, head)
    low = fma(power, head_low, fma(rest, head, low))
    result, lost = two_product(product, t)
    return scaled(result + fma(product, t_low, fma(low, t, lost)), n)


def _parts(x: Term) -> tuple[Term, Term, Term]:
    """The size of x, x * P(x**2) of it, and its erfc."""
    size = abs(x)
    near = select(size < 1.0, size, 1.0)
    rest = near * polynomial_in_order(fma(near, near, -0.5), x.of(c.ERF_64, c.ERF_32))
    return size, rest, _far(size)


def erf(x: Term) -> Term:
    """The error function: 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x."""
    size, rest, far = _parts(x)
    result = select(size < 1.0, size + rest, 1.0 - far)
    return select(isnan(x), x, copysign(result, select(isnan(x), 1.0, x)))


def erfc(x: Term) -> Term:
    """1 - erf(x), with all its places where x is large."""
    size, rest, far = _parts(x)
    negative, near = x < 0.0, size < 1.0
    signed = select(negative, -size, select(near, size, 1.0))
    one = x.like(1.0)
    head, lost = fast_two_sum(one, -select(near, signed, 1.0))
    middle = head + (lost - select(negative, -rest, rest))
    result = select(near, middle, select(negative, 2.0 - far, far))
    return select(isnan(x), x, result)
