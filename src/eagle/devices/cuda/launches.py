"""A kernel with its planes on a GPU, to be launched outside of graphs."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eagle.devices.base import Loaded, Outcome, Watch
from eagle.devices.cuda import kernels
from eagle.devices.cuda.arguments import of_planes, spread
from eagle.devices.cuda.array import address_at
from eagle.devices.cuda.build import Body, Builder
from eagle.devices.cuda.driver import Argument, DriverError, Kernel, Side
from eagle.devices.cuda.hosts import Kept
from eagle.devices.cuda.loop import Given, launch_of
from eagle.devices.cuda.together import Together, step_of
from eagle.devices.plan import Launch, Plan
from hawk.ir.nodes import Function
from hawk.targets.base import Compiled
from hawk.targets.ways import Way, Words

if TYPE_CHECKING:
    from eagle.devices.cuda.device import CudaDevice

WARP = 32
"""Threads that run one instruction together."""


class _CudaLoaded(Loaded):
    """A kernel with its planes. A launch is asked for, and nobody waits for it."""

    def __init__(
        self,
        device: CudaDevice,
        function: Function,
        compiled: Compiled,
        planes: Sequence[np.ndarray | int],
        words: Sequence[int],
        n: int,
    ) -> None:
        self._device, self._name, self._n = device, function.name, n
        device.guard.check(f"a call of {function.name} with arrays on {device.name}")
        if n:
            with device.current():
                try:
                    self._make(step_of(function, compiled, planes, words, n))
                except DriverError as error:
                    raise device.error(function.name, error) from None

    @property
    def together(self) -> int:
        return WARP

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
        """Ask for a launch, after what other libraries were asked for, and before what comes."""
        assert threads is None
        device = self._device
        device.guard.check(f"launching {self._name}")
        if not self._n:
            return
        with device.current():
            try:
                if device.remains:
                    device.sweep()
                device.follow_others()
                try:
                    self._ask(steps, picked)
                finally:  # some steps may have been asked for when an exception comes
                    device.lead_others()
            except DriverError as error:
                raise device.error(self._name, error) from None

    def outcome(self, mark: object = None) -> Outcome | None:
        return None

    @abc.abstractmethod
    def _make(self, item: Launch) -> None:
        """Make ready what is launched, of a step of all samples."""

    @abc.abstractmethod
    def _ask(self, steps: int, picked: NDArray[np.int64] | None) -> None:
        """Ask for so many steps, of all samples or of those that are picked."""


class LocalLoaded(_CudaLoaded):
    """A kernel whose samples have nothing to do with each other: one launch takes all steps."""

    def _make(self, item: Launch) -> None:
        assert item.function is not None
        self._used = item.planes
        """The arrays, which are kept until no launch can be using them."""
        # Outside of graphs nothing is known later only.
        words = [word for word in item.words if isinstance(word, int)]
        self._planes = of_planes(item.compiled.planes, words)
        self._program = item.function
        self._function = self._device.code.of_program(item.function)
        self._mapped: _Mapped | None = None

    def _ask(self, steps: int, picked: NDArray[np.int64] | None) -> None:
        device = self._device
        if picked is not None:
            if len(picked):
                mapped = self._by_map(steps, picked)
                device.run(mapped.work, mapped.used)
            return
        blocks, each = spread(self._n, device.gpu.multiprocessors)
        given = (*self._planes, Argument(self._n, 8), Argument(steps, 8))
        device.run(Kernel(self._function, blocks, each, given), self._used)

    def _by_map(self, steps: int, picked: NDArray[np.int64]) -> _Mapped:
        """A launch of some samples. Launches that follow have mostly the same map and steps."""
        device, known = self._device, self._mapped
        if known is not None and known.picked is picked and known.steps == steps:
            return known
        told = np.zeros(len(Words), np.int64)
        told[Words.STEPS], told[Words.LIVE] = steps, len(picked)
        words, places = placed(device, told), placed(device, picked)
        blocks, each = spread(len(picked), device.gpu.multiprocessors)
        last = (Argument(address_at(there), 8) for there in (words, places))
        function = device.code.of_program(self._program, Way.MAPPED)
        work = Kernel(function, blocks, each, (*self._planes, *last))
        self._mapped = _Mapped(picked, steps, work, (self._used, words, places))
        return self._mapped


class _Mapped(NamedTuple):
    """A launch of the samples that are picked."""

    picked: NDArray[np.int64]
    steps: int
    work: Kernel
    used: object


class CollectiveLoaded(_CudaLoaded):
    """A kernel that reduces or scatters: a step is a graph, which is launched for each.

    So an exception cannot come within a step: a graph is launched, or it is not.
    """

    def _make(self, item: Launch) -> None:
        device, name = self._device, f"a call of {item.name}"
        builder = Builder(device, Plan(name, [], [], device, list, lambda _: []), Kept())

        def write(body: Body) -> None:
            for node in Together(device, builder.part.handles.memory).step(item):
                body.add(node, item)

        part = builder.written(write)
        device.remains.with_(self, part.handles)
        self._ready, self._used = part.ready, (item.planes, part)

    def _ask(self, steps: int, picked: NDArray[np.int64] | None) -> None:
        assert picked is None
        for _ in range(steps):
            self._device.launch(self._ready, self._used)


def placed(device: CudaDevice, numbers: NDArray[Any]) -> NDArray[Any]:
    """Numbers of the host in new memory."""
    there = device.home.new(numbers.shape, numbers.dtype)
    device.transfer(numbers, Side.HOST, there, Side.DEVICE)
    return there


def picked_from(device: CudaDevice, view: NDArray[Any], places: NDArray[np.int64]) -> NDArray[Any]:
    """The samples that stand at some places of an array, in new memory."""
    made = device.home.new((*view.shape[:-1], len(places)), view.dtype)
    if not made.size:
        return made
    there = placed(device, places)
    kernel, kind = kernels.AT[view.itemsize]
    with device.current():
        try:
            device.follow_others()
            for row in np.ndindex(view.shape[:-1]):
                table, out = view[row].view(kind), made[row].view(kind)
                given: dict[str, Given] = {"table": table, "places": there, "out": out}
                device.run(launch_of(device, kernel, len(places), given), (view, there, made))
        except DriverError as error:
            raise device.error(f"{view.nbytes:,} bytes", error) from None
    return made


def fill(device: CudaDevice, view: NDArray[Any], number: Any) -> None:
    """Write one number everywhere. Zeros are written in the order of launches; else it waits."""
    if not view.nbytes:
        return
    one = np.asarray(number, view.dtype)
    with device.current():
        try:
            if one.tobytes().strip(b"\0"):
                device.wait()
                device.transfer(np.full(view.shape, one), Side.HOST, view, Side.DEVICE)
            else:
                device.clear(address_at(view), view.nbytes, view)
                device.lead_others()
        except DriverError as error:
            raise device.error(f"{view.nbytes:,} bytes", error) from None
