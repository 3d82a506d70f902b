"""pow, rsqrt, cbrt and hypot."""

from __future__ import annotations

import math

from hawk.math import coefficients as c
from hawk.math.exponential import between, magic, near_one, power_of_two, scaled, scaled_by_bits
from hawk.math.logarithm import is_normal, parts, parts_of_normal
from hawk.math.terms import (
    Term,
    copysign,
    fast_two_sum,
    fma,
    isnan,
    polynomial,
    quotient,
    rint,
    select,
    sqrt,
    square_root,
    two_product,
    two_sum,
    unless,
)


def log2_pair(k: Term, m: Term) -> tuple[Term, Term]:
    """The logarithm to base 2 of 2**k * m, as `parts` are, to 2**-65 of it.

    log(m) = 2 s + s**3 * (2/3 + z * q(z)) with z = s**2 (see `logarithm`). Only q is computed with
    the precision of one float.
    """
    s, s_low = quotient(m - 1.0, 0.0, *two_sum(m, m.like(1.0)))
    z, z_low = two_product(s, s)
    z_low = fma(s + s, s_low, z_low)
    two, two_low = m.of(c.TWO_THIRDS_64, c.TWO_THIRDS_32)
    factor, lost = fast_two_sum(m.like(two), z * polynomial(z, m.of(c.LOG_TAIL_64, c.LOG_TAIL_32)))
    cube, cube_low = two_product(s, z)
    cube_low = fma(s, z_low, fma(s_low, z, cube_low))
    tail, tail_low = two_product(cube, factor)
    tail_low = fma(cube, lost + two_low, fma(cube_low, factor, tail_low))
    head, low = fast_two_sum(s + s, tail)
    low = low + fma(s_low, 2.0, tail_low)
    per, per_low = m.of(c.LOG2_E_FULL_64, c.LOG2_E_FULL_32)
    scaled_head, scaled_low = two_product(head, per)
    scaled_low = fma(head, per_low, fma(low, per, scaled_low))
    total, lost = fast_two_sum(k, scaled_head)  # k is 0 or larger
    return fast_two_sum(total, lost + scaled_low)


def _exponent(y: Term, k: Term, m: Term) -> tuple[Term, Term]:
    """The product of y and the logarithm to base 2 of 2**k * m, as a pair."""
    head, low = log2_pair(k, m)
    exponent, lost = two_product(y, head)
    return exponent, fma(y, low, lost)


def _near_one(f: Term, lost: Term) -> Term:
    """2**(f + lost) for abs(f) up to 1/2."""
    ln2, ln2_low = f.of(c.LN2_FULL_64, c.LN2_FULL_32)
    r, r_low = two_product(f, ln2)
    return near_one(*two_sum(r, fma(f, ln2_low, fma(lost, ln2, r_low))))


def pow(x: Term, y: Term) -> Term:
    """The power x ** y, with the special values of C99; NaN of a negative x and a fraction y."""
    exponent, lost = _exponent(y, *parts_of_normal(x))
    turned = exponent + magic(x)
    usual = scaled_by_bits(_near_one(exponent - (turned - magic(x)), lost), turned)
    # Both ends give a normal number; y is no NaN, nor infinite.
    ordinary = is_normal(x) & (abs(exponent) < x.of(1021.0, 125.0))
    return unless(ordinary, lambda: pow_anywhere(x, y), usual)


def pow_anywhere(x: Term, y: Term) -> Term:
    """`pow` also of what is negative, 0, infinite, NaN or gives a subnormal number."""
    size = abs(x)
    positive = (size > 0.0) & (size < math.inf)
    exponent, lost = _exponent(y, *parts(select(positive, size, 1.0)))
    least, most = x.of((-1080.0, 1030.0), (-155.0, 133.0))
    inside = (exponent > least) & (exponent < most)
    exponent, lost = between(exponent, least, most), select(inside, lost, 0.0)
    n = rint(exponent)
    result = scaled(_near_one(exponent - n, lost), n)

    grows = (size > 1.0).apply("xor", y < 0.0)  # towards infinity where it leaves the range
    infinite = size.equals(math.inf) | size.equals(0.0) | abs(y).equals(math.inf)
    result = select(infinite, select(grows, result.like(math.inf), 0.0), result)
    whole = rint(y).equals(y)
    half = y * 0.5
    odd = whole & rint(half).differs(half)
    negative = copysign(x.like(1.0), select(isnan(x), 1.0, x)) < 0.0
    result = select(negative & odd, -result, result)
    result = select((x < 0.0) & (x > -math.inf) & (whole ^ True), math.nan, result)
    result = select(isnan(x) | isnan(y), x + y, result)
    even_one = x.equals(-1.0) & abs(y).equals(math.inf)
    return select(x.equals(1.0) | y.equals(0.0) | even_one, 1.0, result)


def rsqrt(x: Term) -> Term:
    """The inverse of the square root."""
    least, up, back = x.of((2.0**-900, 2.0**200, 2.0**100), (2.0**-80, 2.0**40, 2.0**20))
    small = x < least
    ordinary = (x > 0.0) & (x < math.inf)
    x, given = select(ordinary, select(small, x * up, x), 1.0), x
    root = sqrt(x)
    first = 1.0 / root
    # What the division lost, and half of what the root lost, which is times first**2.
    rest = fma(-first, root, 1.0) - fma(-root, root, x) * (first * first) * 0.5
    result = fma(first, rest, first)
    return select(ordinary, select(small, result * back, result), 1.0 / sqrt(given))


def cbrt(x: Term) -> Term:
    """The cube root."""
    size = abs(x)
    ordinary = (size > 0.0) & (size < math.inf)
    k, m = parts(select(ordinary, size, 1.0))
    third = rint(k * x.of(1 / 3, 11184811 / 2**25))
    m = m * power_of_two(k - 3.0 * third)  # from 0.35 to 2.83
    root = fma(m, 0.296875, 0.625)  # to 8 %
    for _ in range(2):  # Halley's method: from e to 2/3 e**3
        cube = root * root * root
        root = root * ((cube + (m + m)) / ((cube + cube) + m))
    square, square_low = two_product(root, root)
    cube, cube_low = two_product(square, root)
    rest = (cube - m) + fma(square_low, root, cube_low)
    root = root - rest / (3.0 * square)
    result = copysign(root * power_of_two(third), select(isnan(x), 1.0, x))
    return select(ordinary, result, x)


def hypot(x: Term, y: Term) -> Term:
    """The length of (x, y), without overflow on the way; infinite if one of them is."""
    a, b = abs(x), abs(y)
    large, small = select(a > b, a, b), select(a > b, b, a)
    up, down, factor = x.of((2.0**500, 2.0**-450, 2.0**-600), (2.0**60, 2.0**-50, 2.0**-80))
    one = x.like(1.0)
    scale = select(large > up, one * factor, select(large < down, one / factor, one))
    back = select(large > up, one / factor, select(large < down, one * factor, one))
    large, small = large * scale, small * scale
    first, first_low = two_product(large, large)
    second, second_low = two_product(small, small)
    total, lost = fast_two_sum(first, second)
    root, rest = square_root(total, lost + (first_low + second_low))
    result = (root + rest) * back
    infinite = a.equals(math.inf) | b.equals(math.inf)
    return select(infinite, math.inf, select(isnan(x) | isnan(y), x + y, result))
