"""Elementary functions, the same bits on every machine and at every vector width.

In a kernel they compute with the kernel's floats; `math.sin` and `np.sin` in a kernel are these
too. Outside of one they take and give numbers, and raise TypeError for anything else. They follow
C99 at special values: what is not defined is NaN, and no error is raised. None is off by more than
1 unit in the last place.
"""

from __future__ import annotations

from collections.abc import Sequence

from hawk.math import exponential, interpolation, inverse, logarithm, power, trigonometry
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
from hawk.math.plain import compute, row

ARRAYS = (
    *(vec, mat, dot, cross, norm, outer, transpose, trace, eye, diag),
    *(solve, lu, cholesky, inv, det, eigh, lstsq, quat_mul, quat_conj, quat_rotate),
)
"""What makes small arrays, or computes with them."""

__all__ = [
    "acos",
    "asin",
    "atan",
    "atan2",
    "cbrt",
    "cholesky",
    "cos",
    "cosh",
    "cross",
    "det",
    "diag",
    "dot",
    "eigh",
    "exp",
    "exp2",
    "expm1",
    "eye",
    "hypot",
    "interp",
    "inv",
    "log",
    "log1p",
    "log2",
    "log10",
    "lstsq",
    "lu",
    "mat",
    "norm",
    "outer",
    "pow",
    "quat_conj",
    "quat_mul",
    "quat_rotate",
    "sin",
    "sincos",
    "sinh",
    "solve",
    "tan",
    "tanh",
    "trace",
    "transpose",
    "vec",
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
