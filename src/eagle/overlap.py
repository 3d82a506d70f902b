"""Which arrays share bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.exceptions import TooHardError
from numpy.typing import NDArray

from eagle.devices.host.memory import address_of

OVERLAP_WORK = 10_000
"""Candidates looked at to tell two strided arrays apart, some 0.1 ms; then they are taken to
overlap."""


def overlap(first: NDArray[Any], second: NDArray[Any]) -> bool:
    """Does some byte belong to an element of both?

    Exact within a bound of work, else assumed. Arrays without elements overlap nothing.
    """
    if not np.may_share_memory(first, second):  # compares the ends only
        return False
    if first.flags.c_contiguous and second.flags.c_contiguous:
        return True
    try:
        return np.shares_memory(first, second, max_work=OVERLAP_WORK)  # pyright: ignore[reportArgumentType]
    except TooHardError:
        return True


def are_apart(spans: list[tuple[int, int]]) -> bool:
    """Does none of these stretches of memory reach into another? Sorts them."""
    spans.sort()
    reached = 0
    for low, high in spans:
        if low < reached:
            return False
        reached = high
    return True


def overlaps(arrays: Sequence[NDArray[Any]], written: Sequence[bool]) -> list[tuple[int, int]]:
    """The pairs of arrays that overlap, at least one of them written, by their places.

    Only arrays whose ends interleave are compared, and columns of one table only if their bytes of
    a row are the same, so many planes cost little more than sorting.
    """
    spans = sorted([(*_span(array), place) for place, array in enumerate(arrays) if array.size])
    pairs: list[tuple[int, int]] = []
    before: list[tuple[int, int]] = []
    furthest = 0
    columns = {place: _column(arrays[place], low) for low, _, place in spans}
    for low, high, place in spans:
        if low >= furthest:
            before.clear()
        else:
            before = [span for span in before if span[0] > low]
        step, begin, end = columns[place]
        for _, other in before:
            other_step, other_begin, other_end = columns[other]
            if step == other_step and (end <= other_begin or other_end <= begin):
                continue
            if (written[place] or written[other]) and overlap(arrays[place], arrays[other]):
                pairs.append((min(place, other), max(place, other)))
        before.append((high, place))
        furthest = max(furthest, high)
    return sorted(pairs)


def overlaps_itself(array: NDArray[Any]) -> bool:
    """Do two elements share a byte?

    It may say so of arrays with more than one dimension that are interleaved in an odd way.
    """
    reach = array.itemsize
    for step, count in sorted((abs(s), n) for s, n in zip(array.strides, array.shape, strict=True)):
        if count > 1:
            if step < reach:
                return True
            reach += step * (count - 1)
    return False


def same_plane(first: NDArray[Any], second: NDArray[Any]) -> bool:
    """Are the two arrays exactly one plane: same address, layout and type?"""
    return (
        first.dtype == second.dtype
        and first.shape == second.shape
        and first.strides == second.strides
        and address_of(first) == address_of(second)
    )


def _column(array: NDArray[Any], low: int) -> tuple[int, int, int]:
    """The row length and the bytes of each row that a column of a table takes.

    Two columns of one row length share no byte of a row, or perhaps share some. What is no column
    takes all of a row.
    """
    if array.ndim != 1 or len(array) < 2:
        return 1, 0, 1
    step = abs(array.strides[0])
    begin = low % step if step else 0
    end = begin + array.itemsize
    return (step, begin, end) if end <= step else (1, 0, 1)


def _span(array: NDArray[Any]) -> tuple[int, int]:
    """The first byte and the one past the last."""
    start = address_of(array)
    if array.flags.c_contiguous:
        return start, start + array.nbytes
    steps = [step * (n - 1) for step, n in zip(array.strides, array.shape, strict=True)]
    low = sum(step for step in steps if step < 0)
    return start + low, start + sum(steps) - low + array.itemsize
