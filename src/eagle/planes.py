"""What an array is to eagle: its type, shape and layout, and which bytes it shares with others.

Arrays are NumPy's. A plane of a kernel is an array with one element for each sample, without gaps,
in the machine's byte order.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.exceptions import TooHardError
from numpy.typing import NDArray

from eagle.params import is_number, shown
from hawk.ir.types import DType

OVERLAP_WORK = 10_000
"""Candidates looked at to tell two strided arrays apart, some 0.1 ms; then they are taken to
overlap."""

Shape: TypeAlias = "tuple[int, ...] | None"
"""`(n,)`, or `()` for the values of a lone sample; None while n is not known."""

NUMPY = {dtype: np.dtype(dtype.numpy) for dtype in DType}


def is_array(value: object) -> TypeGuard[NDArray[Any]]:
    """Is `value` an array that eagle can use? A masked array hides elements, so it is none."""
    if type(value) is np.ndarray:
        return True
    return isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray)


def is_plane(array: NDArray[Any], dtype: DType, shape: Shape, *, written: bool) -> bool:
    """Can compiled code use `array` as it is?"""
    flags = array.flags
    return (
        array.dtype == NUMPY[dtype]
        and array.shape == shape
        and flags.c_contiguous
        and flags.aligned
        and (flags.writeable or not written)
    )


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


def misfit(name: str, value: object, dtype: DType, shape: Shape, *, written: bool) -> str:
    """Why `value` is not the plane `name`, in one sentence, and what to write instead."""
    wanted = f"{dtype.numpy} {'(n,)' if shape is None else shape}"
    if not is_array(value):
        return f"expected {wanted}, got {shown(value)}{_remedy(name, value, dtype, shape)}"
    got = f"{value.dtype} {value.shape}"
    if not value.dtype.isnative:
        why = f"got one in the other byte order ({value.dtype.str})"
        fix = f"{name}.astype(np.{dtype.numpy})"
    elif value.dtype.names:
        why = f"got a structured array of {', '.join(value.dtype.names)}"
        fix = f"np.ascontiguousarray({name}[{value.dtype.names[0]!r}])"
    elif value.dtype != NUMPY[dtype]:
        why = f"got {got}"
        fix = f"{name}.astype(np.{dtype.numpy})" if value.dtype.kind in "fiub" else ""
    elif value.shape != shape:
        why, fix = f"got {got}", _reshape(name, value, shape)
    elif written and not value.flags.writeable:
        why, fix = "got a read-only array, and it is written", f"{name}.copy()"
    elif not value.flags.aligned:
        why, fix = "got one at an address that is not a multiple of its size", f"{name}.copy()"
    else:
        why = f"got one with a stride of {value.strides[0]} bytes"
        fix = f"np.ascontiguousarray({name})"
    return f"expected {wanted}, {why}" + (f"; write {fix}" if fix else "")


def _remedy(name: str, value: object, dtype: DType, shape: Shape) -> str:
    """What to write where a plane is needed and `value` is no array."""
    if isinstance(value, np.ma.MaskedArray):
        return f"; write {name}.filled(...)"
    if is_number(value):
        return f"; write {_full(name, shape)}"
    if isinstance(value, (list, tuple, range)):
        return f"; write np.asarray({name}, dtype=np.{dtype.numpy})"
    if value is None or isinstance(value, (str, bytes)):
        return ""
    return f"; eagle takes NumPy arrays: write np.asarray({name})"


def _reshape(name: str, array: NDArray[Any], shape: Shape) -> str:
    if array.ndim == 0:
        return _full(name, shape)
    if array.ndim > 1 and shape is not None and array.size == math.prod(shape):
        return f"{name}.reshape(-1)"
    return ""


def _full(name: str, shape: Shape) -> str:
    size = "n" if shape is None else str(shape[0]) if shape else "()"
    return f"np.full({size}, {name})"


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


def same_plane(first: NDArray[Any], second: NDArray[Any]) -> bool:
    """Are the two arrays exactly one plane: same address, layout and type?"""
    return (
        first.ctypes.data == second.ctypes.data
        and first.dtype == second.dtype
        and first.shape == second.shape
        and first.strides == second.strides
    )
