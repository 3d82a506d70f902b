"""A kernel with its planes on a GPU, to be launched outside of graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eagle.devices.base import Loaded, Outcome, Watch
from eagle.devices.cuda.array import address_at
from eagle.devices.cuda.build import of_planes, spread
from eagle.devices.cuda.driver import Argument, DriverError, Kernel, Side
from hawk.ir.nodes import Function
from hawk.targets.base import Compiled

if TYPE_CHECKING:
    from eagle.devices.cuda.device import CudaDevice

WARP = 32
"""Threads that run one instruction together."""


class CudaLoaded(Loaded):
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
        self._used = planes
        """The arrays, which are kept until no launch can be using them."""
        self._planes = of_planes(compiled.planes, words)
        device.guard.check(f"a call of {function.name} with arrays on {device.name}")
        self._function = 0
        if n:
            with device.current():
                try:
                    self._function = device.code.of_program(function)
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
        assert picked is None
        device = self._device
        device.guard.check(f"launching {self._name}")
        if not self._n:
            return
        blocks, each = spread(self._n, device.gpu.multiprocessors)
        given = (*self._planes, Argument(self._n, 8), Argument(steps, 8))
        with device.current():
            try:
                if device.remains:
                    device.sweep()
                device.follow_others()
                device.run(Kernel(self._function, blocks, each, given), self._used)
                device.lead_others()
            except DriverError as error:
                raise device.error(self._name, error) from None

    def outcome(self, mark: object = None) -> Outcome | None:
        return None


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
