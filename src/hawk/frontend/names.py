"""Names from `math`, NumPy and the builtins that a kernel may call, as that library means them.

One table: the function as Python knows it, and the recipe that writes it (`recipes`). A name that
is not here is refused, with the nearest one that is; one that will be here says what to write
meanwhile. To add a name, add a row, and the name to the list in docs/language.md.
"""

from __future__ import annotations

import difflib
import functools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hawk import math as own
from hawk.edits import Edit, filled
from hawk.errors import Fix
from hawk.frontend import own_recipes as o
from hawk.frontend import recipes as r
from hawk.frontend.conversions import TARGETS
from hawk.frontend.places import n_samples, sample_index, step_index
from hawk.frontend.recipes import Recipe
from hawk.ir.hidden import N_SAMPLES, SAMPLE_INDEX
from hawk.ir.types import DType
from hawk.math import distributions

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
    sample_index: o.place(SAMPLE_INDEX),
    n_samples: o.place(N_SAMPLES),
    step_index: o.step_index,
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


def _log(x: float, base: float | None = None) -> float:
    """`math.log` of known numbers: natural, or to a base."""
    return own.log(x) if base is None else own.log(x) / own.log(base)


def _sqrt(x: float) -> float:
    """`math.sqrt` of known numbers."""
    return math.sqrt(x) if x >= 0 else math.nan


OURS: Mapping[Any, Any] = {
    math.log: _log,
    math.sqrt: _sqrt,
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
    math.asinh: own.asinh,
    math.acosh: own.acosh,
    math.atanh: own.atanh,
    math.erf: own.erf,
    math.erfc: own.erfc,
    math.gamma: own.tgamma,
    math.lgamma: own.lgamma,
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
    np.arcsinh: own.asinh,
    np.arccosh: own.acosh,
    np.arctanh: own.atanh,
    np.float_power: own.pow,
    np.cbrt: own.cbrt,
    np.hypot: own.hypot,
}
"""Functions whose bits differ from machine to machine: the ones of `hawk.math` take their place."""

_NAMED = [getattr(own, name) for name in own.__all__]
_APART = (*own.ARRAYS, own.interp)
_FUNCTIONS = [each for each in _NAMED if each not in _APART]
_TABLE.update({each: r.elementary(each) for each in _FUNCTIONS})
_TABLE.update(  # those that are operations, and take integers too
    {
        own.sqrt: r.of_float("sqrt"),
        own.floor: r.of_float("floor"),
        own.ceil: r.of_float("ceil"),
        own.trunc: r.of_float("trunc"),
        own.rint: r.of_float("rint"),
        own.fmod: r.numpy_fmod,
        own.remainder: r.operator("%"),
        own.copysign: r.of_floats("copysign"),
        own.fma: r.fma,
        own.sign: r.sign,
        own.clip: r.own_clip,
        own.minimum: r.ignoring_nan("minimum"),
        own.maximum: r.ignoring_nan("maximum"),
        own.where: r.where,
        own.isnan: r.is_what("isnan"),
        own.isinf: r.is_what("isinf"),
        own.isfinite: r.is_what("isfinite"),
    }
)
_TABLE.update({function: _TABLE[ours] for function, ours in OURS.items() if ours in _TABLE})
_TABLE[math.log] = r.logarithm
_TABLE[own.interp] = o.interpolation
_TABLE[np.interp] = o.numpy_interpolation
_RANDOM: dict[Any, Recipe] = {
    own.random.uniform: o.drawn(distributions.uniform),
    own.random.normal: o.drawn(distributions.normal),
    own.random.exponential: o.drawn(distributions.exponential),
    own.random.lognormal: o.lognormal,
    own.random.bernoulli: o.bernoulli,
    own.random.integers: o.integers,
    own.random.poisson: o.poisson,
}
_TABLE.update(_RANDOM)
_TABLE[np.power] = r.power

if hasattr(math, "fma"):  # Python 3.13
    _TABLE[getattr(math, "fma")] = r.fma  # noqa: B009  older type stubs do not know it

RECIPES: Mapping[Any, Recipe] = _TABLE
"""Every function with a meaning in a kernel."""

TYPED = (
    *(*TARGETS, np.float32, np.float64, np.int32, np.uint32, np.int64, np.bool_, sum),
    *(sample_index, n_samples, step_index, own.interp, np.interp),
    *_RANDOM,
)
"""Functions that Python does not run for us on what is known: conversions, whose result has a type,
`sum`, which adds floats in another way since Python 3.12, and what only a kernel knows."""

OF_OTHERS = (own.interp, np.interp, sample_index, n_samples)
"""Functions that take tables or names, not numbers alone."""

LATER: Mapping[str, str] = {
    "dist": "math.hypot(...) of the differences",
    "prod": "a product written out: x * y * z",
    "modf": "({0} - np.trunc({0}), np.trunc({0}))",
    **dict.fromkeys(("ldexp", "frexp", "nextafter"), ""),
}
"""Names of `math` and NumPy that will have a meaning but have none yet; what to write meanwhile.

{0} and {1} are the texts of the arguments.
"""


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


_LIST = "as many numbers, such as hawk.math.vec(0.0, 0.0)"
_TEXT = "print(x), which is shown with @hawk.kernel(checks=True)"

_STATUS = ", which has a status as its second"

ADVICE: Mapping[str, str | Edit] = {
    **dict.fromkeys(
        ("array", "asarray"), "hawk.math.vec of its numbers, hawk.math.mat of its rows"
    ),
    **dict.fromkeys(("zeros", "ones", "empty", "full"), _LIST),
    **dict.fromkeys(("sort", "sorted"), "min and max of two numbers at a time"),
    **{name: f"hawk.math.{name}({{0}}, {{1}})" for name in ("dot", "cross", "outer")},
    **{name: f"hawk.math.{name}({{0}})" for name in ("norm", "trace", "eye", "diag", "det")},
    **{name: f"hawk.math.{name}({{0}})" for name in ("transpose", "eigh")},
    **{name: Edit(f"hawk.math.{name}({{0}})[0]", _STATUS) for name in ("inv", "cholesky")},
    **{name: Edit(f"hawk.math.{name}({{0}}, {{1}})[0]", _STATUS) for name in ("solve", "lstsq")},
    "matmul": "{0} @ {1}",
    "map": "[{0}(each) for each in {1}]",
    "filter": "f(x) if keep(x) else 0.0, for each x",
    "fix": "np.trunc({0})",
    "heaviside": "0.0 if {0} < 0 else 1.0 if {0} > 0 else {1}",
    "select": "such as np.where(first, x, np.where(second, y, z))",
    "piecewise": "such as np.where(first, x, np.where(second, y, z))",
    "is_integer": "{0} == np.floor({0})",
    "gcd": "a loop: while b != 0: a, b = b, a % b",
    "isqrt": Edit("int(math.sqrt({0}))", ", which is exact below 2 ** 52"),
    "isclose": "abs({0} - {1}) <= tolerance, a number of yours",
    "allclose": "abs({0} - {1}) <= tolerance, a number of yours",
    "fsum": Edit("sum({0})", ", from the left"),
    "complex": "its real and its imaginary part as two numbers",
    "str": _TEXT,
    "repr": _TEXT,
    "open": "this before the run or after it, outside the kernel",
    "input": "a Param for what is read",
    "time": "a Param for the time",
    "perf_counter": "a Param for the time",
    "super": "the class by its name, such as Base.method(self)",
    "getattr": "the field by its name, such as body.mass",
    "setattr": "the field by its name, such as body.mass = 1.0",
}
"""What to write for functions that many look for, by name; {0} and {1} are the arguments."""

_EXTREMES = {"min": "minimum", "amin": "minimum", "max": "maximum", "amax": "maximum"}


def unknown(
    function: Any, text: str, given: Sequence[str] = (), listed: Sequence[str] = ()
) -> tuple[str, str, Fix]:
    """Code, sentence and fix for a library's function without a meaning, written as `text`.

    `given` are the texts of its arguments, `listed` those of the elements of the first.
    """
    name = getattr(function, "__name__", text)
    if name in LATER:
        fix = _with_arguments(LATER[name], given)
        numbers = given if name == "hypot" else ()
        if numbers:
            squares = " + ".join(f"{{{n}}} * {{{n}}}" for n in range(len(numbers)))
            fix = _with_arguments(f"math.sqrt({squares})", numbers)
        return "H209", f"`{text}` is not there yet", fix
    what = f"`{text}` has no meaning in a kernel"
    owner = type(getattr(function, "__self__", None)).__name__
    if "random" in (getattr(function, "__module__", None) or "") or "Random" in owner:
        what += ": it would give one number while the kernel is traced, the same for ever"
        return "H304", what, _drawn(name)
    root = _root(function)
    same = [each.__name__ for each in RECIPES if _root(each) == root]
    close = difflib.get_close_matches(name, same, n=1, cutoff=0.8)
    before = text.rpartition(".")
    nearest = f"{before[0]}{before[1]}{close[0]}({', '.join(given)})" if close and given else ""
    return "H304", what, _advised(name, text, given, listed) or nearest


_DRAWN = {
    "normal": ("normal", "randn", "standard_normal", "gauss", "normalvariate"),
    "integers": ("integers", "randint", "randrange", "choice"),
    **{name: (name, f"standard_{name}") for name in ("exponential", "lognormal", "poisson")},
    "bernoulli": ("binomial", "bernoulli"),
}


def _drawn(name: str) -> str:
    """The random number that is meant by that of another library."""
    ours = next((each for each, names in _DRAWN.items() if name in names), "uniform")
    given = {"integers": ", high=...", "bernoulli": ", p=...", "poisson": ", mean=..."}
    call = f"hawk.math.random.{ours}(seed, hawk.step_index(){given.get(ours, '')})"
    return f"{call}, with a number or a Param[Index] called seed"


def _advised(name: str, text: str, given: Sequence[str], listed: Sequence[str]) -> Fix:
    """What to write for a function that has no meaning, if anything is known."""
    numbers = listed if len(given) == 1 else given
    if name in _EXTREMES:
        keeping = text.removesuffix(name) + _EXTREMES[name]
        plain = _EXTREMES[name].removesuffix("imum")
        if len(numbers) < 2:
            return _reduction(plain, given, listed)
        nested = functools.reduce(lambda a, b: f"{keeping}({a}, {b})", numbers)
        return Edit(nested, ", which keeps NaN"), Edit(f"{plain}({', '.join(numbers)})")
    if name == "norm" and listed and len(given) == 1:
        return f"hawk.math.norm(hawk.math.vec({', '.join(listed)}))"
    if name in ("array", "asarray") and listed:
        if any(each.startswith(("[", "(")) for each in listed):
            return f"hawk.math.mat({', '.join(listed)})"
        return f"hawk.math.vec({', '.join(listed)})"
    if name in ("sort", "sorted") and len(listed) == 2 and len(given) == 1:
        return f"[min({listed[0]}, {listed[1]}), max({listed[0]}, {listed[1]})]"
    if name in _REDUCED:
        return _reduction(_REDUCED[name], given, listed)
    if name in ADVICE:
        return _with_arguments(ADVICE[name], given)
    known = same_name(name)
    return f"{known}({', '.join(given)})" if known and given else known


_REDUCED = {
    **{name: name for name in ("sum", "mean", "any", "all", "argmin", "argmax")},
    **{name: kind for kind in ("min", "max") for name in (kind, f"a{kind}")},
    "average": "mean",
    "nansum": "sum",
    "nanmean": "mean",
}
"""Functions of whole arrays, with the reduction of `hawk` that is meant."""


def _reduction(kind: str, given: Sequence[str], listed: Sequence[str]) -> Fix:
    """What to write for a reduction: over the batch, or over a few numbers that are listed."""
    builtin = kind in ("sum", "any", "all", "min", "max")
    if listed and len(given) == 1 and given[0][:1] in ("(", "["):
        return f"{kind}({given[0]})" if builtin else ""
    if len(given) != 1:
        return f"such as hawk.{kind}(x), of all samples"
    return Edit(f"hawk.{kind}({given[0]})", ", of all samples")


def _with_arguments(fix: str | Edit, given: Sequence[str]) -> str | Edit:
    """A suggestion with the texts of the arguments; an example where it needs others."""
    template = fix.text if isinstance(fix, Edit) else fix
    asked = {int(each) for each in re.findall(r"\{(\d)\}", template)}
    if asked and len(given) != max(asked) + 1:
        return "such as " + filled(template, **{"0": "x", "1": "y"})
    text = filled(template, **{str(n): each for n, each in enumerate(given)}) if asked else template
    return replace(fix, text=text) if isinstance(fix, Edit) else text


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
