"""What each operation computes, on plain Python numbers, exact to the last bit.

Every function takes the type of the operation's last operand and then the numbers: a bool, an int
within its type's range, or a float; an f32 number is a float that f32 can hold. It gives a number
of the result's type and never raises: what Python refuses (`1.0 / 0.0`) is IEEE 754 here.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from ctypes import c_double, c_float, c_int32, c_int64
from typing import Any, cast

from hawk.ir.nodes import Number
from hawk.ir.types import DType

INF, NAN = math.inf, math.nan

RANGE: Mapping[DType, tuple[int, int]] = {
    DType.I32: (-(2**31), 2**31 - 1),
    DType.U32: (0, 2**32 - 1),
    DType.I64: (-(2**63), 2**63 - 1),
}
"""The least and the greatest number of each integer type."""


def round_f32(number: float) -> float:
    """`number` rounded to f32, to nearest even; too large gives inf."""
    return c_float(number).value


def _wrap_i32(number: int) -> int:
    return ((number + 0x8000_0000) & 0xFFFF_FFFF) - 0x8000_0000


def _wrap_u32(number: int) -> int:
    return number & 0xFFFF_FFFF


def _wrap_i64(number: int) -> int:
    return ((number + (1 << 63)) & 0xFFFF_FFFF_FFFF_FFFF) - (1 << 63)


FIT: Mapping[DType, Callable[[Any], Number]] = {
    DType.BOOL: bool,
    DType.I32: _wrap_i32,
    DType.U32: _wrap_u32,
    DType.I64: _wrap_i64,
    DType.F32: round_f32,
    DType.F64: float,
}
"""How a result computed too widely comes back into its type: integers wrap, floats round."""


def represent(dtype: DType, number: Number) -> Number:
    """`number` as a number of `dtype`: integers wrap, and floats round once, however wide it is.

    Raises TypeError for a fraction where an integer is due.
    """
    if dtype is DType.BOOL:
        return bool(number)
    if dtype.is_int:
        return FIT[dtype](operator.index(cast("int", number)))
    if isinstance(number, int):
        return _int_to_float(dtype, number)
    return FIT[dtype](float(number))


def same(a: Number, b: Number) -> bool:
    """Whether two numbers of one type have the same bits; a NaN is the same as any NaN."""
    if isinstance(a, float) and isinstance(b, float):
        return (a == b and math.copysign(1, a) == math.copysign(1, b)) or (a != a and b != b)
    return type(a) is type(b) and a == b


def add(dtype: DType, a: float, b: float) -> Number:
    return FIT[dtype](a + b)


def sub(dtype: DType, a: float, b: float) -> Number:
    return FIT[dtype](a - b)


def mul(dtype: DType, a: float, b: float) -> Number:
    return FIT[dtype](a * b)


def neg(dtype: DType, a: float) -> Number:
    return FIT[dtype](-a)


def absolute(dtype: DType, a: float) -> Number:
    return FIT[dtype](abs(a))


def div(dtype: DType, a: float, b: float) -> Number:
    if b == 0:
        return NAN if a == 0 or a != a else math.copysign(INF, a) * math.copysign(1, b)
    # The quotient of two f32 rounded to f64 and then to f32 is the quotient rounded once
    # (53 >= 2 * 24 + 2, Figueroa 1995); the same holds for + - * and sqrt.
    return FIT[dtype](a / b)


def fma(dtype: DType, a: float, b: float, c: float) -> float:
    """`a * b + c` rounded once."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    return _fma_f32(a, b, c) if dtype is DType.F32 else _fma_f64(a, b, c)


def _fma_f32(a: float, b: float, c: float) -> float:
    product = a * b  # exact: 48 bits
    total = product + c
    back = total - product
    lost = (product - (total - back)) + (c - back)  # exact (Knuth's two-sum)
    if lost and not c_int64.from_buffer(c_double(total)).value & 1:
        # Round to odd first: then the second rounding, to f32, sees which way the rest lies.
        total = math.nextafter(total, INF if lost > 0 else -INF)
    return round_f32(total)


def _fma_f64(a: float, b: float, c: float) -> float:
    if a == 0 or b == 0:
        return a * b + c
    if c == 0:
        return a * b
    (p, q), (r, s), (t, u) = a.as_integer_ratio(), b.as_integer_ratio(), c.as_integer_ratio()
    above, below = p * r * u + t * q * s, q * s * u
    try:
        return above / below  # Python rounds the quotient of two integers once
    except OverflowError:
        return INF if above > 0 else -INF


def floordiv(dtype: DType, a: float, b: float) -> Number:
    """CPython's `//`, rounding by rounding (`float_floor_div`); by 0 it is `a / b`, or 0."""
    if not dtype.is_float:
        return FIT[dtype](a // b) if b else 0
    if b == 0:
        return div(dtype, a, b)
    fit = FIT[dtype]
    rest = fmod(dtype, a, b)
    quotient = fit(fit(a - rest) / b)
    if rest and (rest < 0) != (b < 0):
        quotient = fit(quotient - 1.0)
    if quotient == 0:
        return math.copysign(0.0, div(dtype, a, b))
    whole = floor(dtype, quotient)
    return fit(whole + 1.0) if quotient - whole > 0.5 else whole


def mod(dtype: DType, a: float, b: float) -> Number:
    """CPython's `%` (`float_rem`); by 0 it is NaN, or 0."""
    if not dtype.is_float:
        return a % b if b else 0
    rest = fmod(dtype, a, b)
    if rest == 0:
        return math.copysign(0.0, b)
    return FIT[dtype](rest + b) if (rest < 0) != (b < 0) else rest


def fmod(dtype: DType, a: float, b: float) -> Number:
    """C's `fmod`, and the same of integers; by 0 it is NaN, or 0."""
    if not dtype.is_float:
        size = abs(a) % abs(b) if b else 0
        return -size if a < 0 else size
    return NAN if b == 0 or abs(a) == INF else math.fmod(a, b)


def quot(dtype: DType, a: int, b: int) -> Number:
    whole = abs(a) // abs(b) if b else 0
    return FIT[dtype](whole if (a < 0) == (b < 0) else -whole)


def both(dtype: DType, a: int, b: int) -> Number:
    return a & b


def either(dtype: DType, a: int, b: int) -> Number:
    return a | b


def differ(dtype: DType, a: int, b: int) -> Number:
    return a ^ b


def invert(dtype: DType, a: int) -> Number:
    return not a if dtype is DType.BOOL else FIT[dtype](~a)


def popcount(dtype: DType, a: int) -> Number:
    return (a % 2**dtype.bits).bit_count()


def shl(dtype: DType, a: int, n: int) -> Number:
    return FIT[dtype](a << n) if 0 <= n < dtype.bits else 0


def shr(dtype: DType, a: int, n: int) -> Number:
    return a >> n if 0 <= n < dtype.bits else 0


def eq(dtype: DType, a: Number, b: Number) -> bool:
    return a == b


def ne(dtype: DType, a: Number, b: Number) -> bool:
    return a != b


def lt(dtype: DType, a: float, b: float) -> bool:
    return a < b


def le(dtype: DType, a: float, b: float) -> bool:
    return a <= b


def gt(dtype: DType, a: float, b: float) -> bool:
    return a > b


def ge(dtype: DType, a: float, b: float) -> bool:
    return a >= b


def select(dtype: DType, test: bool, a: Number, b: Number) -> Number:
    return a if test else b


def lesser(dtype: DType, a: float, b: float) -> Number:
    return b if b < a else a


def greater(dtype: DType, a: float, b: float) -> Number:
    return b if b > a else a


def minimum(dtype: DType, a: float, b: float) -> Number:
    if a != a or b != b:
        return b if a != a else a
    if a == b == 0 and dtype.is_float:
        return a if math.copysign(1, a) < 0 else b
    return a if a < b else b


def maximum(dtype: DType, a: float, b: float) -> Number:
    if a != a or b != b:
        return b if a != a else a
    if a == b == 0 and dtype.is_float:
        return b if math.copysign(1, a) < 0 else a
    return a if a > b else b


def sqrt(dtype: DType, a: float) -> Number:
    return FIT[dtype](math.sqrt(a)) if not a < 0 else NAN


def _to_integral(how: Callable[[float], int]) -> Callable[[DType, float], float]:
    """Round to an integral float by `how`; what rounds to zero keeps its sign."""

    def rounded(dtype: DType, a: float) -> float:
        return math.copysign(float(how(a)), a) if abs(a) < 2**53 else a

    return rounded


floor, ceil = _to_integral(math.floor), _to_integral(math.ceil)
trunc, rint = _to_integral(math.trunc), _to_integral(round)


def copysign(dtype: DType, a: float, b: float) -> float:
    return math.copysign(a, b if b == b else 1.0)


def isnan(dtype: DType, a: float) -> bool:
    return a != a


def isinf(dtype: DType, a: float) -> bool:
    return abs(a) == INF


def isfinite(dtype: DType, a: float) -> bool:
    return abs(a) < INF


def convert(target: DType) -> Callable[[DType, Number], Number]:
    """The meaning of the conversion of any scalar to `target`."""

    def to_bool(dtype: DType, a: Number) -> bool:
        return a != 0

    def to_int(dtype: DType, a: Number) -> Number:
        if not isinstance(a, float):
            return FIT[target](int(a))
        least, greatest = RANGE[target]
        if a != a:
            return 0
        return greatest if a >= greatest else least if a <= least else int(a)

    def to_float(dtype: DType, a: Number) -> Number:
        return FIT[target](a) if isinstance(a, float) else _int_to_float(target, int(a))

    return to_bool if target is DType.BOOL else to_int if target.is_int else to_float


def _int_to_float(target: DType, number: int) -> Number:
    """`number` as a float of `target`, rounded once; too large gives inf."""
    excess = number.bit_length() - 53
    if target is DType.F32 and excess > 0:
        # Keep the 53 bits an f64 can hold and set the last one if a bit was lost (round to odd):
        # then only the rounding to f32 changes the number, and it sees on which side the rest was.
        head, rest = divmod(abs(number), 1 << excess)
        size = (head | bool(rest)) << excess
        number = size if number > 0 else -size
    try:
        return FIT[target](float(number))
    except OverflowError:
        return INF if number > 0 else -INF


def lshr(dtype: DType, a: int, places: int) -> Number:
    """`a` shifted to the right, zeros coming in whatever its sign; too far gives 0."""
    width = 8 * dtype.itemsize
    return FIT[dtype]((a & (2**width - 1)) >> places) if 0 <= places < width else 0


def bits(dtype: DType, x: float) -> Number:
    """The bits of a float."""
    wide = dtype is DType.F64
    return c_int64.from_buffer(c_double(x)).value if wide else c_int32.from_buffer(c_float(x)).value


def from_bits(dtype: DType, number: int) -> Number:
    """The float with these bits."""
    wide = dtype is DType.I64
    return (
        c_double.from_buffer(c_int64(number)).value
        if wide
        else c_float.from_buffer(c_int32(number)).value
    )


def mulhi(_: DType, x: int, y: int) -> int:
    """The upper half of a product of two uint32."""
    return x * y >> 32


def lookup(_: DType, table: Sequence[Number], place: int) -> Number:
    """An element of a table; `place` is one of its places."""
    if not 0 <= place < len(table):
        raise IndexError(f"element {place} of a table of {len(table)}")
    return table[place]


def near(dtype: DType, table: Sequence[Number], outside: bool, simple: int, place: int) -> Number:
    """The element at `place`, which is `simple` but `outside`."""
    if not outside and simple != place:
        raise IndexError(f"element {place} of a table, told as {simple}")
    return lookup(dtype, table, place)
