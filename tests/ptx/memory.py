"""The memory that kernels see: arrays apart from each other, and nothing in between.

An access that is not wholly inside one array, that writes where nothing may be written, that is not
aligned, or that names the wrong space, raises `Trespass`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.ptx.kinds import Array, garbage

GAP = 256
"""Bytes between two arrays."""
BASE = 1 << 32
"""Where the first one is: addresses need more than 32 bits, as on a GPU."""


class Trespass(AssertionError):
    """A kernel reads or writes where it must not."""


@dataclass(frozen=True, slots=True)
class Region:
    name: str
    space: str
    start: int
    size: int
    writable: bool


class Memory:
    def __init__(self) -> None:
        self.regions: list[Region] = []
        self._contents: list[NDArray[np.uint8]] = []
        self._end = BASE + GAP

    def add(self, name: str, space: str, content: NDArray[np.uint8], *, writable: bool) -> int:
        """Put an array there before anything runs; its address."""
        start = -(-self._end // 64) * 64
        self.regions.append(Region(name, space, start, len(content), writable))
        self._contents.append(content)
        self._end = start + len(content) + GAP
        return start

    def seal(self) -> None:
        """All arrays are there."""
        room = -(-(self._end - BASE) // 64) * 64
        self.bytes = garbage("b64", room // 8).view(np.uint8).copy()
        for region, content in zip(self.regions, self._contents, strict=True):
            self.content(region)[:] = content
        self.starts = np.array([region.start for region in self.regions], np.int64)
        self.ends = np.array([region.start + region.size for region in self.regions], np.int64)
        self.views = {size: self.bytes.view(f"u{size}") for size in (1, 2, 4, 8)}

    def content(self, region: Region) -> NDArray[np.uint8]:
        return self.bytes[region.start - BASE : region.start - BASE + region.size]

    def _places(self, addresses: Array, size: int, space: str, *, write: bool) -> Array:
        """Where numbers of `size` bytes are, counted in numbers."""
        at = addresses.view(np.int64)
        which = np.searchsorted(self.starts, at, side="right") - 1
        bad = (which < 0) | (at < BASE)
        bad |= at + size > self.ends[np.maximum(which, 0)]
        bad |= at % size != 0
        for each in np.unique(which[~bad]):
            region = self.regions[each]
            if space not in ("", region.space) or (write and not region.writable):
                bad |= which == each
        if bad.any():
            address = int(at[np.flatnonzero(bad)[0]])
            near = [r for r in self.regions if r.start <= address < r.start + r.size + GAP]
            where = f"{near[0].name} + {address - near[0].start}" if near else hex(address)
            how = "writes" if write else "reads"
            raise Trespass(f"{how} {size} bytes of {space or 'generic'} memory at {where}")
        return (at - BASE) // size

    def load(self, addresses: Array, size: int, space: str) -> Array:
        """The numbers of `size` bytes at addresses, without a meaning."""
        return self.views[size][self._places(addresses, size, space, write=False)]

    def store(self, addresses: Array, numbers: Array, space: str) -> None:
        size: int = numbers.itemsize
        self.views[size][self._places(addresses, size, space, write=True)] = numbers


def as_bytes(value: Any) -> NDArray[np.uint8]:
    """The bytes of an array that lies in one piece, or of a NumPy number."""
    array = np.ascontiguousarray(value)
    return array.reshape(-1).view(np.uint8)
