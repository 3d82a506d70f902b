"""The functions of hawk.math, what they should give, and numbers to try them on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath
import numpy as np
from mpmath import mpf

import hawk.math as own

SPECIAL = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 0.1, math.inf, -math.inf, math.nan,
    5e-324, -5e-324, 2.0**-1022, 1.7976931348623157e308, 2.0**53, 2.0**53 + 2, 1e-300, 1e300,
    1.4e-45, 2.0**-126, 3.4e38, 709.9, -745.2, 88.8, -104.0, 1e22, math.pi, math.pi / 2,
)  # fmt: skip
"""Numbers at which something else begins."""


class Row(NamedTuple):
    """A function, its value by mpmath, NumPy's, and ranges for float64 and for float32.

    A range is `(low, high)`; `("log", low, high)` means powers of ten, of either sign where the
    function takes negative numbers.
    """

    function: Callable[..., Any]
    exact: Callable[..., Any]
    numpy: Callable[..., Any]
    wide: tuple[Any, ...]
    narrow: tuple[Any, ...]
    positive: bool = False


def _cbrt(x: Any) -> Any:
    return mpmath.cbrt(x) if x >= 0 else -mpmath.cbrt(-x)


ONE: dict[str, Row] = {
    "exp": Row(own.exp, mpmath.exp, np.exp, ((-745, 709), (-1, 1)), ((-103, 88), (-1, 1))),
    "exp2": Row(
        own.exp2,
        lambda x: mpf(2) ** x,
        np.exp2,
        ((-1074, 1023), (-1, 1)),
        ((-149, 127), (-1, 1)),
    ),
    "expm1": Row(
        own.expm1,
        mpmath.expm1,
        np.expm1,
        ((-40, 80), (-2, 2), (35, 40), ("log", -20, 0)),
        ((-20, 80), (-2, 2), (15, 18), ("log", -20, 0)),
    ),
    "log": Row(
        own.log,
        mpmath.log,
        np.log,
        (("log", -320, 308), (0.5, 2.1), (0.99, 1.01)),
        (("log", -44, 38), (0.5, 2.1), (0.99, 1.01)),
        positive=True,
    ),
    "log2": Row(
        own.log2,
        lambda x: mpmath.log(x) / mpmath.log(2),
        np.log2,
        (("log", -320, 308), (0.5, 2.1), (0.99, 1.01)),
        (("log", -44, 38), (0.5, 2.1), (0.99, 1.01)),
        positive=True,
    ),
    "log10": Row(
        own.log10,
        lambda x: mpmath.log(x) / mpmath.log(10),
        np.log10,
        (("log", -320, 308), (0.5, 2.1), (0.99, 1.01)),
        (("log", -44, 38), (0.5, 2.1), (0.99, 1.01)),
        positive=True,
    ),
    "log1p": Row(
        own.log1p,
        mpmath.log1p,
        np.log1p,
        ((-0.9, 3), ("log", -20, -1), (1, 1e20)),
        ((-0.9, 3), ("log", -20, -1), (1, 1e20)),
    ),
    "sin": Row(
        own.sin,
        mpmath.sin,
        np.sin,
        ((-4, 4), (-1e6, 1e6), ("log", 6, 308), ("turns",)),
        ((-4, 4), (-4096, 4096), ("log", 3, 38), ("turns",)),
    ),
    "cos": Row(
        own.cos,
        mpmath.cos,
        np.cos,
        ((-4, 4), (-1e6, 1e6), ("log", 6, 308), ("turns",)),
        ((-4, 4), (-4096, 4096), ("log", 3, 38), ("turns",)),
    ),
    "tan": Row(
        own.tan,
        mpmath.tan,
        np.tan,
        ((-4, 4), (-1e6, 1e6), ("log", 6, 308), ("turns",)),
        ((-4, 4), (-4096, 4096), ("log", 3, 38), ("turns",)),
    ),
    "asin": Row(own.asin, mpmath.asin, np.arcsin, ((-1, 1), ("log", -20, 0)), ((-1, 1),)),
    "acos": Row(
        own.acos, mpmath.acos, np.arccos, ((-1, 1), (0.999, 1), (-1, -0.999)), ((-1, 1), (0.99, 1))
    ),
    "atan": Row(
        own.atan, mpmath.atan, np.arctan, ((-3, 3), ("log", -20, 20)), ((-3, 3), ("log", -20, 20))
    ),
    "sinh": Row(
        own.sinh,
        mpmath.sinh,
        np.sinh,
        ((-3, 3), (-709, 709), ("log", -20, 1)),
        ((-3, 3), (-88, 88)),
    ),
    "cosh": Row(own.cosh, mpmath.cosh, np.cosh, ((-3, 3), (-709, 709)), ((-3, 3), (-88, 88))),
    "tanh": Row(
        own.tanh, mpmath.tanh, np.tanh, ((-3, 3), ("log", -20, 1.5)), ((-3, 3), ("log", -20, 1))
    ),
    "cbrt": Row(
        own.cbrt, _cbrt, np.cbrt, (("log", -320, 308), (0.1, 9)), (("log", -44, 38), (0.1, 9))
    ),
}
"""Functions of one number."""

TWO: dict[str, Row] = {
    "pow": Row(
        own.pow,
        lambda x, y: x**y,
        np.power,
        ((("log", -3, 3), (-100, 100)), ((0.9, 1.1), (-7000, 7000)), (("log", -300, 300), (-1, 1))),
        ((("log", -3, 3), (-12, 12)), ((0.9, 1.1), (-800, 800)), (("log", -37, 37), (-1, 1))),
        positive=True,
    ),
    "atan2": Row(
        own.atan2,
        mpmath.atan2,
        np.arctan2,
        (((-3, 3), (-3, 3)), (("log", -200, 200), ("log", -200, 200))),
        (((-3, 3), (-3, 3)), (("log", -15, 15), ("log", -15, 15))),
    ),
    "hypot": Row(
        own.hypot,
        lambda x, y: mpmath.sqrt(x * x + y * y),
        np.hypot,
        (((0.5, 2), (0.5, 2)), (("log", -320, 307), ("log", -320, 307))),
        (((0.5, 2), (0.5, 2)), (("log", -44, 37), ("log", -44, 37))),
    ),
}
"""Functions of two numbers."""


def draw(rng: np.random.Generator, range_: tuple[Any, ...], count: int, *, positive: bool) -> Any:
    """Numbers of a range."""
    match range_:
        case ("log", low, high):
            sign = 1.0 if positive else rng.choice([-1.0, 1.0], count)
            return sign * 10.0 ** rng.uniform(low, high, count)
        case ("turns",):
            return rng.integers(-1000, 1000, count) * (math.pi / 2)
        case (low, high):
            return rng.uniform(low, high, count)
        case _:
            raise AssertionError(range_)
