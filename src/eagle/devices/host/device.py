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

ALONE, LOADING = 1 << 18, 8
"""A launch of at most `ALONE` steps of samples stays on the calling thread: waking another takes
some 30 us, longer than the work. To load and store a sample costs about `LOADING` steps."""

_TAKEN, _FINISHED, _LONGEST = int(Word.TAKEN), int(Word.FINISHED), int(Word.LONGEST)
_HEADER = struct.Struct(f"{HEADER}q")
_NOTHING_YET = (0,) * (HEADER - 4)


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

    __slots__ = ("_address", "_begin", "_block", "_compiled", "_count", "_planes", "_tile")

    def __init__(
        self, compiled: Compiled, planes: Sequence[np.ndarray | int], partition: Partition
    ) -> None:
        self._compiled = compiled
        self._planes = planes  # keeps the arrays alive
        self._begin, self._count = partition.base, partition.count
        self._tile = HostTeam.tile_size(compiled.bytes_per_sample)
        self._block = new_block(len(planes))
        self._block[HEADER:] = [
            plane if isinstance(plane, int) else plane.ctypes.data for plane in planes
        ]
        self._address = ctypes.addressof(self._block)

    def launch(self, steps: int, threads: int | None) -> Outcome:
        return self._enter(steps, self._tile, threads)

    def run_to_end(self, steps: int, threads: int | None) -> Outcome:
        most, lanes = threads_allowed(threads), self._compiled.lanes
        return self._enter(steps, piece_to_end(self._count, most, lanes, self._tile), threads)

    def _enter(self, steps: int, piece: int, threads: int | None) -> Outcome:
        begin, count, block = self._begin, self._count, self._block
        _HEADER.pack_into(block, 0, begin, begin + count, steps, piece, *_NOTHING_YET)
        used = 1
        if count > piece and count * (steps + LOADING) > ALONE:
            used = min(threads_allowed(threads), -(-count // piece))
        if used == 1:
            self._compiled.entry(self._address)
            calls = 1
        else:
            calls = team().run(self._compiled.entry, self._address, used - 1, keep=self)
        outcome = Outcome(block[_FINISHED], block[_LONGEST], block[_TAKEN], used)
        if watchers:
            self._tell(steps, piece, outcome, calls)
        return outcome

    def _tell(self, steps: int, piece: int, outcome: Outcome, calls: int) -> None:
        entry = Entry(
            begin=self._begin,
            end=self._begin + self._count,
            steps=steps,
            piece=piece,
            taken=outcome.pieces,
            finished=outcome.finished,
            longest=outcome.longest,
            calls=calls,
        )
        for watcher in watchers:
            watcher.append(entry)


HOST = HostDevice()
"""The CPU."""
