"""Launching a compiled kernel on the CPU.

A launch goes through up to three stages, each for as long as the next costs:

* *alone*: the calling thread runs it for some 30 us and keeps Python's lock, which costs least.
* *together*: the team helps, for some 50 ms, in which this thread hears of no signal.
* *away*: another thread runs it with the team, and this one waits, free for signals.

A step that is given up when a stage ends is begun again in the next. Where a launch ended is where
the next one begins, so the cost of the stages before comes once.
"""

from __future__ import annotations

import ctypes
import enum
import functools
import platform
from array import array
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eagle.devices.base import (
    Captured,
    Device,
    Loaded,
    Objection,
    Outcome,
    Partition,
    Pass,
    Watch,
    register,
)
from eagle.devices.host.block import (
    CUTS_PER_THREAD,
    FINISHED,
    LEFT_COUNT,
    LONGEST,
    NEXT,
    TAKEN,
    Block,
)
from eagle.devices.host.errand import by_another_thread
from eagle.devices.host.memory import address_of, fetch, view_of
from eagle.devices.host.team import (
    HostTeam,
    piece_of_many,
    piece_to_end,
    team,
    threads_allowed,
    threads_likely,
)
from eagle.devices.host.watch import Entry, watchers
from hawk.ir.nodes import WRITTEN, Role
from hawk.ir.types import DType
from hawk.targets import native
from hawk.targets.base import HEADER, Compiled, Word

if TYPE_CHECKING:
    from eagle.devices.plan import Plan, Root, View
    from hawk.ir.nodes import Function


class Stage(enum.IntEnum):
    """Who runs a launch."""

    ALONE = 0
    TOGETHER = 1
    AWAY = 2


_X86 = platform.machine().lower() in ("x86_64", "amd64")
ALONE_CYCLES, TOGETHER_CYCLES = (80_000, 100_000_000) if _X86 else (25_000, 2_500_000)
"""How long the first two stages last, by the counter that kernels look at. On x86-64 it runs at 1
to 5 GHz. On AArch64 it is a clock of 25 MHz to 1 GHz."""

SURE, LOADING = 1 << 18, 8
"""More than `SURE` steps of samples take longer than stage `ALONE` even for the lightest kernel.
To load and store a sample costs about `LOADING` steps."""

SHORT_SECONDS, LONG_SECONDS = 25e-6, 0.03
"""A launch that took less than the first, more than the second says where the next one begins."""

MOST_THREADS = 256
_brief_call = functools.lru_cache(ctypes.PYFUNCTYPE(None))
"""Native code at an address as a function that does not let other Python threads run."""

_tile_size = functools.lru_cache(HostTeam.tile_size)
_ALL = slice(None)
ALONE, TOGETHER, AWAY = Stage


class _Crew(NamedTuple):
    """Who worked on a launch."""

    allowed: int
    """Threads that could."""
    entered: int
    """Threads that did."""


_ONE = _Crew(1, 1)


class Ask(NamedTuple):
    """A launch as native code makes it: `function(block)` here and on `helpers` other threads."""

    function: int
    block: int
    helpers: int
    header: array[int]
    """What the head of the block is set to before."""


class HostDevice(Device):
    """The memory and the cores of this process."""

    name = "the host"

    def locate(self, value: object) -> View | None:
        return view_of(value)

    def empty(self, shape: tuple[int, ...], dtype: DType) -> NDArray[Any]:
        return self.zeros(shape, dtype)

    def zeros(self, shape: tuple[int, ...], dtype: DType) -> NDArray[Any]:
        """A new array of zeros."""
        return np.zeros(shape, dtype.numpy)

    def pinned(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        from eagle.devices.host.pinned import pinned_array  # for the few who have a GPU in mind

        return pinned_array(shape, dtype)

    def objections(self, plan: Plan) -> list[Objection]:
        return []  # what is wrong here is wrong everywhere, and was refused when it was recorded

    def passes(self, plan: Plan) -> list[Pass]:
        from eagle.devices.host.fusion import Fusion  # who has no graph need not wait

        return list(Fusion(plan).passes())

    def capture(self, plan: Plan) -> Captured:
        from eagle.devices.host.replay import HostCaptured  # who has no graph need not wait

        return HostCaptured(plan)

    def copy(self, source: Root, into: Root) -> None:
        into.view[...] = source.view

    def load(
        self,
        compiled: Compiled,
        planes: Sequence[np.ndarray | int],
        words: Sequence[int],
        partition: Partition,
        function: Function | None = None,
    ) -> Loaded:
        if compiled.is_collective:
            from eagle.devices.host.collective import CollectiveLoaded  # few kernels need it

            return CollectiveLoaded(compiled, planes, words, partition)
        return HostLoaded(compiled, planes, words, partition)


class HostLoaded(Loaded):
    """A kernel and the block of words that it is called with."""

    __slots__ = (
        "_alone",
        "_block",
        "_brief",
        "_compiled",
        "_count",
        "_crew",
        "_fetched",
        "_head",
        "_map",
        "_mark",
        "_native",
        "_picked",
        "_planes",
        "_pointer",
        "_ready",
        "_stage",
        "_steps",
        "_threads",
        "_tile",
        "_to_end",
        "_whole",
        "_words",
    )

    def __init__(
        self,
        compiled: Compiled,
        planes: Sequence[np.ndarray | int],
        words: Sequence[int],
        partition: Partition,
    ) -> None:
        self._compiled = compiled
        self._planes = planes  # keeps the arrays alive
        self._count = self._whole = partition.count
        own = self._block = Block(partition.base, partition.count, words, compiled.rows)
        self._words, self._head = own.words, own.head
        function = native.address_of(compiled.entry)
        self._native = function is not None
        self._brief: Callable[[Any], object] = compiled.entry
        self._pointer: int | ctypes.c_void_p = own.address
        if function is not None:
            self._brief = _brief_call(function)
            # A pointer that is made already is passed 20 ns sooner than a number.
            self._pointer = ctypes.c_void_p(own.address)
        self._tile = _tile_size(compiled.bytes_per_sample)
        self._fetched = False
        self._stage: Stage | None = None
        self._steps, self._threads, self._to_end = 0, None, False
        self._picked: NDArray[np.int64] | None = None
        """What it is for."""
        self._map = self._picked
        """What the block points to, which has to stay while a launch may go on."""
        self._alone = array("q")
        """The header of a launch that begins in stage `ALONE`."""
        self._ready: tuple[int, array[int]] | None = None
        """The threads and the header of a launch that begins in another."""
        self._mark: object = None
        self._crew = _ONE

    @property
    def together(self) -> int:
        return self._compiled.lanes

    def release(self) -> bool:
        """Let go of the planes; is it worth `take`? Only short launches are sooner over by that."""
        self._planes = ()
        return self._stage is ALONE

    def take(self, planes: Sequence[np.ndarray | int], words: Sequence[int], count: int) -> bool:
        """Other planes for launches to come; False for another number of samples."""
        if count != self._whole:
            return False
        self._words[HEADER : HEADER + len(words)] = array("q", words)
        self._planes, self._fetched, self._mark = planes, False, None
        return True

    def set_number(self, name: str, word: int) -> None:
        """Give the uniform plane `name`, if there is one, another number, for launches to come."""
        for place, slot in enumerate(self._compiled.planes, HEADER):
            if slot.name == name:
                self._words[place] = word

    def launch(
        self,
        steps: int,
        threads: int | None = None,
        *,
        to_end: bool = False,
        picked: NDArray[np.int64] | None = None,
        mark: object = None,
        watch: Watch | None = None,
    ) -> None:
        ready = 0
        if mark is None or mark is not self._mark:
            if (
                steps != self._steps
                or threads != self._threads
                or to_end is not self._to_end
                or picked is not self._picked
            ):
                self._prepare(steps, threads, picked, to_end=to_end)
            if self._stage is ALONE:
                self._head[_ALL] = self._alone
                self._map, self._mark, self._crew = picked, mark, _ONE
                self._brief(self._pointer)
                words = self._words
                if words[NEXT] >= self._count and not words[LEFT_COUNT]:
                    if watchers:
                        self._tell()
                    return
            else:
                ready, header = self._shared()
                self._head[_ALL] = header
                self._map, self._mark, self._crew = picked, mark, _ONE
        elif self._block.complete:
            return
        self._go_on(threads, watch, ready)
        if watchers:
            self._tell()

    def outcome(self, mark: object = None) -> Outcome | None:
        if mark is not None and mark is not self._mark:
            return None
        words = self._words
        return Outcome(words[FINISHED], words[LONGEST], words[TAKEN], self._crew.allowed)

    def _prepare(
        self,
        steps: int,
        threads: int | None,
        picked: NDArray[np.int64] | None,
        *,
        to_end: bool,
    ) -> None:
        """Make the header, and guess where to begin if there was no launch yet."""
        self._steps, self._ready = 0, None  # until all is made
        count = self._count = self._whole if picked is None else len(picked)
        piece = tile = self._tile
        most = threads_likely(threads)
        if to_end:
            piece = piece_to_end(count, most, self._compiled.lanes, tile)
        self._picked = picked
        # One thread takes a tile at a time: more samples to put in order. What is left is cut, but
        # few tiles are not enough to keep others busy that come later.
        few = most > 1 and count < tile * most * CUTS_PER_THREAD
        self._alone = self._block.header(steps, piece if few else tile, ALONE_CYCLES, self._where())
        if self._stage is None or not self._native:
            # Samples that run to their end may stop after a few steps.
            work = count * (LOADING if to_end and self._native else LOADING + steps)
            several = most > 1 and count > piece
            self._stage = TOGETHER if several and work > SURE else ALONE
        self._threads, self._to_end = threads, to_end
        self._steps = steps

    # -- a launch that native code begins --------------------------------------------------------

    def ask(self, steps: int, threads: int | None) -> Ask | None:
        """What the walker of graphs needs to launch it, and `go_on` to end it.

        None for an entry that is written in Python.
        """
        function = native.address_of(self._compiled.entry)
        if function is None:
            return None
        most, count, piece = threads_allowed(threads), self._whole, self._tile
        several = most > 1 and count > piece and count * (LOADING + steps) > SURE
        most = min(most, -(-count // self._compiled.lanes), MOST_THREADS) if several else 1
        self._count, self._ready = count, None
        piece = self._piece(most, to_end=False)
        header = self._block.header(steps, piece, TOGETHER_CYCLES, threads=most)
        return Ask(function, self._block.address, most - 1, header)

    def go_on(self, threads: int | None, watch: Watch | None = None) -> None:
        """Bring a launch to its end that native code began, and that came back early.

        Interrupted, it may be called again; at the end of the launch it does nothing.
        """
        if not self._block.complete:
            self._go_on(threads, watch)

    def move(self, place: int, word: int) -> None:
        """Give a plane another word: where its array is now, or its number."""
        self._words[HEADER + place] = word

    # -- a launch that is not over soon ----------------------------------------------------------

    def _shared(self) -> tuple[int, array[int]]:
        """A launch that begins in a stage after `ALONE`: on how many threads, and its header."""
        most = self._most(self._threads, self._count)
        if self._ready is None or self._ready[0] != most:
            piece = self._piece(most, to_end=self._to_end)
            header = self._block.header(self._steps, piece, TOGETHER_CYCLES, self._where(), most)
            self._ready = most, header
        return self._ready

    def _most(self, threads: int | None, count: int) -> int:
        """The threads that so many samples are enough for."""
        groups = -(-count // self._compiled.lanes)
        return max(1, min(threads_allowed(threads), groups, MOST_THREADS))

    def _piece(self, threads: int, *, to_end: bool) -> int:
        """Samples that each of some threads takes in one go."""
        sizes = self._count, threads, self._compiled.lanes, self._tile
        # Where all threads would not have some tiles each, they share smaller pieces.
        few = self._native and self._count < self._tile * threads * CUTS_PER_THREAD
        if threads > 1 and (to_end or few):
            return piece_to_end(*sizes)
        if any(slot.role is Role.MASK for slot in self._compiled.planes):  # some stop early
            return self._tile
        return piece_of_many(*sizes, self._compiled.bytes_per_sample)

    def _where(self) -> tuple[int, int] | None:
        """The address of the map, and its samples."""
        return None if self._picked is None else (address_of(self._picked), len(self._picked))

    def _go_on(self, threads: int | None, watch: Watch | None, ready: int = 0) -> None:
        """Bring what is left of the launch to its end; it is `ready` for so many threads, or 0."""
        begun, alone = perf_counter(), self._stage is ALONE
        if not self._fetched:
            self._fetch()
        lanes = self._compiled.lanes
        most = ready or self._most(threads, self._block.count)
        self._crew = _Crew(most, self._crew.entered)
        if self._stage is not AWAY:
            if not ready:
                self._block.go_on(most, lanes, TOGETHER_CYCLES)
            self._run(most)
        while not self._block.complete:
            self._stage = AWAY
            self._block.go_on(most, lanes, 0)
            self._run_away(most, watch)
        if self._native:
            stage = _next_stage(perf_counter() - begun)
            # What did not end alone would not the next time, and it costs to be interrupted.
            self._stage = TOGETHER if alone and stage is ALONE else stage

    def _run(self, threads: int) -> None:
        entered = team().run(self._compiled.entry, self._block.address, threads - 1, keep=self)
        self._crew = _Crew(threads, max(self._crew.entered, entered))

    def _run_away(self, threads: int, watch: Watch | None) -> None:
        words = self._words
        by_another_thread(
            lambda: self._run(threads),
            stop=self._block.stop,
            meanwhile=None if watch is None else lambda: watch(words[FINISHED]),
        )

    def _fetch(self) -> None:
        """Bring in the memory that the kernel will write."""
        self._fetched = True
        slots = self._compiled.planes
        fetch(
            plane
            for slot, plane in zip(slots, self._planes, strict=True)
            if slot.role in WRITTEN and isinstance(plane, np.ndarray)
        )

    def _tell(self) -> None:
        words = self._words
        entry = Entry(
            begin=words[Word.BEGIN],
            end=words[Word.END],
            steps=words[Word.STEPS],
            piece=words[Word.PIECE],
            taken=words[TAKEN],
            finished=words[FINISHED],
            longest=words[LONGEST],
            calls=self._crew.entered,
        )
        for watcher in watchers:
            watcher.append(entry)


def _next_stage(seconds: float) -> Stage:
    """Where to begin after a launch that took so long."""
    if seconds < SHORT_SECONDS:
        return ALONE
    return TOGETHER if seconds < LONG_SECONDS else AWAY


HOST = HostDevice()
"""The CPU."""
register(HOST)
