"""Names from `math`, NumPy and the builtins that a kernel may call, as that library means them.

One table: the function as Python knows it, and a recipe that writes it with `Arithmetic`. A name
that is not here is refused, with the nearest one that is. To add a name, add a row.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from hawk.frontend.arithmetic import Arithmetic
from hawk.frontend.conversions import TARGETS
from hawk.frontend.operators import Literal, Misfit, is_bool, is_float
from hawk.ir.types import DType

Recipe: TypeAlias = Callable[..., Any]


def _float(numbers: Arithmetic, value: Any) -> Any:
    """`value` as a float: itself if it is one, else of the kernel's width."""
    return (
        value
        if is_float(numbers.kind(value)) and numbers.is_number(value)
        else numbers.to(value, numbers.real)
    )


def _floats(numbers: Arithmetic, *values: Any) -> tuple[Any, ...]:
    """The values as floats of one width."""
    return numbers.together(tuple(_float(numbers, value) for value in values))


def _unary(op: str) -> Recipe:
    """An operation of one float that gives a float."""
    return lambda numbers, x: numbers.emit(op, _float(numbers, x))


def _to_integer(op: str) -> Recipe:
    """Round a float by `op`, then make it an Index; an integer stays what it is."""

    def recipe(numbers: Arithmetic, x: Any) -> Any:
        if is_float(numbers.kind(x)):
            x = numbers.emit(op, _float(numbers, x))
        return numbers.convert(x, DType.I64)

    return recipe


def _absolute(numbers: Arithmetic, x: Any) -> Any:
    kind = numbers.kind(x)
    value = numbers.to(x, DType.I64 if is_bool(kind) else kind)
    return numbers.emit("abs", value, free=kind is Literal.INT)


def _fold(op: str) -> Recipe:
    """Python's `min` and `max`: the first, replaced by each that compares less or greater."""

    def recipe(numbers: Arithmetic, *values: Any) -> Any:
        values = numbers.together(values)
        if is_bool(numbers.kind(values[0])):
            values = tuple(numbers.to(value, DType.I64) for value in values)
        free = all(numbers.kind(value) is Literal.INT for value in values)
        best = values[0]
        for value in values[1:]:
            best = numbers.emit(op, best, value, free=free)
        return best

    return recipe


def _keeping_nan(op: str, symbol: str) -> Recipe:
    """NumPy's `minimum` and `maximum`: the first if it compares so or is NaN, else the second."""

    def recipe(numbers: Arithmetic, first: Any, second: Any) -> Any:
        a, b = numbers.together((first, second))
        if not is_float(numbers.kind(a)):
            return _fold(op)(numbers, a, b)
        wins = numbers.emit("or", numbers.binary(symbol, a, b), numbers.emit("isnan", a))
        return numbers.emit("select", wins, a, b)

    return recipe


def _ignoring_nan(op: str) -> Recipe:
    def recipe(numbers: Arithmetic, first: Any, second: Any) -> Any:
        return numbers.emit(op, *numbers.together((first, second)))

    return recipe


def _clip(numbers: Arithmetic, x: Any, low: Any, high: Any) -> Any:
    raised = _keeping_nan("max", ">")(numbers, x, low)
    return _keeping_nan("min", "<")(numbers, raised, high)


def _test(op: str) -> Recipe:
    """A question about a float; the answer for an integer is known."""

    def recipe(numbers: Arithmetic, x: Any) -> Any:
        if is_float(numbers.kind(x)):
            return numbers.emit(op, _float(numbers, x))
        return numbers.constant(op == "isfinite", DType.BOOL)

    return recipe


def _copysign(numbers: Arithmetic, size: Any, sign: Any) -> Any:
    return numbers.emit("copysign", *_floats(numbers, size, sign))


def _fma(numbers: Arithmetic, a: Any, b: Any, c: Any) -> Any:
    return numbers.emit("fma", *_floats(numbers, a, b, c))


def _float_abs(numbers: Arithmetic, x: Any) -> Any:
    return numbers.emit("abs", _float(numbers, x))


def _scaled(factor: float) -> Recipe:
    return lambda numbers, x: numbers.binary("*", _float(numbers, x), factor)


def _operator(symbol: str) -> Recipe:
    return lambda numbers, a, b: numbers.binary(symbol, a, b)


def _convert(target: DType | None) -> Recipe:
    return lambda numbers, x: numbers.convert(x, target or numbers.real)


def _round(numbers: Arithmetic, x: Any, ndigits: Any = None) -> Any:
    if ndigits is not None:
        what = "`round` to a number of digits is not there yet"
        raise Misfit("H209", what, "np.rint({left} * 100) / 100")
    return _to_integer("rint")(numbers, x)


def _where(numbers: Arithmetic, test: Any, first: Any, second: Any) -> Any:
    if not numbers.is_number(test):
        return numbers.settle(first if test else second)
    return numbers.select(test, first, second)


def _logical(op: str) -> Recipe:
    def recipe(numbers: Arithmetic, a: Any, b: Any) -> Any:
        return numbers.emit(op, *(numbers.convert(value, DType.BOOL) for value in (a, b)))

    return recipe


def _not(numbers: Arithmetic, x: Any) -> Any:
    return numbers.opposite(x)


def _square(numbers: Arithmetic, x: Any) -> Any:
    return numbers.binary("*", x, x)


_TABLE: dict[Any, Recipe] = {
    # builtins
    abs: _absolute,
    min: _fold("min"),
    max: _fold("max"),
    int: _convert(DType.I64),
    float: _convert(None),
    bool: _convert(DType.BOOL),
    round: _round,
    pow: _operator("**"),
    # hawk
    **{function: _convert(target) for function, target in TARGETS.items()},
    # math: floor, ceil and trunc give integers
    math.sqrt: _unary("sqrt"),
    math.floor: _to_integer("floor"),
    math.ceil: _to_integer("ceil"),
    math.trunc: _to_integer("trunc"),
    math.fabs: _float_abs,
    math.copysign: _copysign,
    math.isnan: _test("isnan"),
    math.isinf: _test("isinf"),
    math.isfinite: _test("isfinite"),
    math.radians: _scaled(math.pi / 180.0),
    math.degrees: _scaled(180.0 / math.pi),
    # NumPy: floor, ceil, trunc and rint give floats
    np.sqrt: _unary("sqrt"),
    np.floor: _unary("floor"),
    np.ceil: _unary("ceil"),
    np.trunc: _unary("trunc"),
    np.rint: _unary("rint"),
    np.absolute: _absolute,
    np.fabs: _float_abs,
    np.copysign: _copysign,
    np.isnan: _test("isnan"),
    np.isinf: _test("isinf"),
    np.isfinite: _test("isfinite"),
    np.minimum: _keeping_nan("min", "<"),
    np.maximum: _keeping_nan("max", ">"),
    np.fmin: _ignoring_nan("minimum"),
    np.fmax: _ignoring_nan("maximum"),
    np.clip: _clip,
    np.where: _where,
    np.square: _square,
    np.add: _operator("+"),
    np.subtract: _operator("-"),
    np.multiply: _operator("*"),
    np.divide: _operator("/"),
    np.logical_and: _logical("and"),
    np.logical_or: _logical("or"),
    np.logical_not: _not,
    np.float32: _convert(DType.F32),
    np.float64: _convert(DType.F64),
    np.int32: _convert(DType.I32),
    np.uint32: _convert(DType.U32),
    np.int64: _convert(DType.I64),
    np.bool_: _convert(DType.BOOL),
}

if hasattr(math, "fma"):  # Python 3.13
    _TABLE[getattr(math, "fma")] = _fma  # noqa: B009  older type stubs do not know it

RECIPES: Mapping[Any, Recipe] = _TABLE
"""Every function with a meaning in a kernel."""

TYPED = (*TARGETS, np.float32, np.float64, np.int32, np.uint32, np.int64, np.bool_)
"""Conversions whose result has a type even where the number is known."""

LATER = frozenset(
    [
        "exp",
        "exp2",
        "expm1",
        "log",
        "log2",
        "log10",
        "log1p",
        "cbrt",
        "pow",
        "hypot",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "atan2",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "arcsin",
        "arccos",
        "arctan",
        "arctan2",
        "arcsinh",
        "arccosh",
        "arctanh",
        "fmod",
        "remainder",
        "mod",
        "floor_divide",
        "float_power",
        "power",
        "sign",
        "erf",
        "erfc",
        "gamma",
        "lgamma",
        "dot",
        "cross",
        "matmul",
        "norm",
        "interp",
        "sum",
        "prod",
        "sincos",
        "fdim",
        "around",
        "nextafter",
        "ldexp",
        "frexp",
        "modf",
        "dist",
    ]
)
"""Names of `math` and NumPy that will have a meaning but have none yet."""


def recipe_of(function: Any) -> Recipe | None:
    """How a kernel computes `function`, or None."""
    try:
        return RECIPES.get(function)
    except TypeError:  # not hashable
        return None


def unknown(function: Any, text: str) -> tuple[str, str, str]:
    """Code, sentence and fix for a library's function without a meaning, written as `text`."""
    name = getattr(function, "__name__", text)
    if name in LATER:
        return "H209", f"`{text}` is not there yet", ""
    root = _root(function)
    same = [each.__name__ for each in RECIPES if _root(each) == root]
    close = difflib.get_close_matches(name, same, n=1)
    before = text.rpartition(".")
    fix = f"{before[0]}{before[1]}{close[0]}" if close else ""
    return "H304", f"`{text}` has no meaning in a kernel", fix


def _root(function: Any) -> str:
    return (getattr(function, "__module__", None) or "numpy").split(".")[0]
