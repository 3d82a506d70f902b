"""What each instruction of PTX computes, as a table: operands in arrays, one element a thread.

An entry takes the instruction and says the kinds of the result and of the operands, and how the
one is computed from the others. It raises `Unknown` for every modifier that it does not know: what
is rounded otherwise, flushed to 0 or left to be contracted must not pass for what was asked.
Instructions that read memory, jump or wait are `machine`'s.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.ptx import bits
from tests.ptx.conversions import convert
from tests.ptx.fma import fma
from tests.ptx.kinds import (
    Array,
    bits_in,
    canonical,
    dtype_of,
    garbage,
    is_float,
)
from tests.ptx.parse import Instruction
from tests.ptx.rules import (
    FLOATS,
    INTEGERS,
    Meaning,
    Write,
    float_kind,
    of_integers,
    rounded_to_nearest,
    unsigned,
)

# --- integers -------------------------------------------------------------------------------------


def _high(a: Array, b: Array) -> Array:
    """The upper half of a product, of the same kind."""
    if a.itemsize < 8:
        wide = np.dtype(f"{a.dtype.kind}{2 * a.itemsize}")
        return (a.astype(wide) * b.astype(wide) >> 8 * a.itemsize).astype(a.dtype)
    low, shift = np.uint64(0xFFFF_FFFF), np.uint64(32)
    x, y = unsigned(a), unsigned(b)
    x1, x0, y1, y0 = x >> shift, x & low, y >> shift, y & low
    middle = (x0 * y0 >> shift) + (x1 * y0 & low) + (x0 * y1 & low)
    high = x1 * y1 + (x1 * y0 >> shift) + (x0 * y1 >> shift) + (middle >> shift)
    if a.dtype.kind == "i":
        zero = np.uint64(0)
        high = high - np.where(a < 0, y, zero) - np.where(b < 0, x, zero)
    return high.view(a.dtype)


def _product(ins: Instruction, added: int) -> Meaning:
    """`mul` and `mad` of integers: the low or high half of the product, or all of it."""
    part, kind = ins.modifiers if len(ins.modifiers) == 2 else ("", "")
    if kind not in INTEGERS or part not in ("lo", "hi", "wide"):
        raise ins.unknown("modifiers")
    result = f"{kind[0]}{2 * bits_in(kind)}" if part == "wide" else kind
    if result not in INTEGERS:
        raise ins.unknown("modifiers")
    wide = dtype_of(result)

    def compute(a: Array, b: Array, *c: Array) -> Array:
        product = _high(a, b) if part == "hi" else a.astype(wide) * b.astype(wide)
        return product + c[0] if c else product

    return Meaning(result, (kind, kind, result)[: 2 + added], compute)


def _mul(ins: Instruction) -> Meaning:
    if is_float(ins.modifiers[-1]):
        return rounded_to_nearest(2, lambda a, b: a * b)(ins)
    return _product(ins, 0)


def _mad(ins: Instruction) -> Meaning:
    return _product(ins, 1)


def _quotient(a: Array, b: Array) -> tuple[Array, Array]:
    """The quotient towards 0 and the rest, by 0 garbage."""
    size = np.where(b == 0, b.dtype.type(1), b)
    if a.dtype.kind == "u":
        return a // size, a % size
    x, y = unsigned(np.where(a < 0, -a, a)), unsigned(np.where(size < 0, -size, size))
    q, r = (x // y).view(a.dtype), (x % y).view(a.dtype)
    return np.where((a < 0) != (b < 0), -q, q), np.where(a < 0, -r, r)


def _div(ins: Instruction) -> Meaning:
    kind = ins.modifiers[-1]
    if is_float(kind):
        return rounded_to_nearest(2, lambda a, b: a / b)(ins)
    return of_integers(ins, 2, lambda a, b: np.where(b == 0, garbage(kind), _quotient(a, b)[0]))


def _rem(ins: Instruction) -> Meaning:
    kind = ins.modifiers[-1]
    return of_integers(ins, 2, lambda a, b: np.where(b == 0, garbage(kind), _quotient(a, b)[1]))


def _without_sign(ins: Instruction) -> Meaning:
    if not is_float(ins.modifiers[-1]):
        return of_integers(ins, 1, lambda a: np.where(a < 0, -a, a))
    kind = float_kind(ins, ())
    return Meaning(kind, (kind,), lambda a: canonical(kind, np.abs(a)))


def _neg(ins: Instruction) -> Meaning:
    if not is_float(ins.modifiers[-1]):
        return of_integers(ins, 1, lambda a: (0 - a).astype(a.dtype))
    kind = float_kind(ins, ())
    return Meaning(kind, (kind,), lambda a: canonical(kind, -a))


def _extreme(sign: int) -> Write:
    def compute(a: Array, b: Array) -> Array:
        less = (a < b) if sign < 0 else (b < a)
        if a.dtype.kind == "f":
            negative = np.signbit(a) if sign < 0 else np.signbit(b)
            less |= (a == 0) & (b == 0) & negative
        return np.where(less, a, b)

    def write(ins: Instruction) -> Meaning:
        if not is_float(ins.modifiers[-1]):
            return of_integers(ins, 2, compute)
        kind = float_kind(ins, (), ("NaN",))

        def of_floats(a: Array, b: Array) -> Array:
            result = np.where(np.isnan(a), b, np.where(np.isnan(b), a, compute(a, b)))
            if "NaN" in ins.modifiers:
                result = np.where(np.isnan(a) | np.isnan(b), np.array(np.nan, a.dtype), result)
            return canonical(kind, result)

        return Meaning(kind, (kind, kind), of_floats)

    return write


# --- comparisons and choice -----------------------------------------------------------------------

_COMPARE: dict[str, Callable[[Array, Array], Array]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: (a != b) & ~_unordered(a, b),
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
_LESS_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def _unordered(a: Array, b: Array) -> Array:
    if a.dtype.kind != "f":
        return np.zeros(np.broadcast_shapes(a.shape, b.shape), bool)
    return np.isnan(a) | np.isnan(b)


def _ordered(a: Array, b: Array) -> Array:
    return ~_unordered(a, b)


def _or_unordered(test: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda a, b: test(a, b) | _unordered(a, b)


def _setp(ins: Instruction) -> Meaning:
    compare, *joined, kind = ins.modifiers
    if joined and (len(joined) > 1 or joined[0] not in ("and", "or", "xor")):
        raise ins.unknown("modifiers")
    if not is_float(kind):
        signless = {**dict.fromkeys(("eq", "ne"), "usb"), **dict.fromkeys(_LESS_UNSIGNED, "u")}
        if kind not in INTEGERS or kind[0] not in signless.get(compare, "us"):
            raise ins.unknown("modifiers")
        compare = _LESS_UNSIGNED.get(compare, compare)
    if compare == "num":
        test = _ordered
    elif compare == "nan":
        test = _unordered
    elif compare in _COMPARE:
        test = _COMPARE[compare]
    elif compare[:-1] in _COMPARE and compare[-1] == "u" and is_float(kind):
        test = _or_unordered(_COMPARE[compare[:-1]])
    else:
        raise ins.unknown("modifiers")
    if not joined:
        return Meaning("pred", (kind, kind), test)
    join = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}[joined[0]]
    return Meaning("pred", (kind, kind, "pred"), lambda a, b, c: join(test(a, b), c))


def _selp(ins: Instruction) -> Meaning:
    (kind,) = ins.modifiers
    if kind not in (*INTEGERS, *FLOATS):
        raise ins.unknown("modifiers")
    return Meaning(kind, (kind, kind, "pred"), lambda a, b, c: np.where(c, a, b))


# --- floats ---------------------------------------------------------------------------------------


def _testp(ins: Instruction) -> Meaning:
    test, kind = ins.modifiers if len(ins.modifiers) == 2 else ("", "")
    tests: dict[str, Callable[[Array], Array]] = {
        "finite": np.isfinite,
        "infinite": np.isinf,
        "number": lambda a: ~np.isnan(a),
        "notanumber": np.isnan,
        "normal": lambda a: np.isfinite(a) & ((np.abs(a) >= np.finfo(a.dtype).tiny) | (a == 0)),
        "subnormal": lambda a: (np.abs(a) < np.finfo(a.dtype).tiny) & (a != 0),
    }
    if test not in tests or kind not in FLOATS:
        raise ins.unknown("modifiers")
    return Meaning("pred", (kind,), tests[test])


def _copysign(ins: Instruction) -> Meaning:
    """The sign of the first with the size of the second."""
    kind = float_kind(ins, ())
    return Meaning(kind, (kind, kind), lambda a, b: np.copysign(b, a))


def _cvt(ins: Instruction) -> Meaning:
    *modifiers, target, source = ins.modifiers
    compute = convert(ins, tuple(modifiers), target, source)
    return Meaning(target, (source,), compute)


def _mov(ins: Instruction) -> Meaning:
    (kind,) = ins.modifiers
    return Meaning(kind, (kind,), lambda a: a)


def _cnot(ins: Instruction) -> Meaning:
    return of_integers(ins, 1, lambda a: (a == 0).astype(a.dtype))


TABLE: dict[str, Write] = {
    "abs": _without_sign,
    "add": rounded_to_nearest(2, lambda a, b: a + b, lambda a, b: a + b),
    "and": bits.bitwise(lambda a, b: a & b),
    "bfe": bits.bfe,
    "bfi": bits.bfi,
    "brev": bits.brev,
    "clz": bits.counted(lambda number, bits: bits - number.bit_length()),
    "cnot": _cnot,
    "copysign": _copysign,
    "cvt": _cvt,
    "div": _div,
    "fma": rounded_to_nearest(3, fma),
    "lop3": bits.lop3,
    "mad": _mad,
    "max": _extreme(1),
    "min": _extreme(-1),
    "mov": _mov,
    "mul": _mul,
    "neg": _neg,
    "not": bits.bitwise(lambda a: ~a, 1),
    "or": bits.bitwise(lambda a, b: a | b),
    "popc": bits.counted(lambda number, _: number.bit_count()),
    "prmt": bits.prmt,
    "rcp": rounded_to_nearest(1, lambda a: a.dtype.type(1) / a),
    "rem": _rem,
    "selp": _selp,
    "setp": _setp,
    "shf": bits.shf,
    "shl": bits.shift(left=True),
    "shr": bits.shift(left=False),
    "sqrt": rounded_to_nearest(1, np.sqrt),
    "sub": rounded_to_nearest(2, lambda a, b: a - b, lambda a, b: a - b),
    "testp": _testp,
    "xor": bits.bitwise(lambda a, b: a ^ b),
}
"""Every instruction that computes, by its name."""


def meaning_of(ins: Instruction) -> Meaning:
    """What an instruction computes. Raises Unknown."""
    if ins.name not in TABLE or not ins.modifiers:
        raise ins.unknown("no such instruction is known here")
    return TABLE[ins.name](ins)
