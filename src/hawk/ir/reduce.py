"""What a reduction over the samples of a batch gives, on plain Python numbers, exact to the bit.

Sums are made in blocks of 1,024 samples in the order of the batch. A block, filled up with zeros,
is folded in halves: element i of the first half and element i of the second become one, until one
is left. What the blocks give is reduced in the same way. So the order depends on nothing but the
number of samples: vectors, threads and GPUs can follow it, and the error grows as slowly as the
logarithm of that number. Along dimensions of a grid each line is reduced as a batch of its own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from hawk.ir.meaning import RANGE, represent
from hawk.ir.nodes import Number
from hawk.ir.ops import OPS
from hawk.ir.types import DType

BLOCK = 1024
"""Samples that are folded into one number at a time. A power of two."""

KINDS = ("sum", "mean", "min", "max", "any", "all", "argmin", "argmax")


def result_of(kind: str, dtype: DType) -> DType:
    """The type of a reduction of numbers of type `dtype`."""
    return DType.I64 if kind in ("argmin", "argmax") else dtype


def neutral_of(kind: str, dtype: DType) -> Number:
    """What a reduction of no samples gives, but for `mean` and the places."""
    match kind:
        case "sum" | "mean":
            return represent(dtype, 0)
        case "any" | "all":
            return kind == "all"
        case "min" | "max":
            sign = 1 if kind == "min" else -1
            if dtype.is_float:
                return sign * math.inf
            low, high = RANGE[dtype]
            return high if sign > 0 else low
        case _:
            raise ValueError(kind)


def reduce(kind: str, dtype: DType, numbers: Sequence[Number], kept: Sequence[bool]) -> Number:
    """The reduction of those `numbers`, of type `dtype`, for which `kept` is True."""
    if kind in ("sum", "mean"):
        zero = neutral_of(kind, dtype)
        terms = [number if keep else zero for number, keep in zip(numbers, kept, strict=True)]
        total = _fold(terms, zero, lambda a, b: OPS["add"].meaning(dtype, a, b))
        if kind == "sum":
            return total
        return OPS["div"].meaning(dtype, total, represent(dtype, sum(kept)))
    taking_part = [place for place, keep in enumerate(kept) if keep]
    if kind in ("argmin", "argmax"):
        return _place(kind, numbers, taking_part)
    values = [numbers[place] for place in taking_part]
    match kind:
        case "any":
            return any(values)
        case "all":
            return all(values)
        case _:
            return extreme(kind, dtype, values)


def lines_of(extents: Sequence[int], over: Sequence[int]) -> list[list[int]]:
    """The samples of each line of a grid that goes along the dimensions `over`, see `ir.Lines`."""
    lines: dict[tuple[int, ...], list[int]] = {}
    for sample, places in enumerate(itertools.product(*map(range, extents))):
        line = tuple(place for axis, place in enumerate(places) if axis not in over)
        lines.setdefault(line, []).append(sample)
    return list(lines.values())


Add: TypeAlias = "Callable[[Number, Number], Number]"


def _fold(values: Sequence[Number], zero: Number, add: Add) -> Number:
    """The sum in the order that the head of this file says."""
    while True:
        blocks = [values[at : at + BLOCK] for at in range(0, len(values), BLOCK)] or [[]]
        values = [_block(block, zero, add) for block in blocks]
        if len(values) == 1:
            return values[0]


def _block(block: Sequence[Number], zero: Number, add: Add) -> Number:
    parts = [*block, *[zero] * (BLOCK - len(block))]
    while len(parts) > 1:
        half = len(parts) // 2
        parts = [add(parts[i], parts[half + i]) for i in range(half)]
    return parts[0]


def extreme(kind: str, dtype: DType, values: Sequence[Number]) -> Number:
    """The `min` or `max` of numbers: NaN where one is NaN, and -0.0 is less than 0.0."""
    if any(value != value for value in values):
        return math.nan
    choose = min if kind == "min" else max
    return choose(values, key=_ordered, default=neutral_of(kind, dtype))


def _place(kind: str, numbers: Sequence[Number], places: Sequence[int]) -> int:
    nan = next((place for place in places if numbers[place] != numbers[place]), None)
    if nan is not None:
        return nan
    choose = min if kind == "argmin" else max
    return choose(places, key=lambda place: _ordered(numbers[place]), default=-1)


def _ordered(number: Number) -> tuple[Number, float]:
    """What numbers are compared by: -0.0 is less than 0.0."""
    return number, math.copysign(1, number)
