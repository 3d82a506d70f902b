"""Names from `math`, NumPy and the builtins that a kernel may call, as that library means them.

One table: the function as Python knows it, and the recipe that writes it (`recipes`). A name that
is not here is refused, with the nearest one that is; one that will be here says what to write
meanwhile. To add a name, add a row, and the name to the list in docs/language.md.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from hawk import math as own
from hawk.frontend import recipes as r
from hawk.frontend.conversions import TARGETS
from hawk.frontend.recipes import Recipe
from hawk.ir.types import DType

_TABLE: dict[Any, Recipe] = {
    # builtins
    abs: r.absolute,
    min: r.fold("min"),
    max: r.fold("max"),
    sum: r.total,
    int: r.convert(DType.I64),
    float: r.convert(None),
    bool: r.convert(DType.BOOL),
    round: r.builtin_round,
    pow: r.power,
    divmod: r.both,
    int.bit_count: r.bit_count,
    # hawk
    **{function: r.convert(target) for function, target in TARGETS.items()},
    # math: floor, ceil and trunc give integers
    math.sqrt: r.of_float("sqrt"),
    math.floor: r.to_integer("floor"),
    math.ceil: r.to_integer("ceil"),
    math.trunc: r.to_integer("trunc"),
    math.fabs: r.of_float("abs"),
    math.fmod: r.of_floats("fmod"),
    math.remainder: r.math_remainder,
    math.copysign: r.of_floats("copysign"),
    math.isnan: r.is_what("isnan"),
    math.isinf: r.is_what("isinf"),
    math.isfinite: r.is_what("isfinite"),
    math.radians: r.scaled(math.pi / 180.0),
    math.degrees: r.scaled(180.0 / math.pi),
    # NumPy: floor, ceil, trunc and rint give floats
    np.sqrt: r.of_float("sqrt"),
    np.floor: r.of_float("floor"),
    np.ceil: r.of_float("ceil"),
    np.trunc: r.of_float("trunc"),
    np.rint: r.of_float("rint"),
    np.round: r.numpy_round,
    np.around: r.numpy_round,
    np.absolute: r.absolute,
    np.fabs: r.of_float("abs"),
    np.fmod: r.numpy_fmod,
    np.remainder: r.operator("%"),
    np.floor_divide: r.operator("//"),
    np.divmod: r.both,
    np.copysign: r.of_floats("copysign"),
    np.sign: r.sign,
    np.signbit: r.signbit,
    np.isnan: r.is_what("isnan"),
    np.isinf: r.is_what("isinf"),
    np.isfinite: r.is_what("isfinite"),
    np.minimum: r.keeping_nan("min", "<"),
    np.maximum: r.keeping_nan("max", ">"),
    np.fmin: r.ignoring_nan("minimum"),
    np.fmax: r.ignoring_nan("maximum"),
    np.clip: r.clip,
    np.where: r.where,
    np.square: r.square,
    np.radians: r.scaled(math.pi / 180.0),
    np.deg2rad: r.scaled(math.pi / 180.0),
    np.degrees: r.scaled(*r.NUMPY_DEGREES),
    np.rad2deg: r.scaled(*r.NUMPY_DEGREES),
    np.add: r.operator("+"),
    np.subtract: r.operator("-"),
    np.multiply: r.operator("*"),
    np.divide: r.operator("/"),
    np.negative: r.negative,
    np.positive: r.positive,
    np.equal: r.operator("=="),
    np.not_equal: r.operator("!="),
    np.less: r.operator("<"),
    np.less_equal: r.operator("<="),
    np.greater: r.operator(">"),
    np.greater_equal: r.operator(">="),
    np.bitwise_and: r.operator("&"),
    np.bitwise_or: r.operator("|"),
    np.bitwise_xor: r.operator("^"),
    np.invert: r.invert,
    np.left_shift: r.operator("<<"),
    np.right_shift: r.operator(">>"),
    np.bitwise_count: r.bit_count,
    np.logical_and: r.logical("and"),
    np.logical_or: r.logical("or"),
    np.logical_xor: r.logical("xor"),
    np.logical_not: r.opposite,
    np.float32: r.convert(DType.F32),
    np.float64: r.convert(DType.F64),
    np.int32: r.convert(DType.I32),
    np.uint32: r.convert(DType.U32),
    np.int64: r.convert(DType.I64),
    np.bool_: r.convert(DType.BOOL),
}

OURS: Mapping[Any, Any] = {
    math.exp: own.exp,
    math.exp2: own.exp2,
    math.expm1: own.expm1,
    math.log2: own.log2,
    math.log10: own.log10,
    math.log1p: own.log1p,
    math.sin: own.sin,
    math.cos: own.cos,
    math.tan: own.tan,
    math.asin: own.asin,
    math.acos: own.acos,
    math.atan: own.atan,
    math.atan2: own.atan2,
    math.sinh: own.sinh,
    math.cosh: own.cosh,
    math.tanh: own.tanh,
    math.pow: own.pow,
    math.cbrt: own.cbrt,
    math.hypot: own.hypot,
    np.exp: own.exp,
    np.exp2: own.exp2,
    np.expm1: own.expm1,
    np.log: own.log,
    np.log2: own.log2,
    np.log10: own.log10,
    np.log1p: own.log1p,
    np.sin: own.sin,
    np.cos: own.cos,
    np.tan: own.tan,
    np.arcsin: own.asin,
    np.arccos: own.acos,
    np.arctan: own.atan,
    np.arctan2: own.atan2,
    np.sinh: own.sinh,
    np.cosh: own.cosh,
    np.tanh: own.tanh,
    np.float_power: own.pow,
    np.cbrt: own.cbrt,
    np.hypot: own.hypot,
}
"""Functions whose bits differ from machine to machine: the ones of `hawk.math` take their place."""

_TABLE.update({function: r.elementary(terms) for function, terms in own.TERMS.items()})
_TABLE.update({function: _TABLE[ours] for function, ours in OURS.items()})
_TABLE[math.log] = r.logarithm
_TABLE[np.power] = r.power

if hasattr(math, "fma"):  # Python 3.13
    _TABLE[getattr(math, "fma")] = r.fma  # noqa: B009  older type stubs do not know it

RECIPES: Mapping[Any, Recipe] = _TABLE
"""Every function with a meaning in a kernel."""

TYPED = (*TARGETS, np.float32, np.float64, np.int32, np.uint32, np.int64, np.bool_, sum)
"""Functions that Python does not run for us on what is known: conversions, whose result has a type,
and `sum`, which adds floats in another way since Python 3.12."""

_OWN = "a function of your own: sums and products, such as a polynomial or Newton's method"

LATER: Mapping[str, str] = {
    **dict.fromkeys(("asinh", "acosh", "atanh", "arcsinh", "arccosh", "arctanh"), _OWN),
    **dict.fromkeys(("erf", "erfc", "gamma", "lgamma"), _OWN),
    "norm": "math.hypot(x, y)",
    "dist": "math.hypot(x, y) of the differences",
    "dot": "x0 * y0 + x1 * y1",
    "cross": "x0 * y1 - x1 * y0",
    "matmul": "sum([a * b for a, b in zip(row, column)])",
    "interp": "y0 + (y1 - y0) * (x - x0) / (x1 - x0)",
    "sum": "sum(...), or x + y",
    "prod": "x * y",
    "fdim": "max(x - y, 0.0)",
    "modf": "x - np.trunc(x), np.trunc(x)",
    **dict.fromkeys(("ldexp", "frexp", "nextafter"), ""),
}
"""Names of `math` and NumPy that will have a meaning but have none yet; what to write meanwhile."""


def ours(function: Any) -> Any:
    """What computes known numbers in the place of a function of another library."""
    try:
        return OURS.get(function, function)
    except TypeError:  # not hashable
        return function


def recipe_of(function: Any) -> Recipe | None:
    """How a kernel computes `function`, or None."""
    try:
        return RECIPES.get(function)
    except TypeError:  # not hashable
        return None


ADVICE: Mapping[str, str] = {
    "array": "(x, y), a tuple, or [x, y], a list",
    "asarray": "(x, y), a tuple, or [x, y], a list",
    "zeros": "[0.0] * 3, a list",
    "ones": "[1.0] * 3, a list",
    "empty": "[0.0] * 3, a list",
    "min": "min(x, y), or np.minimum(x, y), which keeps NaN",
    "amin": "min(x, y), or np.minimum(x, y), which keeps NaN",
    "max": "max(x, y), or np.maximum(x, y), which keeps NaN",
    "amax": "max(x, y), or np.maximum(x, y), which keeps NaN",
    "sort": "min(x, y), max(x, y)",
    "sorted": "min(x, y), max(x, y)",
    "map": "[f(x) for x in (a, b)]",
    "filter": "f(x) if keep(x) else 0.0, for each x",
    "fix": "np.trunc(x)",
    "heaviside": "0.0 if x < 0 else 1.0 if x > 0 else middle",
    "select": "np.where(first, x, np.where(second, y, z))",
    "piecewise": "np.where(first, x, np.where(second, y, z))",
    "is_integer": "x == np.floor(x)",
    "gcd": "while b != 0: a, b = b, a % b",
    "isqrt": "int(math.sqrt(n)), which is exact below 2 ** 52",
    "isclose": "abs(x - y) <= tolerance",
    "allclose": "abs(x - y) <= tolerance",
    "fsum": "sum((x, y, z)), from the left",
    "complex": "its real and its imaginary part as two numbers",
    "str": "print(x), which is shown with @hawk.kernel(checks=True)",
    "repr": "print(x), which is shown with @hawk.kernel(checks=True)",
    "open": "this before the run or after it, outside the kernel",
    "input": "a Param for what is read",
    "time": "a Param for the time",
    "perf_counter": "a Param for the time",
}
"""What to write for functions that many look for, by name."""


def unknown(function: Any, text: str) -> tuple[str, str, str]:
    """Code, sentence and fix for a library's function without a meaning, written as `text`."""
    name = getattr(function, "__name__", text)
    if name in LATER:
        return "H209", f"`{text}` is not there yet", LATER[name]
    what = f"`{text}` has no meaning in a kernel"
    owner = type(getattr(function, "__self__", None)).__name__
    if "random" in (getattr(function, "__module__", None) or "") or "Random" in owner:
        what += ": it would give one number while the kernel is traced, the same for ever"
        return "H304", what, "a parameter for the noise, one Scalar a sample"
    root = _root(function)
    same = [each.__name__ for each in RECIPES if _root(each) == root]
    close = difflib.get_close_matches(name, same, n=1, cutoff=0.8)
    before = text.rpartition(".")
    fix = f"{before[0]}{before[1]}{close[0]}" if close else ""
    return "H304", what, ADVICE.get(name) or same_name(name) or fix


def same_name(name: str) -> str:
    """The function with a meaning that has this name in another library, or nothing."""
    for each in RECIPES:
        if each.__name__ == name:
            owner = getattr(each, "__objclass__", None)
            module = {"numpy": "np", "math": "math"}.get(_root(each), "")
            if owner is not None:
                return f"{owner.__name__}.{name}"
            if module:
                return f"{module}.{name}"
    return ""


def _root(function: Any) -> str:
    owner = getattr(function, "__objclass__", function)  # of a method, the class
    return (getattr(owner, "__module__", None) or "numpy").split(".")[0]
