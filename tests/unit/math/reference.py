"""How far a float is from the true value, by MPFR with 200 bits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import gmpy2
import numpy as np
from gmpy2 import mpfr

WIDE = gmpy2.context(precision=200, emin=-(2**40), emax=2**40)
"""Values beyond all floats have room in it."""


_BITS = {np.float64: (53, -1074), np.float32: (24, -149)}
"""Bits of a float, and the exponent of the least one."""
_LARGEST = {dtype: mpfr(float(np.finfo(dtype).max)) for dtype in _BITS}


def units(difference: Any, of: Any, dtype: Any) -> float:
    """A difference in units in the last place of a finite number."""
    bits, least = _BITS[dtype]
    exponent = max(gmpy2.get_exp(of) - bits, least) if of else least
    return abs(
        float(
            gmpy2.mul_2exp(difference, -exponent)
            if exponent < 0
            else gmpy2.div_2exp(difference, exponent)
        )
    )


def error(got: float, exact: Any, dtype: Any, scale: Any = 0) -> float:
    """How far off a number is, in units in the last place of it or of `scale`.

    Infinite where one of them is NaN and the other is not, or one overflows and the other does not.
    """
    if math.isnan(got) or gmpy2.is_nan(exact):
        return 0.0 if math.isnan(got) and gmpy2.is_nan(exact) else math.inf
    size, largest = abs(exact), _LARGEST[dtype]
    if not math.isinf(got) and size <= largest:
        return units(exact - got, max(size, scale), dtype)
    if math.isinf(got):  # right from the largest float on
        return 0.0 if size >= largest and (got > 0) == (exact > 0) else math.inf
    return units(exact - got, largest, dtype) if gmpy2.is_finite(exact) else math.inf


def exact_error(row: Any, numbers: Sequence[float], got: float, dtype: Any) -> float:
    """How far off a function is, whose row is `row` (see `functions`)."""
    with gmpy2.context(WIDE):
        return error_now(row, numbers, got, dtype)


def error_now(row: Any, numbers: Sequence[float], got: float, dtype: Any) -> float:
    """`exact_error` within the context `WIDE`."""
    given = [mpfr(float(number)) for number in numbers]
    return error(float(got), row.exact(*given), dtype, row.scale(given[0]))
