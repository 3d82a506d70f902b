"""Kernels that reduce or scatter, and reductions, as kernel nodes one after the other.

A step of such a kernel is, for each reduction, a kernel that leaves what every sample gives to it
and the routines that make a number of that; then the step itself, which reads those numbers where
they are; then a routine for each scatter. What lies between them is memory of the node's own:
nodes that need not wait for each other may run at once.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eagle.devices.cuda.arguments import spread
from eagle.devices.cuda.driver import Argument, Copy, Kernel, Side, Work
from eagle.devices.cuda.ptx import Word, now
from eagle.devices.plan import Launch, Reduce, Region, Spot, View
from hawk.ir.nodes import Function, Reduction, Role
from hawk.ir.types import DType
from hawk.targets.base import Compiled
from hawk.targets.ways import Way

if TYPE_CHECKING:
    from eagle.devices.cuda.code import Parts
    from eagle.devices.cuda.device import CudaDevice
    from hawk.targets.ptx.collective import Part
    from hawk.targets.ptx.rounds import Call

Nodes: TypeAlias = "list[Callable[[], Work]]"
"""What gives each node as it is now; one comes after the other."""


def step_of(
    function: Function,
    compiled: Compiled,
    planes: Sequence[np.ndarray | int],
    words: Sequence[int],
    n: int,
) -> Launch:
    """A step of a kernel with its planes, for launches outside of graphs."""
    return Launch(
        name=function.name,
        compiled=compiled,
        n=n,
        steps=1,
        planes=list(planes),
        words=list(words),
        function=function,
    )


def fresh_of(item: Launch) -> list[tuple[Region, View]]:
    """The arrays that are given what they hold before a launch; not those that it writes itself."""
    if not item.compiled.is_collective:
        return list(item.fresh)
    compiled = item.compiled
    names = {each.plane for each in compiled.phases}
    names |= {name for each in compiled.scatters for name in (each.spot, each.value)}
    written = {
        id(word.root)
        for slot, word in zip(compiled.planes, item.words, strict=True)
        if slot.name in names and isinstance(word, Spot)
    }
    return [each for each in item.fresh if id(each[0].root) not in written]


class Together:
    """Makes the nodes of one node of a plan. The context is current."""

    def __init__(self, device: CudaDevice, memory: list[int]) -> None:
        """What is allocated is added to `memory`."""
        self._device, self._memory = device, memory
        self._rooms: dict[tuple[str, int], int] = {}

    def step(self, item: Launch, *, words: int | None = None) -> Nodes:
        """One step of all samples. `words`: where it tells what became done, see `Words`."""
        fn = item.function
        assert fn is not None
        code = self._device.code.together(fn, Way.PLAIN if words is None else Way.AUTO)
        held: dict[str, int] = {}
        nodes: Nodes = []
        for reduction, part in zip(fn.reductions, code.made.given, strict=True):
            nodes += self._reduced(item, code, reduction, part, held)
        if _mask_of(item):  # a sample that is done leaves what it gave last where it was
            nodes += [self._cleared(item, each.spot) for each in fn.scatters]
        nodes.append(self._part(item, code.made.step, code, held, {}, words=words))
        nodes += [self._given(item, fn, place) for place in range(len(fn.scatters))]
        return nodes

    def reduce(self, item: Reduce) -> Nodes:
        """A node that makes all numbers of an array one."""
        from hawk.targets.ptx import rounds  # loaded by who has a GPU

        (source,), (into,) = item.reads, item.writes
        given: dict[str, Word] = {rounds.VALUES: source.spot, rounds.RESULT: into.spot}
        places = places_of(source.view)
        if places is not None:
            given[rounds.ORDER] = self._upload(places)
        return self._reduction(item.kind, item.dtype, 1, source.view.size, given)

    # -- reductions --------------------------------------------------------------------------------

    def _reduced(
        self,
        item: Launch,
        code: Parts,
        reduction: Reduction,
        part: Part | str,
        held: dict[str, int],
    ) -> Nodes:
        """One reduction of a step; where its number is comes into `held`, unless in a table."""
        from hawk.passes.phases import KEEP, VALUE
        from hawk.targets.ptx import rounds

        nodes: Nodes = []
        given: dict[str, Word] = {}
        if isinstance(part, str):
            given[rounds.VALUES] = _plane(item, part)
        else:
            left = {
                plane.name: self._room(plane.name, item.n * plane.dtype.itemsize)
                for plane in part.fn.planes
                if plane.role is Role.OUTPUT
            }
            nodes.append(self._part(item, part, code, held, left))
            given[rounds.VALUES] = left[VALUE]
            if KEEP in left:
                given[rounds.KEEP] = left[KEEP]
        mask = _mask_of(item)
        if mask:
            given[rounds.DONE] = _plane(item, mask)
        dtype, lines = reduction.value.dtype, 1
        if reduction.lines is None:
            size = rounds.result_type(reduction.kind, dtype).itemsize
            held[reduction.plane] = self._room(f"result {reduction.plane}", size)
            given[rounds.RESULT] = held[reduction.plane]
        else:
            given[rounds.RESULT] = _plane(item, reduction.plane)
            extents = [
                each if isinstance(each, int) else _word(item, each)
                for each in reduction.lines.extents
            ]
            over = reduction.lines.over
            lines = math.prod(e for axis, e in enumerate(extents) if axis not in over)
            order = order_of(tuple(extents), over)
            if order is not None:
                given[rounds.ORDER] = self._upload(order)
        return nodes + self._reduction(reduction.kind, dtype, lines, item.n // lines, given)

    def _reduction(
        self, kind: str, dtype: DType, lines: int, count: int, given: Mapping[str, Word]
    ) -> Nodes:
        from hawk.targets.ptx import rounds

        plan = rounds.reduction(kind, dtype, lines, count)
        known: dict[str, Word] = dict.fromkeys((rounds.KEEP, rounds.DONE, rounds.ORDER), 0)
        known |= {rounds.NULL: 0, **given}
        for room in plan.rooms:
            known[room.name] = self._room(room.name, room.size * room.dtype.itemsize)
        return [self._routine(call, known) for call in plan.calls]

    # -- scatters ----------------------------------------------------------------------------------

    def _given(self, item: Launch, fn: Function, place: int) -> Callable[[], Work]:
        """What the samples give to a table in one scatter."""
        from hawk.targets.ptx import rounds

        scatter = fn.scatters[place]
        tables = zip(item.compiled.planes, item.planes, strict=True)
        size = next(plane.size for slot, plane in tables if slot.name == scatter.plane)
        call = rounds.scatter(scatter.kind, fn.plane(scatter.plane).dtype, size, item.n)
        names = {
            rounds.TABLE: scatter.plane,
            rounds.SPOTS: scatter.spot,
            rounds.VALUES: scatter.value,
        }
        return self._routine(call, {key: _plane(item, name) for key, name in names.items()})

    def _cleared(self, item: Launch, spots: str) -> Callable[[], Work]:
        """No sample gives anything."""
        nothing = np.zeros(item.n, DType.I32.numpy)
        zeros = self._room("nothing", nothing.nbytes, nothing)
        device = Side.DEVICE
        return lambda: Copy(zeros, device, _word(item, spots), device, nothing.nbytes)

    # -- launches ----------------------------------------------------------------------------------

    def _part(
        self,
        item: Launch,
        part: Part,
        code: Parts,
        held: dict[str, int],
        left: dict[str, int],
        *,
        words: int | None = None,
    ) -> Callable[[], Work]:
        """A kernel for one step; `left`: where its outputs go, if they are no planes."""
        function = code.functions[part.entry]
        blocks, threads = spread(item.n, self._device.gpu.multiprocessors)
        last = Argument(1, 8) if words is None else Argument(words, 8)
        planes = [plane for plane in part.fn.planes if plane.role is not Role.INDEX]

        def make() -> Kernel:
            slots = zip(item.compiled.planes, item.words_now, strict=True)
            known = {slot.name: word for slot, word in slots} | held
            given: list[Argument] = []
            for plane in planes:
                number = plane.role is Role.UNIFORM and plane.name not in part.held
                from_ = left if left and plane.role is Role.OUTPUT else known
                given.append(Argument(from_[plane.name], plane.dtype.itemsize if number else 8))
            return Kernel(function, blocks, threads, (*given, Argument(item.n, 8), last))

        return make

    def _routine(self, call: Call, known: Mapping[str, Word]) -> Callable[[], Work]:
        from hawk.targets.ptx.block import THREADS

        function = self._device.code.routine(call.routine)
        words = [known[each] if isinstance(each, str) else each for each in call.arguments]

        def make() -> Kernel:
            given = tuple(Argument(now(word), 8) for word in words)
            return Kernel(function, call.blocks, THREADS, given)

        return make

    # -- memory ------------------------------------------------------------------------------------

    def _room(self, name: str, size: int, numbers: NDArray[np.generic] | None = None) -> int:
        """Memory of that size; for one name the same each time."""
        room = self._rooms.get((name, size))
        if room is None:
            if numbers is not None and size:
                room = self._upload(numbers)
            else:
                room = self._device.allocate(size)
                self._memory.append(room)
            self._rooms[name, size] = room
        return room

    def _upload(self, numbers: NDArray[np.generic]) -> int:
        at = self._device.upload(numbers)
        self._memory.append(at)
        return at


def order_of(extents: tuple[int, ...], over: tuple[int, ...]) -> NDArray[np.int64] | None:
    """The samples of a grid line after line, see `Lines`; None if they are in their own order."""
    kept = tuple(axis for axis in range(len(extents)) if axis not in over)
    if (*kept, *over) == tuple(range(len(extents))):
        return None
    samples = np.arange(math.prod(extents), dtype=np.int64).reshape(extents)
    return np.ascontiguousarray(samples.transpose(*kept, *over)).reshape(-1)


def places_of(view: View) -> NDArray[np.int64] | None:
    """Where each number of an array is, counted in numbers from its first; None: without gaps."""
    if view.flags.c_contiguous:
        return None
    places = np.zeros((), np.int64)
    for extent, stride in zip(view.shape, view.strides, strict=True):
        places = places[..., None] + np.arange(extent, dtype=np.int64) * (stride // view.itemsize)
    return np.ascontiguousarray(places).reshape(-1)


def _mask_of(item: Launch) -> str:
    return next((slot.name for slot in item.compiled.planes if slot.role is Role.MASK), "")


def _plane(item: Launch, name: str) -> Word:
    return functools.partial(_word, item, name)


def _word(item: Launch, name: str) -> int:
    """The word of a plane as it is now."""
    slots = zip(item.compiled.planes, item.words_now, strict=True)
    return next(word for slot, word in slots if slot.name == name)
