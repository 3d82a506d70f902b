"""The functions of `hawk.math` on whatever they are called with: terms, or Python's numbers."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any, NamedTuple

import numpy as np

from hawk.ir.meaning import represent
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
_NUMBERS = (bool, int, float, np.bool, np.integer, np.floating)


def row(values: Any) -> Row:
    """A table of numbers, float64. Raises TypeError for what is no row of numbers."""
    array = np.asarray(values, np.float64)
    if array.ndim != 1 or not array.size:
        raise TypeError(f"expected one row of numbers, got an array of shape {array.shape}")
    return Row(_PLAIN, _Number(array.tolist(), DType.F64), DType.F64, len(array))


def compute(function: Callable[..., Any], *values: Any) -> Any:
    """`function` of numbers: of NumPy's float32 alone it is a float32, else a Python float.

    Of terms, as a kernel has them, it is a term. Raises TypeError for what is no real number.
    """
    if all(isinstance(value, Term) for value in values):
        return function(*values)
    for value in values:
        if not isinstance(value, _NUMBERS):
            kind = type(value).__name__
            raise TypeError(
                f"functions of hawk.math take numbers, got {kind}; for arrays write a kernel"
            )
    narrow = all(type(value) is np.float32 for value in values)
    dtype = DType.F32 if narrow else DType.F64
    terms = [Term(_PLAIN, _PLAIN.constant(float(value), dtype), dtype) for value in values]
    result = function(*terms)
    several = result if isinstance(result, tuple) else (result,)
    numbers = tuple(np.float32(t.value.number) if narrow else t.value.number for t in several)
    return numbers if isinstance(result, tuple) else numbers[0]


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
