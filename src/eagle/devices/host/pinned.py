"""Arrays for copies that a GPU makes by itself, and which arrays are such.

They begin and end with a page of memory, so that a driver can keep those pages where they are. It
is asked to as soon as this process uses a GPU. Where there is none an ordinary array does the same
job. It is known as pinned all the same, so a graph that copies from a pageable array where it may
not is refused on every machine.
"""

from __future__ import annotations

import mmap
import threading
import weakref
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from eagle.devices.host.memory import address_of


class Locker(Protocol):
    """Who can keep pages where they are."""

    def lock(self, address: int, size: int) -> None:
        """Page-lock memory from now on."""

    def unlock(self, address: int, memory: object) -> None:
        """Undo that, some time. `memory` is kept until then. May be called on any thread."""


class _Pages:
    """Whole pages of zeros, as NumPy takes memory. Every view of an array in them keeps this."""

    __slots__ = ("__array_interface__", "__weakref__", "address", "memory", "size")

    def __init__(self, size: int) -> None:
        page = mmap.PAGESIZE
        whole = -(-max(size, 1) // page) * page
        self.memory = np.zeros(whole + page, np.uint8)
        self.address = -(-address_of(self.memory) // page) * page
        self.size = whole

        self.__array_interface__ = {
            "shape": (whole,),
            "typestr": "|u1",
            "data": (self.address, False),
            "version": 3,
        }


_alive: dict[int, tuple[int, int, weakref.ref[_Pages]]] = {}
"""First byte and one past the last of the pages of each array, and these."""
_lock = threading.RLock()
_locker: Locker | None = None

asked_besides: list[Callable[[NDArray[Any]], bool]] = []
"""Who else knows of pinned arrays: those that other libraries made."""


def pinned_array(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """A new array of zeros, known as pinned for as long as it or a view of it lives."""
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    pages = _Pages(size)
    key = id(pages)
    with _lock:
        if _locker is not None:
            _locker.lock(pages.address, pages.size)
        _alive[key] = pages.address, pages.address + pages.size, weakref.ref(pages)
    gone = weakref.finalize(pages, _forget, key, pages.memory)
    gone.atexit = False
    return np.asarray(pages)[:size].view(dtype).reshape(shape)


def _forget(key: int, memory: object) -> None:
    address, _, _ = _alive.pop(key)
    if _locker is not None:
        _locker.unlock(address, memory)


def lock_none() -> None:
    """Page-lock nothing any more; what is locked is not unlocked."""
    global _locker  # noqa: PLW0603 - the process has one driver
    _locker = None


def lock_all(locker: Locker) -> None:
    """Page-lock all pinned arrays that there are, and those to come."""
    global _locker  # noqa: PLW0603 - the process has one driver
    with _lock:
        # They are held meanwhile: one that went now would be unlocked by nobody.
        there = [pages for _, _, reference in list(_alive.values()) if (pages := reference())]
        for pages in there:
            locker.lock(pages.address, pages.size)
        _locker = locker


def pinned_like(array: NDArray[Any]) -> str:
    """What to write for a pinned array of the shape and type of this one."""
    shape = array.shape[0] if array.ndim == 1 else array.shape
    dtype = "" if array.dtype == np.float64 else f", np.{array.dtype}"
    return f"eagle.pinned({shape}{dtype})"


def is_pinned(array: NDArray[Any]) -> bool:
    """Is all of `array` in pinned memory?"""
    low, high = np.lib.array_utils.byte_bounds(array)
    if any(first <= low and high <= end for first, end, _ in list(_alive.values())):
        return True
    return any(asked(array) for asked in asked_besides)
