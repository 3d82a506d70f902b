"""What a scatter does to a table that all samples share, on plain Python numbers, exact to the bit.

Each sample gives a number to one element, or to none. They are given one after the other in the
order of the batch, so what is rounded in between is the same for any number of threads. Where a
step has several scatters, the first is done for all samples before the second.
"""

from __future__ import annotations

from collections.abc import Sequence

from hawk.ir.nodes import Number
from hawk.ir.ops import OPS
from hawk.ir.reduce import extreme
from hawk.ir.types import DType

KINDS = ("add", "min", "max", "or", "and")


def kinds_of(dtype: DType) -> tuple[str, ...]:
    """What may be given to elements of type `dtype`."""
    if dtype is DType.BOOL:
        return ("or", "and")
    return ("add", "min", "max") if dtype.is_float else KINDS


def scatter(
    kind: str, dtype: DType, table: list[Number], spots: Sequence[int], values: Sequence[Number]
) -> None:
    """Give each of `values` to the element of `table` at its spot: 1 is the first, 0 is none."""
    for spot, value in zip(spots, values, strict=True):
        if spot:
            table[spot - 1] = _together(kind, dtype, table[spot - 1], value)


def _together(kind: str, dtype: DType, old: Number, new: Number) -> Number:
    if kind in ("min", "max"):
        return extreme(kind, dtype, (old, new))
    return OPS[kind].meaning(dtype, old, new)
