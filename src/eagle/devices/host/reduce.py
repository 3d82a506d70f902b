"""Numbers of a whole batch made into one, with the bits that `hawk.ir.reduce` lays down.

Sums are native code, because NumPy adds in an order of its own, and flushes small numbers to 0
where a library has asked for that. What is least or greatest is found among integers that are
ordered as the numbers are, for the second reason.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eagle.devices.host.memory import address_of
from hawk.ir.meaning import represent
from hawk.ir.nodes import Number
from hawk.ir.ops import OPS
from hawk.ir.reduce import BLOCK, neutral_of
from hawk.ir.types import DType
from hawk.targets import native

_NAN = {4: 0x7F800000, 8: 0x7FF0000000000000}
"""The bits of infinity; more than these, the sign left out, is not a number."""


def reduce_array(
    kind: str, dtype: DType, numbers: NDArray[Any], kept: NDArray[np.bool] | None
) -> Number:
    """The reduction of `numbers` `(n,)` of type `dtype`, where `kept` is True (None: all)."""
    if kind in ("sum", "mean"):
        total = _sum(dtype, numbers, kept)
        if kind == "sum":
            return total
        count = len(numbers) if kept is None else int(np.count_nonzero(kept))
        return OPS["div"].meaning(dtype, total, represent(dtype, count))
    if kind in ("any", "all"):
        chosen = numbers if kept is None else numbers[kept]
        return bool(chosen.any() if kind == "any" else chosen.all())
    place = _place(kind.removeprefix("arg"), numbers, kept)
    if kind.startswith("arg"):
        return place
    return neutral_of(kind, dtype) if place < 0 else numbers[place].item()


def reduced(kind: str, dtype: DType, array: NDArray[Any]) -> Number:
    """The same of all numbers of an array of any shape and layout, the last axis fastest."""
    return reduce_array(kind, dtype, np.ascontiguousarray(array).reshape(-1), None)


def _sum(dtype: DType, numbers: NDArray[Any], kept: NDArray[np.bool] | None) -> Number:
    fold, count = native.folds()[dtype], len(numbers)
    keep = 0 if kept is None else address_of(kept)
    while True:
        sums = np.empty(max(1, -(-count // BLOCK)), numbers.dtype)
        fold(address_of(numbers), keep, count, address_of(sums))
        numbers, kept, keep, count = sums, None, 0, len(sums)
        if count == 1:
            return sums[0].item()


def _place(kind: str, numbers: NDArray[Any], kept: NDArray[np.bool] | None) -> int:
    """Where the first of the least or greatest is, or the first NaN; -1 where there is none."""
    places = None if kept is None else np.flatnonzero(kept)
    chosen = numbers if places is None else numbers[places]
    if not len(chosen):
        return -1
    if chosen.dtype.kind == "f":
        bits = chosen.view(np.int64 if chosen.itemsize == 8 else np.int32)
        size = np.iinfo(bits.dtype).max
        nan = (bits & size) > _NAN[chosen.itemsize]
        # Negative numbers in reverse; so -0.0 is just before 0.0.
        chosen = bits ^ ((bits >> (8 * bits.itemsize - 1)) & size)
        if nan.any():
            chosen, kind = nan, "max"
    first = int(chosen.argmin() if kind == "min" else chosen.argmax())
    return first if places is None else int(places[first])
