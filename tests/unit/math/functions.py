"""The functions of hawk.math, what they should give, and numbers to try them on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import gmpy2
import numpy as np

import hawk.math as own
from tests.unit.math.hard_cases import HARD

SPECIAL = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 0.1, math.inf, -math.inf, math.nan,
    5e-324, -5e-324, 2.0**-1022, 1.7976931348623157e308, 2.0**53, 2.0**53 + 2, 1e-300, 1e300,
    1.4e-45, 2.0**-126, 3.4e38, 709.9, -745.2, 88.8, -104.0, 1e22, math.pi, math.pi / 2,
)  # fmt: skip
"""Numbers at which something else begins."""


class Row(NamedTuple):
    """A function, its value by MPFR, NumPy's, and ranges for float64 and for float32.

    A range is `(low, high)`; `("log", low, high)` means powers of ten, of either sign where the
    function takes negative numbers.
    """

    function: Callable[..., Any]
    exact: Callable[..., Any]
    numpy: Callable[..., Any]
    wide: tuple[Any, ...]
    narrow: tuple[Any, ...]
    positive: bool = False
    bound: float = 1.0
    """Units in the last place that it may be off by."""
    scale: Callable[[Any], Any] = lambda x: 0
    """A number whose unit counts where it is larger than that of the value."""


def _c99(function: Callable[[float], float]) -> Callable[[Any], Any]:
    """A function of `math`, with C99's values where it raises an error."""

    def of(x: Any) -> Any:
        try:
            return type(x)(function(float(x)))
        except OverflowError:
            return type(x)(math.copysign(math.inf, x))
        except ValueError:  # at a pole; the gamma function has a sign only at 0
            if function is math.gamma:
                return type(x)(math.copysign(math.inf, x) if x == 0 else math.nan)
            return type(x)(math.inf)

    return of


def _log_gamma(x: Any) -> Any:
    return gmpy2.lgamma(x)[0]


ONE: dict[str, Row] = {
    "exp": Row(own.exp, gmpy2.exp, np.exp, ((-745, 709), (-1, 1)), ((-103, 88), (-1, 1))),
    "exp2": Row(
        own.exp2,
        gmpy2.exp2,
        np.exp2,
        ((-1074, 1023), (-1, 1)),
        ((-149, 127), (-1, 1)),
    ),
    "expm1": Row(
        own.expm1,
        gmpy2.expm1,
        np.expm1,
        ((-40, 80), (-2, 2), (35, 40), ("log", -20, 0)),
        ((-20, 80), (-2, 2), (15, 18), ("log", -20, 0)),
    ),
    "log": Row(
        own.log,
        gmpy2.log,
        np.log,
        (("log", -320, 308), (0.5, 2.1), (0.99, 1.01)),
        (("log", -44, 38), (0.5, 2.1), (0.99, 1.01)),
        positive=True,
    ),
    "log2": Row(
        own.log2,
        gmpy2.log2,
        np.log2,
        (("log", -320, 308), (0.5, 2.1), (0.99, 1.01)),
        (("log", -44, 38), (0.5, 2.1), (0.99, 1.01)),
        positive=True,
    ),
    "log10": Row(
        own.log10,
        gmpy2.log10,
        np.log10,
        (("log", -320, 308), (0.5, 2.1), (0.99, 1.01)),
        (("log", -44, 38), (0.5, 2.1), (0.99, 1.01)),
        positive=True,
    ),
    "log1p": Row(
        own.log1p,
        gmpy2.log1p,
        np.log1p,
        ((-0.9, 3), ("log", -20, -1), (1, 1e20)),
        ((-0.9, 3), ("log", -20, -1), (1, 1e20)),
    ),
    "sin": Row(
        own.sin,
        gmpy2.sin,
        np.sin,
        ((-4, 4), (-1e6, 1e6), ("log", 6, 308), ("turns",)),
        ((-4, 4), (-4096, 4096), ("log", 3, 38), ("turns",)),
    ),
    "cos": Row(
        own.cos,
        gmpy2.cos,
        np.cos,
        ((-4, 4), (-1e6, 1e6), ("log", 6, 308), ("turns",)),
        ((-4, 4), (-4096, 4096), ("log", 3, 38), ("turns",)),
    ),
    "tan": Row(
        own.tan,
        gmpy2.tan,
        np.tan,
        ((-4, 4), (-1e6, 1e6), ("log", 6, 308), ("turns",)),
        ((-4, 4), (-4096, 4096), ("log", 3, 38), ("turns",)),
    ),
    "asin": Row(own.asin, gmpy2.asin, np.arcsin, ((-1, 1), ("log", -20, 0)), ((-1, 1),)),
    "acos": Row(
        own.acos, gmpy2.acos, np.arccos, ((-1, 1), (0.999, 1), (-1, -0.999)), ((-1, 1), (0.99, 1))
    ),
    "atan": Row(
        own.atan, gmpy2.atan, np.arctan, ((-3, 3), ("log", -20, 20)), ((-3, 3), ("log", -20, 20))
    ),
    "sinh": Row(
        own.sinh,
        gmpy2.sinh,
        np.sinh,
        ((-3, 3), (-709, 709), ("log", -20, 1)),
        ((-3, 3), (-88, 88)),
    ),
    "cosh": Row(own.cosh, gmpy2.cosh, np.cosh, ((-3, 3), (-709, 709)), ((-3, 3), (-88, 88))),
    "tanh": Row(
        own.tanh, gmpy2.tanh, np.tanh, ((-3, 3), ("log", -20, 1.5)), ((-3, 3), ("log", -20, 1))
    ),
    "asinh": Row(
        own.asinh,
        gmpy2.asinh,
        np.arcsinh,
        ((-3, 3), ("log", -20, 308)),
        ((-3, 3), ("log", -20, 38)),
    ),
    "acosh": Row(
        own.acosh,
        gmpy2.acosh,
        np.arccosh,
        ((1, 3), (1, 1.001), ("log", 0.01, 308)),
        ((1, 3), (1, 1.01), ("log", 0.01, 38)),
        positive=True,
    ),
    "atanh": Row(
        own.atanh,
        gmpy2.atanh,
        np.arctanh,
        ((-1, 1), ("log", -20, -1), (0.999, 1)),
        ((-1, 1), ("log", -20, -1), (0.999, 1)),
    ),
    "sqrt": Row(
        own.sqrt,
        gmpy2.sqrt,
        np.sqrt,
        (("log", -320, 308), (0.5, 4)),
        (("log", -44, 38), (0.5, 4)),
        positive=True,
    ),
    "rsqrt": Row(
        own.rsqrt,
        lambda x: 1 / gmpy2.sqrt(x),
        lambda x: type(x)(1.0) / np.sqrt(x),
        (("log", -320, 308), (0.5, 4)),
        (("log", -44, 38), (0.5, 4)),
        positive=True,
    ),
    "erf": Row(
        own.erf,
        gmpy2.erf,
        _c99(math.erf),
        ((-1.1, 1.1), (-6, 6), ("log", -300, 0)),
        ((-1.1, 1.1), (-4, 4), ("log", -44, 0)),
    ),
    "erfc": Row(
        own.erfc,
        gmpy2.erfc,
        _c99(math.erfc),
        ((-1.1, 1.1), (-6, 6), (1, 27.5)),
        ((-1.1, 1.1), (-4, 4), (1, 10.1)),
        bound=4.0,
    ),
    "tgamma": Row(
        own.tgamma,
        gmpy2.gamma,
        _c99(math.gamma),
        ((0, 5), (1, 172), (-5, 0), (-170, 0), ("log", -308, 0)),
        ((0, 5), (1, 35), (-5, 0), (-40, 0), ("log", -38, 0)),
        bound=4.0,
    ),
    "lgamma": Row(
        own.lgamma,
        _log_gamma,
        _c99(math.lgamma),
        ((0, 5), (1, 172), (-5, 0), (-170, 0), (0.99, 1.01), (1.99, 2.01), ("log", -308, 300)),
        ((0, 5), (1, 35), (-5, 0), (-40, 0), (0.99, 1.01), (1.99, 2.01), ("log", -38, 7)),
        bound=4.0,
        scale=lambda x: _log_gamma(-x) if x < 0 else 0,
    ),
    "cbrt": Row(
        own.cbrt, gmpy2.cbrt, np.cbrt, (("log", -320, 308), (0.1, 9)), (("log", -44, 38), (0.1, 9))
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
        gmpy2.atan2,
        np.arctan2,
        (((-3, 3), (-3, 3)), (("log", -200, 200), ("log", -200, 200))),
        (((-3, 3), (-3, 3)), (("log", -15, 15), ("log", -15, 15))),
    ),
    "hypot": Row(
        own.hypot,
        gmpy2.hypot,
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


def hard(name: str, dtype: Any) -> Any:
    """Numbers at which a function of one number is hard: special, next to those, published."""
    finite = np.array([each for each in SPECIAL if math.isfinite(each)])
    with np.errstate(over="ignore", under="ignore"):
        special = finite.astype(dtype)
    near = [special]
    for direction in (-np.inf, np.inf):
        each = special
        for _ in range(4):
            with np.errstate(all="ignore"):
                each = np.nextafter(each, dtype(direction))
            near.append(each)
    with np.errstate(over="ignore"):
        published = np.array(HARD.get(name, ()), np.float64).astype(dtype)
    return np.concatenate([*near, published, -published])
