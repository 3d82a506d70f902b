"""Operations that LLVM has no safe instruction for, written with ones that it has.

Each function takes the builder that receives the statements and the operands, and gives the
result. It uses only rows that have an LLVM spelling for the types at hand, so one round of
replacing is enough. Nothing here divides by 0 or MIN by -1 (the machine traps, even in a lane that
is masked out), shifts by more than the width or converts a float out of range (LLVM gives poison).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hawk.ir.meaning import RANGE, round_f32
from hawk.ir.types import DType

if TYPE_CHECKING:
    from collections.abc import Callable

    from hawk.ir.builder import Builder
    from hawk.ir.nodes import Value


def floordiv(b: Builder, x: Value, y: Value) -> Value:
    """Floor of the quotient; by 0 it is 0, and MIN // -1 wraps."""
    zero, by_zero, by_minus_one, safe = _safe_divisor(b, y)
    quotient = b.apply("quot", x, safe)
    if x.dtype is not DType.U32:
        rest = b.apply("sub", x, b.apply("mul", quotient, safe))
        less = b.apply("sub", quotient, b.const(1, x.dtype))
        quotient = b.apply("select", _floor_is_less(b, rest, safe), less, quotient)
    if by_minus_one is not None:
        quotient = b.apply("select", by_minus_one, b.apply("neg", x), quotient)
    return b.apply("select", by_zero, zero, quotient)


def mod(b: Builder, x: Value, y: Value) -> Value:
    """What `floordiv` leaves, with the sign of the divisor; by 0 and by -1 it is 0."""
    _, _, _, safe = _safe_divisor(b, y)  # the rest of a division by 1 is 0, as it is by 0 and -1
    quotient = b.apply("quot", x, safe)
    rest = b.apply("sub", x, b.apply("mul", quotient, safe))
    if x.dtype is DType.U32:
        return rest
    return b.apply("select", _floor_is_less(b, rest, safe), b.apply("add", rest, safe), rest)


def fmod(b: Builder, x: Value, y: Value) -> Value:
    """What truncating division leaves, with the sign of the dividend; by 0 it is 0."""
    _, _, _, safe = _safe_divisor(b, y)
    return b.apply("sub", x, b.apply("mul", b.apply("quot", x, safe), safe))


def _safe_divisor(b: Builder, y: Value) -> tuple[Value, Value, Value | None, Value]:
    """Zero, whether `y` is 0, whether it is -1 (None: it cannot be), and `y` or else 1."""
    zero, one = b.const(0, y.dtype), b.const(1, y.dtype)
    by_zero = b.apply("eq", y, zero)
    if y.dtype is DType.U32:
        return zero, by_zero, None, b.apply("select", by_zero, one, y)
    by_minus_one = b.apply("eq", y, b.const(-1, y.dtype))
    unsafe = b.apply("or", by_zero, by_minus_one)
    return zero, by_zero, by_minus_one, b.apply("select", unsafe, one, y)


def _floor_is_less(b: Builder, rest: Value, divisor: Value) -> Value:
    """Whether the floor lies below the truncated quotient: a rest whose sign is the other one."""
    zero = b.const(0, rest.dtype)
    other_sign = b.apply("lt", b.apply("xor", rest, divisor), zero)
    return b.apply("and", b.apply("ne", rest, zero), other_sign)


def mulhi(b: Builder, x: Value, y: Value) -> Value:
    """The upper half of a product: the product of both as int64, which is one instruction."""
    product = b.apply("mul", b.apply("to_i64", x), b.apply("to_i64", y))
    return b.apply("to_u32", b.apply("fit_lshr", product, b.const(32, DType.I64)))


def shl(b: Builder, x: Value, n: Value) -> Value:
    """Shift to the left; by the width or more, or by a negative amount, it is 0."""
    return _shift(b, "fit_shl", x, n)


def shr(b: Builder, x: Value, n: Value) -> Value:
    """Shift to the right; by the width or more, or by a negative amount, it is 0."""
    return _shift(b, "fit_shr", x, n)


def _shift(b: Builder, op: str, x: Value, n: Value) -> Value:
    widest = b.const(x.dtype.bits - 1, x.dtype)
    amount = b.apply("and", n, widest)
    return b.apply("select", b.apply("eq", amount, n), b.apply(op, x, amount), b.const(0, x.dtype))


def invert(b: Builder, x: Value) -> Value:
    """Every bit the other way."""
    return b.apply("xor", x, b.const(True if x.dtype is DType.BOOL else -1, x.dtype))


def lesser(b: Builder, x: Value, y: Value) -> Value:
    """Python's `min(x, y)`."""
    return b.apply("select", b.apply("lt", y, x), y, x)


def greater(b: Builder, x: Value, y: Value) -> Value:
    """Python's `max(x, y)`."""
    return b.apply("select", b.apply("gt", y, x), y, x)


def copysign(b: Builder, x: Value, y: Value) -> Value:
    """The size of `x` with the sign of `y`, where a NaN's sign counts as +."""
    sign = b.apply("select", b.apply("isnan", y), b.const(1.0, y.dtype), y)
    return b.apply("fit_copysign", x, sign)


def isinf(b: Builder, x: Value) -> Value:
    """Is it +inf or -inf?"""
    return b.apply("eq", b.apply("abs", x), b.const(math.inf, x.dtype))


def isfinite(b: Builder, x: Value) -> Value:
    """Is it neither infinite nor NaN?"""
    return b.apply("lt", b.apply("abs", x), b.const(math.inf, x.dtype))


def to_bool(b: Builder, x: Value) -> Value:
    """Is it other than 0? A NaN is."""
    return b.apply("ne", x, b.const(0, x.dtype))


def to_int(target: DType) -> Callable[[Builder, Value], Value]:
    """Float to integer: truncate, saturate, NaN gives 0."""
    least, greatest = RANGE[target]

    def convert(b: Builder, x: Value) -> Value:
        # Clamp in floats first. `low` is exact; `high` is the greatest float of this width that
        # fits, which is less than `greatest` where the float has fewer bits than the integer.
        low = b.const(float(least), x.dtype)
        high = b.const(_greatest_float(greatest, x.dtype), x.dtype)
        clamped = b.apply("select", b.apply("gt", x, low), x, low)  # NaN gives low
        clamped = b.apply("select", b.apply("lt", clamped, high), clamped, high)
        result = b.apply(f"fit_{target.value}", clamped)
        if high.number < greatest:
            above = b.apply("gt", x, high)
            result = b.apply("select", above, b.const(greatest, target), result)
        if least:
            zero = b.const(0, target)
            result = b.apply("select", b.apply("isnan", x), zero, result)
        return result

    return convert


def _greatest_float(limit: int, dtype: DType) -> float:
    """The greatest number of a float type that is not above `limit`."""
    bits = 24 if dtype is DType.F32 else 53
    excess = max(0, limit.bit_length() - bits)
    number = float(limit >> excess << excess)
    assert round_f32(number) == number or dtype is DType.F64
    return number
