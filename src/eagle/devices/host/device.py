"""Launching a compiled kernel on the CPU."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eagle.devices.base import Device, Loaded, Outcome, Partition
from eagle.devices.host.team import HostTeam, piece_to_end, team, threads_allowed
from eagle.devices.host.watch import Entry, watchers
from hawk.ir.types import DType
from hawk.targets.base import HEADER, Compiled, Word, new_block

ALONE = 1 << 16
"""Samples times steps up to which a launch stays on the calling thread: waking another takes
longer than the work."""

_HEADER = struct.Struct(f"{HEADER}q")


class HostDevice(Device):
    """The memory and the cores of this process."""

    def zeros(self, shape: tuple[int, ...], dtype: DType) -> NDArray[Any]:
        return np.zeros(shape, dtype.numpy)

    def load(
        self,
        compiled: Compiled,
        planes: Sequence[np.ndarray | int],
        partition: Partition,
    ) -> HostLoaded:
        return HostLoaded(compiled, planes, partition)


class HostLoaded(Loaded):
    """A kernel and the block of words that it is called with."""

    __slots__ = ("_address", "_arrays", "_block", "_compiled", "_partition", "_tile")

    def __init__(
        self, compiled: Compiled, planes: Sequence[np.ndarray | int], partition: Partition
    ) -> None:
        self._compiled, self._partition = compiled, partition
        self._arrays = tuple(planes)
        self._block = new_block(len(planes))
        self._address = ctypes.addressof(self._block)
        self._tile = HostTeam.tile_size(compiled.bytes_per_sample)
        self._block[HEADER:] = [
            plane if isinstance(plane, int) else plane.ctypes.data for plane in planes
        ]

    def launch(self, steps: int, threads: int | None) -> Outcome:
        return self._enter(steps, self._tile, threads)

    def run_to_end(self, steps: int, threads: int | None) -> Outcome:
        count, lanes = self._partition.count, self._compiled.lanes
        piece = piece_to_end(count, threads_allowed(threads), lanes, self._tile)
        return self._enter(steps, piece, threads)

    def _enter(self, steps: int, piece: int, threads: int | None) -> Outcome:
        begin, count = self._partition.base, self._partition.count
        block, calls, used = self._block, 1, 1
        _HEADER.pack_into(block, 0, begin, begin + count, steps, piece, 0, 0, 0, 0)
        if count > piece and count * steps > ALONE:
            used = min(threads_allowed(threads), -(-count // piece))
        if used == 1:
            self._compiled.entry(self._address)
        else:
            calls = team().run(self._compiled.entry, self._address, used - 1, keep=self)
        finished, longest, taken = block[Word.FINISHED], block[Word.LONGEST], block[Word.TAKEN]
        if watchers:
            entry = Entry(begin, begin + count, steps, piece, taken, finished, longest, calls)
            for watcher in watchers:
                watcher.append(entry)
        return Outcome(finished, longest, taken, used)


HOST = HostDevice()
"""The CPU."""
