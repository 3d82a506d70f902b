"""Arrays in page-locked memory, and which arrays are in it.

Where there is no GPU an ordinary array does the same job. It is known as pinned all the same, so a
graph that copies from a pageable array where it may not is refused on every machine.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eagle.devices.host.memory import address_of

_spans: dict[int, tuple[int, int]] = {}
"""First byte and one past the last of each array that is alive."""


def pinned_array(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """A new array of zeros, known as pinned for as long as it or a view of it lives."""
    owner = np.zeros(shape, dtype)
    key, start = id(owner), address_of(owner)
    _spans[key] = start, start + owner.nbytes
    weakref.finalize(owner, _spans.pop, key, None)
    return owner.view()  # every view keeps alive what owns the memory


def pinned_like(array: NDArray[Any]) -> str:
    """What to write for a pinned array of the shape and type of this one."""
    shape = array.shape[0] if array.ndim == 1 else array.shape
    dtype = "" if array.dtype == np.float64 else f", np.{array.dtype}"
    return f"eagle.pinned({shape}{dtype})"


def is_pinned(array: NDArray[Any]) -> bool:
    """Is all of `array` in pinned memory?"""
    low, high = np.lib.array_utils.byte_bounds(array)
    return any(first <= low and high <= end for first, end in list(_spans.values()))
