"""A GPU: its driver, its memory, what it refuses, copies at once."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eagle.devices.arrays import memory_of
from eagle.devices.base import Captured, Cut, Device, Loaded, Loop, Objection, Partition
from eagle.devices.cuda import refusals
from eagle.devices.cuda.array import CudaArray, CudaHome, address_at
from eagle.devices.cuda.code import Code
from eagle.devices.cuda.driver import OLDEST, Copy, Driver, DriverError, Gpu, Kernel, Side
from eagle.devices.cuda.locked import Locker, pinned_by_others
from eagle.devices.cuda.remains import Remains
from eagle.devices.guard import Guard
from eagle.devices.host.device import HOST
from eagle.devices.host.pinned import asked_besides, lock_all, lock_none
from eagle.devices.host.stretches import stretched
from eagle.devices.library import Library
from eagle.errors import DeviceError
from eagle.interop.cuda_array import Located, described_at, in_library_of
from eagle.interop.streams import streams_in_use
from eagle.pace import CROWD, Pace
from hawk.ir.types import DType
from hawk.targets.base import Compiled

if TYPE_CHECKING:
    from eagle.devices.plan import Plan, Root, View
    from hawk.ir.nodes import Function
    from hawk.kernel import Program

OLDEST_GPU = 75
"""The oldest compute capability that PTX is made for."""

GUARD = Guard()
"""Which function of a graph runs on this thread: that one may use no GPU."""

SPIN_SECONDS, LONGEST_NAP = 100e-6, 2e-3
"""So long a thread that waits asks again and again; then it sleeps for a sixteenth of the time it
has waited, and hears of signals meanwhile."""

MOST_FLYING = 1024
"""Launches of kernels whose arrays are kept, before the next one waits for all of them."""


class CudaDevice(Device):
    """One GPU."""

    calls = True

    def __init__(self, number: int, driver: Driver) -> None:
        self.number, self.driver = number, driver
        self.name = f"GPU {number}"
        self.guard = GUARD
        self.remains = Remains()
        self.home = CudaHome(self)
        self._flying: list[object] = []
        """What is used by replays that may be on their way."""
        self._asking = threading.RLock()
        """Between finding that nothing is on its way, and letting go of what was used, no other
        thread launches."""
        self._modules: dict[str, int] = {}
        try:
            self.gpu: Gpu = driver.gpu(number)
            if self.gpu.capability < OLDEST_GPU:
                raise DeviceError(
                    f"{self.name}, {self.gpu.name}, has compute capability "
                    f"{self.gpu.capability / 10}, and kernels are made for "
                    f"{OLDEST_GPU / 10} and newer\n  write: arrays of the host instead"
                )
            self.code = Code(self)
            self.context = driver.context(number)
            with self.current():
                self.stream = driver.stream()
        except DriverError as error:
            raise self.error("it cannot be used", error) from None

    def error(self, what: str, error: DriverError) -> DeviceError:
        """What the driver said, and what to do."""
        return DeviceError(f"{self.name}: {what}: {error}\n  {_FIXES.get(error.name, _ASTRAY)}")

    @contextmanager
    def current(self) -> Iterator[None]:
        """Inside `with` this thread's context is that of the GPU."""
        self.driver.push(self.context)
        try:
            yield
        finally:
            self.driver.pop()

    # -- Device ------------------------------------------------------------------------------------

    def empty(self, shape: tuple[int, ...], dtype: DType) -> CudaArray:
        return self.home.array(self.home.new(shape, np.dtype(dtype.numpy)))

    def array(self, view: View, like: Any = None) -> Any:
        made = None if isinstance(like, CudaArray) else in_library_of(like, view)
        return self.home.array(view) if made is None else made

    def fill(self, view: View, number: Any) -> None:
        from eagle.devices.cuda.launches import fill

        fill(self, view, number)

    def duplicate(self, view: View, into: View | None = None) -> View:
        there = self.home.new(view.shape, view.dtype) if into is None else into
        with self.current():
            self.follow_others()
            self.wait()
        self.transfer(view, Side.DEVICE, there, Side.DEVICE)
        return there

    def fetch(self, view: View) -> NDArray[Any]:
        with self.current():
            self.follow_others()
            self.wait()
        return self.home.read(view)

    def picked(self, view: View, places: NDArray[np.int64]) -> View:
        from eagle.devices.cuda.launches import picked_from

        return picked_from(self, view, places)

    @property
    def crowd(self) -> int:
        return CROWD * self.gpu.multiprocessors

    def loop(
        self,
        function: Function,
        compiled: Compiled,
        planes: Sequence[np.ndarray | int],
        words: Sequence[int],
        n: int,
        pace: Pace,
    ) -> Loop:
        from eagle.devices.cuda.loop import CudaLoop

        return CudaLoop(self, function, compiled, planes, words, n, pace)

    def locate(self, value: object) -> View | None:
        if isinstance(value, CudaArray) and value.gpu is self:
            return memory_of(value)
        return None

    def pinned(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        return HOST.pinned(shape, dtype)

    def objections(self, plan: Plan) -> list[Objection]:
        return refusals.objections(plan)

    def cuts(self, plan: Plan) -> list[Cut]:
        return refusals.cuts(plan)

    def compiled(self, program: Program, compiled: Compiled) -> Compiled:
        return compiled

    def capture(self, plan: Plan) -> Captured:
        from eagle.devices.cuda.replay import CudaCaptured

        return CudaCaptured(self, plan)

    def copy(self, source: Root, into: Root) -> None:
        self.home.enter("eagle.copy")
        with self.current():
            self.follow_others()
            self.wait()
        sides = [Side.HOST if each.device is HOST else Side.DEVICE for each in (source, into)]
        self.transfer(source.view, sides[0], into.view, sides[1])

    def load(
        self,
        compiled: Compiled,
        planes: Sequence[np.ndarray | int],
        words: Sequence[int],
        partition: Partition,
        function: Function | None = None,
    ) -> Loaded:
        from eagle.devices.cuda.launches import CollectiveLoaded, LocalLoaded

        assert function is not None
        kind = CollectiveLoaded if compiled.is_collective else LocalLoaded
        return kind(self, function, compiled, planes, words, partition.n)

    # -- memory ------------------------------------------------------------------------------------

    def allocate(self, size: int) -> int:
        """New memory. What nobody uses any more is given back before there is none."""
        self.guard.check(f"memory of {self.name}")
        with self.current():
            try:
                return self.driver.allocate(max(1, size))
            except DriverError as error:
                if error.name != "CUDA_ERROR_OUT_OF_MEMORY" or not self.remains:
                    raise self.error(f"{size:,} bytes of memory", error) from None
            self.wait()
            try:
                return self.driver.allocate(max(1, size))
            except DriverError as error:
                raise self.error(f"{size:,} bytes of memory", error) from None

    def transfer(
        self, source: NDArray[Any], source_side: Side, into: NDArray[Any], into_side: Side
    ) -> None:
        """Copy now. An end on the host may have gaps in it; so may one on the device, slowly."""
        if not source.nbytes:
            return
        if source_side is Side.HOST and not source.flags.c_contiguous and into.flags.c_contiguous:
            source = np.ascontiguousarray(source)
        kept = into
        gaps = into_side is Side.HOST and not into.flags.c_contiguous
        if gaps and source.flags.c_contiguous:
            kept = np.empty(into.shape, into.dtype)
        there, here = address_at(kept), address_at(source)
        with self.current():
            for part in stretched(source, kept, kept.size):
                for row in range(part.times):
                    begin = here + part.source + row * part.source_step
                    end = there + part.into + row * part.into_step
                    self._copy(Copy(begin, source_side, end, into_side, part.size))
        if kept is not into:
            into[...] = kept

    def _copy(self, work: Copy) -> None:
        try:
            self.driver.copy(work)
        except DriverError as error:
            raise self.error("a copy", error) from None

    def upload(self, numbers: NDArray[Any]) -> int:
        """New memory with these numbers in it."""
        address = self.allocate(numbers.nbytes)
        there = described_at(address, numbers.shape, numbers.dtype)
        self.transfer(numbers, Side.HOST, there, Side.DEVICE)
        return address

    # -- code --------------------------------------------------------------------------------------

    def function(self, text: str, name: str) -> int:
        """The kernel `name` of a module, which is loaded once."""
        module = self._modules.get(text)
        if module is None:
            module = self._modules[text] = self.driver.load(text)
        return self.driver.function(module, name)

    # -- waiting -----------------------------------------------------------------------------------

    def follow_others(self) -> None:
        """Come after what other libraries have asked of this GPU on streams of their own."""
        with self._asking:
            for stream in streams_in_use(self.number):
                self.driver.follow(self.stream, stream)

    def lead_others(self) -> None:
        """Let what they ask for from now on come after what was asked of us."""
        with self._asking:
            for stream in streams_in_use(self.number):
                self.driver.follow(stream, self.stream)

    def launch(self, ready: int, used: object) -> None:
        """Launch a graph. What it uses is kept until nothing is on its way."""
        with self._asking:
            self._keep(used)
            self.driver.launch(ready, self.stream)

    def run(self, work: Kernel, used: object) -> None:
        """Launch a kernel. What it uses is kept until nothing is on its way."""
        if len(self._flying) >= MOST_FLYING:
            self.wait()
        with self._asking:
            self._keep(used)
            self.driver.run(work, self.stream)

    def clear(self, address: int, size: int, used: object) -> None:
        """Write zeros, in the order of launches."""
        with self._asking:
            self._keep(used)
            self.driver.clear(address, size, self.stream)

    def _keep(self, used: object) -> None:
        if not self._flying or self._flying[-1] is not used:
            self._flying.append(used)

    @property
    def flying(self) -> bool:
        """May a replay be on its way?"""
        return bool(self._flying)

    def wait(self, longest: float = LONGEST_NAP) -> None:
        """Wait until nothing is on its way. The context is current.

        A signal handler may raise meanwhile, as Ctrl-C does; what is on its way goes on then.
        """
        try:
            begun = perf_counter()
            while not self.sweep():
                waited = perf_counter() - begun
                if waited > SPIN_SECONDS:
                    sleep(min(waited / 16, longest))
        except DriverError as error:
            raise self.error("while a graph was replayed", error) from None

    def sweep(self) -> bool:
        """Give back what is not used any more, if nothing is on its way; say whether that is so.

        The context is current.
        """
        with self._asking:
            if not self.driver.idle(self.stream):
                return False
            self._flying.clear()
            if self.remains:
                self.remains.give_back(self.driver)
            return True


# -- which there are -------------------------------------------------------------------------------


def home_of(value: object, found: Located) -> tuple[CudaDevice, View]:
    """The GPU that an array of another library lives on.

    Raises DeviceError where that cannot be used, and for memory that is not there any more.
    """
    GUARD.check("looking at an array on a GPU")
    if isinstance(value, CudaArray):
        return value.gpu, memory_of(value)
    number = found.gpu
    if number is None:
        number = 0
        if found.view.size:
            number = _gpu_of(address_at(found.view))
    return gpu(number), found.view


def _gpu_of(address: int) -> int:
    driver = _driver()
    try:
        try:
            where = driver.where(address)
        except DriverError as error:
            if error.name != "CUDA_ERROR_INVALID_CONTEXT":
                raise
            with gpu(0).current():  # this thread has used no GPU yet
                where = driver.where(address)
    except DriverError as error:
        raise DeviceError(f"which GPU an array is on cannot be told: {error}") from None
    if where is None or where.pinned:
        raise DeviceError(
            f"an array says that it is on a GPU, at {address:#x}, where no GPU has memory: was it "
            "freed?\n  write: the array that holds the memory, not its address alone"
        )
    return where.gpu


def gpu(number: int) -> CudaDevice:
    """The GPU of a number. Raises DeviceError where there is none, or no way to use it."""
    found = _devices.get(number)
    if found is None:
        with _making:
            found = _devices.get(number) or _begun(number)
    return found


def _begun(number: int) -> CudaDevice:
    """The GPU of a number, which nobody has used yet."""
    driver = _driver()
    _refuse_old(driver)
    try:
        count = driver.count()
    except DriverError as error:
        raise DeviceError(f"no GPU can be used: {error}\n  {_NO_DRIVER}") from None
    if number >= count:
        there = f"there are {count}" if count else "there is none"
        raise DeviceError(
            f"GPU {number} is asked for, and {there}; CUDA_VISIBLE_DEVICES may say why"
        )
    device = CudaDevice(number, driver)
    if not _devices:
        lock_all(Locker(device))
        asked_besides.append(lambda array: pinned_by_others(device, array))
    _devices[number] = device
    return device


_devices: dict[int, CudaDevice] = {}
"""Those that are used."""

_NO_DRIVER = "install: NVIDIA's driver, 550 or newer; `nvidia-smi` shows whether it is there"
_FIXES = {
    "CUDA_ERROR_OUT_OF_MEMORY": "write: smaller arrays, or fewer of them at a time",
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION": _NO_DRIVER,
    "CUDA_ERROR_INVALID_PTX": _NO_DRIVER,
    "CUDA_ERROR_NO_BINARY_FOR_GPU": "install: a newer accipiter, which knows this GPU",
    "CUDA_ERROR_ILLEGAL_ADDRESS": "look at: was an array of the graph freed since it was built?",
    "CUDA_ERROR_NOT_INITIALIZED": "write: multiprocessing with 'spawn'; CUDA does not outlive fork",
}
_ASTRAY = (
    "tell us: eagle should not have asked for it, or said why it cannot be; "
    "print(graph) shows the nodes"
)
_own: list[Driver] = []
_making = threading.RLock()


def use(driver: Driver | None) -> None:
    """Use another driver from now on, or the real one for None; arrays of before are lost."""
    _own[:] = [] if driver is None else [driver]
    _devices.clear()
    asked_besides.clear()
    lock_none()


def _driver() -> Driver:
    """The driver. Raises DeviceError with what to install."""
    with _making:
        if not _own:
            _own.append(_made())
    return _own[0]


def _made() -> Driver:
    from eagle.devices.cuda.bindings import Bindings

    try:
        return Bindings()
    except ImportError as missing:
        raise DeviceError(
            "GPUs are reached by the package cuda-bindings, which cannot be imported: "
            f"{missing}\n  write: pip install 'accipiter[cuda]'"
        ) from None
    except DriverError as error:
        raise DeviceError(f"there is no CUDA driver here: {error}\n  {_NO_DRIVER}") from None


def _refuse_old(driver: Driver) -> None:
    """Raise DeviceError for a driver that is too old."""
    version = driver.version()
    if version < OLDEST:
        has, wants = (f"{each // 1000}.{each % 1000 // 10}" for each in (version, OLDEST))
        raise DeviceError(
            f"the CUDA driver here is one for CUDA {has}, and graphs need {wants}\n  {_NO_DRIVER}"
        )


def available() -> str:
    """Why no GPU can be used; empty where one can."""
    try:
        gpu(0)
    except DeviceError as error:
        return str(error)
    return ""


def described(number: int) -> str:
    """A GPU that is there, in a few words."""
    found = gpu(number)
    version = found.driver.version()
    return (
        f"{found.gpu.name}, compute capability {found.gpu.capability / 10}, "
        f"{found.gpu.multiprocessors} multiprocessors, CUDA {version // 1000}."
        f"{version % 1000 // 10}"
    )


def library(number: int) -> Library[CudaArray]:
    """What makes arrays on a GPU."""
    return Library(gpu(number).home, CudaArray)


def _finish() -> None:
    """What was enqueued is done when the process ends, with the Python functions in it."""
    for device in _devices.values():
        if device.flying:
            with device.current():
                device.wait()


def _start_anew() -> None:
    """A forked child has nothing of CUDA: nothing to wait for, and nothing to give back."""
    _devices.clear()
    _own.clear()
    asked_besides.clear()
    lock_none()


atexit.register(_finish)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
