"""A run on a GPU: one CUDA graph that launches a kernel until all samples are done.

    [begin]  ->  WHILE { launch; decide; [go on?] }
    ->  [is there a map?]  ->  WHILE { [due?]  ->  IF { pick what is left }
                                       ->  launch by the map; decide; [go on?] }

What is decided stands in memory of the GPU, see `Told`. A graph ends after `WINDOW` at the latest:
then the host may hear of signals, and launches it again. The second loop is there for batches that
are large enough to be worth a map.

A kernel that reduces or scatters takes one step each time: a chain of kernels, for all samples.
Where threads take samples in turns there is one loop, whose launches take the steps together.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import hawk
from eagle.devices.base import Loop, SoFar
from eagle.devices.cuda import kernels, ptx
from eagle.devices.cuda.arguments import of_planes, spread
from eagle.devices.cuda.array import address_at
from eagle.devices.cuda.build import Body, Builder
from eagle.devices.cuda.driver import Argument, DriverError, Kernel, Kind, Side
from eagle.devices.cuda.hosts import Kept
from eagle.devices.cuda.kernels import CHUNK, GROUP
from eagle.devices.cuda.remains import Handles
from eagle.devices.cuda.together import Together, step_of
from eagle.devices.plan import Item, Plan
from eagle.errors import DeviceError
from eagle.pace import Pace, fixed
from hawk.ir.nodes import Function, Role
from hawk.ir.types import DType
from hawk.targets.base import Compiled, raw_word
from hawk.targets.ways import Way, Words

if TYPE_CHECKING:
    from eagle.devices.cuda.device import CudaDevice

WINDOW = 50_000_000
"""Nanoseconds after which a graph ends."""
NAP = 2e-4
"""Seconds between two looks whether it has, at most."""
LARGEST = 2**31 - 1
"""Samples of a run: a place in a table of a kernel is an int32."""
KINDS = 66
"""Launches are counted by their steps, up to 64; others are counted together."""


class Told(enum.IntEnum):
    """The int64 numbers of a run in memory. The first are the kernel's own `Words`."""

    ASKED = Words.STEPS
    """Steps of the next launch."""
    ENDED = Words.FINISHED
    LIVE = Words.LIVE
    """Places that launches look at: all samples, or those of the map."""
    LONGEST = Words.LONGEST
    FOLLOWING = Words.FOLLOWING
    FUEL = Words.FUEL
    HOLDING = Words.HOLDING
    HELD = Words.HELD
    LAST = 8
    """Steps of the launch before."""
    PACE = 9
    """Steps of the next launch, as far as that many are left."""
    GOING = 10
    """Samples that are not done."""
    LEFT = 11
    """Steps until the host is asked again."""
    TAKEN = 12
    """Steps asked for in all launches of the run."""
    FURTHEST = 13
    """Steps of the sample that took most in the run."""
    LAUNCHES = 14
    PICKS = 15
    """Times that a map was made."""
    MAPPED = 16
    """Is there a map, or will there be one by the next launch?"""
    DUE = 17
    """Is it to be made first?"""
    GOES = 18
    """Will there be another launch before the host is asked?"""
    CLOCK = 19
    """When the graph began."""
    COUNTS = 20
    """From here on, launches by their steps."""


SIZE = Told.COUNTS + KINDS
Own: TypeAlias = "hawk.Kernel[..., Any]"
Given: TypeAlias = "NDArray[Any] | int"


class CudaLoop(Loop):
    """A kernel with its planes, and how it is launched until all samples are done."""

    def __init__(
        self,
        device: CudaDevice,
        function: Function,
        compiled: Compiled,
        planes: Sequence[np.ndarray | int],
        words: Sequence[int],
        n: int,
        pace: Pace,
    ) -> None:
        self._device, self._function, self._n = device, function, n
        device.guard.check(f"a run of {function.name} on {device.name}")
        if n > LARGEST:
            raise DeviceError(
                f"{function.name}: a run on {device.name} has {LARGEST:,} samples at most, got "
                f"{n:,}\n  write: several runs, of a part of the samples each"
            )
        self._planes = of_planes(compiled.planes, words)
        place = next(k for k, slot in enumerate(compiled.planes) if slot.role is Role.MASK)
        self._mask: NDArray[Any] = np.asarray(planes[place])
        self._pace = fixed(1) if compiled.is_collective else pace
        self._step = step_of(function, compiled, planes, words, n)
        self._takers = self._pace.takers
        """Threads that take samples in turns; 0: each launch goes through all samples."""
        self._maps = n > device.crowd and not compiled.is_collective and not self._takers
        """Are there samples enough for a map to be worth it?"""
        chunks = -(-n // CHUNK)
        self._told, self._counts = self._new(SIZE), self._new(chunks)
        self._sums = self._new(-(-chunks // GROUP))
        self._begins, self._map = (self._new(each if self._maps else 0) for each in (chunks, n))
        self.blocks, self.threads_each = spread(
            self._takers or max(1, n), device.gpu.multiprocessors
        )
        self._hands = self._new(2 * self.threads if self._takers else 0)
        mine = (self._told, self._counts, self._sums, self._begins, self._map, self._hands)
        self._used = planes, mine
        self._handles = Handles()
        device.remains.with_(self, self._handles)
        with device.current():
            try:
                self._build()
            except DriverError as error:
                raise device.error(function.name, error) from None

    def _new(self, size: int) -> NDArray[Any]:
        view = self._device.locate(self._device.empty((size,), DType.I64))
        assert view is not None
        return view

    @property
    def threads(self) -> int:
        return self.blocks * self.threads_each

    # -- a run -------------------------------------------------------------------------------------

    def begin(self) -> None:
        told = np.zeros(SIZE, np.int64)
        told[Told.PACE], told[Told.LIVE] = self._pace.first, self._n
        told[Told.FUEL] = self._pace.most
        told[Told.GOING] = self._going().sum()
        self._device.transfer(told, Side.HOST, self._told, Side.DEVICE)

    def advance(self, steps: int) -> None:
        device, told = self._device, self._read(self._told)
        if not told[Told.GOING]:
            return
        told[Told.LEFT], told[Told.GOES] = steps, 1
        told[Told.ASKED] = steps if self._takers else min(int(told[Told.PACE]), steps)
        with device.current():
            try:
                device.transfer(told, Side.HOST, self._told, Side.DEVICE)
                device.follow_others()
                device.launch(self._handles.ready[0], (self._used, self))
                device.lead_others()
            except DriverError as error:
                raise device.error(self._function.name, error) from None
            finally:
                self._end()

    def _end(self) -> None:
        """Wait for the end of what is on its way. It is near, whatever comes meanwhile."""
        came: BaseException | None = None
        while True:
            try:
                self._device.wait(NAP)
            except DeviceError:
                raise
            except BaseException as signal:  # noqa: BLE001 - raised when nobody works any more
                came = signal
            else:
                break
        if came is not None:
            raise came

    def so_far(self) -> SoFar:
        told = [int(each) for each in self._read(self._told)]
        counts = told[Told.COUNTS :]
        return SoFar(
            going=told[Told.GOING],
            taken=told[Told.TAKEN],
            furthest=told[Told.FURTHEST],
            launches_by_k={k: count for k, count in enumerate(counts) if count},
            picks=told[Told.PICKS],
            halfway=told[Told.FOLLOWING] > 0,
        )

    def going(self) -> int:
        return int(self._going().sum())

    def first_going(self) -> int:
        chunk = int((self._going() > 0).argmax())
        over = self._read(self._mask.reshape(-1)[CHUNK * chunk : CHUNK * (chunk + 1)])
        return CHUNK * chunk + int(over.argmin())

    def greatest(self, view: NDArray[Any]) -> int:
        given = {"numbers": view.reshape(-1), "count": self._n}
        return int(self._by_chunks(kernels.greatest, given).max(initial=0))

    # -- counting ----------------------------------------------------------------------------------

    def _going(self) -> NDArray[Any]:
        """How many samples of each chunk are not done."""
        return self._by_chunks(kernels.counted, {"over": self._mask.reshape(-1), "count": self._n})

    def _by_chunks(self, kernel: Own, given: dict[str, Given]) -> NDArray[Any]:
        device = self._device
        if self._n:
            with device.current():
                try:
                    device.follow_others()
                    given = {**given, "out": self._counts}
                    device.run(launch_of(device, kernel, len(self._counts), given), self._used)
                    device.wait(NAP)
                except DriverError as error:
                    raise device.error(self._function.name, error) from None
        return self._read(self._counts)

    def _read(self, view: NDArray[Any]) -> NDArray[Any]:
        numbers = np.empty(view.shape, view.dtype)
        self._device.transfer(view, Side.DEVICE, numbers, Side.HOST)
        return numbers

    # -- the graph ---------------------------------------------------------------------------------

    def _build(self) -> None:
        """Make the graph, and all code that a run needs."""
        device, name = self._device, f"the run of {self._function.name}"
        launch_of(device, kernels.counted, 1, {"over": self._mask, "out": self._counts})
        builder = Builder(device, Plan(name, [], [], device, list, lambda _: []), Kept())
        made = builder.written(self._write).handles
        self._handles.graphs += made.graphs
        self._handles.ready += made.ready
        self._handles.memory += made.memory

    def _write(self, body: Body) -> None:
        step = self._step
        first = body.handle()
        body.small(lambda small: self._enter(small, first, mapped=False), step)
        inner = body.condition(first, Kind.WHILE, step)
        self._launch(inner, step, Way.TURNS if self._takers else Way.AUTO)
        inner.small(lambda small: self._look(small, first, mapped=False), step)
        if not self._maps:
            return
        second, pick = body.handle(), Item(name="pick")
        body.small(lambda small: self._enter(small, second, mapped=True), step)
        inner = body.condition(second, Kind.WHILE, step)
        due = inner.handle()
        inner.small(lambda small: small.set(due, small.noted(self._at(Told.DUE))), pick)
        self._pick(inner.condition(due, Kind.IF, pick), pick)
        self._launch(inner, step, Way.MAPPED)
        inner.small(lambda small: self._look(small, second, mapped=True), step)

    def _enter(self, small: ptx.Small, handle: int, *, mapped: bool) -> None:
        """Does a loop begin? Of each graph that is launched one does, however late it is."""
        if not mapped:
            small.start(self._at(Told.CLOCK))
        small.set(handle, self._goes(small, mapped=mapped))

    def _look(self, small: ptx.Small, handle: int, *, mapped: bool) -> None:
        """Count the launch before, and say whether the loop goes on."""
        small.tally(self._at(Told.LAST), self._at(Told.COUNTS), KINDS)
        early = small.early(self._at(Told.CLOCK), WINDOW)
        small.set(handle, small.all(early, self._goes(small, mapped=mapped)))

    def _goes(self, small: ptx.Small, *, mapped: bool) -> str:
        goes = small.noted(self._at(Told.GOES))
        if not self._maps:
            return goes
        there = small.noted(self._at(Told.MAPPED))
        return small.all(goes, there if mapped else small.opposite(there))

    def _launch(self, body: Body, item: Item, way: Way) -> None:
        """A launch of the kernel, and what is decided after it."""
        if self._step.compiled.is_collective:
            made = Together(self._device, body.builder.part.handles.memory)
            for node in made.step(self._step, words=address_at(self._told)):
                body.add(node, item)
        else:
            function = self._device.code.of_program(self._function, way)
            words, places, hands = (
                Argument(address_at(each), 8) for each in (self._told, self._map, self._hands)
            )
            last = (words, places) if way is Way.MAPPED else (Argument(self._n, 8), words)
            last = (*last, hands) if way is Way.TURNS else last
            work = Kernel(function, self.blocks, self.threads_each, (*self._planes, *last))
            self._add(body, item, work)
        decide = kernels.decide_in_turns if way is Way.TURNS else kernels.decide
        told = {each.name.lower(): self._told[each : each + 1] for each in list(Told)[: Told.CLOCK]}
        bounds = {"least": self._pace.least, "most": self._pace.most, "crowd": self._device.crowd}
        given = {**told, **bounds, "count": self._n}
        self._add(body, item, launch_of(self._device, decide, 1, given))

    def _pick(self, body: Body, item: Item) -> None:
        """Make a map of what goes on."""
        over, chunks, n = self._mask.reshape(-1), len(self._counts), self._n
        going = self._told[Told.GOING : Told.GOING + 1]
        for kernel, out, given in (
            (kernels.counted, self._counts, {"over": over, "count": n}),
            (kernels.summed, self._sums, {"counts": self._counts, "count": chunks}),
            (kernels.begun, self._begins, {"counts": self._counts, "sums": self._sums}),
            (
                kernels.picked,
                self._map,
                {
                    "over": over,
                    "begins": self._begins,
                    "going": going,
                    "count": n,
                    "chunks": chunks,
                },
            ),
        ):
            self._add(body, item, launch_of(self._device, kernel, len(out), {**given, "out": out}))
        body.small(lambda small: small.note(self._at(Told.DUE), small.opposite(small.all())), item)

    def _add(self, body: Body, item: Item, work: Kernel) -> None:
        body.add(lambda: work, item)

    def _at(self, word: Told) -> int:
        return address_at(self._told) + 8 * word


def launch_of(device: CudaDevice, kernel: Own, n: int, given: dict[str, Given]) -> Kernel:
    """A launch of one of eagle's own kernels for `n` samples, on arrays and whole numbers."""
    fn = kernel.program.trace(DType.F64, frozenset()).function
    words: list[int] = []
    for plane in fn.planes:
        value = given.get(plane.name, 0)
        if plane.name.startswith("extent 0 of "):
            table = given[plane.name.removeprefix("extent 0 of ")]
            assert isinstance(table, np.ndarray)
            value = len(table)
        words.append(raw_word(value, plane.dtype) if isinstance(value, int) else address_at(value))
    blocks, threads = spread(n, device.gpu.multiprocessors)
    arguments = (*of_planes(fn.planes, words), Argument(n, 8), Argument(1, 8))
    return Kernel(device.code.of_program(fn), blocks, threads, arguments)
