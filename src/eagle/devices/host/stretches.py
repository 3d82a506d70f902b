"""A copy between two arrays of one shape, made of as few copies of stretches of bytes as can be."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

from numpy.typing import NDArray

from eagle.devices.host.memory import address_of


class Stretches(NamedTuple):
    """`times` stretches of `size` bytes. The places are counted from the first elements."""

    into: int
    source: int
    size: int
    times: int
    into_step: int
    source_step: int


class _Axis(NamedTuple):
    size: int
    into: int
    source: int


def stretched(source: NDArray[Any], into: NDArray[Any], most: int) -> Iterator[Stretches]:
    """The copy from `source` into `into`, in at most `most` parts: ask for one more to know."""
    axes = [
        _Axis(count, there, here)
        for count, there, here in zip(into.shape, into.strides, source.strides, strict=True)
        if count > 1
    ]
    axes.sort(key=lambda axis: abs(axis.into))
    size = into.itemsize
    while axes and axes[0].into == axes[0].source == size:
        size *= axes.pop(0).size
    axes = _merged(axes)
    inner = axes.pop() if axes else _Axis(1, 0, 0)  # the longest steps; the others are parts
    if axes and axes[0].size > inner.size:
        axes, inner = [inner, *axes[1:]], axes[0]
    parts = itertools.product(*[range(axis.size) for axis in axes])
    for place in itertools.islice(parts, most):
        there = sum(k * axis.into for k, axis in zip(place, axes, strict=True))
        here = sum(k * axis.source for k, axis in zip(place, axes, strict=True))
        yield Stretches(there, here, size, inner.size, inner.into, inner.source)


def _merged(axes: list[_Axis]) -> list[_Axis]:
    """The same elements with fewer axes, where one goes on where another ends."""
    merged: list[_Axis] = []
    for axis in axes:
        last = merged[-1] if merged else None
        if (
            last is not None
            and axis.into == last.size * last.into
            and axis.source == last.size * last.source
        ):
            merged[-1] = _Axis(last.size * axis.size, last.into, last.source)
        else:
            merged.append(axis)
    return merged


def same_memory(first: NDArray[Any], second: NDArray[Any]) -> bool:
    """Are both the same elements of the same memory, in the same order?"""
    return (
        first.dtype == second.dtype
        and first.shape == second.shape
        and address_of(first) == address_of(second)
        and all(
            count < 2 or a == b
            for count, a, b in zip(first.shape, first.strides, second.strides, strict=True)
        )
    )
