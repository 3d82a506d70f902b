"""How a kernel computes functions of `math`, NumPy and the builtins, each as its library means it.

A recipe takes the numbers of a kernel (`Arithmetic`) and the arguments of the call; it is written
once for the traced program and for CPython. Parameters are named as the library names them: they
may be given by name. `names` says which function each recipe is for.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any, TypeAlias

from hawk.frontend.arithmetic import Arithmetic
from hawk.frontend.operators import Kind, Literal, Misfit, NotKnown, is_bool, is_float
from hawk.ir.meaning import RANGE, round_f32
from hawk.ir.types import DType
from hawk.math import log as own_log
from hawk.math.fast import FAST
from hawk.math.terms import Term

Recipe: TypeAlias = Callable[..., Any]

DIGITS_MAX = 22
"""The largest power of ten that a float64 holds exactly; so far `round` is exact."""


# --- what arguments become -----------------------------------------------------------------------


def _float(numbers: Arithmetic, value: Any) -> Any:
    """`value` as a float: itself if it is one, else of the kernel's width."""
    if numbers.is_number(value) and is_float(numbers.kind(value)):
        return value
    return numbers.to(value, numbers.real)


def _floats(numbers: Arithmetic, *values: Any) -> tuple[Any, ...]:
    """The values as floats of one width."""
    return numbers.together(tuple(_float(numbers, value) for value in values))


def _alike(numbers: Arithmetic, *values: Any) -> tuple[Any, ...]:
    """The values as numbers of one type to compute with, so bools as integers."""
    values = numbers.together(values)
    if is_bool(numbers.kind(values[0])):
        return tuple(numbers.to(value, DType.I64) for value in values)
    return values


def _whole(numbers: Arithmetic, value: Any, what: str) -> int:
    """A known integer. Raises Misfit for anything else."""
    number = numbers.known(value) if numbers.is_number(value) else value
    if isinstance(number, int) and not isinstance(number, bool):
        return number
    if number is None:
        raise NotKnown("H212", f"{what} must be known when the kernel is traced", "a number")
    raise Misfit("H201", f"{what} is an integer, not {number!r}")


def _type(kind: Kind) -> DType:
    return kind if isinstance(kind, DType) else DType.I64


# --- floats --------------------------------------------------------------------------------------


def of_float(op: str) -> Recipe:
    """An operation on one float."""
    return lambda numbers, x: numbers.emit(op, _float(numbers, x))


def of_floats(op: str) -> Recipe:
    """An operation on two floats."""
    return lambda numbers, x, y: numbers.emit(op, *_floats(numbers, x, y))


def elementary(function: Callable[..., Any]) -> Recipe:
    """A function of `hawk.math`, of as many floats as it takes, under the names it gives them."""
    signature = inspect.signature(function)
    fast = FAST.get(function.__name__, function)

    def recipe(numbers: Arithmetic, *args: Any, **keywords: Any) -> Any:
        floats = _floats(numbers, *signature.bind(*args, **keywords).args)
        kind = _type(numbers.kind(floats[0]))
        with numbers.unwatched():
            result = (fast if numbers.fast else function)(
                *[Term(numbers, value, kind) for value in floats]
            )
        return tuple(t.value for t in result) if isinstance(result, tuple) else result.value

    first = inspect.Parameter("numbers", inspect.Parameter.POSITIONAL_ONLY)
    setattr(recipe, "__signature__", inspect.Signature([first, *signature.parameters.values()]))  # noqa: B010
    return recipe


def logarithm(numbers: Arithmetic, x: Any, base: Any = None) -> Any:
    """`math.log`: natural, or to a base, which is a quotient of two logarithms."""
    natural = elementary(own_log)
    if base is None:
        return natural(numbers, x)
    return numbers.binary("/", natural(numbers, x), natural(numbers, base))


def fma(numbers: Arithmetic, x: Any, y: Any, z: Any) -> Any:
    return numbers.emit("fma", *_floats(numbers, x, y, z))


def is_what(op: str) -> Recipe:
    """A question about a float; the answer for an integer is known."""

    def recipe(numbers: Arithmetic, x: Any) -> Any:
        if is_float(numbers.kind(x)):
            return numbers.emit(op, _float(numbers, x))
        return numbers.constant(op == "isfinite", DType.BOOL)

    return recipe


def scaled(factor: float, narrow: float | None = None) -> Recipe:
    """A product with a constant; `narrow` is the constant of a float32."""

    def recipe(numbers: Arithmetic, x: Any) -> Any:
        x = _float(numbers, x)
        other = factor if narrow is None or numbers.kind(x) is DType.F64 else narrow
        return numbers.binary("*", x, other)

    return recipe


NUMPY_DEGREES = (180.0 / math.pi, round_f32(180.0 / round_f32(math.pi)))
"""NumPy divides the constants of `np.degrees` in the width of the argument."""


def math_remainder(numbers: Arithmetic, x: Any, y: Any) -> Any:
    """`x` less the multiple of `y` that is nearest to it, of two the even one: exact."""
    emit = numbers.emit
    x, y = _floats(numbers, x, y)
    size = emit("abs", y)
    rest = emit("fmod", emit("abs", x), emit("add", size, size))
    above = emit("gt", emit("add", rest, rest), size)
    rest = emit("select", above, emit("sub", rest, size), rest)
    again = emit("and", above, emit("ge", emit("add", rest, rest), size))
    rest = emit("select", again, emit("sub", rest, size), rest)
    one = numbers.constant(1.0, _type(numbers.kind(x)))
    return emit("mul", rest, emit("copysign", one, x))


# --- rounding ------------------------------------------------------------------------------------


def to_integer(op: str) -> Recipe:
    """Round a float by `op`, then make it an Index; an integer stays what it is."""

    def recipe(numbers: Arithmetic, x: Any) -> Any:
        if is_float(numbers.kind(x)):
            x = numbers.emit(op, _float(numbers, x))
        return numbers.convert(x, DType.I64)

    return recipe


def builtin_round(numbers: Arithmetic, number: Any, ndigits: Any = None) -> Any:
    """Python's `round`: to an integer, or to a known number of digits, correctly rounded."""
    if ndigits is None:
        return to_integer("rint")(numbers, number)
    digits = _whole(numbers, ndigits, "the number of digits of `round`")
    if not is_float(numbers.kind(number)):
        return _whole_to_digits(numbers, number, digits)
    if abs(digits) > DIGITS_MAX:
        raise _too_many_digits("`round`", "round", digits)
    x = _float(numbers, number)
    kind = _type(numbers.kind(x))
    if digits == 0:
        return numbers.emit("rint", x)
    wide = numbers.to(x, DType.F64)  # a float32 is rounded as the float that Python makes of it
    result = (_decimals if digits > 0 else _tens)(numbers, wide, float(10 ** abs(digits)))
    return numbers.convert(numbers.emit("copysign", result, wide), kind)


def _too_many_digits(who: str, name: str, digits: int) -> Misfit:
    what = f"{who} takes at most {DIGITS_MAX} digits in a kernel: a float64 holds no higher power "
    most = DIGITS_MAX if digits > 0 else -DIGITS_MAX
    return Misfit("H203", what + "of ten exactly", f"{name}({{left}}, {most})")


def _decimals(numbers: Arithmetic, x: Any, scale: float) -> Any:
    """`x` to a decimal place, apart from the sign of 0.

    `x * scale` is known exactly as `high + low`, so a tie is told from what is next to one. The
    quotient of two numbers that are exact is rounded once. From 2**53 on, `x` is nearer to the
    decimal number than any other float.
    """
    emit = numbers.emit
    scale, half, last = (numbers.constant(c, DType.F64) for c in (scale, 0.5, 2.0**53))
    high = emit("mul", x, scale)
    low = emit("fma", x, scale, emit("neg", high))
    whole = emit("rint", high)
    tie = emit("eq", emit("abs", emit("sub", high, whole)), half)
    above = emit("add", high, emit("copysign", half, low))
    zero = numbers.constant(0.0, DType.F64)
    whole = emit("select", emit("and", tie, emit("ne", low, zero)), above, whole)
    small = emit("lt", emit("abs", high), last)
    return emit("select", small, emit("div", whole, scale), x)


def _tens(numbers: Arithmetic, x: Any, scale: float) -> Any:
    """`x` to a power of ten, apart from the sign of 0. What is left of the quotient is exact."""
    emit = numbers.emit
    factor, half, least, one, last = (
        numbers.constant(c, DType.F64) for c in (scale, scale / 2, -scale / 2, 1.0, 2.0**53)
    )
    quotient = emit("div", x, factor)
    whole = emit("rint", quotient)
    rest = emit("fma", emit("neg", whole), factor, x)
    whole = emit("select", emit("gt", rest, half), emit("add", whole, one), whole)
    whole = emit("select", emit("lt", rest, least), emit("sub", whole, one), whole)
    small = emit("lt", emit("abs", quotient), last)
    return emit("select", small, emit("mul", whole, factor), x)


def _whole_to_digits(numbers: Arithmetic, number: Any, digits: int) -> Any:
    """An integer to a power of ten, half to even; with digits behind the point it stays."""
    (number,) = _alike(numbers, number)
    if digits >= 0:
        return number
    kind = numbers.kind(number)
    scale, (_, greatest) = 10**-digits, RANGE[_type(kind)]
    if scale // 2 > greatest:
        return numbers.to(0, kind)
    if scale > greatest:
        raise Misfit(
            "H203", f"10 ** {-digits} does not fit this integer", "float({left})", side="left"
        )
    binary = numbers.binary
    quotient, rest = binary("//", number, scale), binary("%", number, scale)
    odd = binary("==", binary("&", quotient, 1), 1)
    tie = numbers.emit("and", binary("==", rest, scale // 2), odd)
    up = numbers.emit("or", binary(">", rest, scale // 2), tie)
    return binary("*", numbers.select(up, binary("+", quotient, 1), quotient), scale)


def numpy_round(numbers: Arithmetic, a: Any, decimals: Any = 0) -> Any:
    """NumPy's `round`: times a power of ten, to even, and back; three roundings."""
    digits = _whole(numbers, decimals, "`decimals`")
    if not is_float(numbers.kind(a)):
        if digits >= 0:
            return _alike(numbers, a)[0]
        what = "NumPy rounds an integer by way of floats"
        raise Misfit("H201", what, f"round({{left}}, {digits})")
    if abs(digits) > DIGITS_MAX:
        raise _too_many_digits("NumPy's `round`", "np.round", digits)
    x = _float(numbers, a)
    if digits == 0:
        return numbers.emit("rint", x)
    there, back = ("*", "/") if digits > 0 else ("/", "*")
    scale = float(10 ** abs(digits))
    return numbers.binary(back, numbers.emit("rint", numbers.binary(there, x, scale)), scale)


# --- of any numbers ------------------------------------------------------------------------------


def convert(target: DType | None) -> Recipe:
    """A conversion to a type; None: to the kernel's float."""
    return lambda numbers, x: numbers.convert(x, target or numbers.real)


def operator(symbol: str) -> Recipe:
    """What an operator of Python does."""
    return lambda numbers, x, y: numbers.binary(symbol, x, y)


def power(numbers: Arithmetic, base: Any, exp: Any) -> Any:
    return numbers.binary("**", base, exp)


def negative(numbers: Arithmetic, x: Any) -> Any:
    return numbers.unary("-", x)


def positive(numbers: Arithmetic, x: Any) -> Any:
    return numbers.unary("+", x)


def absolute(numbers: Arithmetic, x: Any) -> Any:
    (value,) = _alike(numbers, x)
    return numbers.emit("abs", value, free=numbers.kind(value) is Literal.INT)


def square(numbers: Arithmetic, x: Any) -> Any:
    return numbers.binary("*", x, x)


def both(numbers: Arithmetic, x: Any, y: Any) -> tuple[Any, Any]:
    """`divmod`: the floored quotient and what it leaves."""
    return numbers.binary("//", x, y), numbers.binary("%", x, y)


def numpy_fmod(numbers: Arithmetic, x: Any, y: Any) -> Any:
    """What truncating division leaves, of integers too."""
    a, b = _alike(numbers, x, y)
    free = numbers.kind(a) is Literal.INT and numbers.kind(b) is Literal.INT
    return numbers.emit("fmod", a, b, free=free)


def sign(numbers: Arithmetic, x: Any) -> Any:
    """-1, 0 or 1; of NaN it is NaN."""
    (value,) = _alike(numbers, x)
    kind = numbers.kind(value)
    result, free = numbers.to(0, kind), kind is Literal.INT
    if is_float(kind):
        result = numbers.emit("select", numbers.emit("isnan", value), value, result)
    if kind is not DType.U32:
        below = numbers.to(-1, kind)
        result = numbers.emit("select", numbers.binary("<", value, 0), below, result, free=free)
    above = numbers.to(1, kind)
    return numbers.emit("select", numbers.binary(">", value, 0), above, result, free=free)


def signbit(numbers: Arithmetic, x: Any) -> Any:
    """Is it negative, -0 included? The sign of a NaN counts as +."""
    if is_float(numbers.kind(x)):
        x = _float(numbers, x)
        x = numbers.emit("copysign", numbers.constant(1.0, _type(numbers.kind(x))), x)
    return numbers.binary("<", x, 0)


def bit_count(numbers: Arithmetic, x: Any) -> Any:
    """How many bits of the number's size are 1."""
    (value,) = _alike(numbers, x)
    if is_float(numbers.kind(value)):
        raise Misfit("H201", "a float has no bits to count", "int({left})", side="left")
    free = numbers.kind(value) is Literal.INT
    return numbers.emit("popcount", numbers.emit("abs", value, free=free), free=free)


# --- the lesser and the greater ------------------------------------------------------------------


def fold(op: str) -> Recipe:
    """Python's `min` and `max`: the first, replaced by each that compares less or greater."""

    def recipe(numbers: Arithmetic, *values: Any) -> Any:
        values = _alike(numbers, *values)
        free = all(numbers.kind(value) is Literal.INT for value in values)
        best = values[0]
        for value in values[1:]:
            best = numbers.emit(op, best, value, free=free)
        return best

    return recipe


def keeping_nan(op: str, symbol: str) -> Recipe:
    """NumPy's `minimum` and `maximum`: the first if it compares so or is NaN, else the second."""

    def recipe(numbers: Arithmetic, x: Any, y: Any) -> Any:
        a, b = numbers.together((x, y))
        if not is_float(numbers.kind(a)):
            return fold(op)(numbers, a, b)
        wins = numbers.emit("or", numbers.binary(symbol, a, b), numbers.emit("isnan", a))
        return numbers.emit("select", wins, a, b)

    return recipe


def ignoring_nan(op: str) -> Recipe:
    """NumPy's `fmin` and `fmax`."""

    def recipe(numbers: Arithmetic, x: Any, y: Any) -> Any:
        a, b = _alike(numbers, x, y)
        free = numbers.kind(a) is Literal.INT and numbers.kind(b) is Literal.INT
        return numbers.emit(op, a, b, free=free)

    return recipe


def clip(numbers: Arithmetic, a: Any, a_min: Any, a_max: Any) -> Any:
    raised = keeping_nan("max", ">")(numbers, a, a_min)
    return keeping_nan("min", "<")(numbers, raised, a_max)


def own_clip(numbers: Arithmetic, x: Any, low: Any, high: Any) -> Any:
    """`hawk.math.clip`."""
    return clip(numbers, x, low, high)


def total(numbers: Arithmetic, iterable: Any, start: Any = 0) -> Any:
    """`sum`: one addition after the other, from the left, on every Python."""
    for value in iterable:
        start = numbers.binary("+", start, value)
    return start


# --- bools ---------------------------------------------------------------------------------------


def where(numbers: Arithmetic, condition: Any, x: Any, y: Any) -> Any:
    if numbers.is_number(condition):
        return numbers.select(condition, x, y)
    x, y = numbers.together((x, y))
    return x if condition else y


def logical(op: str) -> Recipe:
    def recipe(numbers: Arithmetic, x: Any, y: Any) -> Any:
        return numbers.emit(op, *(numbers.convert(value, DType.BOOL) for value in (x, y)))

    return recipe


def opposite(numbers: Arithmetic, x: Any) -> Any:
    return numbers.opposite(x)


def invert(numbers: Arithmetic, x: Any) -> Any:
    """NumPy's `invert`, which takes a bool to its opposite."""
    return numbers.opposite(x) if is_bool(numbers.kind(x)) else numbers.unary("~", x)
