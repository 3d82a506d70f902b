"""What an array is to eagle: its type, its shape and layout.

Arrays are NumPy's, or views of the memory of other libraries' arrays. A plane of a kernel is an
array with one element for each sample, without gaps, in the machine's byte order.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eagle.devices.host.memory import view_of
from hawk.ir.types import DType

Shape: TypeAlias = "tuple[int, ...] | None"
"""`(n,)`, or `()` for the values of a lone sample; None while n is not known."""

NUMPY = {dtype: np.dtype(dtype.numpy) for dtype in DType}


def width_of(value: object) -> str:
    """The code of an array's type, `"d"` for float64; empty for what is no array."""
    view = view_of(value)
    return "" if view is None else view.dtype.char


def is_plane(array: NDArray[Any], dtype: DType, shape: Shape, *, written: bool) -> bool:
    """Can compiled code use `array` as it is?"""
    if array.dtype != NUMPY[dtype] or array.shape != shape:
        return False
    flags = array.flags
    return flags.carray if written else flags.c_contiguous and flags.aligned


def convert(array: NDArray[Any], dtype: DType, *, floats: bool) -> NDArray[Any] | None:
    """`array` as one of type `dtype` if every number keeps its value; None if one would not.

    Integers may become floats (rounded once) and integers of another size. `floats`: so may floats.
    """
    kind, target = array.dtype.kind, NUMPY[dtype]
    if array.dtype == target:
        return array
    if dtype.is_float and (kind in "iu" or (kind == "f" and floats)):
        with np.errstate(over="ignore"):
            converted = array.astype(target)
        return converted if np.isinf(converted).sum() == np.isinf(array).sum() else None
    if dtype.is_int and (kind in "iu" or array.size == 0):
        bounds = np.iinfo(target)
        fits = array.size == 0 or (
            bounds.min <= int(array.min()) and int(array.max()) <= bounds.max
        )
        return array.astype(target) if fits else None
    return array.astype(target) if array.size == 0 else None
