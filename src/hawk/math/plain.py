"""The functions of `hawk.math` on whatever they are called with: terms, or Python's numbers."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any, NamedTuple

import numpy as np

from hawk.ir.meaning import RANGE, represent
from hawk.ir.ops import OPS, result_type
from hawk.ir.types import DType
from hawk.math.terms import Row, Term


class _Number(NamedTuple):
    number: Any
    dtype: DType


class _Plain:
    """Computes at once, by the meanings of the table of operations."""

    def emit(self, op: str, *values: _Number) -> _Number:
        dtype = result_type(op, tuple(value.dtype for value in values))
        return _Number(OPS[op].meaning(values[-1].dtype, *(v.number for v in values)), dtype)

    def constant(self, number: Any, dtype: DType) -> _Number:
        return _Number(represent(dtype, number), dtype)

    def where(
        self, test: _Number, then: Callable[[], tuple[Any, ...]], orelse: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        return then() if test.number else orelse

    def repeat(
        self,
        carried: tuple[Any, ...],
        test: Callable[..., _Number],
        body: Callable[..., tuple[Any, ...]],
    ) -> tuple[Any, ...]:
        while test(*carried).number:
            carried = body(*carried)
        return carried

    def certain(self, value: _Number) -> Any:
        return value.number


_PLAIN = _Plain()
_INTEGERS = (bool, int, np.bool, np.integer)
_NUMBERS = (*_INTEGERS, float, np.floating)


def row(values: Any) -> Row:
    """A table of numbers, float64. Raises TypeError for what is no row of numbers."""
    array = np.asarray(values, np.float64)
    if array.ndim != 1 or not array.size:
        raise TypeError(f"expected one row of numbers, got an array of shape {array.shape}")
    return Row(_PLAIN, _Number(array.tolist(), DType.F64), DType.F64, len(array))


def compute(function: Callable[..., Any], *values: Any) -> Any:
    """`function` of floats: a float32 where NumPy's float32 meet no float64, else a Python float.

    As in NumPy and in kernels, a Python number takes the width of what it meets. Of terms, as a
    kernel has them, it is a term. Raises TypeError for what is no real number.
    """
    if all(isinstance(value, Term) for value in values):
        return function(*values)
    _check(*values)
    kinds = {type(value) for value in values}
    narrow = np.float32 in kinds and kinds <= {np.float32, bool, int, float}
    return _compute(function, DType.F32 if narrow else DType.F64, *map(float, values))


def compute_any(function: Callable[..., Any], *values: Any) -> Any:
    """As `compute`, but of integers alone it is a Python integer.

    Raises OverflowError for an integer that 64 bits do not hold.
    """
    if not all(isinstance(value, _INTEGERS) for value in values):
        return compute(function, *values)
    whole = [int(value) for value in values]
    least, greatest = RANGE[DType.I64]
    for value in whole:
        if not least <= value <= greatest:
            raise OverflowError(f"functions of hawk.math take integers of 64 bits, got {value}")
    return _compute(function, DType.I64, *whole)


def choose(condition: Any, x: Any, y: Any) -> Any:
    """`x` if the condition holds, else `y`. Raises TypeError for what is no real number."""
    _check(condition, x, y)
    if all(isinstance(value, _INTEGERS) for value in (x, y)):
        return x if condition else y
    return compute(lambda x, y: x if condition else y, x, y)


def _check(*values: Any) -> None:
    for value in values:
        if not isinstance(value, _NUMBERS):
            kind = type(value).__name__
            raise TypeError(
                f"functions of hawk.math take numbers, got {kind}; for arrays write a kernel"
            )


def _compute(function: Callable[..., Any], dtype: DType, *values: Any) -> Any:
    result = function(*[Term(_PLAIN, _PLAIN.constant(value, dtype), dtype) for value in values])
    if isinstance(result, tuple):
        return tuple(_number(term) for term in result)
    return _number(result)


def _number(term: Term) -> Any:
    """What a term holds, as Python or NumPy has it."""
    number = term.value.number
    return np.float32(number) if term.dtype is DType.F32 else number


def integer_term(number: int) -> Term:
    """An integer of up to 64 bits as an int64. Raises TypeError, and OverflowError beyond."""
    value = index(number)
    if not -(2**63) <= value < 2**64:
        raise OverflowError(f"{value} has more than 64 bits")
    return Term(_PLAIN, _PLAIN.constant(value, DType.I64), DType.I64)


def real_term(number: float) -> Term:
    """A float64."""
    return Term(_PLAIN, _PLAIN.constant(float(number), DType.F64), DType.F64)


def plain_number(term: Term) -> Any:
    """The Python number of a term."""
    return term.value.number
