"""asinh, acosh and atanh: logarithms of 1 and something, which is known as a pair.

Far out sqrt(x**2 + 1) and sqrt(x**2 - 1) are x, and both functions are log(2 x).
"""

from __future__ import annotations

import math

from hawk.math.logarithm import log_of_one_and
from hawk.math.terms import (
    Term,
    copysign,
    fast_two_sum,
    fma,
    isnan,
    quotient,
    select,
    square_root,
    two_product,
    two_sum,
)


def _far(size: Term) -> Term:
    return size > size.of(2.0**28, 2.0**13)


def asinh(x: Term) -> Term:
    """The inverse of sinh: log(x + sqrt(x**2 + 1)), odd."""
    size = abs(x)
    far, finite = _far(size), size < math.inf
    a = select(far, 1.0, size)
    # a + sqrt(a**2 + 1) is 1 + a + a**2 / (1 + sqrt(a**2 + 1)).
    square, square_low = two_product(a, a)
    total, lost = two_sum(square, x.like(1.0))
    root, root_low = square_root(total, lost + square_low)
    below, lost = fast_two_sum(root, x.like(1.0))
    share, share_low = quotient(square, square_low, below, lost + root_low)
    more, lost = fast_two_sum(a, share)
    beyond = select(finite, size, 1.0) - 1.0
    doublings = select(far, x.like(1.0), 0.0)
    result = log_of_one_and(
        select(far, beyond, more), select(far, 0.0, lost + share_low), doublings
    )
    small = size < x.of(2.0**-27, 2.0**-13)
    same = small | isnan(x) | size.equals(math.inf)
    return select(same, x, copysign(result, select(isnan(x), 1.0, x)))


def acosh(x: Term) -> Term:
    """The inverse of cosh: log(x + sqrt(x**2 - 1)); NaN below 1."""
    far, inside = _far(x), (x >= 1.0) & (x < math.inf)
    beyond = select(inside, x, 1.0) - 1.0
    t = select(far, 1.0, beyond)
    other, other_low = two_sum(t, x.like(2.0))
    product, low = two_product(t, other)
    root, root_low = square_root(product, fma(t, other_low, low))
    more, lost = two_sum(t, root)
    doublings = select(far, x.like(1.0), 0.0)
    result = log_of_one_and(select(far, beyond, more), select(far, 0.0, lost + root_low), doublings)
    return select(inside, result, select(x < 1.0, math.nan, x))


def atanh(x: Term) -> Term:
    """The inverse of tanh: log((1 + x) / (1 - x)) / 2; NaN beyond 1."""
    size = abs(x)
    a = select(size < 1.0, size, 0.5)
    below, low = fast_two_sum(x.like(1.0), -a)
    more, more_low = quotient(a + a, 0.0, below, low)
    result = log_of_one_and(more, more_low, 0.0) * 0.5
    result = select(size.equals(1.0), math.inf, select(size > 1.0, math.nan, result))
    small = size < x.of(2.0**-27, 2.0**-13)
    return select(small | isnan(x), x, copysign(result, select(isnan(x), 1.0, x)))
