"""Where arrays are, and memory that is reserved but not there yet, as `np.zeros` gives it.

The system fetches such memory page by page when it is first written, and twice where it was read
before: first a page of zeros that all share, then one to write to. Asked for all at once, it took
52 instead of 62 ms off a first step of a million oscillators, and 171 instead of 201 ms of four.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eagle.interop.base import foreign

LARGE = 1 << 20
"""Bytes from which on an array is looked at. Smaller ones come from memory that was used before."""

_POPULATE_WRITE = 23  # Linux 5.14; older systems refuse it, and nothing is lost
_NODES = "/sys/devices/system/node/online"


nothing_at: Callable[[Any], ctypes.Array[ctypes.c_char]] = (ctypes.c_char * 0).from_buffer
"""An object at the address of an array. Raises TypeError, ValueError or BufferError for an array
that may not be written or has gaps."""


def address_of(array: NDArray[Any]) -> int:
    """The address of the first element, in a third of the time that `array.ctypes.data` takes."""
    try:
        return ctypes.addressof(nothing_at(array))
    except (TypeError, ValueError, BufferError):  # read-only, or with gaps
        return array.ctypes.data


def view_of(value: object) -> NDArray[Any] | None:
    """`value` as a NumPy array of the same memory; None where eagle cannot use it.

    A masked array hides elements, so it is none.
    """
    if type(value) is np.ndarray:
        return value
    if isinstance(value, np.ndarray):
        return None if isinstance(value, np.ma.MaskedArray) else np.asarray(value)
    other = foreign(value)
    return None if other is None else other.view


class _Calls(NamedTuple):
    """The system's calls, as functions of addresses and sizes."""

    madvise: Callable[[int, int, int], int]
    mincore: Callable[[int, int, Any], int]


def fetch(arrays: Iterable[NDArray[Any]]) -> None:
    """Bring the memory of large arrays in, to be written. What they hold stays what it is."""
    for array in arrays:
        if array.nbytes < LARGE or not array.flags.c_contiguous:
            continue
        calls = _calls()
        if calls is None:
            return
        page = mmap.PAGESIZE
        begin = -(-array.ctypes.data // page) * page
        end = (array.ctypes.data + array.nbytes) // page * page
        if not _is_there(begin, end, calls):
            calls.madvise(begin, end - begin, _POPULATE_WRITE)


def _is_there(begin: int, end: int, calls: _Calls) -> bool:
    """Are the first, the middle and the last page in memory? Then the others will be."""
    seen = ctypes.create_string_buffer(1)
    page = mmap.PAGESIZE
    for address in (begin, (begin + end) // 2 // page * page, end - page):
        if calls.mincore(address, page, seen) != 0 or not seen.raw[0] & 1:
            return False
    return True


@functools.cache
def _calls() -> _Calls | None:
    """The calls of this system; None where there are none, or where memory is near some cores only.

    There a page belongs to the cores of whoever writes it first, so that is left to the threads.
    """
    if sys.platform != "linux" or not _one_node():
        return None
    libc = ctypes.CDLL(None)
    address, size = ctypes.c_void_p, ctypes.c_size_t
    madvise, mincore = libc.madvise, libc.mincore
    madvise.argtypes, mincore.argtypes = (address, size, ctypes.c_int), (address, size, address)
    return _Calls(madvise, mincore)


def _one_node() -> bool:
    try:
        with open(_NODES, encoding="ascii") as file:  # noqa: PTH123 - pathlib takes long to load
            return file.read().strip() == "0"
    except OSError:  # a system that does not say has none to speak of
        return True
