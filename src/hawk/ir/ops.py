"""The table of operations: all that hawk knows about each, one row apiece.

To add an operation, add a row (and its meaning in `meaning`), and a test of that meaning.

`llvm` and `decompose` are keyed by the type of the last operand: by its name (`f32`), or else by
its kind (`f i u b`, see `DType.kind`). In an LLVM text {0} {1} {2} are the operands, {A} is the
type of the last one, {R} the type of the result, {C} the bool type of the same width, and {M} the
suffix of an intrinsic's name for {A} (`f64`, `v8f64`); `=` alone means that the bits of the operand
are the result. A row with no text for a type has a decomposition for it: see `decompose`.
Only those in `LOOKUPS` have neither: a target reads memory in its own way.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hawk.ir import decompose, meaning, remainder
from hawk.ir.nodes import Number, Value
from hawk.ir.types import DType

Types = tuple[DType, ...]
BOOL, I32, U32, I64, F32, F64 = DType


@dataclass(frozen=True, slots=True)
class Op:
    """One operation."""

    name: str
    arity: int
    result: Callable[[Types], DType]
    """The type of the result for the types of the operands; raises TypeError if they don't fit."""
    meaning: Callable[..., Number]
    """`meaning(type of the last operand, *numbers)`: the result, exactly."""
    llvm: Mapping[str, str]
    """Its text by type or kind of the last operand; each line is an instruction, and `P` what the
    one before it gave."""
    decompose: Mapping[str, Callable[..., Value]]
    """`decompose[key](builder, *operands)` writes the operation with others; gives the result."""
    max_ulp: float
    """How far the result may be from the true one, in units in the last place."""
    doc: str


# --- type rules ----------------------------------------------------------------------------------


def _alike(
    what: str, fits: Callable[[DType], bool], gives: DType | None = None
) -> Callable[[Types], DType]:
    """All operands of one type that `fits`; the result is of that type, or `gives`."""

    def rule(types: Types) -> DType:
        first = types[0]
        if not fits(first) or any(other is not first for other in types):
            raise TypeError(f"needs {what}, got {_listed(types)}")
        return gives or first

    return rule


def _choice(types: Types) -> DType:
    test, first, second = types
    if test is not BOOL or first is not second:
        raise TypeError(f"needs a bool and two values of one type, got {_listed(types)}")
    return first


def _element(types: Types) -> DType:
    table, place = types
    if place is not I32:
        raise TypeError(f"needs a table and an i32, got {_listed(types)}")
    return table


def _neighbour(types: Types) -> DType:
    table, outside, simple, place = types
    if outside is not BOOL or simple is not I32 or place is not I32:
        raise TypeError(f"needs a table, a bool and two i32, got {_listed(types)}")
    return table


def _listed(types: Types) -> str:
    return " and ".join(dtype.value for dtype in types)


_numbers = _alike("numbers of one type", lambda t: t is not BOOL)
_floats = _alike("floats of one width", lambda t: t.is_float)
_ints = _alike("integers of one type", lambda t: t.is_int)
_bits = _alike("integers or bools of one type", lambda t: not t.is_float)
_equality = _alike("values of one type", lambda _: True, BOOL)
_order = _alike("numbers of one type", lambda t: t is not BOOL, BOOL)


def _to(target: DType) -> Callable[[Types], DType]:
    return _alike("a value", lambda _: True, target)


def _float_to(target: DType) -> Callable[[Types], DType]:
    return _alike("a float", lambda t: t.is_float, target)


_test = _float_to(BOOL)


def _paired(what: str, pairs: Mapping[DType, DType]) -> Callable[[Types], DType]:
    """One operand of these types, and the result that each has."""

    def rule(types: Types) -> DType:
        if types[0] not in pairs:
            raise TypeError(f"needs {what}, got {types[0].value}")
        return pairs[types[0]]

    return rule


# --- LLVM texts ----------------------------------------------------------------------------------


def _two(floats: str = "", signed: str = "", unsigned: str = "", bools: str = "") -> dict[str, str]:
    """An instruction of two operands, by kind; empty where there is none.

    What is given for signed integers only serves for unsigned ones too.
    """
    words = {"f": floats, "i": signed, "u": unsigned or signed, "b": bools}
    return {kind: f"{word} {{A}} {{0}}, {{1}}" for kind, word in words.items() if word}


def _call(arity: int, floats: str = "", signed: str = "", unsigned: str = "") -> dict[str, str]:
    """An intrinsic, by kind; empty where there is none."""
    args = ", ".join(f"{{A}} {{{i}}}" for i in range(arity))
    words = {"f": floats, "i": signed, "u": unsigned}
    return {kind: f"call {{A}} @llvm.{word}.{{M}}({args})" for kind, word in words.items() if word}


def _cast(**words: str) -> dict[str, str]:
    """A conversion, by type or kind of the operand."""
    return {
        key: word if word == "=" else f"{word} {{A}} {{0}} to {{R}}" for key, word in words.items()
    }


_NEG = {"f": "fneg {A} {0}", **dict.fromkeys("iu", "sub {A} zeroinitializer, {0}")}
_ABS = {**_call(1, "fabs"), "i": "call {A} @llvm.abs.{M}({A} {0}, i1 false)", "u": "="}
_SELECT = dict.fromkeys("fiub", "select {C} {0}, {A} {1}, {A} {2}")
_TO_32 = _cast(b="zext", i32="=", u32="=", i64="trunc")
_TO_64 = _cast(b="zext", i32="sext", u32="zext", i64="=")
_FROM_INT = {"b": "uitofp", "i": "sitofp", "u": "uitofp"}
# LLVM makes one conversion to n bits of the lesser of an `fptoui` and 2**n - 1, and for n = 0 it
# ends the process (seen in LLVM 22.1). Behind a `freeze`, which costs nothing, it does not look.
_TO_UNSIGNED = {"f": "fptoui {A} {0} to {R}\nfreeze {R} {P}"}


def _each(kinds: str, how: Callable[..., Value]) -> dict[str, Callable[..., Value]]:
    """One decomposition for several kinds."""
    return dict.fromkeys(kinds, how)


def _both(
    ints: Callable[..., Value], floats: Callable[..., Value]
) -> dict[str, Callable[..., Value]]:
    """A decomposition for integers and another one for floats."""
    return {"i": ints, "u": ints, "f": floats}


# --- the table -----------------------------------------------------------------------------------

_m, _d, _r = meaning, decompose, remainder

# fmt: off
_ROWS = (
    # arithmetic
    Op("add", 2, _numbers, _m.add, _two("fadd", "add"), {}, 0.5,
       "The sum; integers wrap."),
    Op("sub", 2, _numbers, _m.sub, _two("fsub", "sub"), {}, 0.5,
       "The difference; integers wrap."),
    Op("mul", 2, _numbers, _m.mul, _two("fmul", "mul"), {}, 0.5,
       "The product; integers wrap."),
    Op("neg", 1, _numbers, _m.neg, _NEG, {}, 0,
       "The number with its sign changed; integers wrap."),
    Op("abs", 1, _numbers, _m.absolute, _ABS, {}, 0,
       "The number without its sign; the least integer stays as it is."),
    Op("div", 2, _floats, _m.div, _two("fdiv"), {}, 0.5,
       "The quotient of floats; by 0 it is infinite or NaN."),
    Op("fma", 3, _floats, _m.fma, _call(3, "fma"), {}, 0.5,
       "a * b + c, rounded once."),
    Op("floordiv", 2, _numbers, _m.floordiv, {}, _both(_d.floordiv, _r.floordiv), 1.5,
       "CPython's //; by 0 it is the quotient, of integers 0, and the least number by -1 wraps."),
    Op("mod", 2, _numbers, _m.mod, {}, _both(_d.mod, _r.mod), 0.5,
       "CPython's %, with the sign of the divisor; by 0 it is NaN, of integers 0."),
    Op("fmod", 2, _numbers, _m.fmod, {}, _both(_d.fmod, _r.fmod), 0,
       "C's fmod, with the sign of the dividend; by 0 it is NaN, of integers 0."),
    Op("min", 2, _numbers, _m.lesser, _call(2, "", "smin", "umin"), _each("f", _d.lesser), 0,
       "Python's min: the second if it is less, else the first."),
    Op("max", 2, _numbers, _m.greater, _call(2, "", "smax", "umax"), _each("f", _d.greater), 0,
       "Python's max: the second if it is greater, else the first."),
    Op("minimum", 2, _numbers, _m.minimum, _call(2, "minimumnum", "smin", "umin"), {}, 0,
       "The lesser number; a NaN is ignored, and -0 is below 0."),
    Op("maximum", 2, _numbers, _m.maximum, _call(2, "maximumnum", "smax", "umax"), {}, 0,
       "The greater number; a NaN is ignored, and 0 is above -0."),
    # floats
    Op("sqrt", 1, _floats, _m.sqrt, _call(1, "sqrt"), {}, 0.5,
       "The square root; below 0 it is NaN."),
    Op("floor", 1, _floats, _m.floor, _call(1, "floor"), {}, 0,
       "The greatest integral float not above."),
    Op("ceil", 1, _floats, _m.ceil, _call(1, "ceil"), {}, 0,
       "The least integral float not below."),
    Op("trunc", 1, _floats, _m.trunc, _call(1, "trunc"), {}, 0,
       "The next integral float towards 0."),
    Op("rint", 1, _floats, _m.rint, _call(1, "roundeven"), {}, 0,
       "The nearest integral float; of two as near, the even one."),
    Op("copysign", 2, _floats, _m.copysign, {}, _each("f", _d.copysign), 0,
       "The size of the first with the sign of the second; the sign of a NaN counts as +."),
    Op("isnan", 1, _test, _m.isnan, {"f": "fcmp uno {A} {0}, {0}"}, {}, 0,
       "Is it NaN?"),
    Op("isinf", 1, _test, _m.isinf, {}, _each("f", _d.isinf), 0,
       "Is it infinite?"),
    Op("isfinite", 1, _test, _m.isfinite, {}, _each("f", _d.isfinite), 0,
       "Is it neither infinite nor NaN?"),
    # bits
    Op("and", 2, _bits, _m.both, _two("", "and", "and", "and"), {}, 0,
       "Both, bit by bit."),
    Op("or", 2, _bits, _m.either, _two("", "or", "or", "or"), {}, 0,
       "Either, bit by bit."),
    Op("xor", 2, _bits, _m.differ, _two("", "xor", "xor", "xor"), {}, 0,
       "One but not the other, bit by bit."),
    Op("not", 1, _bits, _m.invert, {}, _each("iub", _d.invert), 0,
       "The opposite, bit by bit."),
    Op("popcount", 1, _ints, _m.popcount, _call(1, "", "ctpop", "ctpop"), {}, 0,
       "How many bits are 1."),
    Op("shl", 2, _ints, _m.shl, {}, _each("iu", _d.shl), 0,
       "Shift to the left; by an amount outside the width it is 0."),
    Op("shr", 2, _ints, _m.shr, {}, _each("iu", _d.shr), 0,
       "Shift to the right, keeping the sign; by an amount outside the width it is 0."),
    Op("mulhi", 2, _alike("uint32 numbers", lambda t: t is U32), _m.mulhi, {},
       {"u": _d.mulhi}, 0,
       "The upper half of the product of two uint32."),
    # comparisons and choice
    Op("eq", 2, _equality, _m.eq, _two("fcmp oeq", "icmp eq", "icmp eq", "icmp eq"), {}, 0,
       "Equal? A NaN is equal to nothing."),
    Op("ne", 2, _equality, _m.ne, _two("fcmp une", "icmp ne", "icmp ne", "icmp ne"), {}, 0,
       "Not equal? A NaN differs from everything."),
    Op("lt", 2, _order, _m.lt, _two("fcmp olt", "icmp slt", "icmp ult"), {}, 0,
       "Less? Never with a NaN."),
    Op("le", 2, _order, _m.le, _two("fcmp ole", "icmp sle", "icmp ule"), {}, 0,
       "Less or equal? Never with a NaN."),
    Op("gt", 2, _order, _m.gt, _two("fcmp ogt", "icmp sgt", "icmp ugt"), {}, 0,
       "Greater? Never with a NaN."),
    Op("ge", 2, _order, _m.ge, _two("fcmp oge", "icmp sge", "icmp uge"), {}, 0,
       "Greater or equal? Never with a NaN."),
    Op("select", 3, _choice, _m.select, _SELECT, {}, 0,
       "The second if the first is True, else the third."),
    # tables
    Op("lookup", 2, _element, _m.lookup, {}, {}, 0,
       "The element of a table at an i32 that is one of its places, all dimensions in one row."),
    Op("near", 4, _neighbour, _m.near, {}, {}, 0,
       "The element of a table at its last operand. Where the second does not hold, the third is "
       "that place too, found in a simpler way."),
    # conversions
    Op("to_bool", 1, _to(BOOL), _m.convert(BOOL), _cast(b="="), _each("fiu", _d.to_bool), 0,
       "Is it other than 0? A NaN is."),
    Op("to_i32", 1, _to(I32), _m.convert(I32), _TO_32, _each("f", _d.to_int(I32)), 0,
       "To int32: an int64 wraps; a float truncates and saturates, NaN gives 0."),
    Op("to_u32", 1, _to(U32), _m.convert(U32), _TO_32, _each("f", _d.to_int(U32)), 0,
       "To uint32: another integer wraps; a float truncates and saturates, NaN gives 0."),
    Op("to_i64", 1, _to(I64), _m.convert(I64), _TO_64, _each("f", _d.to_int(I64)), 0,
       "To int64: a float truncates and saturates, NaN gives 0."),
    Op("to_f32", 1, _to(F32), _m.convert(F32), _cast(f32="=", f64="fptrunc", **_FROM_INT), {}, 0.5,
       "To float32, rounded once."),
    Op("to_f64", 1, _to(F64), _m.convert(F64), _cast(f32="fpext", f64="=", **_FROM_INT), {}, 0.5,
       "To float64, rounded once."),
    # Made by decompositions only: outside the range it names, each traps or gives poison in LLVM.
    Op("quot", 2, _ints, _m.quot, _two("", "sdiv", "udiv"), {}, 0,
       "The quotient towards 0; the divisor is not 0, and not -1 under the least number."),
    Op("fit_shl", 2, _ints, _m.shl, _two("", "shl"), {}, 0,
       "shl by an amount within the width."),
    Op("fit_shr", 2, _ints, _m.shr, _two("", "ashr", "lshr"), {}, 0,
       "shr by an amount within the width."),
    Op("fit_lshr", 2, _ints, _m.lshr, _two("", "lshr", "lshr"), {}, 0,
       "Shift to the right by an amount within the width; zeros come in, whatever the sign."),
    Op("fit_bits", 1, _paired("a float", {F64: I64, F32: I32}), _m.bits,
       _cast(f="bitcast"), {}, 0,
       "The bits of a float that is not NaN, as an integer."),
    Op("from_bits", 1, _paired("a signed integer", {I64: F64, I32: F32}), _m.from_bits,
       {"i32": "bitcast {A} {0} to {R}", "i64": "bitcast {A} {0} to {R}"}, {}, 0,
       "The float that has these bits."),
    Op("fit_copysign", 2, _floats, _m.copysign, _call(2, "copysign"), {}, 0,
       "copysign by a number that is not NaN."),
    Op("fit_i32", 1, _float_to(I32), _m.convert(I32), _cast(f="fptosi"), {}, 0,
       "to_i32 of a float within the range."),
    Op("fit_u32", 1, _float_to(U32), _m.convert(U32), _TO_UNSIGNED, {}, 0,
       "to_u32 of a float within the range."),
    Op("fit_i64", 1, _float_to(I64), _m.convert(I64), _cast(f="fptosi"), {}, 0,
       "to_i64 of a float within the range."),
)
# fmt: on

OPS: Mapping[str, Op] = {row.name: row for row in _ROWS}
"""Every operation, by name."""

LOOKUPS = ("lookup", "near")
"""Operations whose first operand is a table."""


@functools.cache
def result_type(name: str, types: Types) -> DType:
    """The type of operation `name` on operands of these types.

    Raises TypeError, with the operation's name, when their number or types do not fit.
    """
    row = OPS[name]
    if len(types) != row.arity:
        raise TypeError(f"`{name}` takes {row.arity} operands, got {len(types)}")
    try:
        return row.result(types)
    except TypeError as error:
        raise TypeError(f"`{name}` {error}") from None


@functools.cache
def llvm_text(name: str, dtype: DType) -> str | None:
    """The LLVM text of operation `name` for a last operand of `dtype`; None: it decomposes."""
    table = OPS[name].llvm
    return table.get(dtype.value) or table.get(dtype.kind)


@functools.cache
def decomposition(name: str, dtype: DType) -> Callable[..., Value] | None:
    """How to write operation `name` with others: `decomposition(builder, *operands)`."""
    table = OPS[name].decompose
    return table.get(dtype.value) or table.get(dtype.kind)
