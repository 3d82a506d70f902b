"""The threads that run kernels, and the pieces they take the samples in."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import SupportsIndex

from eagle.config import config
from eagle.devices.base import Partition
from eagle.devices.host import cores
from eagle.params import shown, whole

UNKNOWN_CACHE = 1 << 20
"""Bytes of state a tile may have where the system does not say how large its caches are."""
SMALLEST_TILE, LARGEST_TILE, UNKNOWN_TILE = 64, 4096, 256
PIECES_PER_THREAD = 8
"""Enough that a thread whose samples stop early finds others to take, few enough to be free."""


class HostTeam:
    """Threads of this process that help the calling one through a launch.

    They are made when first needed, wait without using time, and do not keep the process alive.
    Several threads may run launches at once: helpers go to whoever asks first, and a launch never
    waits for a helper that has not begun.
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
        cache = cores.l2_bytes()
        budget = UNKNOWN_CACHE if cache is None else cache // 2
        fitting = budget // size // 8 * 8
        return min(max(fitting, SMALLEST_TILE), LARGEST_TILE)

    @classmethod
    def tile_count(cls, partition: Partition, bytes_per_sample: SupportsIndex | None) -> int:
        """Pieces that a launch over `partition` is handed out in."""
        return -(-partition.count // cls.tile_size(bytes_per_sample))

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._growing = threading.Lock()
        self._size = 0

    def run(self, entry: Callable[[int], object], block: int, helpers: int, *, keep: object) -> int:
        """Call `entry(block)` here and on up to `helpers` other threads; return how many did.

        Returns when every call has returned, also when this thread is interrupted: the block and
        its arrays are not used after it. `keep` lives as long as any of them works.
        """
        self._grow(helpers)
        job = _Job(entry, block, helpers, keep)
        for _ in range(helpers):
            self._jobs.put(job)
        try:
            entry(block)
        finally:
            begun = helpers - job.withdraw()
            failures = job.wait(begun)
        if failures:
            raise failures[0]
        return 1 + begun

    def _grow(self, size: int) -> None:
        if self._size >= size:
            return
        with self._growing:
            while self._size < size:
                name = f"eagle-{self._size + 1}"
                threading.Thread(target=_work, args=(self._jobs,), name=name, daemon=True).start()
                self._size += 1


class _Job:
    """One launch on offer. Who takes a ticket may run it, and says so when it is through."""

    __slots__ = ("block", "ends", "entry", "keep", "tickets")

    def __init__(
        self, entry: Callable[[int], object], block: int, helpers: int, keep: object
    ) -> None:
        self.entry, self.block, self.keep = entry, block, keep
        self.tickets = [None] * helpers
        self.ends: SimpleQueue[BaseException | None] = SimpleQueue()

    def take(self) -> bool:
        """Take a ticket. Taking from a list is one step, so no two threads get the same."""
        try:
            self.tickets.pop()
        except IndexError:
            return False
        return True

    def withdraw(self) -> int:
        """Take what tickets are left, so that nobody begins any more; return how many."""
        left = 0
        while self.take():
            left += 1
        return left

    def wait(self, begun: int) -> list[BaseException]:
        """Wait for the helpers that have begun; return what they raised."""
        failures: list[BaseException] = []
        interrupt: KeyboardInterrupt | None = None
        while begun:
            try:
                end = self.ends.get()
            except KeyboardInterrupt as caught:  # raised again below, when nobody works any more
                interrupt = caught
                continue
            begun -= 1
            if end is not None:
                failures.append(end)
        if interrupt is not None:
            raise interrupt
        return failures


def _work(jobs: SimpleQueue[_Job]) -> None:
    """What a helper does for as long as the process lives."""
    while True:
        job = jobs.get()
        if job.take():
            end: BaseException | None = None
            try:
                job.entry(job.block)
            except BaseException as caught:  # noqa: BLE001 - raised again by who launched
                end = caught
            job.ends.put(end)
        del job  # or the arrays of the last launch would live as long as this thread


def threads_allowed(threads: int | None) -> int:
    """Threads a launch may use: the caller's number, the environment's, or the usable cores."""
    if threads is not None:
        return threads
    return config().threads or cores.usable_cores()


def piece_to_end(count: int, threads: int, lanes: int, tile: int) -> int:
    """Samples a worker takes in one go in a launch that runs every sample to its end.

    Samples stop at different times, so the pieces are small enough to keep all threads busy: a
    multiple of the `lanes` a group advances together, at most a tile.
    """
    fair = -(-count // (threads * PIECES_PER_THREAD))
    groups = max(1, -(-fair // lanes))
    return min(groups * lanes, max(lanes, tile // lanes * lanes))


def team() -> HostTeam:
    """The team of this process."""
    return _team


def _start_anew() -> None:
    """A forked child has none of its parent's threads."""
    global _team  # noqa: PLW0603 - one team a process is the point
    _team = HostTeam()
    cores.usable_cores.cache_clear()


_team = HostTeam()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
