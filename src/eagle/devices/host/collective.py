"""Launching a kernel that reduces or scatters: all samples together, one step after the other.

Before each step every reduction is made: a kernel of its own computes what each sample gives to
it, those are made into one number, and the number goes into the blocks of what comes later. Only
the step itself stores anything the caller sees. So a launch that is interrupted among the
reductions begins them again, and one that is interrupted in the step goes on with the numbers that
the step began with. Along dimensions of a grid each line makes a number, and those are a table of
eagle's that the kernels read.

What samples give to shared tables the step leaves in arrays of eagle's; after it they are given in
order, and each is forgotten when it is given. An exception in the middle of such a step waits for
its end, so that a table never lacks what samples gave that have gone on. A second one does not
wait; then what was left is given as soon as the launch goes on, or another one begins.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eagle.devices.base import Loaded, Outcome, Partition, Watch
from eagle.devices.host.device import HostLoaded
from eagle.devices.host.memory import address_of
from eagle.devices.host.reduce import reduce_array, reduce_lines
from hawk.ir.nodes import Role, Scatter
from hawk.ir.reduce import result_of
from hawk.ir.types import DType
from hawk.passes.phases import KEEP, VALUE
from hawk.targets import native
from hawk.targets.base import Compiled, Phase, Slot, raw_word

AT_ONCE = 1 << 22
"""Samples that give to a table in one go, some 10 ms."""


class _Done(NamedTuple):
    """What a launch did until now."""

    steps: int = 0
    finished: int = 0
    longest: int = 0
    pieces: int = 0
    threads: int = 1
    halted: bool = False
    """Is there nobody left to take a step?"""


class _Round:
    """One reduction: what computes each sample's part, and where the result goes."""

    def __init__(
        self,
        phase: Phase,
        loaded: HostLoaded | None,
        parts: dict[str, NDArray[Any]],
        lines: _Lines | None = None,
    ) -> None:
        self.phase, self.loaded, self.lines = phase, loaded, lines
        self.values, self.keep = parts[VALUE], parts.get(KEEP)
        self.result = result_of(phase.kind, phase.dtype)

    def reduce(self, threads: int | None, alive: NDArray[np.bool] | None) -> int | None:
        """The word of the result; None where that is a table, which now holds it."""
        if self.loaded is not None:
            self.loaded.launch(1, threads)
        kept = self.keep
        if alive is not None:
            kept = alive if kept is None else kept & alive
        kind, dtype = self.phase.kind, self.phase.dtype
        if self.lines is None:
            return raw_word(reduce_array(kind, dtype, self.values, kept), self.result)
        values = self.lines.of(VALUE, self.values)
        kept = None if kept is None else self.lines.of(KEEP, kept)
        self.lines.table[...] = reduce_lines(kind, dtype, values, kept)
        return None


class _Lines:
    """The lines of a grid that are reduced each by itself, and the table of what they give."""

    def __init__(self, extents: Sequence[int], over: Sequence[int], table: NDArray[Any]) -> None:
        kept = [axis for axis in range(len(extents)) if axis not in over]
        self._extents, self._order = tuple(extents), (*kept, *over)
        self._shape = (table.size, math.prod(extents[axis] for axis in over))
        self._rooms: dict[str, NDArray[Any]] = {}
        """Memory for samples in the order of their lines, where that is not the batch's own."""
        self.table = table

    def of(self, name: str, row: NDArray[Any]) -> NDArray[Any]:
        """What a row of all samples holds, `(lines, samples of a line)`.

        It stays what it is until the next row of that name is asked for.
        """
        turned = row.reshape(self._extents).transpose(self._order)
        if not turned.flags.c_contiguous:
            if name not in self._rooms:
                self._rooms[name] = np.empty(turned.shape, row.dtype)
            self._rooms[name][...] = turned
            turned = self._rooms[name]
        return turned.reshape(self._shape)


class _Given:
    """What the samples give to a table in one scatter."""

    def __init__(
        self, scatter: Scatter, table: NDArray[Any], spots: NDArray[Any], values: NDArray[Any]
    ) -> None:
        dtype = next(each for each in DType if each.numpy == table.dtype.name)
        self._native = native.scatters()[scatter.kind, dtype]
        self._arrays = table, spots, values  # keeps them alive
        self._table, self._size = address_of(table), table.size
        self._spots, self._values = address_of(spots), address_of(values)
        self._sizes, self._count = (spots.itemsize, values.itemsize), spots.size

    def give(self) -> None:
        """Give what is there, in order; a signal is heard now and then, and does no harm."""
        for first in range(0, self._count, AT_ONCE):
            count = min(AT_ONCE, self._count - first)
            spots, values = self._spots, self._values
            spots, values = spots + first * self._sizes[0], values + first * self._sizes[1]
            self._native(self._table, self._size, spots, values, count)


class CollectiveLoaded(Loaded):
    """A step, the reductions that come before it, and the scatters that come after it."""

    def __init__(
        self,
        compiled: Compiled,
        planes: Sequence[np.ndarray | int],
        words: Sequence[int],
        partition: Partition,
    ) -> None:
        self._step = HostLoaded(compiled, planes, words, partition)
        self._n = partition.n
        given: dict[str, tuple[Any, int]] = {
            slot.name: (plane, word)
            for slot, plane, word in zip(compiled.planes, planes, words, strict=True)
        }
        masks = [slot.name for slot in compiled.planes if slot.role is Role.MASK]
        self._mask: NDArray[np.bool] | None = None
        if masks:
            self._mask = np.atleast_1d(np.asarray(given[masks[0]][0]))
        self._rounds = [self._round(phase, given, partition) for phase in compiled.phases]
        self._scatters = [
            _Given(each, *(given[name][0] for name in (each.plane, each.spot, each.value)))
            for each in compiled.scatters
        ]
        self._due = False
        """May there be something left to give?"""
        self._mark: object = None
        self._step_mark: object = None
        """The step that is on its way, its numbers known; None among the reductions."""
        self._done = _Done()

    def _round(
        self, phase: Phase, given: dict[str, tuple[Any, int]], partition: Partition
    ) -> _Round:
        parts: dict[str, NDArray[Any]] = {}
        lines = None
        if phase.lines is not None:
            extents = [
                each if isinstance(each, int) else given[each][1] for each in phase.lines.extents
            ]
            lines = _Lines(extents, phase.lines.over, given[phase.plane][0])
        if isinstance(phase.given, str):
            return _Round(phase, None, {VALUE: np.atleast_1d(given[phase.given][0])}, lines)

        def plane(slot: Slot) -> tuple[Any, int]:
            if slot.role is not Role.OUTPUT:
                return given[slot.name]
            array = parts[slot.name] = np.zeros(self._n, slot.dtype.numpy)
            return array, address_of(array)

        planes, words = zip(*[plane(slot) for slot in phase.given.planes], strict=True)
        return _Round(phase, HostLoaded(phase.given, planes, words, partition), parts, lines)

    @property
    def together(self) -> int:
        return self._step.together

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
        if mark is None or mark is not self._mark:
            self._give()
            self._done, self._step_mark, self._mark = _Done(), None, mark
        while self._done.steps < steps and not self._done.halted:
            if self._step_mark is None:
                self._reduce(threads, picked)
                self._step_mark = object()
            try:
                self._take(threads, picked, watch)
            except BaseException:
                if self._scatters and self._is_halfway():
                    self._end_halfway(threads, picked)
                raise

    def _take(
        self, threads: int | None, picked: NDArray[np.int64] | None, watch: Watch | None = None
    ) -> None:
        """Take the step that is on its way, or what is left of it, and give what it leaves."""
        self._due = bool(self._scatters)
        self._step.launch(
            1,
            threads,
            picked=picked,
            mark=self._step_mark,
            watch=None if watch is None else lambda now: watch(self._done.finished + now),
        )
        self._give()
        self._count()

    def _is_halfway(self) -> bool:
        """May some samples have taken the step, and others not, or what they give be left?"""
        mark = self._step_mark
        return mark is not None and self._step.outcome(mark) is not None

    def _end_halfway(self, threads: int | None, picked: NDArray[np.int64] | None) -> None:
        """Take the rest of a step in which an exception came."""
        try:
            self._take(threads, picked)
        except BaseException:
            if self._mark is None:  # nobody will go on with it
                self._give()
            raise

    def _give(self) -> None:
        """Give to the tables what samples have left for them."""
        if self._due:
            for each in self._scatters:
                each.give()
            self._due = False

    def _count(self) -> None:
        """Count the step that was taken."""
        outcome, done = self._step.outcome(), self._done
        assert outcome is not None
        after = _Done(
            done.steps + 1,
            done.finished + outcome.finished,
            done.longest + min(outcome.longest, 1),
            done.pieces + outcome.pieces,
            max(done.threads, outcome.threads),
            halted=not outcome.longest,
        )
        # Nothing is called in these lines, so no signal handler raises between the two.
        self._done = after
        self._step_mark = None

    def _reduce(self, threads: int | None, picked: NDArray[np.int64] | None) -> None:
        """Make all reductions, and put their results where the kernels read them."""
        alive = None if self._mask is None or not self._mask.any() else ~self._mask
        if picked is not None:
            chosen = np.zeros(self._n, np.bool)
            chosen[picked] = True
            alive = chosen if alive is None else chosen & alive
        later = [each.loaded for each in self._rounds] + [self._step]
        for place, each in enumerate(self._rounds, 1):
            word = each.reduce(threads, alive)
            for loaded in later[place:]:
                if word is not None and loaded is not None:
                    loaded.set_number(each.phase.plane, word)

    def outcome(self, mark: object = None) -> Outcome | None:
        if mark is not None and mark is not self._mark:
            return None
        done = self._done
        return Outcome(done.finished, done.longest, done.pieces, done.threads)
