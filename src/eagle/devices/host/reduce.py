"""Numbers of a whole batch, or of lines of it, made into one, with the bits of `hawk.ir.reduce`.

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
    line, keep = numbers[None], None if kept is None else kept[None]
    if kind == "mean":
        count = len(numbers) if kept is None else int(np.count_nonzero(kept))
        total = _sums(dtype, line, keep)[0].item()
        return OPS["div"].meaning(dtype, total, represent(dtype, count))
    if kind in ("min", "max"):
        place = _places(kind, line, keep)[0]
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
    places = _places(kind.removeprefix("arg"), numbers, kept)
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


def _places(kind: str, numbers: NDArray[Any], kept: NDArray[np.bool] | None) -> NDArray[np.int64]:
    """Where the first of the least or greatest of each line is, or the first NaN; -1: nowhere."""
    lines, count = numbers.shape
    if not count:
        return np.full(lines, -1, np.int64)
    if lines == 1 and kept is not None:  # the others need not be looked at
        there = np.flatnonzero(kept)
        found = _places(kind, numbers[:, there], None)
        return there[found] if found[0] >= 0 else found
    keys, nan = numbers, None
    if keys.dtype.kind == "f":
        bits = keys.view(np.int64 if keys.itemsize == 8 else np.int32)
        size = np.iinfo(bits.dtype).max
        nan = (bits & size) > _NAN[keys.itemsize]
        # Negative numbers in reverse; so -0.0 is just before 0.0.
        keys = bits ^ ((bits >> (8 * bits.itemsize - 1)) & size)
    choose = np.argmin if kind == "min" else np.argmax
    if kept is None:
        places = choose(keys, axis=1)
    else:
        last = np.iinfo(keys.dtype).max if kind == "min" else np.iinfo(keys.dtype).min
        keys = np.where(kept, keys, last)
        places = choose(keys, axis=1)
        # What is left out looks like the last to be chosen, and so may one do that counts.
        unsure = np.flatnonzero(keys[np.arange(lines), places] == last)
        some = kept[unsure]
        places[unsure] = np.where(some.any(axis=1), some.argmax(axis=1), -1)
    if nan is not None:
        nan = nan if kept is None else nan & kept
        if nan.any():
            has = np.flatnonzero(nan.any(axis=1))
            places[has] = nan[has].argmax(axis=1)
    return places
