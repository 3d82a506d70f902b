"""`a * b + c` rounded once, for arrays.

float32: the product of two float32 is exact in float64. The sum is rounded to odd there, which
keeps on which side of a tie the true sum is, and then to float32; so it is as if it were rounded
once (53 >= 24 + 2; Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved
algorithms using rounding to odd", IEEE Transactions on Computers 57 (2008)).

float64: the algorithm of the same paper. With (u, v) the exact product (Dekker's), (t, w) the
exact sum of c and v, (x, y) the exact sum of u and t, what is asked for is x plus (w + y rounded to
odd). It holds where nothing overflows and the product's lower half is exact. So it is used where
all exponents are far from their ends, and Python's integers, which are exact for all numbers,
elsewhere. Both ways are compared in the tests.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]

FAR = 400
"""Factors between 2**-FAR and 2**FAR: the lower half of their product is above 2**-906, so it is
exact, and Dekker's splitting does not overflow."""
LEAST, MOST = 2.0**-900, 2.0**1000
"""Between these the sums do not overflow, and no bit is lost below."""


def fma(a: Floats, b: Floats, c: Floats) -> Floats:
    """`a * b + c`, all of them float32 or all float64."""
    a, b, c = np.broadcast_arrays(a, b, c)
    with np.errstate(all="ignore"):
        return _narrow(a, b, c) if a.dtype == np.float32 else _wide(a, b, c)


def _two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def _to_odd(a: Floats, b: Floats) -> Floats:
    """The sum of float64, rounded to odd where it is not exact."""
    total, rest = _two_sum(a, b)
    even = total.view(np.int64) & 1 == 0
    towards = np.where(rest > 0, np.inf, -np.inf)
    return np.where((rest != 0) & even, np.nextafter(total, towards), total)


def _narrow(a: Floats, b: Floats, c: Floats) -> Floats:
    product, wide = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    plain = (product + wide).astype(np.float32)
    exact = np.isfinite(product) & np.isfinite(wide)
    return np.where(exact, _to_odd(product, wide).astype(np.float32), plain)


def _wide(a: Floats, b: Floats, c: Floats) -> Floats:
    finite = np.isfinite(a) & np.isfinite(b)
    simple = ~finite | ~np.isfinite(c) | (a == 0) | (b == 0)
    # A product that overflows must not become NaN where c is infinite.
    result = np.where(finite & np.isinf(c), c, a * b + c)
    fast = _wide_fast(a, b, c)
    size_a, size_b = np.abs(a), np.abs(b)
    near = (size_a < 2.0**FAR) & (size_a > 2.0**-FAR) & (size_b < 2.0**FAR) & (size_b > 2.0**-FAR)
    near &= (np.abs(c) < MOST) & ((np.abs(c) > LEAST) | (c == 0)) & (np.abs(fast) > LEAST)
    result = np.where(simple, result, fast)
    for place in np.flatnonzero(~simple & ~near):
        result[place] = slow_fma(float(a[place]), float(b[place]), float(c[place]))
    return result


def _wide_fast(a: Floats, b: Floats, c: Floats) -> Floats:
    u, v = _two_product(a, b)
    t, w = _two_sum(c, v)
    x, y = _two_sum(u, t)
    return x + _to_odd(w, y)


def _two_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    product = a * b
    (a1, a2), (b1, b2) = _halves(a), _halves(b)
    return product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2


def _halves(a: Floats) -> tuple[Floats, Floats]:
    large = a * 134217729.0  # 2**27 + 1
    high = large - (large - a)
    return high, a - high


def slow_fma(a: float, b: float, c: float) -> float:
    """`a * b + c` of finite numbers by integers: exact, then rounded by one division."""
    (p, q), (r, s), (t, u) = a.as_integer_ratio(), b.as_integer_ratio(), c.as_integer_ratio()
    above, below = p * r * u + t * q * s, q * s * u
    if not above:
        return a * b + c  # the sign of a zero is that of the rounded sum
    try:
        return above / below
    except OverflowError:
        return float("inf") if above > 0 else -float("inf")
