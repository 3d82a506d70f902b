"""The threads that run kernels, and the pieces they take the samples in."""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, SupportsIndex

from eagle.config import config
from eagle.devices.base import Partition
from eagle.devices.host import cores
from eagle.devices.host.threads import started
from eagle.devices.host.tickets import TicketTeam
from eagle.params import shown, whole
from hawk.targets import native

if TYPE_CHECKING:
    from hawk.targets.cpu.runtime import Runtime

UNKNOWN_CACHE = 1 << 20
"""Bytes of state a tile may have where the system does not say how large its caches are."""
SMALLEST_TILE, LARGEST_TILE, UNKNOWN_TILE = 64, 4096, 256
PIECES_PER_THREAD = 8
"""Enough that a thread whose samples stop early finds others to take, few enough to be free."""
LONG_PIECES_PER_THREAD, LONG_PIECE_BYTES = 32, 1 << 20
"""Of a large batch whose samples all take as long: memory is read and written in long stretches,
and a thread that was held up leaves some to the others. With 64 KB a piece `a * x + b` of 10**7
numbers takes 1.2 times as long as with 1 MB, which takes as long as halves do."""


class HostTeam:
    """Threads of this process that help the calling one through a launch.

    They are made when first needed, wait without using time, and do not keep the process alive.
    Several threads may run launches at once: the helpers go to whoever asks first. A launch that
    finds them busy is done by its own thread, and none waits for a helper that has not begun.
    """

    @staticmethod
    def tile_size(bytes_per_sample: SupportsIndex | None) -> int:
        """Samples that a worker takes in one go.

        As many as keep their state in half of the second-level cache that a core owns: a multiple
        of 8 from 64 to 4096; 256 where the bytes are not known (None or 0).
        """
        size = 0 if bytes_per_sample is None else whole(bytes_per_sample)
        if size is None:
            raise TypeError(f"bytes_per_sample must be a number, got {shown(bytes_per_sample)}")
        if size < 0:
            raise ValueError(f"bytes_per_sample must not be negative, got {size}")
        if size == 0:
            return UNKNOWN_TILE
        return _tile(size, cores.l2_bytes())

    @classmethod
    def tile_count(cls, partition: Partition, bytes_per_sample: SupportsIndex | None) -> int:
        """Pieces that a launch over `partition` is handed out in."""
        return -(-partition.count // cls.tile_size(bytes_per_sample))

    def __init__(self) -> None:
        self._tickets = TicketTeam()
        self._native: _NativeTeam | None = None
        self._making = threading.Lock()

    def run(self, entry: Callable[[int], object], block: int, helpers: int, *, keep: object) -> int:
        """Call `entry(block)` here and on up to `helpers` other threads; return how many did.

        Returns when every call has returned, also when this thread is interrupted: the block and
        its arrays are not used after it. `keep` lives as long as any of them works.
        """
        if helpers < 1:
            entry(block)
            return 1
        function = native.address_of(entry)
        team = None if function is None else self._native or self._make()
        if function is None or team is None:
            return 1 + self._tickets.run(entry, block, helpers, keep=keep)
        return 1 + team.run(function, block, helpers)

    def address(self, helpers: int) -> int:
        """The native team with that many threads, for native code; 0 where there is none."""
        team = self._native or self._make()
        if team is None:
            return 0
        return team.with_threads(helpers)

    def _make(self) -> _NativeTeam | None:
        routines = native.routines()
        with self._making:
            if routines is not None and self._native is None:
                self._native = _NativeTeam(routines)
        return self._native


@functools.lru_cache
def _tile(size: int, cache: int | None) -> int:
    budget = UNKNOWN_CACHE if cache is None else cache // 2
    fitting = budget // size // 8 * 8
    return min(max(fitting, SMALLEST_TILE), LARGEST_TILE)


class _NativeTeam:
    """Threads that are parked in native code, where they need no Python to begin and to end."""

    def __init__(self, routines: Runtime) -> None:
        self._routines = routines
        self._words = native.new_team()
        self._address = ctypes.addressof(self._words)
        self._growing = threading.Lock()
        self._size = 0

    def run(self, function: int, argument: int, helpers: int) -> int:
        """Call the native function here and on up to `helpers` threads; how many of those did."""
        return self._routines.run(self.with_threads(helpers), function, argument, helpers)

    def with_threads(self, helpers: int) -> int:
        """The address, when it has that many threads if there are any to be had."""
        if self._size < helpers:
            self._grow(helpers)
        return self._address

    def _grow(self, size: int) -> None:
        with self._growing:
            while self._size < size and started(self._park):
                self._size += 1

    def _park(self) -> None:
        """What a helper does for as long as the process lives."""
        self._routines.work(self._address)


_chosen: int | None = None


def set_threads(threads: SupportsIndex | None) -> None:
    """Choose how many threads a launch may use that does not say so itself, from now on.

    None goes back to what holds from the start: EAGLE_NUM_THREADS where it is set, else the cores
    that this process may use.
    """
    global _chosen  # noqa: PLW0603 - it is the process that has so many
    number = None if threads is None else whole(threads)
    if threads is not None and (number is None or number < 1):
        raise ValueError(
            f"eagle.set_threads: expected a whole number of at least 1, or None, "
            f"got {shown(threads)}"
        )
    _chosen = number


def threads_allowed(threads: int | None) -> int:
    """Threads a launch may use: the caller's number, else the process's, else the usable cores."""
    return threads or _chosen or config().threads or cores.usable_cores()


def threads_likely(threads: int | None) -> int:
    """The same without asking again which cores this process may use."""
    return threads or _chosen or config().threads or cores.usable_cores_lately()


def piece_to_end(count: int, threads: int, lanes: int, tile: int) -> int:
    """Samples a worker takes in one go in a launch that runs every sample to its end.

    Samples stop at different times, so the pieces are small enough to keep all threads busy: a
    multiple of the `lanes` a group advances together, at most a tile.
    """
    fair = -(-count // (threads * PIECES_PER_THREAD))
    groups = max(1, -(-fair // lanes))
    return min(groups * lanes, max(lanes, tile // lanes * lanes))


def piece_of_many(count: int, threads: int, lanes: int, tile: int, size: int) -> int:
    """Samples of `size` bytes a worker takes in one go, where all take as long: at least a tile."""
    most = min(count // (threads * LONG_PIECES_PER_THREAD), LONG_PIECE_BYTES // max(1, size))
    return max(tile, most // lanes * lanes)


def team() -> HostTeam:
    """The team of this process."""
    return _team


def _start_anew() -> None:
    """A forked child has none of its parent's threads."""
    global _team  # noqa: PLW0603 - one team a process is the point
    _team = HostTeam()


_team = HostTeam()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
