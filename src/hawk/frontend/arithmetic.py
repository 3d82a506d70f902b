"""Python's operators on numbers of a program, in terms of the table of operations.

`Arithmetic` is written once; what a number *is* comes from a subclass: values of the IR in the
frontend, plain Python numbers with a type in the CPython oracle. Numbers known to Python stay
Python's own as long as they meet nothing else.
"""

from __future__ import annotations

import operator
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from hawk.annotations import GridForm
from hawk.edits import Edit
from hawk.frontend.operators import (
    CONVERSIONS,
    POWER_MAX,
    Kind,
    Literal,
    Misfit,
    Mixed,
    NotKnown,
    binary,
    choice,
    conversion,
    fits,
    is_bool,
    is_float,
    meet,
    named,
    unary,
)
from hawk.ir.meaning import RANGE
from hawk.ir.types import DType
from hawk.math.fast import FAST, HALVES, half_power
from hawk.math.power import pow as pow_terms
from hawk.math.terms import Term

PYTHON: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "@": operator.matmul,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_TO = {dtype: f"to_{dtype.value}" for dtype in DType}
LARGEST: Mapping[DType, float] = {
    DType.F32: (2 - 2.0**-23) * 2.0**127,
    DType.F64: sys.float_info.max,
}
"""The largest finite number of each float width."""


class Arithmetic(ABC):
    """Operators and conversions of numbers, for a kernel of float width `real`.

    Methods raise `Misfit` for kinds that do not go together.
    """

    real: DType
    fast: bool = False
    """Is the kernel one of `math="fast"`?"""
    grid: GridForm | None = None
    """How the samples are arranged, in a kernel with a Grid."""

    @abstractmethod
    def is_number(self, value: object) -> bool:
        """Whether `value` is a number of the program, as opposed to an object known to Python."""

    @abstractmethod
    def kind(self, value: Any) -> Kind:
        """The kind of a number, of the program or known to Python."""

    @abstractmethod
    def emit(self, op: str, *values: Any, free: bool = False) -> Any:
        """Apply an operation to typed numbers. A `free` result takes the type of what it meets."""

    @abstractmethod
    def constant(self, number: Any, dtype: DType, *, free: bool = False) -> Any:
        """A known number as a number of the program; the number fits."""

    @abstractmethod
    def known(self, value: Any) -> Any:
        """The Python number a number of the program is known to be, else None."""

    @abstractmethod
    def where(
        self, test: Any, then: Callable[[], tuple[Any, ...]], orelse: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        """What `then` computes where the test holds, else `orelse`; of the same types.

        A program skips `then` where no sample needs it.
        """

    @abstractmethod
    def place(self, name: str) -> Any:
        """The sample's index, the size of its batch or the number of its step: see `hidden`."""

    @abstractmethod
    def extent(self, table: str, axis: int) -> Any:
        """The extent of a table along an axis, an Int32, where its annotation does not say it."""

    @abstractmethod
    def dimension(self, axis: str) -> Any:
        """The extent of the grid along a dimension, an Int32, where no annotation says it."""

    @abstractmethod
    def whole(self, grid: str, dtype: DType) -> Any:
        """The numbers that all samples have in a plane, for `lookup` and `near`."""

    def beyond_table(  # noqa: B027 - few want to hear of it
        self, table: str, axis: int, index: Any, beyond: Callable[[], Any]
    ) -> None:
        """Hear of an index of a table; `beyond` says whether it is none of the table's places."""

    def beyond_grid(  # noqa: B027 - few want to hear of it
        self, grid: str, axis: int | None, index: Any, beyond: Callable[[], Any]
    ) -> None:
        """The same of a grid; `axis` None: of an index in the order of the samples."""

    def certain(self, value: Any) -> Any:
        """The Python number that a number of the program is for all samples, else None."""
        return self.known(value)

    def aside(self) -> AbstractContextManager[None]:
        """While it lasts, no result takes the user's name of what is being computed."""
        return nullcontext()

    @abstractmethod
    def repeat(
        self,
        carried: tuple[Any, ...],
        test: Callable[..., Any],
        body: Callable[..., tuple[Any, ...]],
    ) -> tuple[Any, ...]:
        """What `body` makes of the carried numbers, again and again while `test` of them holds."""

    def alike(self, table: str, other: str) -> None:  # noqa: B027 - few need to know
        """Two tables of one dimension have to have as many elements."""

    def unwatched(self) -> AbstractContextManager[None]:
        """While it lasts, nothing that is computed is worth telling the user."""
        return nullcontext()

    # --- types ---

    def to(self, value: Any, target: Kind) -> Any:
        """`value` as a number of `target`; INT is an Index that takes the type of what it meets.

        Raises Misfit for a known number that `target` cannot hold.
        """
        dtype = DType.I64 if target is Literal.INT else target
        assert isinstance(dtype, DType)
        if self.is_number(value):
            return value if self.kind(value) is target else self.convert(value, dtype)
        if dtype.is_int:
            least, greatest = RANGE[dtype]
            if not least <= value <= greatest:
                what = f"{value} does not fit {named(dtype)}, which holds {least} to {greatest}"
                raise Misfit("H203", what)
            value = int(value)
        elif dtype.is_float and isinstance(value, int) and abs(value) > LARGEST[dtype]:
            what = f"this number does not fit {named(dtype)}, which ends at {LARGEST[dtype]:.2g}"
            raise Misfit("H203", what, "math.inf" if value > 0 else "-math.inf", side="left")
        return self.constant(value, dtype, free=target is Literal.INT)

    def convert(self, value: Any, dtype: DType) -> Any:
        """The conversion a user asks for: `hawk.int32(value)` and its like."""
        if not self.is_number(value):
            given = DType.F64 if isinstance(value, float) else DType.BOOL
            if isinstance(value, int) and not isinstance(value, bool):
                if not dtype.is_int:
                    return self.constant(value, dtype)
                return self.constant(_wrapped(value, dtype), dtype)
            return self.emit(_TO[dtype], self.constant(value, given))
        return value if self.kind(value) is dtype else self.emit(_TO[dtype], value)

    def settle(self, value: Any) -> Any:
        """A known number with a type of its own: what it has when paths may differ."""
        match value:
            case bool():
                return self.constant(value, DType.BOOL)
            case int():
                least, greatest = RANGE[DType.I64]
                return self.to(value, Literal.INT) if least <= value <= greatest else value
            case float():
                return self.constant(value, self.real)
            case _:
                return value

    def together(self, values: tuple[Any, ...], what: str = "values") -> tuple[Any, ...]:
        """The values brought to the one type they have in common. Raises Misfit."""
        kinds = tuple(self.kind(value) for value in values)
        if all(is_bool(kind) for kind in kinds):
            return tuple(self.to(value, DType.BOOL) for value in values)
        common = kinds[0]
        for place, kind in enumerate(kinds[1:], start=1):
            try:
                common = meet(",", common, kind, self.real)
            except Mixed as mixed:
                other = next((n for n, each in enumerate(kinds) if each is common), 0)
                mixed.pair = (values[other], values[place])
                raise
        return tuple(self.to(value, common) for value in values)

    def store(self, value: Any, dtype: DType) -> Any:
        """`value` as it is stored in a plane of `dtype`. Raises Misfit where that is no number."""
        kind = self.kind(value)
        if fits(kind, dtype):
            return self.to(value, dtype)
        write = f"{conversion(dtype, self.real)}({{left}})"
        if dtype is DType.F32 and kind is DType.F64:
            what = f"`{{left}}` is a float64 where {named(dtype)} is needed"
            raise Misfit("H211", what, write)
        if is_float(kind) and dtype.is_int:
            what = f"`{{left}}` is {named(kind)} where {named(dtype)} is needed"
            raise Misfit("H202", what, write)
        if dtype is DType.BOOL:
            write = "{left} != 0"
        what = f"`{{left}}` is {named(kind)} where {named(dtype)} is needed"
        raise Misfit("H207", what, write)

    # --- operators ---

    def binary(self, symbol: str, left: Any, right: Any) -> Any:
        """`left symbol right`, arithmetic or comparison."""
        if not self.is_number(left) and not self.is_number(right):
            return PYTHON[symbol](left, right)
        if symbol == "**":
            return self.power(left, right)
        kind = self.kind(left)
        plan = binary(symbol, kind, self._right(self.kind, right), self.real)
        free = plan.operands is Literal.INT and symbol not in ("==", "!=", "<", "<=", ">", ">=")
        try:
            first = self.to(left, plan.operands)
            second = self._right(self.to, right, plan.operands)
        except Misfit as misfit:
            if misfit.code == "H203" and plan.operands in (DType.I32, DType.U32):
                raise self._no_room(symbol, left, right, plan.operands, misfit.what) from None
            raise
        return self.emit(plan.op, first, second, free=free)

    def _no_room(self, symbol: str, left: Any, right: Any, dtype: DType, what: str) -> Misfit:
        """The error of a known number that is too large for the integer it meets."""
        known = self.is_number(left)  # the place of the number known now
        sides = ["{left}", "{right}"]
        sides[not known] = f"{CONVERSIONS[DType.I64]}({sides[not known]})"
        wider = f" {symbol} ".join(sides)
        fixes = [Edit(wider)]
        if dtype is DType.U32 and symbol in ("+", "-", "*"):
            sides = ["{left}", "{right}"]
            sides[known] = str((right if known else left) % 2**32)
            same = Edit(f" {symbol} ".join(sides), ", the same modulo 2 ** 32")
            fixes = [same, Edit(wider, ", an Index")]
        misfit = Misfit("H203", what, *fixes)
        misfit.keeps = dtype
        return misfit

    @staticmethod
    def _right(ask: Callable[..., Any], *values: Any) -> Any:
        """What `ask` says of a right operand. Raises Misfit, with {right} for {left}."""
        try:
            return ask(*values)
        except Misfit as misfit:
            fixes = [
                replace(each, text=each.text.replace("{left}", "{right}"))
                if isinstance(each, Edit)
                else each.replace("{left}", "{right}")
                for each in misfit.fixes
            ]
            what = misfit.what.replace("{left}", "{right}")
            raise Misfit(misfit.code, what, *fixes, side=misfit.side and "right") from None

    def unary(self, symbol: str, value: Any) -> Any:
        """`-value`, `+value` or `~value`."""
        plan = unary(symbol, self.kind(value))
        operand = self.to(value, plan.operands)
        free = plan.operands is Literal.INT
        return self.emit(plan.op, operand, free=free) if plan.op else operand

    def contracts(self, first: Any, second: Any, added: Any) -> DType | None:
        """The type of `first * second + added` as one fma, or None where it is two operations.

        It is one where the product is a float product of the program, in the type of the sum.
        """
        numbers = (first, second, added)
        if not (self.is_number(first) or self.is_number(second)):
            return None
        if not all(
            self.is_number(each) or isinstance(each, (bool, int, float)) for each in numbers
        ):
            return None
        try:
            product = meet("*", self.kind(first), self.kind(second), self.real)
            total = meet("+", product, self.kind(added), self.real)
        except Misfit:
            return None
        if product is not total or not isinstance(product, DType) or not product.is_float:
            return None
        return product

    def fma(self, dtype: DType, first: Any, second: Any, added: Any, signs: str = "++") -> Any:
        """`±first * second ± added`, rounded once; `signs` are those of product and sum."""
        return self.emit("fma", *self.terms(dtype, first, second, added, signs))

    def terms(
        self, dtype: DType, first: Any, second: Any, added: Any, signs: str
    ) -> tuple[Any, ...]:
        """The operands of an fma, typed and with their signs."""
        a, b, c = (self.to(each, dtype) for each in (first, second, added))
        a = self.emit("neg", a) if signs[0] == "-" else a
        c = self.emit("neg", c) if signs[1] == "-" else c
        return a, b, c

    def power(self, base: Any, exponent: Any) -> Any:
        """`base ** n` by repeated squaring, from the lowest bit of n: b*(bb), (bb)(bb), ...

        Of another exponent it is `hawk.math.pow`, also of one that the program computes and that is
        known all the same: what is known depends on who asks, and the bits must not.
        """
        count = exponent
        if self.is_number(exponent):
            integers = not is_float(self.kind(base)) and not is_float(self.kind(exponent))
            count = self.known(exponent) if integers else None
        if isinstance(count, float) and count.is_integer():  # x ** 2.0, a float whatever x is
            base = base if is_float(self.kind(base)) else self.to(base, self.real)
            count = int(count)
        if isinstance(count, bool) or not isinstance(count, int) or abs(count) > POWER_MAX:
            return self._any_power(base, exponent, count)
        kind = self.kind(base)
        if not self.is_number(base):
            return PYTHON["**"](base, count)
        if count < 0 and not is_float(kind):
            base = self.to(base, self.real)  # as in Python, 2 ** -1 is a float
        elif is_bool(kind):
            base = self.to(base, DType.I64)
        if count == 0:
            return self.to(1, self.kind(base))
        result = None
        left = abs(count)
        while True:
            if left & 1:
                result = base if result is None else self.binary("*", result, base)
            left >>= 1
            if not left:
                break
            base = self.binary("*", base, base)
        return self.binary("/", 1, result) if count < 0 else result

    def _any_power(self, base: Any, exponent: Any, count: Any) -> Any:
        """A power by `hawk.math.pow`. Raises Misfit for one of integers, which has no type."""
        kinds = self.kind(base), self.kind(exponent)
        if not any(is_float(kind) for kind in kinds):
            what = "`**` of integers takes a power that is known, "
            what += f"from -{POWER_MAX} to {POWER_MAX}: of others it could be an integer or a float"
            fix: str | Edit = "float({left}) ** {right}"
            if not self.is_number(base) and not isinstance(base, bool) and base == 2:
                most = 62 if self.kind(exponent) in (DType.I64, Literal.INT) else 30
                fix = Edit("1 << {right}", f", where {{right}} is from 0 to {most}")
            # In a loop that can be unrolled it is known.
            raise (NotKnown if count is None else Misfit)("H203", what, fix)
        floats = tuple(
            each if self.is_number(each) and is_float(kind) else self.to(each, self.real)
            for each, kind in zip((base, exponent), kinds, strict=True)
        )
        first, second = self.together(floats)
        dtype = self.kind(first)
        assert isinstance(dtype, DType)
        with self.unwatched():
            x, y = Term(self, first, dtype), Term(self, second, dtype)
            if not self.fast:
                return pow_terms(x, y).value
            if isinstance(exponent, float) and exponent in HALVES:
                return half_power(x, exponent).value
            return FAST["pow"](x, y).value

    # --- truth ---

    def truth(self, value: Any) -> Any:
        """`bool(value)` of a number of the program, as a number of the program."""
        return self.convert(value, DType.BOOL)

    def opposite(self, value: Any) -> Any:
        """`not value` of a number of the program."""
        return self.emit("not", self.truth(value))

    def select(self, test: Any, first: Any, second: Any) -> Any:
        """`first if test else second`, both brought to one type."""
        a, b = self.together((first, second))
        free = self.kind(a) is Literal.INT and self.kind(b) is Literal.INT
        return self.emit("select", self.truth(test), a, b, free=free)

    def chosen(self, test: Any, first: Any, second: Any) -> Any:
        """The value of two paths that join; None where they have no type in common."""
        kinds = (self.kind(first), self.kind(second))
        common = choice(kinds, self.real)
        if common is None:
            return None
        a, b = self.to(first, common), self.to(second, common)
        return self.emit("select", test, a, b, free=common is Literal.INT)


def _wrapped(value: int, dtype: DType) -> int:
    if dtype is DType.BOOL:
        return value != 0
    least, greatest = RANGE[dtype]
    if not least <= value <= greatest:
        what = f"{value} does not fit {named(dtype)}, which holds {least} to {greatest}"
        raise Misfit("H203", what)
    return value
