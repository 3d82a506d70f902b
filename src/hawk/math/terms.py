"""Numbers with operators, which functions of `hawk.math` are written with.

A `Term` holds a number of whoever computes: a value of a program that is being traced, or a number
of the CPython oracle. Its operators are single operations: nothing is contracted, nothing is
converted. A Python number that meets a Term takes its type, to which it has to be exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from hawk.ir.types import DType


class Numbers(Protocol):
    """What computes: `hawk.frontend.arithmetic.Arithmetic`, or what acts like it."""

    def emit(self, op: str, *values: Any) -> Any: ...
    def constant(self, number: Any, dtype: DType) -> Any: ...
    def where(
        self, test: Any, then: Callable[[], tuple[Any, ...]], orelse: tuple[Any, ...]
    ) -> tuple[Any, ...]: ...
    def repeat(
        self,
        carried: tuple[Any, ...],
        test: Callable[..., Any],
        body: Callable[..., tuple[Any, ...]],
    ) -> tuple[Any, ...]: ...
    def certain(self, value: Any) -> Any: ...


class Term:
    """One number."""

    __slots__ = ("dtype", "numbers", "value")

    def __init__(self, numbers: Numbers, value: Any, dtype: DType) -> None:
        self.numbers, self.value, self.dtype = numbers, value, dtype

    @property
    def number(self) -> Any:
        """The number it is known to be for all samples, else None."""
        return self.numbers.certain(self.value)

    def like(self, number: Any) -> Term:
        """A known number of the same type."""
        return Term(self.numbers, self.numbers.constant(number, self.dtype), self.dtype)

    def apply(self, op: str, *others: Any, gives: DType | None = None) -> Term:
        """An operation of the table on this term and others."""
        terms = [other if isinstance(other, Term) else self.like(other) for other in others]
        value = self.numbers.emit(op, self.value, *[term.value for term in terms])
        return Term(self.numbers, value, gives or self.dtype)

    def __add__(self, other: Any) -> Term:
        return self.apply("add", other)

    def __sub__(self, other: Any) -> Term:
        return self.apply("sub", other)

    def __mul__(self, other: Any) -> Term:
        return self.apply("mul", other)

    def __truediv__(self, other: Any) -> Term:
        return self.apply("div", other)

    def __rsub__(self, other: Any) -> Term:
        return self.like(other) - self

    def __rtruediv__(self, other: Any) -> Term:
        return self.like(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Term:
        return self.apply("neg")

    def __abs__(self) -> Term:
        return self.apply("abs")

    def __and__(self, other: Any) -> Term:
        return self.apply("and", other)

    def __or__(self, other: Any) -> Term:
        return self.apply("or", other)

    def __xor__(self, other: Any) -> Term:
        return self.apply("xor", other)

    def __lshift__(self, places: int) -> Term:
        return self.apply("fit_shl", places)

    def __rshift__(self, places: int) -> Term:
        """By zeros, also for a signed number."""
        return self.apply("fit_lshr", places)

    def __lt__(self, other: Any) -> Term:
        return self.apply("lt", other, gives=DType.BOOL)

    def __le__(self, other: Any) -> Term:
        return self.apply("le", other, gives=DType.BOOL)

    def __gt__(self, other: Any) -> Term:
        return self.apply("gt", other, gives=DType.BOOL)

    def __ge__(self, other: Any) -> Term:
        return self.apply("ge", other, gives=DType.BOOL)

    def equals(self, other: Any) -> Term:
        return self.apply("eq", other, gives=DType.BOOL)

    def differs(self, other: Any) -> Term:
        return self.apply("ne", other, gives=DType.BOOL)

    def of(self, wide: Any, narrow: Any) -> Any:
        """What belongs to its width: of float64 or of float32."""
        return wide if self.dtype is DType.F64 else narrow


def fma(a: Term, b: Any, c: Any) -> Term:
    """The product plus c, rounded once."""
    return a.apply("fma", b, c)


def rint(x: Term) -> Term:
    """The nearest whole number."""
    return x.apply("rint")


def trunc(x: Term) -> Term:
    """The next whole number towards 0."""
    return x.apply("trunc")


def sqrt(x: Term) -> Term:
    return x.apply("sqrt")


def copysign(x: Term, sign: Term) -> Term:
    """`x` with the sign of a number that is not NaN."""
    return x.apply("fit_copysign", sign)


def isnan(x: Term) -> Term:
    return x.apply("isnan", gives=DType.BOOL)


def select(test: Term, then: Any, orelse: Any) -> Term:
    """`then` where the test holds, else `orelse`; one of them is a Term."""
    like = then if isinstance(then, Term) else orelse
    pair = [each if isinstance(each, Term) else like.like(each) for each in (then, orelse)]
    return test.apply("select", *pair, gives=like.dtype)


def where(
    test: Term, then: Callable[[], tuple[Term, ...]], orelse: tuple[Term, ...]
) -> tuple[Term, ...]:
    """As `select` of several, but what `then` computes is skipped where no sample needs it."""
    values = test.numbers.where(
        test.value,
        lambda: tuple(term.value for term in then()),
        tuple(term.value for term in orelse),
    )
    return tuple(
        Term(test.numbers, value, term.dtype) for value, term in zip(values, orelse, strict=True)
    )


def unless(ordinary: Term, otherwise: Callable[[], Term], usual: Term) -> Term:
    """`usual` where a number is ordinary, and where it is not what `otherwise` computes."""
    return where(ordinary ^ True, lambda: (otherwise(),), (usual,))[0]


def repeat(
    carried: tuple[Term, ...],
    test: Callable[..., Term],
    body: Callable[..., tuple[Term, ...]],
) -> tuple[Term, ...]:
    """What `body` makes of the carried terms, again and again while `test` of them holds."""
    numbers, types = carried[0].numbers, [term.dtype for term in carried]

    def terms(values: tuple[Any, ...]) -> list[Term]:
        return [Term(numbers, v, dtype) for v, dtype in zip(values, types, strict=True)]

    values = numbers.repeat(
        tuple(term.value for term in carried),
        lambda *values: test(*terms(values)).value,
        lambda *values: tuple(term.value for term in body(*terms(values))),
    )
    return tuple(terms(values))


def lesser(x: Term, y: Any) -> Term:
    """The lesser of two integers."""
    return x.apply("min", y)


class Row:
    """A table of one dimension: its elements at places, which are int32."""

    def __init__(self, numbers: Numbers, handle: Any, dtype: DType, extent: Any) -> None:
        self.numbers, self.handle, self.dtype = numbers, handle, dtype
        self.known: int | None = extent if isinstance(extent, int) else None
        """How many elements there are, if it is known."""
        length = numbers.constant(extent, DType.I32) if isinstance(extent, int) else extent
        self.last = Term(numbers, length, DType.I32) - 1
        """The place of the last."""

    def at(self, place: Term) -> Term:
        """The element at a place that there is."""
        return Term(self.numbers, self.numbers.emit("lookup", self.handle, place.value), self.dtype)


def bits_of(x: Term) -> Term:
    """The bits of a float, as an integer of its width. Those of a NaN may be any."""
    return x.apply("fit_bits", gives=x.of(DType.I64, DType.I32))


def from_bits(bits: Term) -> Term:
    """The float that has these bits."""
    return bits.apply("from_bits", gives=DType.F64 if bits.dtype is DType.I64 else DType.F32)


def to_f64(x: Term) -> Term:
    return x if x.dtype is DType.F64 else x.apply("to_f64", gives=DType.F64)


def to_i32(x: Term) -> Term:
    return x.apply("to_i32", gives=DType.I32)


def to_f32(x: Term) -> Term:
    return x if x.dtype is DType.F32 else x.apply("to_f32", gives=DType.F32)


def polynomial(x: Term, coefficients: tuple[float, ...]) -> Term:
    """The sum of `coefficients[k] * x**k`, an `fma` each.

    The first is added last. The others are added in pairs, the sums of those in pairs, and so on
    (Estrin 1960): a processor that waits for none of them is faster than from the highest power
    down, one by one.
    """
    first, *left = coefficients
    if not left:
        return x.like(first)
    terms: list[Any] = left
    power = x
    while len(terms) > 1:
        pairs = zip(terms[::2], terms[1::2], strict=False)
        joined: list[Any] = [fma(power, b, a) for a, b in pairs]
        terms = joined + terms[len(terms) // 2 * 2 :]
        power = power * power
    return fma(x, terms[0], first)


def polynomial_in_order(x: Term, coefficients: tuple[float, ...]) -> Term:
    """As `polynomial`, from the highest power down: slower, and a little more exact."""
    result = x.like(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = fma(result, x, coefficient)
    return result


# -- pairs: a number as the sum of two -------------------------------------------------------------


def two_sum(a: Term, b: Term) -> tuple[Term, Term]:
    """The sum exactly, as its float and what that lost. Knuth, TAOCP 2, 4.2.2, theorem B."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def fast_two_sum(a: Term, b: Term) -> tuple[Term, Term]:
    """The sum exactly, where a is not smaller than b. Dekker 1971."""
    total = a + b
    return total, b - (total - a)


def two_product(a: Term, b: Any) -> tuple[Term, Term]:
    """The product exactly, as its float and what that lost."""
    product = a * b
    return product, fma(a, b, -product)


def square_root(x: Term, low: Any) -> tuple[Term, Term]:
    """The square root of a pair that is not negative, as a pair."""
    root = sqrt(x)
    divisor = select(root > 0.0, root + root, 1.0)
    return root, (fma(-root, root, x) + low) / divisor


def quotient(above: Term, above_low: Any, below: Term, below_low: Any) -> tuple[Term, Term]:
    """The quotient of two pairs, as two floats whose sum it is, for little more than a division.

    The first may be off by a unit in its last place, which the second makes good. 1 / below is a
    normal number.
    """
    inverse = 1.0 / below
    first = above * inverse
    rest = fma(-first, below, above)
    rest = fma(-first, below_low, rest + above_low)
    return first, rest * inverse
