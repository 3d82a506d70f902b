"""Which operation a Python operator means, and what its operands become first. Pure.

An operand is known by its kind: the `DType` of a value of the program, or a `Literal`: a number
that takes the type of what it meets. The frontend and the CPython oracle share these rules.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from hawk.edits import Edit
from hawk.ir.types import DType


class Literal(enum.Enum):
    """A number without a type of its own; ordered from what gives way to what does not."""

    BOOL = "bool"
    INT = "int"
    FLOAT = "float"

    __hash__ = object.__hash__  # as DType's: the rules below are looked up for every operation


Kind: TypeAlias = "DType | Literal"


@dataclass(frozen=True, slots=True)
class Plan:
    """`op` on operands that have all become `operands` (INT: still without a type)."""

    op: str
    operands: Kind


class Misfit(Exception):
    """Kinds that do not go together.

    `what` and `fixes` hold {left} and {right} where the texts of the operands belong. A fix stands
    for the whole expression, or with a `side` for that operand. Of several the user chooses one.
    """

    keeps: DType | None = None
    """The type of a left operand that is another when what `fixes` say is written."""

    def __init__(self, code: str, what: str, *fixes: str | Edit, side: str = "") -> None:
        super().__init__(code, what, fixes)
        self.code, self.what, self.fixes, self.side = code, what, fixes, side


class Mixed(Misfit):
    """Integers of two types; `pair` are the two numbers, where they stand among others."""

    pair: tuple[object, object] | None = None

    def __init__(self, symbol: str, left: DType, right: DType) -> None:
        self.left, self.right = left, right
        self.turned, self.into = "right", left
        if right is DType.I64 or (left is not DType.I64 and right is DType.I32):
            self.turned, self.into = "left", right
        sides = {"left": "{left}", "right": "{right}"}
        sides[self.turned] = f"{CONVERSIONS[self.into]}({sides[self.turned]})"
        what = f"`{{left}}` is {named(left)} and `{{right}}` {named(right)}"
        super().__init__("H204", what, f"{sides['left']} {symbol} {sides['right']}")


class NotKnown(Misfit):
    """A number that must be known when a kernel is traced: a loop is unrolled where it can be."""


ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "//": "floordiv", "%": "mod"}
SHIFTS = {"<<": "shl", ">>": "shr"}
BITS = {"&": "and", "|": "or", "^": "xor"}
COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}

POWER_MAX = 64
"""The largest exponent that is written out as products."""


def named(kind: Kind) -> str:
    """The kind with its article, for messages."""
    name = kind.hawk if isinstance(kind, DType) else kind.value
    return f"{'an' if name[0] in 'AEIOaeio' else 'a'} {name}"


def literal(value: object) -> Literal:
    """The kind of a number known to Python. Raises Misfit for what is not a number."""
    match value:
        case bool():
            return Literal.BOOL
        case int():
            return Literal.INT
        case float():
            return Literal.FLOAT
        case _:
            name = type(value).__name__.removesuffix("View")  # of a table
            article = "an" if name[:1] in "aeiouAEIOU" else "a"
            what = "None" if value is None else f"{article} {name}"
            fixes: Mapping[str, str | Edit] = {
                "NoneType": "a number instead of None, such as math.nan",
                "str": Edit("float({left})", ", if it is the text of a number"),
                "complex": "its real and its imaginary part as two numbers",
                "Table": "one of its elements, as in {left}[i]",
            }
            if getattr(value, "__module__", "") == "hawk.frontend.places":
                fixes = {name: "{left}()"}
            what = f"a number is needed, and `{{left}}` is {what}"
            raise Misfit("H201", what, fixes.get(name, ""), side="left")


def is_float(kind: Kind) -> bool:
    return kind is Literal.FLOAT or (isinstance(kind, DType) and kind.is_float)


def is_bool(kind: Kind) -> bool:
    return kind in (Literal.BOOL, DType.BOOL)


@functools.cache
def binary(symbol: str, left: Kind, right: Kind, real: DType) -> Plan:
    """The plan of an operator between two numbers. Raises Misfit."""
    if symbol in BITS:
        return Plan(BITS[symbol], _bits(symbol, left, right, real))
    if symbol in COMPARISONS:
        return Plan(COMPARISONS[symbol], _compared(symbol, left, right, real))
    together = meet(symbol, left, right, real)
    if symbol == "/":
        return Plan("div", together if is_float(together) else real)
    if symbol in ARITHMETIC:
        return Plan(ARITHMETIC[symbol], together)
    if symbol == "@":
        raise Misfit("H201", "`@` multiplies matrices, and these are numbers", "{left} * {right}")
    if is_float(together):
        what = f"`{symbol}` shifts the bits of integers, and there is a float"
        factor = "* 2.0 **" if symbol == "<<" else "/ 2.0 **"
        raise Misfit("H201", what, f"{{left}} {factor} {{right}}")
    return Plan(SHIFTS[symbol], together)


@functools.cache
def unary(symbol: str, kind: Kind) -> Plan:
    """The plan of `-`, `+` or `~`. Raises Misfit."""
    if symbol == "~":
        if is_bool(kind):
            raise Misfit("H201", "`~` of a bool is not its opposite in Python", "not {left}")
        if is_float(kind):
            what = f"`~` works on the bits of integers, and `{{left}}` is {named(kind)}"
            raise Misfit("H201", what, "~int({left})")
        return Plan("not", kind)
    operand = DType.I64 if is_bool(kind) else kind
    return Plan("neg" if symbol == "-" else "", operand)


@functools.cache
def meet(symbol: str, left: Kind, right: Kind, real: DType) -> Kind:
    """The type two numbers have in common when they are computed with. Raises Misfit."""
    kinds = (left, right)
    if any(is_float(kind) for kind in kinds):
        widths = {kind for kind in kinds if isinstance(kind, DType) and kind.is_float}
        if not widths or any(isinstance(kind, DType) and kind.is_int for kind in kinds):
            widths.add(real)  # numbers without a type, and bools, follow a float that is there
        return DType.F64 if DType.F64 in widths else DType.F32
    types = [kind for kind in kinds if isinstance(kind, DType) and kind.is_int]
    if len(types) == 2 and types[0] is not types[1]:
        raise Mixed(symbol, types[0], types[1])
    if types:
        return types[0]
    return Literal.INT if Literal.INT in kinds and DType.BOOL not in kinds else DType.I64


def _bits(symbol: str, left: Kind, right: Kind, real: DType) -> Kind:
    if is_bool(left) and is_bool(right):
        return DType.BOOL
    for kind, name in ((left, "{left}"), (right, "{right}")):
        if is_float(kind):
            what = f"`{symbol}` works on the bits of integers, and `{name}` is {named(kind)}"
            fix = f"{{left}} {symbol} {{right}}".replace(name, f"int({name})")
            if symbol == "^":
                power = Edit("{left} ** {right}", ", a power")
                raise Misfit("H201", what, power, Edit(fix, ", of the bits"))
            raise Misfit("H201", what, fix)
    return meet(symbol, left, right, real)


def _compared(symbol: str, left: Kind, right: Kind, real: DType) -> Kind:
    if is_bool(left) and is_bool(right):
        return DType.BOOL if symbol in ("==", "!=") else DType.I64
    return meet(symbol, left, right, real)


@functools.cache
def choice(kinds: tuple[Kind, ...], real: DType) -> Kind | None:
    """The one type of a value that comes from several paths; None where there is none.

    A literal takes the type of what it meets; INT alone keeps none, FLOAT becomes `real`.
    """
    types = {kind for kind in kinds if isinstance(kind, DType)}
    literals = {kind for kind in kinds if isinstance(kind, Literal)}
    if len(types) > 1:
        return None
    if types:
        (found,) = types
        return found if all(fits(literal, found) for literal in literals) else None
    if Literal.BOOL in literals:
        return DType.BOOL if len(literals) == 1 else None
    return real if Literal.FLOAT in literals else Literal.INT


@functools.cache
def fits(kind: Kind, target: DType) -> bool:
    """Whether a number of this kind becomes a `target` without being asked to."""
    if isinstance(kind, DType):
        if target.is_float:
            return kind.is_int or kind is target or (kind is DType.F32 and target is DType.F64)
        return kind is target
    return {
        Literal.BOOL: target is DType.BOOL,
        Literal.INT: target is not DType.BOOL,
        Literal.FLOAT: target.is_float,
    }[kind]


CONVERSIONS: Mapping[DType, str] = {
    DType.BOOL: "bool",
    DType.I32: "hawk.int32",
    DType.U32: "hawk.uint32",
    DType.I64: "hawk.index",
    DType.F32: "hawk.float32",
    DType.F64: "hawk.float64",
}
"""What to write to turn a number into each type."""


def conversion(target: DType, real: DType) -> str:
    """What to write to turn a number into `target` in a kernel of float width `real`."""
    return "hawk.real" if target is real else CONVERSIONS[target]
