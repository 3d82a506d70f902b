"""Numbers of a whole batch, or of lines of it, made into one, with the bits of `hawk.ir.reduce`.

Native code does it, because NumPy adds in an order of its own, flushes small numbers to 0 where a
library has asked for that, and passes over the numbers several times to know of NaN and of -0.0.
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


def reduce_array(
    kind: str, dtype: DType, numbers: NDArray[Any], kept: NDArray[np.bool] | None
) -> Number:
    """The reduction of `numbers` `(n,)` of type `dtype`, where `kept` is True (None: all)."""
    line, keep = numbers[None], None if kept is None else kept[None]
    if kind == "mean":
        count = len(numbers) if kept is None else int(np.count_nonzero(kept))
        total = _sums(dtype, line, keep)[0].item()
        return OPS["div"].meaning(dtype, total, represent(dtype, count))
    if kind in ("min", "max"):
        place = _places(kind, dtype, line, keep)[0]
        return neutral_of(kind, dtype) if place < 0 else numbers[place].item()
    return reduce_lines(kind, dtype, line, keep)[0].item()


def reduced(kind: str, dtype: DType, array: NDArray[Any]) -> Number:
    """The same of all numbers of an array of any shape and layout, the last axis fastest."""
    return reduce_array(kind, dtype, np.ascontiguousarray(array).reshape(-1), None)


def reduce_lines(
    kind: str, dtype: DType, numbers: NDArray[Any], kept: NDArray[np.bool] | None
) -> NDArray[Any]:
    """The reduction of each line of `numbers` `(lines, n)`; both arrays are in C order."""
    if kind in ("sum", "mean"):
        totals = _sums(dtype, numbers, kept)
        if kind == "mean":
            counts = np.full(len(numbers), numbers.shape[1], np.int64)
            if kept is not None:
                counts[:] = np.count_nonzero(kept, axis=1)
            native.folds().mean[dtype](address_of(totals), address_of(counts), len(totals))
        return totals
    if kind == "any":
        return np.any(numbers if kept is None else numbers & kept, axis=1)
    if kind == "all":
        return np.all(numbers if kept is None else numbers | ~kept, axis=1)
    places = _places(kind.removeprefix("arg"), dtype, numbers, kept)
    if kind.startswith("arg"):
        return places
    numbers_there = np.full(len(places), neutral_of(kind, dtype), numbers.dtype)
    there = np.flatnonzero(places >= 0)
    numbers_there[there] = numbers[there, places[there]]
    return numbers_there


def _sums(dtype: DType, numbers: NDArray[Any], kept: NDArray[np.bool] | None) -> NDArray[Any]:
    """The sum of each line."""
    fold, (lines, count) = native.folds().fold[dtype], numbers.shape
    keep = 0 if kept is None else address_of(kept)
    while True:
        sums = np.empty((lines, max(1, -(-count // BLOCK))), numbers.dtype)
        fold(address_of(numbers), keep, lines, count, address_of(sums))
        numbers, kept, keep, count = sums, None, 0, sums.shape[1]
        if count == 1:
            return sums.reshape(lines)


def _places(
    kind: str, dtype: DType, numbers: NDArray[Any], kept: NDArray[np.bool] | None
) -> NDArray[np.int64]:
    """Where the first of the least or greatest of each line is, or the first NaN; -1: nowhere."""
    lines, count = numbers.shape
    places = np.empty(lines, np.int64)
    keep = 0 if kept is None else address_of(kept)
    native.places()[kind, dtype](address_of(numbers), keep, lines, count, address_of(places))
    return places
