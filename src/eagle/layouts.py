"""Arrays that hold a small array a sample: which axis is that of the samples, and their rows.

A plane of shape `(w,)` is w rows, one for each component, of one element a sample. Samples are the
last axis, `(w, n)`, or the first, `(n, w)`; of a matrix `(r, c, n)`, `(r*c, n)`, `(n, r, c)` or
`(n, r*c)`. Which one, its shape tells, unless it reads both ways.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eagle.params import shown

Array: TypeAlias = NDArray[Any]


class Axis(enum.Enum):
    """Where the samples of an array are."""

    FIRST = "samples_first"
    LAST = "samples_last"
    NONE = "one sample"


class Oriented:
    """An array with its layout said. Made by `samples_first` and `samples_last`."""

    __slots__ = ("array", "axis")

    def __init__(self, array: object, axis: Axis) -> None:
        self.array, self.axis = array, axis

    def __repr__(self) -> str:
        return f"eagle.{self.axis.value}({shown(self.array)})"


def samples_first(array: object) -> Oriented:
    """Say that the first axis of `array` is that of the samples: `(n, w)`, `(n, r, c)`.

    To be given to any call that takes the planes of a kernel. A shape with as many samples as
    components reads both ways, and is refused without it.
    """
    return Oriented(array, Axis.FIRST)


def samples_last(array: object) -> Oriented:
    """Say that the last axis of `array` is that of the samples: `(w, n)`, `(r, c, n)`."""
    return Oriented(array, Axis.LAST)


def parse_layout(layout: object, planes: Mapping[str, str]) -> tuple[dict[str, Axis], list[str]]:
    """The layout of each plane that `layout=` says, and what is wrong with it.

    `planes` are those of small arrays, by each name that they are called by.
    """
    if layout is None:
        return {}, []
    if not planes:
        return {}, ["'layout': there is no plane of small arrays whose layout it could be"]
    each: Mapping[Any, Any] = (
        layout if isinstance(layout, Mapping) else dict.fromkeys(planes, layout)  # pyright: ignore[reportUnknownVariableType]
    )
    known = {axis.value: axis for axis in (Axis.FIRST, Axis.LAST)}
    axes: dict[str, Axis] = {}
    for name, said in each.items():
        if name not in planes:
            has = ", ".join(dict.fromkeys(planes.values()))
            return {}, [f"'layout': {name!r} is no plane of small arrays; there are {has}"]
        if said not in known:
            fix = f'"{Axis.LAST.value}" for (w, n), "{Axis.FIRST.value}" for (n, w)'
            return {}, [f"'layout': expected {fix}, got {shown(said)}"]
        axes[planes[name]] = known[said]
    return axes, []


class Fit(NamedTuple):
    """How an array holds the small arrays of a batch, or why it does not."""

    axis: Axis | None
    both: bool = False
    """Does its shape read both ways?"""


def fit(found: tuple[int, ...], shape: tuple[int, ...], said: Axis | None) -> Fit:
    """How an array of shape `found` holds small arrays of `shape`."""
    flat = (prod(shape),)
    lasts = {shape, flat}
    if said is None and (found == shape or (len(shape) > 1 and found == flat)):
        return Fit(Axis.NONE)
    if not found:
        return Fit(None)
    last, first = found[:-1] in lasts, found[1:] in lasts
    if said is not None:
        return Fit(said if (last if said is Axis.LAST else first) else None)
    if last and first:
        # One sample of one number is the same memory either way.
        return Fit(Axis.LAST) if prod(found) == 1 else Fit(None, both=True)
    return Fit(Axis.LAST if last else Axis.FIRST if first else None)


def turned(array: Array, axis: Axis) -> Array:
    """The array with the samples last."""
    return np.moveaxis(array, 0, -1) if axis is Axis.FIRST else array


def rows(array: Array, shape: tuple[int, ...], axis: Axis) -> Iterator[Array]:
    """The components of an array with the samples last: each `(n,)`, or `()` of one sample."""
    lone = axis is Axis.NONE
    inner = array.shape if lone else array.shape[:-1]
    for place in np.ndindex(inner):
        yield array[(*place, ...)]


def has_unit_stride(array: Array) -> bool:
    """Do neighbouring samples, along the last axis, stand side by side?"""
    return array.shape[-1] <= 1 or array.strides[-1] == array.itemsize


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy, samples last, of an array whose samples are first: compiled code works on it."""

    name: str
    theirs: Array
    """The caller's memory, with the samples last."""
    ours: Array
    written: bool

    def bring(self) -> None:
        self.ours[...] = self.theirs

    def give(self) -> None:
        if self.written:
            self.theirs[...] = self.ours
