"""Elementary functions, the same bits on every machine and at every vector width.

In a kernel they compute with the kernel's floats; `math.sin` and `np.sin` in a kernel are these
too. Outside of one they take and give numbers, and raise TypeError for anything else. They follow
C99 at special values: what is not defined is NaN, and no error is raised. None is off by more than
1 unit in the last place, but where it says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hawk.math import (
    error,
    exponential,
    gamma,
    hyperbolic,
    interpolation,
    inverse,
    logarithm,
    power,
    rounding,
    terms,
    trigonometry,
)
from hawk.math import random as random
from hawk.math.arrays import mat, vec
from hawk.math.linear import (
    cholesky,
    cross,
    det,
    diag,
    dot,
    eigh,
    eye,
    inv,
    lstsq,
    lu,
    norm,
    outer,
    quat_conj,
    quat_mul,
    quat_rotate,
    solve,
    trace,
    transpose,
)
from hawk.math.plain import choose, compute, compute_any, row

ARRAYS = (
    *(vec, mat, dot, cross, norm, outer, transpose, trace, eye, diag),
    *(solve, lu, cholesky, inv, det, eigh, lstsq, quat_mul, quat_conj, quat_rotate),
)
"""What makes small arrays, or computes with them."""

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "cholesky",
    "clip",
    "copysign",
    "cos",
    "cosh",
    "cross",
    "det",
    "diag",
    "dot",
    "eigh",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "eye",
    "fdim",
    "floor",
    "fma",
    "fmod",
    "hypot",
    "interp",
    "inv",
    "isfinite",
    "isinf",
    "isnan",
    "lgamma",
    "log",
    "log1p",
    "log2",
    "log10",
    "lstsq",
    "lu",
    "mat",
    "maximum",
    "minimum",
    "norm",
    "outer",
    "pow",
    "quat_conj",
    "quat_mul",
    "quat_rotate",
    "remainder",
    "rint",
    "round",
    "rsqrt",
    "sign",
    "sin",
    "sincos",
    "sinh",
    "solve",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trace",
    "transpose",
    "trunc",
    "vec",
    "where",
]


def exp(x: float) -> float:
    """The exponential, e ** x."""
    return compute(exponential.exp, x)


def exp2(x: float) -> float:
    """2 ** x."""
    return compute(exponential.exp2, x)


def expm1(x: float) -> float:
    """The exponential less one, e ** x - 1, with all its places where x is small."""
    return compute(exponential.expm1, x)


def log(x: float) -> float:
    """The natural logarithm; NaN below 0, -inf at 0."""
    return compute(logarithm.log, x)


def log2(x: float) -> float:
    """The logarithm to base 2; NaN below 0, -inf at 0."""
    return compute(logarithm.log2, x)


def log10(x: float) -> float:
    """The logarithm to base 10; NaN below 0, -inf at 0."""
    return compute(logarithm.log10, x)


def log1p(x: float) -> float:
    """log(1 + x), with all its places where x is small; NaN below -1, -inf at -1."""
    return compute(logarithm.log1p, x)


def sin(x: float) -> float:
    """The sine of x, in radians; any finite x, however large."""
    return compute(trigonometry.sin, x)


def cos(x: float) -> float:
    """The cosine of x, in radians; any finite x, however large."""
    return compute(trigonometry.cos, x)


def sincos(x: float) -> tuple[float, float]:
    """The sine and the cosine of x, for little more than one of them."""
    return compute(trigonometry.sincos, x)


def tan(x: float) -> float:
    """The tangent of x, in radians; any finite x, however large."""
    return compute(trigonometry.tan, x)


def asin(x: float) -> float:
    """The arc sine, from -pi/2 to pi/2; NaN beyond 1."""
    return compute(inverse.asin, x)


def acos(x: float) -> float:
    """The arc cosine, from 0 to pi; NaN beyond 1."""
    return compute(inverse.acos, x)


def atan(x: float) -> float:
    """The arc tangent, from -pi/2 to pi/2."""
    return compute(inverse.atan, x)


def atan2(y: float, x: float) -> float:
    """The angle of the point (x, y), from -pi to pi."""
    return compute(inverse.atan2, y, x)


def sinh(x: float) -> float:
    """The hyperbolic sine."""
    return compute(exponential.sinh, x)


def cosh(x: float) -> float:
    """The hyperbolic cosine."""
    return compute(exponential.cosh, x)


def tanh(x: float) -> float:
    """The hyperbolic tangent."""
    return compute(exponential.tanh, x)


def asinh(x: float) -> float:
    """The inverse of the hyperbolic sine."""
    return compute(hyperbolic.asinh, x)


def acosh(x: float) -> float:
    """The inverse of the hyperbolic cosine, from 0 on; NaN below 1."""
    return compute(hyperbolic.acosh, x)


def atanh(x: float) -> float:
    """The inverse of the hyperbolic tangent; infinite at 1 and -1, NaN beyond."""
    return compute(hyperbolic.atanh, x)


def pow(x: float, y: float) -> float:
    """The power x ** y; NaN for a negative x and a y that is no integer."""
    return compute(power.pow, x, y)


def cbrt(x: float) -> float:
    """The cube root."""
    return compute(power.cbrt, x)


def hypot(x: float, y: float) -> float:
    """The length of (x, y), without overflow on the way."""
    return compute(power.hypot, x, y)


def interp(
    x: float, xs: Sequence[float], ys: Sequence[float], *, kind: interpolation.Kind = "linear"
) -> float:
    """The value at x between knots `xs`, which ascend, and their values `ys`.

    In a kernel the two are `Table` parameters of one dimension and as many floats. Beyond the ends
    it is the value of the first or last knot; NaN stays NaN. `"linear"` is NumPy's `interp`;
    `"cubic"` is monotone where the values are and smooth, with continuous first derivatives
    (Fritsch and Carlson 1980; the derivatives are those of Fritsch and Butland 1984, as SciPy's
    `PchipInterpolator` has them). Raises ValueError for another kind.
    """
    if kind not in interpolation.KINDS:
        raise ValueError(f'kind is "linear" or "cubic", not {kind!r}')
    knots, values = row(xs), row(ys)
    if knots.known != values.known:
        raise ValueError(f"{knots.known} knots and {values.known} values")
    return compute(lambda number: interpolation.interpolate(number, knots, values, kind), float(x))


def sqrt(x: float) -> float:
    """The square root, correctly rounded; NaN below 0."""
    return compute(terms.sqrt, x)


def rsqrt(x: float) -> float:
    """The inverse of the square root, 1 / sqrt(x); infinite at 0, NaN below."""
    return compute(power.rsqrt, x)


def erf(x: float) -> float:
    """The error function: the integral of exp(-t**2) from 0 to x, times 2 / sqrt(pi)."""
    return compute(error.erf, x)


def erfc(x: float) -> float:
    """1 - erf(x), with all its places where x is large.

    Off by 4 units in the last place at most.
    """
    return compute(error.erfc, x)


def tgamma(x: float) -> float:
    """The gamma function, (x - 1)!; infinite at 0, NaN at negative integers.

    Off by 4 units in the last place at most.
    """
    return compute(gamma.tgamma, x)


def lgamma(x: float) -> float:
    """The logarithm of the size of the gamma function; infinite at 0 and at negative integers.

    Off by 4 units in the last place at most; below 0 by 4 units of lgamma(-x), where that is more.
    """
    return compute(gamma.lgamma, x)


def floor(x: float) -> float:
    """The greatest whole number not above x, as a float."""
    return compute(lambda x: rounding.single("floor", x), x)


def ceil(x: float) -> float:
    """The least whole number not below x, as a float."""
    return compute(lambda x: rounding.single("ceil", x), x)


def trunc(x: float) -> float:
    """The next whole number towards 0, as a float."""
    return compute(terms.trunc, x)


def rint(x: float) -> float:
    """The nearest whole number, of two the even one, as a float."""
    return compute(terms.rint, x)


def round(x: float) -> float:
    """The nearest whole number, of two the one farther from 0, as a float."""
    return compute(rounding.round, x)


def fmod(x: float, y: float) -> float:
    """What truncating division leaves, exactly, with the sign of x; of integers an integer."""
    return compute_any(lambda x, y: rounding.single("fmod", x, y), x, y)


def remainder(x: float, y: float) -> float:
    """What flooring division leaves, Python's x % y; of integers an integer."""
    return compute_any(lambda x, y: rounding.single("mod", x, y), x, y)


def copysign(x: float, y: float) -> float:
    """The size of x with the sign of y; the sign of a NaN counts as +."""
    return compute(lambda x, y: rounding.single("copysign", x, y), x, y)


def fma(x: float, y: float, z: float) -> float:
    """The sum x * y + z, rounded once."""
    return compute(terms.fma, x, y, z)


def fdim(x: float, y: float) -> float:
    """How far x is above y, or 0; NaN if one of them is."""
    return compute(rounding.fdim, x, y)


def sign(x: float) -> float:
    """-1, 0 or 1; NaN of NaN; of an integer an integer."""
    return compute_any(rounding.sign, x)


def clip(x: float, low: float, high: float) -> float:
    """x, or the end that it is beyond; a NaN stays; of integers an integer."""
    return compute_any(rounding.clip, x, low, high)


def minimum(x: float, y: float) -> float:
    """The lesser number; a NaN is ignored, and -0 is below 0; of integers an integer."""
    return compute_any(lambda x, y: rounding.single("minimum", x, y), x, y)


def maximum(x: float, y: float) -> float:
    """The greater number; a NaN is ignored, and 0 is above -0; of integers an integer."""
    return compute_any(lambda x, y: rounding.single("maximum", x, y), x, y)


def where(condition: Any, x: Any, y: Any) -> Any:
    """Choose x where the condition holds, else y; both are computed."""
    return choose(condition, x, y)


def isnan(x: float) -> bool:
    """Is it not a number?"""
    return compute_any(lambda x: rounding.question("isnan", x), x)


def isinf(x: float) -> bool:
    """Is it infinite?"""
    return compute_any(lambda x: rounding.question("isinf", x), x)


def isfinite(x: float) -> bool:
    """Is it neither infinite nor NaN?"""
    return compute_any(lambda x: rounding.question("isfinite", x), x)
